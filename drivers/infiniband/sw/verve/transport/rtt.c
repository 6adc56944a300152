// SPDX-License-Identifier: GPL-2.0-only
/* Round-trip times of answers (see rtt.h) */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "rtt.h"

enum {
	/*
	 * First timeout, before any sample, and minimum, because a peer may be
	 * slow at times
	 */
	TIMEOUT_FIRST_NS = 4 * NSEC_PER_MSEC,
	TIMEOUT_MIN_NS	= NSEC_PER_MSEC,
	SAMPLE_MAX_NS	= NSEC_PER_SEC,
	TIMEOUT_MAX_NS	= NSEC_PER_SEC,
	BACKOFF_MAX	= 10,
};

static void take(struct verve_rtt *rtt, u64 ns)
{
	u32 sample = clamp_t(u64, ns, 1, SAMPLE_MAX_NS);
	u32 error;

	rtt->backoff = 0;
	rtt->has_missed = false;
	if (!rtt->smooth) {
		rtt->smooth = sample;
		rtt->deviation = sample / 2;
		return;
	}
	error = sample > rtt->smooth ? sample - rtt->smooth :
				       rtt->smooth - sample;
	rtt->deviation += error / 4 - rtt->deviation / 4;
	rtt->smooth += sample / 8 - rtt->smooth / 8;
}

void verve_rtt_sample(struct verve_rtt *rtt, u64 now)
{
	u64 ns = now - rtt->since;

	rtt->since = 0;
	rtt->latest = clamp_t(u64, ns, 1, SAMPLE_MAX_NS);
	rtt->is_unproven = rtt->is_doubtful;
	if (!rtt->is_doubtful)
		take(rtt, ns);
}

void verve_rtt_sample_repeat(struct verve_rtt *rtt, u64 now)
{
	u64 ns = now - rtt->repeated;

	/* The first copy was only overtaken, and is answered now. */
	if (ns < rtt->smooth / 2)
		return;
	take(rtt, ns);
}

void verve_rtt_late(struct verve_rtt *rtt, u64 now)
{
	u64 least = now - rtt->repeated;

	verve_rtt_too_early(rtt);
	/* The copies cannot have taken so much longer than the first answer. */
	if (least / 2 > rtt->latest)
		rtt->is_unproven = false;
	least = min_t(u64, least, rtt->latest);
	if (!rtt->is_unproven || least <= rtt->smooth)
		return;
	/* Answers come to all copies in turn, and the last one shows most. */
	rtt->smooth = least;
	rtt->deviation = least / 2;
	rtt->backoff = 0;
}

u64 verve_rtt_first_timeout(const struct verve_rtt *rtt)
{
	if (!rtt->smooth)
		return TIMEOUT_FIRST_NS;
	return clamp_t(u64, rtt->smooth + 4ULL * rtt->deviation, TIMEOUT_MIN_NS,
		       TIMEOUT_MAX_NS);
}

u64 verve_rtt_timeout(const struct verve_rtt *rtt)
{
	return min_t(u64, verve_rtt_first_timeout(rtt) << rtt->backoff,
		     TIMEOUT_MAX_NS);
}

void verve_rtt_missed(struct verve_rtt *rtt)
{
	rtt->has_missed = true;
	if (rtt->backoff < BACKOFF_MAX)
		rtt->backoff++;
}
