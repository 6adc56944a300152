/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Present values of a device's hw_counters. Other network namespaces do not show
 * them, so they are also read through the file system of init.
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

/* Exits if there are no counters. */
void hwstats_read(struct hwstats *s, const char *device);

/* Return: growth of counter @name, or 0 if it does not exist. */
uint64_t hwstats_growth(const struct hwstats *before,
			const struct hwstats *after, const char *name);

/* Return: growth of counter @name of @device since @before. */
uint64_t hwstats_since(const struct hwstats *before, const char *device,
		       const char *name);

/* Return: growth of all counters whose names begin with @prefix. */
uint64_t hwstats_growth_of(const struct hwstats *before,
			   const struct hwstats *after, const char *prefix);

/* Print the counters that have grown. */
void hwstats_diag(const struct hwstats *before, const struct hwstats *after);

#endif
