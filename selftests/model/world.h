/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Simulated time and reproducible randomness: a run depends on its seed and nothing else.
 */
#ifndef MODEL_WORLD_H
#define MODEL_WORLD_H

#include <kernel.h>

#define US	1000ULL
#define MS	(1000 * US)

/* Begin a run with an empty heap of events. */
void world_begin(u64 seed);
/* Nanoseconds since the beginning; never 0, which the transport reads as "never". */
u64 world_now(void);
/* Call @call(@arg) in @ns. Calls at the same time keep this order. */
void world_after(u64 ns, void (*call)(void *arg), void *arg);
/* Likewise; @arg is from malloc(), and is freed if the call never happens. */
void world_after_owned(u64 ns, void (*call)(void *arg), void *arg);
/* Run the next event. Return: false when none is left. */
bool world_step(void);
/* Free all memory of the world. */
void world_end(void);

/* A random number from 0 to @n - 1; 0 when @n is 0 */
u32 dice(u32 n);
/* A random number from @lo to @hi */
u32 between(u32 lo, u32 hi);
/* True in one of @n cases */
static inline bool one_in(u32 n)
{
	return n && !dice(n);
}

/* True in @n of 1000 cases */
static inline bool permille(u32 n)
{
	return dice(1000) < n;
}

/* Report a fault and abort the run. Does not return. */
__attribute__((format(printf, 1, 2), noreturn))
void broken(const char *fmt, ...);

#define expect(cond, fmt, ...) \
	((cond) ? (void)0 : broken("%s: " fmt, #cond, ##__VA_ARGS__))

#endif
