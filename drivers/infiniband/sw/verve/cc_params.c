// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters of congestion control (cc_params.h) in sysfs:
 * /sys/class/infiniband/DEV/ports/1/cc_params
 */
#include <linux/kstrtox.h>
#include <rdma/ib_sysfs.h>
#include "device.h"
#include "ops.h"
#include "transport/dcqcn.h"

static ssize_t show(struct ib_device *ibdev, u32 port_num,
		    struct ib_port_attribute *attr, char *buf);
static ssize_t store(struct ib_device *ibdev, u32 port_num,
		     struct ib_port_attribute *attr, const char *buf,
		     size_t count);

#define PARAMETER(name) __ATTR(name, 0644, show, store)

static struct ib_port_attribute attributes[VERVE_NUM_CC_PARAMS] = {
	[VERVE_CC_NP_ENABLE] = PARAMETER(np_enable),
	[VERVE_CC_NP_MIN_TIME_BETWEEN_CNPS] = PARAMETER(np_min_time_between_cnps),
	[VERVE_CC_NP_CNP_DSCP] = PARAMETER(np_cnp_dscp),
	[VERVE_CC_NP_CNP_PRIO] = PARAMETER(np_cnp_prio),
	[VERVE_CC_RP_ENABLE] = PARAMETER(rp_enable),
	[VERVE_CC_RP_RATE_TO_SET_ON_FIRST_CNP] = PARAMETER(rp_rate_to_set_on_first_cnp),
	[VERVE_CC_RP_MIN_RATE] = PARAMETER(rp_min_rate),
	[VERVE_CC_RP_MAX_RATE] = PARAMETER(rp_max_rate),
	[VERVE_CC_RP_AI_RATE] = PARAMETER(rp_ai_rate),
	[VERVE_CC_RP_HAI_RATE] = PARAMETER(rp_hai_rate),
	[VERVE_CC_RP_TIME_RESET] = PARAMETER(rp_time_reset),
	[VERVE_CC_RP_BYTE_RESET] = PARAMETER(rp_byte_reset),
	[VERVE_CC_RP_THRESHOLD] = PARAMETER(rp_threshold),
	[VERVE_CC_RP_MIN_DEC_FAC] = PARAMETER(rp_min_dec_fac),
	[VERVE_CC_RP_GD] = PARAMETER(rp_gd),
	[VERVE_CC_RP_INITIAL_ALPHA_VALUE] = PARAMETER(rp_initial_alpha_value),
	[VERVE_CC_RP_DCE_TCP_G] = PARAMETER(rp_dce_tcp_g),
	[VERVE_CC_RP_DCE_TCP_RTT] = PARAMETER(rp_dce_tcp_rtt),
	[VERVE_CC_RP_RATE_REDUCE_MONITOR_PERIOD] = PARAMETER(rp_rate_reduce_monitor_period),
	[VERVE_CC_RP_CLAMP_TGT_RATE] = PARAMETER(rp_clamp_tgt_rate),
};

/* Return: enum verve_cc_param of an attribute. */
static size_t index_of(const struct ib_port_attribute *attr)
{
	return attr - attributes;
}

static ssize_t show(struct ib_device *ibdev, u32 port_num,
		    struct ib_port_attribute *attr, char *buf)
{
	const struct verve_cc_params *params = &to_vdev(ibdev)->cc;

	return sysfs_emit(buf, "%u\n",
			  READ_ONCE(params->value[index_of(attr)]));
}

static ssize_t store(struct ib_device *ibdev, u32 port_num,
		     struct ib_port_attribute *attr, const char *buf,
		     size_t count)
{
	const struct verve_cc_limit *limit = &verve_cc_limits[index_of(attr)];
	struct verve_cc_params *params = &to_vdev(ibdev)->cc;
	u32 value;
	int err;

	err = kstrtou32(buf, 0, &value);
	if (err)
		return err;
	if (value < limit->least || value > limit->most)
		return -ERANGE;
	WRITE_ONCE(params->value[index_of(attr)], value);
	return count;
}

static struct attribute *attrs[] = {
	&attributes[VERVE_CC_NP_ENABLE].attr,
	&attributes[VERVE_CC_NP_MIN_TIME_BETWEEN_CNPS].attr,
	&attributes[VERVE_CC_NP_CNP_DSCP].attr,
	&attributes[VERVE_CC_NP_CNP_PRIO].attr,
	&attributes[VERVE_CC_RP_ENABLE].attr,
	&attributes[VERVE_CC_RP_RATE_TO_SET_ON_FIRST_CNP].attr,
	&attributes[VERVE_CC_RP_MIN_RATE].attr,
	&attributes[VERVE_CC_RP_MAX_RATE].attr,
	&attributes[VERVE_CC_RP_AI_RATE].attr,
	&attributes[VERVE_CC_RP_HAI_RATE].attr,
	&attributes[VERVE_CC_RP_TIME_RESET].attr,
	&attributes[VERVE_CC_RP_BYTE_RESET].attr,
	&attributes[VERVE_CC_RP_THRESHOLD].attr,
	&attributes[VERVE_CC_RP_MIN_DEC_FAC].attr,
	&attributes[VERVE_CC_RP_GD].attr,
	&attributes[VERVE_CC_RP_INITIAL_ALPHA_VALUE].attr,
	&attributes[VERVE_CC_RP_DCE_TCP_G].attr,
	&attributes[VERVE_CC_RP_DCE_TCP_RTT].attr,
	&attributes[VERVE_CC_RP_RATE_REDUCE_MONITOR_PERIOD].attr,
	&attributes[VERVE_CC_RP_CLAMP_TGT_RATE].attr,
	NULL
};

static const struct attribute_group group = {
	.name = "cc_params",
	.attrs = attrs,
};

const struct attribute_group *verve_port_groups[] = { &group, NULL };

void verve_cc_params_init(struct verve_cc_params *params)
{
	size_t i;

	for (i = 0; i < VERVE_NUM_CC_PARAMS; i++)
		params->value[i] = verve_cc_limits[i].initial;
}
