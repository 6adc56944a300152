// SPDX-License-Identifier: GPL-2.0-only
/* Trust in a device that segments (see trust.h) */
#include <linux/jiffies.h>
#include <linux/typecheck.h>
#include "../wire/psn.h"
#include "trust.h"

enum {
	/* As for USO (uso.c) */
	MOST_FAILURES = 8,
};

/* After this time, one burst is tried. */
#define PAUSE	(10 * HZ)

static u32 end_of(const struct verve_trust *trust)
{
	return verve_psn_add(trust->first, trust->packets);
}

bool verve_trust_allows(const struct verve_trust *trust, unsigned long now)
{
	return likely(!trust->barred_until) ||
	       (time_after_eq(now, trust->barred_until) && !trust->packets);
}

void verve_trust_watch(struct verve_trust *trust, u32 first, u32 packets)
{
	if (trust->packets && packets <= trust->length)
		return;
	trust->first = first;
	trust->packets = packets;
	trust->length = packets;
}

bool verve_trust_is_in_doubt(const struct verve_trust *trust, u32 una)
{
	s32 left = verve_psn_diff(end_of(trust), una);

	return trust->packets && left > 0 && left < trust->length;
}

void verve_trust_repeated(struct verve_trust *trust, u32 end)
{
	s32 repeated = verve_psn_diff(end, trust->first);

	if (!trust->packets || repeated <= 0)
		return;
	if (repeated >= trust->packets) {
		trust->packets = 0;
		return;
	}
	trust->first = end;
	trust->packets -= repeated;
}

void verve_trust_acknowledged(struct verve_trust *trust, u32 una)
{
	if (trust->packets && !verve_psn_before(una, end_of(trust)))
		*trust = (struct verve_trust) {};
}

bool verve_trust_lost(struct verve_trust *trust, u32 una, unsigned long now)
{
	bool is_first = !trust->barred_until;

	if (!trust->packets || verve_psn_before(una, trust->first) ||
	    !verve_psn_before(una, end_of(trust)))
		return false;
	trust->packets = 0;
	if (trust->failures < MOST_FAILURES)
		trust->failures++;
	if (trust->failures < MOST_FAILURES)
		return false;
	/* 0 stands for "not barred". */
	trust->barred_until = (now + PAUSE) | 1;
	return is_first;
}
