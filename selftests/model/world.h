/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A world of simulated time and reproducible chance: what happens in a run
 * depends on its seed and on nothing else.
 */
#ifndef MODEL_WORLD_H
#define MODEL_WORLD_H

#include <kernel.h>

#define US	1000ULL
#define MS	(1000 * US)

/* Begin anew. Whatever was to happen is forgotten. */
void world_begin(u64 seed);
/* Nanoseconds since then; never 0, which means "never" to the transport. */
u64 world_now(void);
/* Have @call(@arg) called in @ns. Two at the same time: in this order. */
void world_after(u64 ns, void (*call)(void *arg), void *arg);
/* Likewise; @arg is from malloc() and is freed if it never comes to that. */
void world_after_owned(u64 ns, void (*call)(void *arg), void *arg);
/* The next thing happens. Return: false when there is nothing left. */
bool world_step(void);
/* Free what it needs. */
void world_end(void);

/* 0 .. @n - 1; 0 when @n is 0 */
u32 dice(u32 n);
/* @lo .. @hi */
u32 between(u32 lo, u32 hi);
/* In one of so many cases */
static inline bool one_in(u32 n)
{
	return n && !dice(n);
}

/* So many times in 1000 */
static inline bool permille(u32 n)
{
	return dice(1000) < n;
}

/* The run has shown a fault. Does not return. */
__attribute__((format(printf, 1, 2), noreturn))
void broken(const char *fmt, ...);

#define expect(cond, fmt, ...) \
	((cond) ? (void)0 : broken("%s: " fmt, #cond, ##__VA_ARGS__))

#endif
