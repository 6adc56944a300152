// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engine of a QP that is offloaded to a NIC (see rc.h)
 */
#include <linux/jiffies.h>
#include <rdma/roce_offload_rc.h>
#include "../../transport/outstanding.h"
#include "../../transport/transport.h"
#include "../../wire/psn.h"
#include "device.h"
#include "events.h"
#include "rc.h"

enum {
	/* Outstanding PSNs that a NIC may have */
	MOST_PSNS	= 1 << 20,
	/* ms after the offload in which packets may still reach software */
	GRACE		= 50,
};

void verve_rc_offload_ask_return(struct verve_rc_offload *rc)
{
	if (!test_and_set_bit(0, &rc->return_asked))
		queue_work(rc->qp->dev->nic_wq, &rc->work);
}

static bool is_supported(const struct verve_swqe *wqe)
{
	switch (wqe->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		return !wqe->error;
	default:
		return false;
	}
}

/*
 * Check the local memory of a request. The NIC itself checks that it knows the regions.
 * A READ with max_rd_atomic 0 fails, which is left to software.
 */
static bool is_allowed(const struct verve_qp *qp, const struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	bool is_read = wqe->opcode == IB_WR_RDMA_READ;
	int access = is_read ? IB_ACCESS_LOCAL_WRITE : 0;

	if (is_read && !qp->attr.max_rd_atomic)
		return false;
	return wqe->is_inline ||
	       !verve_sges_check(qp->dev, qp->ibqp->pd, wqe->sge, wqe->num_sge,
				 access);
}

/* A NIC may request a long READ at once, and PSNs compare only in half of their range. */
static bool fits(const struct verve_qp *qp, const struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	u32 first = wqe->state == VERVE_WQE_STARTED ? wqe->first_psn :
						      qp->req.psn;

	return verve_psn_diff(first, qp->req.una) +
	       verve_psn_count(wqe->length, qp->mtu) <= MOST_PSNS;
}

bool verve_rc_offload_supports(const struct verve_qp *qp,
			       const struct verve_swqe *wqe)
{
	return is_supported(wqe) && fits(qp, wqe);
}

static bool is_idle(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return qp->sq.tail == qp->sq.next;
}

/* Return: true if a request was posted, false when no more can be posted now. */
static bool post_next(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_swqe *wqe = verve_requester_next(qp);

	if (!wqe)
		return false;
	if (!is_supported(wqe) || !is_allowed(qp, wqe) ||
	    (is_idle(qp) && !fits(qp, wqe))) {
		verve_rc_offload_ask_return(qp->rc_offload);
		return false;
	}
	if (!fits(qp, wqe))
		return false;
	if (wqe->state == VERVE_WQE_POSTED) {
		if (wqe->flags & IB_SEND_FENCE && !is_idle(qp))
			return false;
		verve_requester_start(qp, wqe);
	}
	if (verve_rc_device_post(qp, wqe))
		return false;
	verve_outstanding_post(&qp->req, verve_psn_add(wqe->last_psn, 1));
	qp->sq.next++;
	qp->budget--;
	return true;
}

static void complete_recv(struct verve_qp *qp,
			  const struct verve_rc_event *event)
	__must_hold(&qp->lock)
{
	struct ib_wc wc = {
		.wr_id = event->wr_id,
		.opcode = event->done.is_write ? IB_WC_RECV_RDMA_WITH_IMM :
						 IB_WC_RECV,
		.byte_len = event->done.length,
		.src_qp = qp->attr.dest_qp_num,
	};

	if (event->done.has_imm) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = event->done.imm;
	}
	verve_count(qp, rdma_recvs, 1);
	verve_responder_deliver(qp, &wc, event->done.is_solicited);
}

static void remember_read(struct verve_qp *qp,
			  const struct roce_offload_rc_read *told)
	__must_hold(&qp->lock)
{
	u32 packets = verve_psn_count(told->length, qp->mtu);
	const struct verve_rd_atomic read = {
		.op = VERVE_OP_READ,
		.first_psn = told->psn,
		.last_psn = verve_psn_add(told->psn, packets - 1),
		.va = told->va,
		.rkey = told->rkey,
		.length = told->length,
		.msn = told->msn,
	};

	verve_count(qp, rx_read_requests, 1);
	verve_rd_atomic_remember(&qp->resp, &read);
}

/* Turn reports of the NIC into completions, and remember READs of the peer. */
void verve_rc_offload_settle(struct verve_qp *qp, u32 una)
{
	struct verve_rc_event event;
	unsigned int most = VERVE_RC_EVENTS;

	lockdep_assert_held(&qp->lock);
	if (verve_psn_before(qp->req.una, una) &&
	    !verve_psn_before(qp->req.psn, una))
		verve_completer_acknowledged(qp, una);
	while (most-- && verve_rc_events_next(qp->rc_offload->events, &event)) {
		if (event.is_read)
			remember_read(qp, &event.read);
		else
			complete_recv(qp, &event);
	}
}

/* Post receives, and answer a NIC that waits for one. */
static void post_recvs(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_rc_events *events = qp->rc_offload->events;
	struct roce_offload_rc_recv recv;
	int err;

	while (!(err = verve_rc_events_next_recv(events, qp, &recv)))
		verve_rc_device_post_recv(qp, &recv);
	/* Not now: the report that makes room brings the answer. */
	if (err == -EAGAIN || !verve_rc_events_lack_recv(events))
		return;
	if (err == -ENOENT) {
		verve_count(qp, out_of_buffer, 1);
		verve_rc_device_post_recv(qp, NULL);
	} else {
		verve_rc_offload_ask_return(qp->rc_offload);
	}
}

/* Have all packets passed that were on their way when the QP was offloaded? */
static bool has_begun(const struct verve_rc_offload *rc)
{
	return time_after(jiffies, rc->since + msecs_to_jiffies(GRACE));
}

void verve_rc_offload_round(struct verve_qp *qp, bool strayed)
{
	struct verve_rc_offload *rc = qp->rc_offload;

	lockdep_assert_held(&qp->lock);
	/* Pairs with acked(): data of READs before the PSN are in memory. */
	verve_rc_offload_settle(qp, smp_load_acquire(&rc->acked));
	if (!rc->may_post)
		return;
	if (qp->state != IB_QPS_RTS || !verve_rc_device_is_current(qp) ||
	    (strayed && has_begun(rc))) {
		verve_rc_offload_ask_return(rc);
		return;
	}
	post_recvs(qp);
	while (qp->budget && post_next(qp))
		;
	if (!qp->budget)
		verve_engine_again(qp);
}
