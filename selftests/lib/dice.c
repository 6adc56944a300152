// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "dice.h"

uint64_t dice_seed(void)
{
	const char *seed = getenv("SEED");
	struct timespec t;

	if (seed && *seed)
		return strtoull(seed, NULL, 0);
	clock_gettime(CLOCK_REALTIME, &t);
	return (t.tv_sec * 1000003ull + t.tv_nsec) & 0xffffffff;
}

struct dice dice_of(uint64_t seed, uint64_t which)
{
	struct dice d = { seed * 0x9e3779b97f4a7c15ull + which };

	dice_any(&d);
	return d;
}

/* A Weyl sequence, mixed */
uint64_t dice_any(struct dice *d)
{
	uint64_t x = d->state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

uint32_t dice_roll(struct dice *d, uint32_t sides)
{
	return (dice_any(d) >> 32) * sides >> 32;
}

uint64_t dice_edge(struct dice *d)
{
	static const uint64_t edges[] = {
		0, 1, 2, 7, 64, 4095, 4096, 65535, 0x7fffffff, 0x80000000,
		0xffffffff, 0x100000000, 1ull << 63, -1ull, -2ull, -4096ull,
	};

	return dice_one_in(d, 4) ? dice_any(d) : dice_pick(d, edges);
}
