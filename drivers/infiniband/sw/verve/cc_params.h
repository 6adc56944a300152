/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters of a device's congestion control
 */
#ifndef VERVE_CC_PARAMS_H
#define VERVE_CC_PARAMS_H

#include <linux/types.h>

/*
 * Parameters with the names of mlx5. np: notification point, which receives marked
 * packets; rp: reaction point, which sends
 */
enum verve_cc_param {
	VERVE_CC_NP_ENABLE,	/* send CNPs */
	VERVE_CC_NP_MIN_TIME_BETWEEN_CNPS,	/* us */
	VERVE_CC_NP_CNP_DSCP,
	VERVE_CC_NP_CNP_PRIO,	/* service level of CNPs; 0: that of the DSCP */
	VERVE_CC_RP_ENABLE,	/* set ECT(0), and react to CNPs */
	VERVE_CC_RP_RATE_TO_SET_ON_FIRST_CNP,	/* Mb/s; 0: rate before the CNP */
	VERVE_CC_RP_MIN_RATE,	/* Mb/s */
	VERVE_CC_RP_MAX_RATE,	/* Mb/s at which the limit of a flow ends */
	VERVE_CC_RP_AI_RATE,	/* Mb/s of a step of additive increase */
	VERVE_CC_RP_HAI_RATE,	/* Mb/s of a step of hyper increase */
	VERVE_CC_RP_TIME_RESET,	/* us between two steps by time */
	VERVE_CC_RP_BYTE_RESET,	/* units of 64 bytes between two steps by bytes */
	VERVE_CC_RP_THRESHOLD,	/* steps of fast recovery, up to the target rate */
	VERVE_CC_RP_MIN_DEC_FAC,	/* per cent of the rate left by a CNP at least */
	VERVE_CC_RP_GD,	/* a CNP reduces the rate by alpha / 2^gd */
	VERVE_CC_RP_INITIAL_ALPHA_VALUE,	/* 1/1024 */
	VERVE_CC_RP_DCE_TCP_G,	/* 1/1024, weight of the old alpha in the new one */
	VERVE_CC_RP_DCE_TCP_RTT,	/* us between two reductions of alpha */
	VERVE_CC_RP_RATE_REDUCE_MONITOR_PERIOD,	/* us within which CNPs count as one */
	VERVE_CC_RP_CLAMP_TGT_RATE,	/* 1: each CNP lowers the target rate */
	VERVE_NUM_CC_PARAMS
};

struct verve_cc_params {
	u32 value[VERVE_NUM_CC_PARAMS];
};

/* e.g. verve_cc(&dev->cc, RP_ENABLE) */
#define verve_cc(params, name) READ_ONCE((params)->value[VERVE_CC_ ## name])

#endif
