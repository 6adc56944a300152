/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Round-trip times of answers, and the retransmission timeout: TCP's algorithm
 * (RFC 6298), from microseconds up. Pure functions, without locks and clocks.
 */
#ifndef VERVE_TRANSPORT_RTT_H
#define VERVE_TRANSPORT_RTT_H

#include <linux/types.h>

/**
 * struct verve_rtt - estimate of the time that answers take
 * @since: time in ns when the timed packet was sent; 0 if none is timed
 * @psn: PSN of that packet
 * @smooth: average in ns; 0 before the first sample
 * @deviation: mean deviation from the average in ns
 * @latest: time in ns of the last answer, including retransmissions
 * @backoff: number of missed answers, less the number of prompt ones
 * @has_missed: the current answer has been missed
 * @has_late: an answer has come twice, or the one that was missed, late. So a copy was
 *	sent too early
 * @is_doubtful: packets have been sent again since @since
 * @is_unproven: the last answer was doubtful, and took at most @latest
 * @repeated: time in ns when packets were last sent again
 */
struct verve_rtt {
	u64 since;
	u32 psn;
	u32 smooth;
	u32 deviation;
	u32 latest;
	u8 backoff;
	bool has_missed;
	bool has_late;
	bool is_doubtful;
	bool is_unproven;
	u64 repeated;
};

/* Time the answer to packet @psn. @now: ns. One answer is timed at a time. */
static inline void verve_rtt_start(struct verve_rtt *rtt, u32 psn, u64 now)
{
	rtt->since = now;
	rtt->psn = psn;
	rtt->is_doubtful = false;
}

/*
 * Packets are sent again. The answer may be to either copy (Karn), and later
 * packets are not answered before it. @now: ns
 */
static inline void verve_rtt_doubt(struct verve_rtt *rtt, u64 now)
{
	rtt->is_doubtful = true;
	rtt->repeated = now;
}

/* A packet went again too early: its answer came twice, or late after the repeat. */
static inline void verve_rtt_too_early(struct verve_rtt *rtt)
{
	rtt->has_late = true;
}

/*
 * An answer came that was not timed, some time ago. If a missed answer came twice in the
 * end, or late, the path may have become longer, and the backoff stays until an answer is
 * timed or comes promptly. Otherwise a packet was lost, which says nothing of the path.
 */
static inline void verve_rtt_progress(struct verve_rtt *rtt)
{
	if (rtt->has_missed && !rtt->has_late)
		rtt->backoff = 0;
	else if (rtt->backoff && !rtt->has_missed)
		rtt->backoff--;
	rtt->has_missed = false;
	rtt->has_late = false;
}

/* Time no answer. */
static inline void verve_rtt_cancel(struct verve_rtt *rtt)
{
	rtt->since = 0;
}

/* Clear the backoff of missed answers. */
static inline void verve_rtt_forgive(struct verve_rtt *rtt)
{
	rtt->backoff = 0;
}

/* Take the sample when the answer arrives. @now: ns */
void verve_rtt_sample(struct verve_rtt *rtt, u64 now);

/*
 * The answer came to packets that the peer had asked for, and that were sent again once.
 * It is not to their first copies, unless it comes too early. @now: ns
 */
void verve_rtt_sample_repeat(struct verve_rtt *rtt, u64 now);

/*
 * An answer to a copy of packets that were sent again, after a doubtful one. It took no
 * less than the time since the last copy. @now: ns
 */
void verve_rtt_late(struct verve_rtt *rtt, u64 now);

/* Return: timeout in ns of an answer, as if none had been missed before. */
u64 verve_rtt_first_timeout(const struct verve_rtt *rtt);

/* Return: timeout in ns, which grows with each missed answer. */
u64 verve_rtt_timeout(const struct verve_rtt *rtt);

/* Note a missed answer. */
void verve_rtt_missed(struct verve_rtt *rtt);

#endif
