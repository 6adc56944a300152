/* SPDX-License-Identifier: GPL-2.0-only */
/* Waiting, always with a deadline: completions, events, memory. */
#ifndef SELFTESTS_WC_H
#define SELFTESTS_WC_H

#include <stdbool.h>
#include "ends.h"

/*
 * How long a test waits for what must come, and for what must not come.
 * The first may be long, for only a failing test waits it out.
 */
#define WAIT_MS		10000
#define QUIET_MS	30

/* Milliseconds of a clock that only goes forward. */
uint64_t now_ms(void);

/* Return: whether one completion came within @ms. */
bool poll_within(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms);

static inline bool poll_one(struct ibv_cq *cq, struct ibv_wc *wc)
{
	return poll_within(cq, wc, WAIT_MS);
}

/* Return: whether the next completion is @wr_id with @status. */
bool expect_wc(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status);

/* Return: whether no completion comes for QUIET_MS. */
bool expect_none(struct ibv_cq *cq);

/* Return: whether @size bytes at @got become those at @want in time. */
bool memory_becomes(const void *got, const void *want, size_t size);

/* Return: whether a completion event comes within @ms; it is acknowledged. */
bool event_within(struct ibv_comp_channel *chan, unsigned int ms);

/*
 * Waits for asynchronous event @type, dropping others.
 * Return: whether it came within @ms.
 */
bool async_within(struct end *end, enum ibv_event_type type, unsigned int ms);

/* Takes and acknowledges all asynchronous events there are. */
void async_drain(struct end *end);

#endif
