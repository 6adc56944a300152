// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive queues.
 *
 * User space posts receives without a system call. The kernel validates a
 * receive when a message consumes it.
 */
#include "lock.h"
#include "rq.h"

static size_t element_size(u32 max_sge)
{
	return struct_size_t(struct rxe_recv_wqe, dma.sge, max_sge);
}

int verve_rq_init(struct verve_rq *rq, u32 max_wr, u32 max_sge,
		  struct ib_ucontext *uctx)
	__context_unsafe(/* nobody else has it yet */)
{
	rq->max_sge = max_sge;
	rq->is_user = uctx;
	verve_lock_init(&rq->lock, rq->is_user);
	return verve_ring_alloc(&rq->ring, max_wr, element_size(max_sge), uctx);
}

void verve_rq_free(struct verve_rq *rq)
	__context_unsafe(/* nobody else has it any more */)
{
	verve_ring_free(&rq->ring);
}

void verve_rq_discard(struct verve_rq *rq)
{
	unsigned long flags = verve_lock(&rq->lock, rq->is_user);

	verve_ring_discard(&rq->ring);
	verve_unlock(&rq->lock, rq->is_user, flags);
}

static int post_one(struct verve_rq *rq, const struct ib_recv_wr *wr)
	__must_hold(&rq->lock)
{
	struct rxe_recv_wqe *wqe;

	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (!verve_ring_peer_room(&rq->ring))
		return -ENOMEM;

	wqe = verve_ring_peer_slot(&rq->ring);
	wqe->wr_id = wr->wr_id;
	wqe->dma.num_sge = wr->num_sge;
	memcpy(wqe->dma.sge, wr->sg_list, wr->num_sge * sizeof(*wr->sg_list));
	verve_ring_peer_advance(&rq->ring);
	return 0;
}

int verve_rq_post(struct verve_rq *rq, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr)
{
	unsigned long flags;
	int err = 0;

	/* Only user space writes to a user's ring. */
	if (rq->is_user) {
		*bad_wr = wr;
		return -EOPNOTSUPP;
	}

	flags = verve_lock(&rq->lock, false);
	for (; wr && !err; wr = err ? wr : wr->next)
		err = post_one(rq, wr);
	verve_unlock(&rq->lock, false, flags);
	if (err)
		*bad_wr = wr;
	return err;
}

/* Read each field once, because user space may change it at any time. */
static int copy_recv(const struct verve_rq *rq, const struct rxe_recv_wqe *wqe,
		     struct verve_recv *recv)
{
	u32 i;

	recv->wr_id = READ_ONCE(wqe->wr_id);
	recv->num_sge = READ_ONCE(wqe->dma.num_sge);
	recv->length = 0;
	recv->is_bad = recv->num_sge > rq->max_sge;
	if (recv->is_bad) {
		recv->num_sge = 0;
		return -EINVAL;
	}
	memcpy(recv->sge, wqe->dma.sge, recv->num_sge * sizeof(*recv->sge));
	for (i = 0; i < recv->num_sge; i++)
		recv->length += recv->sge[i].length;
	return 0;
}

static int fetch(struct verve_rq *rq, struct verve_recv *recv)
	__must_hold(&rq->lock)
{
	int err;

	if (!verve_ring_pending(&rq->ring))
		return -ENOENT;
	err = copy_recv(rq, verve_ring_slot(&rq->ring, 0), recv);
	verve_ring_advance(&rq->ring, 1);
	return err;
}

int verve_rq_fetch(struct verve_rq *rq, struct verve_recv *recv)
{
	unsigned long flags = verve_lock(&rq->lock, rq->is_user);
	int err = fetch(rq, recv);

	verve_unlock(&rq->lock, rq->is_user, flags);
	return err;
}

int verve_srq_fetch(struct verve_srq *srq, struct verve_recv *recv)
{
	struct verve_rq *rq = &srq->rq;
	unsigned long flags = verve_lock(&rq->lock, rq->is_user);
	int err = fetch(rq, recv);

	if (err != -ENOENT && verve_ring_pending(&rq->ring) < srq->limit) {
		srq->limit = 0;
		srq->limit_event = true;
	}
	verve_unlock(&rq->lock, rq->is_user, flags);
	return err;
}
