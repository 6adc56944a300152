/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DCQCN: how fast a flow may send whose receiver has told of congestion (Zhu et
 * al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015; the
 * scheme of QCN, IEEE 802.1Qau). Values in, values out; no locks, no clock.
 */
#ifndef VERVE_TRANSPORT_DCQCN_H
#define VERVE_TRANSPORT_DCQCN_H

#include <linux/types.h>
#include "../cc_params.h"

/* What a parameter is at first, and between what it may be. */
struct verve_cc_limit {
	u32 initial;
	u32 least;
	u32 most;
};

extern const struct verve_cc_limit verve_cc_limits[VERVE_NUM_CC_PARAMS];

/**
 * struct verve_dcqcn - a flow that is held back
 * @rate: kbit/s that it may send
 * @target: kbit/s that it tries to get back to
 * @alpha: 1/1024: how bad congestion has been lately
 * @bytes: sent since the last step by bytes
 * @used: sent since the last step by time, or CNP
 * @timed: steps by time since the last CNP
 * @counted: and by bytes
 * @cut: ns: when the rate was last cut
 * @aged: ns: when alpha was last made smaller
 * @raised: ns: when the last step by time was taken
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
 * verve_dcqcn_begin() - the first CNP: from here on the flow is held back
 * @flow: to be filled
 * @params: of the port
 * @rate: kbit/s that it has been sending with
 * @now: ns
 */
void verve_dcqcn_begin(struct verve_dcqcn *flow,
		       const struct verve_cc_params *params, u32 rate, u64 now);

/**
 * verve_dcqcn_cut() - a CNP
 * @flow: begun
 * @params: of the port
 * @reaction: ns until a cut shows; CNPs within are of one congestion
 * @now: ns
 */
void verve_dcqcn_cut(struct verve_dcqcn *flow,
		     const struct verve_cc_params *params, u32 reaction, u64 now);

/**
 * verve_dcqcn_advance() - time has passed, and bytes were sent, without a CNP
 * @flow: begun
 * @params: of the port
 * @bytes: sent since the last call
 * @reaction: ns until a step shows: none by time is taken sooner
 * @least: bytes that must have been sent since the last one: who does not use the rate
 *	that he has does not learn that he could have more
 * @now: ns
 *
 * Return: false when the flow needs no holding back any more.
 */
bool verve_dcqcn_advance(struct verve_dcqcn *flow,
			 const struct verve_cc_params *params, u32 bytes,
			 u32 reaction, u32 least, u64 now);

/* ns that @bytes take at the flow's rate. */
u64 verve_dcqcn_delay(const struct verve_dcqcn *flow, u32 bytes);

#endif
