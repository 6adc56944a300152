/* SPDX-License-Identifier: GPL-2.0-only */
/* Waiting for completions, events and memory, with deadlines */
#ifndef SELFTESTS_WC_H
#define SELFTESTS_WC_H

#include <stdbool.h>
#include "ends.h"

/*
 * Time that a test waits for what must come, and for what must not come. The first
 * may be long, because only a failing test waits so long.
 */
#define WAIT_MS		wait_ms()
#define QUIET_MS	30

/* Return: 10 seconds, SLOW times as many on a slow machine (see verve.sh). */
unsigned int wait_ms(void);

/* Return: milliseconds of a monotonic clock. */
uint64_t now_ms(void);

/* The end of a wait: the time left, and when the clock was last looked at */
struct deadline {
	uint64_t left, at;
};

struct deadline deadline_in(unsigned int ms);

/*
 * A virtual machine may stand still, and nothing has happened in all that time when it
 * goes on. So look often: a step of many seconds does not count in full.
 */
bool is_past(struct deadline *end);

/* Return: true if a completion came within @ms. */
bool poll_within(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms);

static inline bool poll_one(struct ibv_cq *cq, struct ibv_wc *wc)
{
	return poll_within(cq, wc, WAIT_MS);
}

/* Return: true if the next completion is that of @wr_id, with @status. */
bool expect_wc(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status);

/* Return: true if no completion comes for QUIET_MS. */
bool expect_none(struct ibv_cq *cq);

/* Return: true if @from to @to - 1 are flushed, in order, and nothing follows. */
bool expect_flushed(struct ibv_cq *cq, int from, int to);

/* Return: true if @size bytes at @got become those at @want within WAIT_MS. */
bool memory_becomes(const void *got, const void *want, size_t size);

/* Get and acknowledge a completion event. Return: true if one came within @ms. */
bool event_within(struct ibv_comp_channel *chan, unsigned int ms);

/*
 * Wait for asynchronous event @type and drop others.
 * Return: true if the event came within @ms.
 */
bool async_within(struct end *end, enum ibv_event_type type, unsigned int ms);

/* Get and acknowledge all pending asynchronous events. */
void async_drain(struct end *end);

#endif
