/* SPDX-License-Identifier: GPL-2.0-only */
/* Chance that can be repeated: each thread has dice of its own. */
#ifndef SELFTESTS_DICE_H
#define SELFTESTS_DICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dice {
	uint64_t state;
};

/* The number in the variable SEED; another one each time if there is none. */
uint64_t dice_seed(void);

/* Dice number @which of that seed */
struct dice dice_of(uint64_t seed, uint64_t which);

uint64_t dice_any(struct dice *d);

/* A number below @sides */
uint32_t dice_roll(struct dice *d, uint32_t sides);

static inline bool dice_one_in(struct dice *d, uint32_t n)
{
	return !dice_roll(d, n);
}

#define dice_pick(d, array) \
	((array)[dice_roll(d, sizeof(array) / sizeof((array)[0]))])

/* A value that is wrong in a place where programs do not look: 0, -1, limits */
uint64_t dice_edge(struct dice *d);

#endif
