/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DCQCN: sending rate of a flow after its receiver has reported congestion (Zhu
 * et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015;
 * the scheme of QCN, IEEE 802.1Qau). Pure functions, without locks and clocks.
 */
#ifndef VERVE_TRANSPORT_DCQCN_H
#define VERVE_TRANSPORT_DCQCN_H

#include <linux/types.h>
#include "../cc_params.h"

/* Initial value of a parameter, and its range */
struct verve_cc_limit {
	u32 initial;
	u32 least;
	u32 most;
};

extern const struct verve_cc_limit verve_cc_limits[VERVE_NUM_CC_PARAMS];

/**
 * struct verve_dcqcn - a flow with limited rate
 * @rate: rate limit in kbit/s
 * @target: rate in kbit/s to which the flow recovers
 * @alpha: estimate of recent congestion, in 1/1024
 * @bytes: bytes sent since the last step by bytes
 * @used: bytes sent since the last step by time, or CNP
 * @timed: steps by time since the last CNP
 * @counted: steps by bytes since the last CNP
 * @cut: time in ns of the last rate cut
 * @aged: time in ns of the last decrease of alpha, or CNP
 * @raised: time in ns of the last step by time, or CNP
 */
struct verve_dcqcn {
	u32 rate;
	u32 target;
	u32 alpha;
	u32 bytes;
	u32 used;
	u32 timed;
	u32 counted;
	u64 cut;
	u64 aged;
	u64 raised;
};

/**
 * verve_dcqcn_begin() - begin to limit a flow, at its first CNP
 * @flow: flow to be initialised
 * @params: parameters of the port
 * @rate: present rate in kbit/s
 * @now: ns
 */
void verve_dcqcn_begin(struct verve_dcqcn *flow,
		       const struct verve_cc_params *params, u32 rate, u64 now);

/**
 * verve_dcqcn_cut() - cut the rate for a CNP
 * @flow: limited flow
 * @params: parameters of the port
 * @reaction: ns until a cut has effect; CNPs within that time are of one
 *	congestion
 * @now: ns
 */
void verve_dcqcn_cut(struct verve_dcqcn *flow,
		     const struct verve_cc_params *params, u32 reaction, u64 now);

/**
 * verve_dcqcn_advance() - raise the rate for time and bytes without a CNP
 * @flow: limited flow
 * @params: parameters of the port
 * @bytes: bytes sent since the last call
 * @reaction: ns until a step has effect; no step by time comes sooner
 * @least: bytes that must have been sent since the last step, because a flow that
 *	does not use its rate cannot show that a higher one is safe
 * @now: ns
 *
 * Return: false if the flow needs no limit any more.
 */
bool verve_dcqcn_advance(struct verve_dcqcn *flow,
			 const struct verve_cc_params *params, u32 bytes,
			 u32 reaction, u32 least, u64 now);

/* Return: time in ns that @bytes take at the flow's rate. */
u64 verve_dcqcn_delay(const struct verve_dcqcn *flow, u32 bytes);

#endif
