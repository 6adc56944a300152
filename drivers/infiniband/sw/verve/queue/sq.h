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
 * @ring: ring of struct rxe_send_wqe, filled by user space; empty for kernel QPs
 * @wqes: private copies: @slots elements of @wqe_size bytes
 * @wqe_size: bytes of a private copy
 * @slots: number of private copies, a power of two
 * @max_wr: capacity in requests
 * @limits: limits of a request
 * @post_lock: kernel QPs: protects @wqes from @head on, and @head; irqsave
 * @head: next copy to fill; all three indices run freely
 * @next: next copy to transmit
 * @tail: oldest copy that has not completed
 * @doomed: number of oldest requests to flush, in any state of the QP
 * @sig_all: each request generates a completion
 *
 * The engine owns @next and @tail. The engine (user QPs) or a poster under
 * @post_lock (kernel QPs) store-releases @head; readers load-acquire it.
 */
struct verve_sq {
	struct verve_ring ring;
	void *wqes;
	u32 wqe_size;
	u32 slots;
	u32 max_wr;
	struct verve_wqe_limits limits;
	spinlock_t post_lock;	/* kernel QPs: @head, and @wqes from there on */
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

/* Return: the head index. All copies before it are complete. */
static inline u32 verve_sq_head(const struct verve_sq *sq)
{
	/* Pairs with the store-release after a copy has been written. */
	return smp_load_acquire(&sq->head);
}

#endif
