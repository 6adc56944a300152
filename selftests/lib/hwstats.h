/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device's hw_counters, as they are at the moment. They are looked for in init's
 * file system too, since other network namespaces do not show them.
 */
#ifndef SELFTESTS_HWSTATS_H
#define SELFTESTS_HWSTATS_H

#include <stdint.h>

#define MOST_HWSTATS 80

struct hwstats {
	unsigned int n;
	struct {
		char name[40];
		uint64_t value;
	} of[MOST_HWSTATS];
};

/* Ends the program if there are none. */
void hwstats_read(struct hwstats *s, const char *device);

/* By how much @name has grown; 0 if there is no such counter. */
uint64_t hwstats_growth(const struct hwstats *before,
			const struct hwstats *after, const char *name);

/* Those whose names begin with @prefix, all together */
uint64_t hwstats_growth_of(const struct hwstats *before,
			   const struct hwstats *after, const char *prefix);

/* Says what has grown. */
void hwstats_diag(const struct hwstats *before, const struct hwstats *after);

#endif
