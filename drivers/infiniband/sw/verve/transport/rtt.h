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
 * @latest: ns: how long the last answer took, with all that was sent again
 * @backoff: how often an answer was missed, less how often one came soon
 * @has_missed: the one that is waited for was
 * @is_doubtful: something was sent again since @since
 */
struct verve_rtt {
	u64 since;
	u32 psn;
	u32 smooth;
	u32 deviation;
	u32 latest;
	u8 backoff;
	bool has_missed;
	bool is_doubtful;
};

/* The packet @psn asks for an answer. @now: ns. One is timed at a time. */
static inline void verve_rtt_start(struct verve_rtt *rtt, u32 psn, u64 now)
{
	rtt->since = now;
	rtt->psn = psn;
	rtt->is_doubtful = false;
}

/*
 * Something is sent again: which of the two is answered cannot be told (Karn), and
 * what comes later is not answered before that.
 */
static inline void verve_rtt_doubt(struct verve_rtt *rtt)
{
	rtt->is_doubtful = true;
}

/*
 * Something was answered, though not timed. If that had been missed before, the path
 * may have become longer: patience is kept then, until an answer can be timed or one
 * comes soon.
 */
static inline void verve_rtt_progress(struct verve_rtt *rtt)
{
	if (rtt->backoff && !rtt->has_missed)
		rtt->backoff--;
	rtt->has_missed = false;
}

/* No answer is timed any more. */
static inline void verve_rtt_cancel(struct verve_rtt *rtt)
{
	rtt->since = 0;
}

/* Answers that were missed no longer make the timeout longer. */
static inline void verve_rtt_forgive(struct verve_rtt *rtt)
{
	rtt->backoff = 0;
}

/* The answer has come. @now: ns */
void verve_rtt_sample(struct verve_rtt *rtt, u64 now);

/* ns after which an answer is missed; longer each time that it was. */
u64 verve_rtt_timeout(const struct verve_rtt *rtt);

/* An answer has been missed. */
void verve_rtt_missed(struct verve_rtt *rtt);

#endif
