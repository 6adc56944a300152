/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Send queues
 */
#ifndef VERVE_QUEUE_SQ_H
#define VERVE_QUEUE_SQ_H

#include <linux/spinlock.h>
#include "ring.h"
#include "wqe.h"

/**
 * struct verve_sq - a send queue
 * @ring: the user's ring of struct rxe_send_wqe; absent for kernel QPs
 * @wqes: private copies, @slots of @wqe_size bytes
 * @wqe_size: bytes
 * @slots: power of two
 * @max_wr: entries
 * @limits: what a request may be
 * @post_lock: kernel QPs: filling @wqes and moving @head; irqsave
 * @head: next copy to be filled; free running, as the others
 * @next: next copy to be transmitted
 * @tail: oldest copy that has not completed
 * @doomed: of the oldest, so many are to be flushed, whatever the state is
 * @sig_all: every request completes with a CQE
 *
 * @next and @tail belong to the engine; @head is written by the engine (user
 * QPs) or under @post_lock and read with acquire.
 */
struct verve_sq {
	struct verve_ring ring;
	void *wqes;
	u32 wqe_size;
	u32 slots;
	u32 max_wr;
	struct verve_wqe_limits limits;
	spinlock_t post_lock;	/* kernel QPs: @wqes beyond @head */
	u32 head;
	u32 next;
	u32 tail;
	u32 doomed;
	bool sig_all;
};

static inline struct verve_swqe *verve_sq_at(const struct verve_sq *sq, u32 i)
{
	return sq->wqes + (size_t)(i & (sq->slots - 1)) * sq->wqe_size;
}

/* What lies before it has been written completely. */
static inline u32 verve_sq_head(const struct verve_sq *sq)
{
	/* Pairs with the release by whoever wrote the copy */
	return smp_load_acquire(&sq->head);
}

#endif
