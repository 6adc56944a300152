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
 * struct verve_recv - private copy of a receive work request
 * @wr_id: the user's work request ID
 * @length: sum of the segments' lengths
 * @num_sge: number of segments
 * @is_bad: the request is malformed
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
 * struct verve_rq - a receive queue of user space or a kernel user
 * @ring: elements are struct rxe_recv_wqe with @max_sge segments
 * @lock: serialises posting (kernel queues), fetching and resizing; irqsave for
 *	kernel queues, _bh for user queues, in two lock classes
 * @max_sge: segments of a work request
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
 * @ibsrq: SRQ of the RDMA core
 * @rq: the queue
 * @limit: IB_EVENT_SRQ_LIMIT_REACHED is due when fewer receives are left; 0: disarmed
 * @limit_event: the event is due, and verve_srq_notify() raises it
 * @srq_num: number that user space gets
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
 * verve_rq_init() - initialise a receive queue and allocate its ring
 * @rq: queue
 * @max_wr: minimum capacity in work requests
 * @max_sge: segments of a work request
 * @uctx: context of the process, or NULL for a kernel queue
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
	/* See above */
	return context_unsafe(verve_ring_capacity(&rq->ring));
}

/* Drop all posted receives without completions. Context: BH off. */
void verve_rq_discard(struct verve_rq *rq);

/**
 * verve_rq_post() - post a list of receives of a kernel user
 * @rq: queue
 * @wr: list of work requests
 * @bad_wr: set to the first work request that was not posted
 *
 * Context: any; interrupts may be off.
 * Return: 0; -ENOMEM when the queue is full; -EINVAL for too many segments;
 * -EOPNOTSUPP for a queue of user space.
 */
int verve_rq_post(struct verve_rq *rq, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);

/**
 * verve_rq_fetch() - consume the next receive
 * @rq: queue
 * @recv: filled with a validated copy
 *
 * Context: BH off.
 * Return: 0; -ENOENT when the queue is empty; -EINVAL when the entry was
 * malformed. A malformed entry is consumed, and @recv->wr_id is valid for its
 * completion.
 */
int verve_rq_fetch(struct verve_rq *rq, struct verve_recv *recv);

/* Like verve_rq_fetch(), from an SRQ. May make the limit event due. */
int verve_srq_fetch(struct verve_srq *srq, struct verve_recv *recv);
/* Return: true if the limit event is due. */
static inline bool verve_srq_is_due(const struct verve_srq *srq)
{
	/* verve_srq_notify() looks again. */
	return context_unsafe(READ_ONCE(srq->limit_event));
}

/*
 * Raise the limit event if it is due. Context: BH off, no lock of Verve held, not in
 * a verb.
 */
void verve_srq_notify(struct verve_srq *srq);

#endif
