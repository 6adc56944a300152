// SPDX-License-Identifier: GPL-2.0-only
/* DCQCN: the reaction point (see dcqcn.h) */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "dcqcn.h"

enum {
	KBIT_PER_MBIT	= 1000,
	ALPHA_SHIFT	= 10,
	/* Limits of the steps that one call catches up on after a long silence */
	MOST_STEPS	= 32,
	MOST_AGEINGS	= 1024,
};

const struct verve_cc_limit verve_cc_limits[VERVE_NUM_CC_PARAMS] = {
	[VERVE_CC_NP_ENABLE] = { 1, 0, 1 },
	[VERVE_CC_NP_MIN_TIME_BETWEEN_CNPS] = { 50, 0, 1000000 },
	[VERVE_CC_NP_CNP_DSCP] = { 48, 0, 63 },
	[VERVE_CC_NP_CNP_PRIO] = { 6, 0, 7 },
	[VERVE_CC_RP_ENABLE] = { 1, 0, 1 },
	[VERVE_CC_RP_RATE_TO_SET_ON_FIRST_CNP] = { 0, 0, 1000000 },
	[VERVE_CC_RP_MIN_RATE] = { 1, 1, 1000000 },
	[VERVE_CC_RP_MAX_RATE] = { 25000, 1, 1000000 },
	[VERVE_CC_RP_AI_RATE] = { 1, 1, 1000000 },
	[VERVE_CC_RP_HAI_RATE] = { 1, 1, 1000000 },
	[VERVE_CC_RP_TIME_RESET] = { 300, 1, 1000000 },
	[VERVE_CC_RP_BYTE_RESET] = { 32767, 1, 16777215 },
	[VERVE_CC_RP_THRESHOLD] = { 1, 1, 31 },
	[VERVE_CC_RP_MIN_DEC_FAC] = { 75, 1, 100 },
	[VERVE_CC_RP_GD] = { 11, 0, 15 },
	[VERVE_CC_RP_INITIAL_ALPHA_VALUE] = { 1023, 0, 1023 },
	[VERVE_CC_RP_DCE_TCP_G] = { 1019, 0, 1023 },
	[VERVE_CC_RP_DCE_TCP_RTT] = { 55, 1, 1000000 },
	[VERVE_CC_RP_RATE_REDUCE_MONITOR_PERIOD] = { 4, 0, 1000000 },
	[VERVE_CC_RP_CLAMP_TGT_RATE] = { 1, 0, 1 },
};

static u32 lowest(const struct verve_cc_params *params)
{
	return verve_cc(params, RP_MIN_RATE) * KBIT_PER_MBIT;
}

static u32 highest(const struct verve_cc_params *params)
{
	return max(verve_cc(params, RP_MAX_RATE) * KBIT_PER_MBIT,
		   lowest(params));
}

void verve_dcqcn_begin(struct verve_dcqcn *flow,
		       const struct verve_cc_params *params, u32 rate, u64 now)
{
	u32 set = verve_cc(params, RP_RATE_TO_SET_ON_FIRST_CNP);

	if (set)
		rate = set * KBIT_PER_MBIT;
	rate = clamp(rate, lowest(params), highest(params));
	*flow = (struct verve_dcqcn) {
		.rate = rate,
		.target = rate,
		.alpha = verve_cc(params, RP_INITIAL_ALPHA_VALUE),
		.aged = now,
		.raised = now,
	};
}

/* Move alpha towards 1 for a CNP, otherwise towards 0. */
static void age(struct verve_dcqcn *flow, u32 g, bool cnp)
{
	flow->alpha = flow->alpha * g >> ALPHA_SHIFT;
	if (cnp)
		flow->alpha += (1 << ALPHA_SHIFT) - g;
}

void verve_dcqcn_cut(struct verve_dcqcn *flow,
		     const struct verve_cc_params *params, u32 reaction, u64 now)
{
	u64 period = verve_cc(params, RP_RATE_REDUCE_MONITOR_PERIOD) *
		     (u64)NSEC_PER_USEC;
	u32 most, loss;

	/* Steps and ageing start again after a CNP. */
	flow->raised = now;
	flow->aged = now;
	flow->used = 0;
	if (flow->cut && now - flow->cut < max_t(u64, period, reaction))
		return;
	most = flow->rate - div_u64((u64)flow->rate *
				    verve_cc(params, RP_MIN_DEC_FAC), 100);
	loss = (u64)flow->rate * flow->alpha >> verve_cc(params, RP_GD);
	/*
	 * Recover to the rate before this cut. But if no step followed the last
	 * cut, keep its target, unless rp_clamp_tgt_rate is set.
	 */
	if (verve_cc(params, RP_CLAMP_TGT_RATE) || flow->timed || flow->counted)
		flow->target = flow->rate;
	flow->rate = max(flow->rate - min(loss, most), lowest(params));
	age(flow, verve_cc(params, RP_DCE_TCP_G), true);
	flow->timed = 0;
	flow->counted = 0;
	flow->bytes = 0;
	flow->cut = now;
}

static void age_by_time(struct verve_dcqcn *flow,
			const struct verve_cc_params *params, u32 reaction, u64 now)
{
	u64 period = max_t(u64, verve_cc(params, RP_DCE_TCP_RTT) *
				(u64)NSEC_PER_USEC, reaction);
	u64 passed = div64_u64(now - flow->aged, period);
	u32 i, g = verve_cc(params, RP_DCE_TCP_G);

	for (i = min_t(u64, passed, MOST_AGEINGS); i && flow->alpha; i--)
		age(flow, g, false);
	flow->aged += passed * period;
}

/* Fast recovery, additive increase or hyper increase */
static void raise(struct verve_dcqcn *flow,
		  const struct verve_cc_params *params)
{
	u32 threshold = verve_cc(params, RP_THRESHOLD);
	u32 fewer = min(flow->timed, flow->counted);
	u64 target = flow->target;

	if (fewer > threshold)
		target += (u64)verve_cc(params, RP_HAI_RATE) * KBIT_PER_MBIT *
			  (fewer - threshold);
	else if (max(flow->timed, flow->counted) > threshold)
		target += verve_cc(params, RP_AI_RATE) * KBIT_PER_MBIT;
	flow->target = min_t(u64, target, highest(params));
	/* Round up, so that the rate reaches the maximum. */
	flow->rate = ((u64)flow->rate + flow->target + 1) / 2;
}

static void raise_by_time(struct verve_dcqcn *flow,
			  const struct verve_cc_params *params, u32 reaction,
			  u32 least, u64 now)
{
	u64 period = max_t(u64, verve_cc(params, RP_TIME_RESET) *
				(u64)NSEC_PER_USEC, reaction);

	if (now - flow->raised < period || flow->used < least)
		return;
	/*
	 * Take one step, however long the silence was, because a silent flow has
	 * no evidence for a higher rate.
	 */
	flow->timed++;
	raise(flow, params);
	flow->raised = now;
	flow->used = 0;
}

static void raise_by_bytes(struct verve_dcqcn *flow,
			   const struct verve_cc_params *params, u32 bytes)
{
	u32 i, step = verve_cc(params, RP_BYTE_RESET) * 64;

	flow->bytes = min_t(u64, (u64)flow->bytes + bytes, U32_MAX);
	for (i = 0; i < MOST_STEPS && flow->bytes >= step; i++) {
		flow->bytes -= step;
		flow->counted++;
		raise(flow, params);
	}
}

bool verve_dcqcn_advance(struct verve_dcqcn *flow,
			 const struct verve_cc_params *params, u32 bytes,
			 u32 reaction, u32 least, u64 now)
{
	flow->used = min_t(u64, (u64)flow->used + bytes, U32_MAX);
	age_by_time(flow, params, reaction, now);
	raise_by_time(flow, params, reaction, least, now);
	raise_by_bytes(flow, params, bytes);
	return flow->rate < highest(params);
}

u64 verve_dcqcn_delay(const struct verve_dcqcn *flow, u32 bytes)
{
	/* 8 bits a byte; a rate of 1 kbit/s sends one bit in 10^6 ns */
	return div_u64((u64)bytes * 8 * NSEC_PER_MSEC, flow->rate);
}
