/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long an answer takes, and how long to wait before one is missed: as TCP
 * does it (RFC 6298), from microseconds up. Values in, values out; no locks,
 * no clock.
 */
#ifndef VERVE_TRANSPORT_RTT_H
#define VERVE_TRANSPORT_RTT_H

#include <linux/types.h>

/**
 * struct verve_rtt - what is known of the time that answers take
 * @since: ns: when the packet was sent that is being timed; 0: none is
 * @psn: of that packet
 * @smooth: ns: average; 0: nothing is known yet
 * @deviation: ns: from that
 * @backoff: how often in a row an answer was missed
 */
struct verve_rtt {
	u64 since;
	u32 psn;
	u32 smooth;
	u32 deviation;
	u8 backoff;
};

/* The packet @psn asks for an answer. @now: ns. One is timed at a time. */
static inline void verve_rtt_start(struct verve_rtt *rtt, u32 psn, u64 now)
{
	rtt->since = now;
	rtt->psn = psn;
}

/* Something was sent again: whose answer comes next cannot be told (Karn). */
static inline void verve_rtt_forget(struct verve_rtt *rtt)
{
	rtt->since = 0;
}

/* The answer has come. @now: ns */
void verve_rtt_sample(struct verve_rtt *rtt, u64 now);

/* ns after which an answer is missed; longer each time that it was. */
u64 verve_rtt_timeout(const struct verve_rtt *rtt);

/* An answer has been missed. */
void verve_rtt_missed(struct verve_rtt *rtt);

#endif
