// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting to queue pairs
 */
#include <net/rps.h>
#include "../transport/transport.h"
#include "ah.h"
#include "qp.h"

/*
 * A poster does not hold the engine's lock: the state may be about to change. The
 * engine completes whatever is posted too late.
 */
static enum ib_qp_state state_of(const struct verve_qp *qp)
{
	/* See above */
	return context_unsafe(READ_ONCE(qp->state));
}

/* Before RTS, verbs refuse requests (11.4.1.1). Afterwards each request completes. */
static bool takes_sends(const struct verve_qp *qp)
{
	switch (state_of(qp)) {
	case IB_QPS_RESET:
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		return false;
	default:
		return true;
	}
}

/*
 * Doorbell of a user, who has put requests into the ring. A QP that refuses them
 * must drop them, or it would execute them in RTS.
 */
static int ring_doorbell(struct verve_qp *qp)
{
	/* RFS steers packets to the CPU of the program that waits for them. */
	sock_rps_record_flow_hash(READ_ONCE(qp->rx_hash));
	if (takes_sends(qp)) {
		verve_engine_kick(qp, VERVE_EV_DOORBELL);
		return 0;
	}
	verve_engine_lock(qp);
	if (!takes_sends(qp))
		verve_ring_discard(&qp->sq.ring);
	verve_engine_unlock(qp);
	return -EINVAL;
}

static u32 ah_number(const struct verve_qp *qp, const struct ib_send_wr *wr)
{
	const struct ib_ah *ah = NULL;

	if (!verve_qp_is_connected(qp))
		ah = ud_wr(wr)->ah;
	return ah ? container_of(ah, const struct verve_ah, ibah)->num : 0;
}

static int post_one(struct verve_qp *qp, const struct ib_send_wr *wr)
	__must_hold(&qp->sq.post_lock)
{
	struct verve_sq *sq = &qp->sq;
	int err;

	/* The acquire pairs with the engine's release of a completed request. */
	if (sq->head - smp_load_acquire(&sq->tail) >= sq->max_wr)
		return -ENOMEM;
	err = verve_wqe_from_kernel(&sq->limits, wr, ah_number(qp, wr),
				    verve_sq_at(sq, sq->head));
	if (err)
		return err;
	/* Publish the copy. Pairs with verve_sq_head(). */
	smp_store_release(&sq->head, sq->head + 1);
	return err;
}

/**
 * verve_post_send() - post requests of a kernel user, or ring a user's doorbell
 * @ibqp: QP
 * @wr: list of work requests; NULL for a doorbell
 * @bad_wr: set to the first work request that was not posted
 *
 * Context: any for kernel QPs, interrupts may be off; process for user QPs.
 * Return: 0; -EINVAL for a bad request, or before RTS; -ENOMEM when the queue is full.
 */
int verve_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr)
{
	struct verve_qp *qp = to_vqp(ibqp);
	unsigned long flags;
	int err = 0;

	if (qp->is_user)
		return ring_doorbell(qp);
	if (!takes_sends(qp)) {
		*bad_wr = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->sq.post_lock, flags);
	for (; wr && !err; wr = err ? wr : wr->next)
		err = post_one(qp, wr);
	spin_unlock_irqrestore(&qp->sq.post_lock, flags);
	if (err)
		*bad_wr = wr;
	verve_engine_kick(qp, VERVE_EV_DOORBELL);
	return err;
}

/**
 * verve_post_recv() - post receives of a kernel user
 * @ibqp: QP
 * @wr: list of work requests
 * @bad_wr: set to the first work request that was not posted
 *
 * Context: any; interrupts may be off.
 * Return: 0; -EINVAL for a bad request, for a QP with an SRQ, or in the Reset state;
 * -ENOMEM when the queue is full.
 */
int verve_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	struct verve_qp *qp = to_vqp(ibqp);
	int err;

	if (!qp->rq.exists || qp->is_user || state_of(qp) == IB_QPS_RESET) {
		*bad_wr = wr;
		return -EINVAL;
	}
	err = verve_rq_post(&qp->rq, wr, bad_wr);
	/* The engine of a QP in the error state flushes the receives. */
	if (state_of(qp) == IB_QPS_ERR)
		verve_engine_kick(qp, VERVE_EV_DOORBELL);
	return err;
}
