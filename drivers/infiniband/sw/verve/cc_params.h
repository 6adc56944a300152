/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters of congestion control: each device has its own
 */
#ifndef VERVE_CC_PARAMS_H
#define VERVE_CC_PARAMS_H

#include <linux/types.h>

/*
 * Parameters, by the names that mlx5 has for them. np: whoever receives marked
 * packets; rp: whoever sends too fast
 */
enum verve_cc_param {
	VERVE_CC_NP_ENABLE,	/* tell the sender of marks by CNPs */
	VERVE_CC_NP_MIN_TIME_BETWEEN_CNPS,	/* us */
	VERVE_CC_NP_CNP_DSCP,
	VERVE_CC_NP_CNP_PRIO,	/* as a service level; 0: that of the DSCP */
	VERVE_CC_RP_ENABLE,	/* packets may be marked, and CNPs are heeded */
	VERVE_CC_RP_RATE_TO_SET_ON_FIRST_CNP,	/* Mb/s; 0: what it was */
	VERVE_CC_RP_MIN_RATE,	/* Mb/s */
	VERVE_CC_RP_MAX_RATE,	/* Mb/s from which on a flow is free again */
	VERVE_CC_RP_AI_RATE,	/* Mb/s a step: additive increase */
	VERVE_CC_RP_HAI_RATE,	/* Mb/s a step: hyper increase */
	VERVE_CC_RP_TIME_RESET,	/* us between two steps */
	VERVE_CC_RP_BYTE_RESET,	/* and so many times 64 bytes */
	VERVE_CC_RP_THRESHOLD,	/* steps that only win back what was lost */
	VERVE_CC_RP_MIN_DEC_FAC,	/* per cent that are left by one CNP at the least */
	VERVE_CC_RP_GD,	/* a CNP takes alpha / 2^gd of the rate */
	VERVE_CC_RP_INITIAL_ALPHA_VALUE,	/* 1/1024 */
	VERVE_CC_RP_DCE_TCP_G,	/* 1/1024: how slowly alpha changes */
	VERVE_CC_RP_DCE_TCP_RTT,	/* us after which alpha sinks */
	VERVE_CC_RP_RATE_REDUCE_MONITOR_PERIOD,	/* us: CNPs within are one */
	VERVE_CC_RP_CLAMP_TGT_RATE,	/* 1: what was lost is not quite won back */
	VERVE_NUM_CC_PARAMS
};

struct verve_cc_params {
	u32 value[VERVE_NUM_CC_PARAMS];
};

/* e.g. verve_cc(&dev->cc, RP_ENABLE) */
#define verve_cc(params, name) READ_ONCE((params)->value[VERVE_CC_ ## name])

#endif
