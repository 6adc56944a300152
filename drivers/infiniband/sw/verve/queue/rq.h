/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Receive queues: a QP's own, and shared ones (SRQ)
 */
#ifndef VERVE_QUEUE_RQ_H
#define VERVE_QUEUE_RQ_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include "../limits.h"
#include "../memory/iter.h"
#include "ring.h"

/**
 * struct verve_recv - a receive work request, private copy
 * @wr_id: the user's
 * @length: sum of the segments
 * @num_sge: of @sge
 * @is_bad: it is malformed
 * @sge: segments
 */
struct verve_recv {
	u64 wr_id;
	u64 length;
	u32 num_sge;
	bool is_bad;
	struct verve_sge sge[VERVE_MAX_SGE];
};

/**
 * struct verve_rq - ring of struct rxe_recv_wqe, user's or kernel's
 * @ring: elements are struct rxe_recv_wqe with @max_sge segments
 * @lock: posting (kernel queues), fetching, resizing. irqsave for kernel
 *	queues, _bh for user queues: two lock classes
 * @max_sge: per work request
 * @is_user: user space is the producer
 * @exists: false when the QP uses an SRQ
 */
struct verve_rq {
	struct verve_ring ring __guarded_by(&lock);
	spinlock_t lock; /* the ring */
	u32 max_sge;
	bool is_user;
	bool exists;
};

/**
 * struct verve_srq - a shared receive queue
 * @ibsrq: what the core knows
 * @rq: the queue
 * @limit: IB_EVENT_SRQ_LIMIT_REACHED is due when fewer are left; 0: disarmed
 * @limit_event: due; verve_srq_notify() raises it
 * @srq_num: what user space is told
 */
struct verve_srq {
	struct ib_srq ibsrq;
	struct verve_rq rq;
	u32 limit __guarded_by(&rq.lock);
	bool limit_event __guarded_by(&rq.lock);
	u32 srq_num;
};

static inline struct verve_srq *to_vsrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct verve_srq, ibsrq);
}

/**
 * verve_rq_init() - make a receive queue
 * @rq: queue
 * @max_wr: entries it must hold
 * @max_sge: segments per entry
 * @uctx: NULL for the kernel's
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int verve_rq_init(struct verve_rq *rq, u32 max_wr, u32 max_sge,
		  struct ib_ucontext *uctx);
void verve_rq_free(struct verve_rq *rq);
/* Entries that it can hold; of an SRQ that is resized, a moment ago. Any context. */
static inline u32 verve_rq_capacity(const struct verve_rq *rq)
{
	return context_unsafe(verve_ring_capacity(&rq->ring));
}

/* Forget what has been posted. Context: BH off. */
void verve_rq_discard(struct verve_rq *rq);

/**
 * verve_rq_post() - kernel users: add a list of receives
 * @rq: queue
 * @wr: list
 * @bad_wr: set to the first that was not added
 *
 * Context: any, interrupts may be off.
 * Return: 0; -ENOMEM when it is full; -EINVAL for too many segments;
 * -EOPNOTSUPP when user space owns it.
 */
int verve_rq_post(struct verve_rq *rq, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);

/**
 * verve_rq_fetch() - take the next receive
 * @rq: queue
 * @recv: filled with a validated copy
 *
 * Context: BH off.
 * Return: 0; -ENOENT when the queue is empty; -EINVAL when the entry is
 * malformed: it is consumed, and @recv->wr_id is valid for the completion.
 */
int verve_rq_fetch(struct verve_rq *rq, struct verve_recv *recv);

/* The same from an SRQ; may make the limit event due. */
int verve_srq_fetch(struct verve_srq *srq, struct verve_recv *recv);
/* Is the limit event due? */
static inline bool verve_srq_is_due(const struct verve_srq *srq)
{
	return context_unsafe(READ_ONCE(srq->limit_event));
}

/*
 * Raise the limit event if it is due. Context: BH off, no Verve lock held, not within
 * a call of the core's.
 */
void verve_srq_notify(struct verve_srq *srq);

#endif
