// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting to queue pairs
 */
#include <net/rps.h>
#include "../transport/transport.h"
#include "ah.h"
#include "qp.h"

/* Whoever posts does not have the engine: as it was a moment ago. */
static enum ib_qp_state state_of(const struct verve_qp *qp)
{
	return context_unsafe(READ_ONCE(qp->state));
}

/* Before RTS the verbs refuse at once (11.4.1.1); later everything completes. */
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
 * A user's doorbell: the requests are in the ring. Those that are refused must
 * not wait there for a better state.
 */
static int ring_doorbell(struct verve_qp *qp)
{
	/* Where RFS is on, packets go to the CPU of who waits for them. */
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

	/* A slot is free when the engine has let go of what was in it */
	if (sq->head - smp_load_acquire(&sq->tail) >= sq->max_wr)
		return -ENOMEM;
	err = verve_wqe_from_kernel(&sq->limits, wr, ah_number(qp, wr),
				    verve_sq_at(sq, sq->head));
	if (err)
		return err;
	/* The copy before its index: see verve_sq_head() */
	smp_store_release(&sq->head, sq->head + 1);
	return err;
}

/**
 * verve_post_send() - post requests, or a user's doorbell
 * @ibqp: QP
 * @wr: list; NULL for a doorbell
 * @bad_wr: the first that was not taken
 *
 * Context: any for kernel QPs, also with interrupts off; process for users'.
 * Return: 0; -EINVAL, also in a state that takes no requests; -ENOMEM when the queue
 * is full.
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
 * @wr: list
 * @bad_wr: the first that was not taken
 *
 * Context: any, also with interrupts off.
 * Return: 0; -EINVAL, also in the Reset state; -ENOMEM when the queue is full.
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
	/* A dead QP's receives come back flushed. */
	if (state_of(qp) == IB_QPS_ERR)
		verve_engine_kick(qp, VERVE_EV_DOORBELL);
	return err;
}
