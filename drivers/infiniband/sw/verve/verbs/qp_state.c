// SPDX-License-Identifier: GPL-2.0-only
/*
 * Validation of QP attributes.
 */
#include "../limits.h"
#include "qp_state.h"

/* ON_DEMAND has no effect on a QP, but programs pass the rights of a region. */
enum {
	SUPPORTED_ACCESS = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			   IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
			   IB_ACCESS_MW_BIND | IB_ACCESS_ON_DEMAND |
			   IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT,
};

/*
 * Check each attribute against its maximum. The maximum of timers and retry counts
 * is the width of their fields (9.7.6, 9.7.5.2.8).
 */
static bool are_in_range(const struct ib_qp_attr *attr, int mask)
{
	const struct {
		int bit;
		u32 value, max;
	} ranges[] = {
		{ IB_QP_DEST_QPN, attr->dest_qp_num, 0xffffff },
		{ IB_QP_PKEY_INDEX, attr->pkey_index,
		  VERVE_PKEY_TABLE_LEN - 1 },
		{ IB_QP_TIMEOUT, attr->timeout, 31 },
		{ IB_QP_RETRY_CNT, attr->retry_cnt, 7 },
		{ IB_QP_RNR_RETRY, attr->rnr_retry, 7 },
		{ IB_QP_MIN_RNR_TIMER, attr->min_rnr_timer, 31 },
		{ IB_QP_MAX_QP_RD_ATOMIC, attr->max_rd_atomic,
		  VERVE_MAX_RD_ATOMIC },
		{ IB_QP_MAX_DEST_RD_ATOMIC, attr->max_dest_rd_atomic,
		  VERVE_MAX_RD_ATOMIC },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		if ((mask & ranges[i].bit) && ranges[i].value > ranges[i].max)
			return false;
	return true;
}

static bool is_mtu(enum ib_mtu mtu, enum ib_mtu max)
{
	return mtu >= IB_MTU_256 && mtu <= max;
}

int verve_qp_attr_check(enum ib_qp_type type, enum ib_qp_state cur,
			enum ib_mtu max_mtu, const struct ib_qp_attr *attr,
			int mask)
{
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;

	if (mask & (~IB_QP_ATTR_STANDARD_BITS | IB_QP_ALT_PATH))
		return -EOPNOTSUPP;
	if ((mask & IB_QP_CUR_STATE) && attr->cur_qp_state != cur)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(cur, next, type, mask))
		return -EINVAL;
	if ((mask & IB_QP_PORT) && attr->port_num != 1)
		return -EINVAL;
	if ((mask & IB_QP_PATH_MTU) && !is_mtu(attr->path_mtu, max_mtu))
		return -EINVAL;
	if ((mask & IB_QP_ACCESS_FLAGS) &&
	    (attr->qp_access_flags & ~SUPPORTED_ACCESS))
		return -EINVAL;
	return are_in_range(attr, mask) ? 0 : -EINVAL;
}
