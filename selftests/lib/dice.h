/* SPDX-License-Identifier: GPL-2.0-only */
/* Repeatable random numbers, with a generator for each thread */
#ifndef SELFTESTS_DICE_H
#define SELFTESTS_DICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dice {
	uint64_t state;
};

/* Return: the variable SEED, or without it a new number each time. */
uint64_t dice_seed(void);

/* Return: generator number @which of a seed. */
struct dice dice_of(uint64_t seed, uint64_t which);

uint64_t dice_any(struct dice *d);

/* Return: a number below @sides. */
uint32_t dice_roll(struct dice *d, uint32_t sides);

static inline bool dice_one_in(struct dice *d, uint32_t n)
{
	return !dice_roll(d, n);
}

#define dice_pick(d, array) \
	((array)[dice_roll(d, sizeof(array) / sizeof((array)[0]))])

/* Return: a value at a limit, such as 0 or -1, that programs often handle wrong. */
uint64_t dice_edge(struct dice *d);

#endif
