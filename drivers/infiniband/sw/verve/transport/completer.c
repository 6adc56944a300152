// SPDX-License-Identifier: GPL-2.0-only
/*
 * The completer: processes responses and retires send requests in order (IBTA
 * vol. 1, 9.7.5, 9.7.7).
 *
 * req.una, the oldest outstanding PSN, always lies in the request at sq.tail.
 * ACKs move it over SENDs and WRITEs. Only responses move it over READs and
 * atomics: an ACK beyond such a request shows that its response was lost
 * (9.7.5.1.2, implied NAK). A later response shows the same, and is kept.
 */
#include <linux/ktime.h>
#include "../wire/psn.h"
#include "dispatch.h"
#include "outstanding.h"
#include "transport.h"
#include "verdict.h"

static bool is_atomic(const struct verve_swqe *wqe)
{
	return verve_swqe_def(wqe)->flags & VERVE_WR_ATOMIC;
}

/*
 * Does the request take responder resources, so that only its own response
 * acknowledges it?
 */
static bool uses_rd_atomic(const struct verve_swqe *wqe)
{
	return verve_swqe_def(wqe)->flags & VERVE_WR_RESPONSE;
}

static bool is_outstanding(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return qp->sq.tail != verve_sq_head(&qp->sq) &&
	       verve_sq_at(&qp->sq, qp->sq.tail)->state == VERVE_WQE_STARTED;
}

static struct verve_swqe *oldest(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return verve_sq_at(&qp->sq, qp->sq.tail);
}

static u32 byte_len(const struct verve_swqe *wqe)
{
	return is_atomic(wqe) ? sizeof(u64) : wqe->length;
}

static struct ib_wc describe(const struct verve_qp *qp,
			     const struct verve_swqe *wqe,
			     enum ib_wc_status status)
{
	return (struct ib_wc) {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = verve_swqe_def(wqe)->wc_opcode,
		.qp = qp->ibqp,
		.byte_len = byte_len(wqe),
		.port_num = 1,
	};
}

void verve_completer_retire(struct verve_qp *qp, enum ib_wc_status status)
{
	struct verve_sq *sq = &qp->sq;
	const struct verve_swqe *wqe = verve_sq_at(sq, sq->tail);
	const struct ib_wc wc = describe(qp, wqe, status);
	bool failed = status != IB_WC_SUCCESS;
	bool signaled = failed || sq->sig_all ||
			(wqe->flags & IB_SEND_SIGNALED);

	lockdep_assert_held(&qp->lock);
	verve_outstanding_sub_rd_atomic(&qp->req, wqe->rd_atomic);
	/*
	 * Free the slot first, because the reader of the completion may post into
	 * it. Pairs with post_one().
	 */
	smp_store_release(&sq->tail, sq->tail + 1);
	if ((s32)(sq->next - sq->tail) < 0)
		sq->next = sq->tail;
	if (qp->is_user)
		verve_ring_advance(&sq->ring, 1);
	if (!signaled)
		return;
	if (failed && status != IB_WC_WR_FLUSH_ERR)
		verve_count(qp, req_cqe_error, 1);
	if (!verve_cq_post(qp->scq, &wc, 1, failed))
		verve_engine_overrun(qp);
	qp->notices |= VERVE_NOTICE_SCQ;
}

/* UC, UD: the send queue stops, but the receive queue continues (10.3.1, SQE). */
void verve_completer_fail(struct verve_qp *qp, enum ib_wc_status status)
{
	verve_completer_retire(qp, status);
	if (qp->type == IB_QPT_RC) {
		verve_engine_error(qp);
		return;
	}
	/* A CQ overrun has already moved the QP to the error state. */
	if (qp->state != IB_QPS_ERR)
		verve_engine_state(qp, IB_QPS_SQE);
	verve_completer_flush(qp);
}

/* Number of READ packets of @wqe whose responses end before @una */
static u32 requests_done(const struct verve_swqe *wqe, u32 una)
{
	u32 all = verve_psn_diff(wqe->last_psn, wqe->first_psn) + 1;
	u32 done = clamp(verve_psn_diff(una, wqe->first_psn), 0, (s32)all);

	return done == all ? DIV_ROUND_UP(all, VERVE_READ_PIECE) :
			     done / VERVE_READ_PIECE;
}

/*
 * Responses before @psn have come: release the responder resources of their
 * requests.
 */
static void release_rd_atomic(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock)
{
	struct verve_swqe *wqe = oldest(qp);
	u32 n;

	if (!is_outstanding(qp) || !wqe->rd_atomic)
		return;
	n = min(requests_done(wqe, psn) - requests_done(wqe, qp->req.una),
		wqe->rd_atomic);
	wqe->rd_atomic -= n;
	verve_outstanding_sub_rd_atomic(&qp->req, n);
}

static void sample_rtt(struct verve_requester *req)
{
	if (req->rtt.since && verve_psn_before(req->rtt.psn, req->una))
		verve_rtt_sample(&req->rtt, ktime_get_ns());
}

/* All PSNs before @psn have been answered. */
static void acknowledge(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;

	if (req->una == psn)
		return;
	release_rd_atomic(qp, psn);
	verve_outstanding_answered(req, psn);
	verve_timer_progress(qp);
	sample_rtt(req);
	while (is_outstanding(qp) &&
	       verve_psn_before(oldest(qp)->last_psn, psn))
		verve_completer_retire(qp, IB_WC_SUCCESS);
	verve_recovery_acknowledged(qp);
}

void verve_completer_acknowledged(struct verve_qp *qp, u32 psn)
{
	lockdep_assert_held(&qp->lock);
	acknowledge(qp, psn);
}

/* Use up one retry. Return: false if none was left. */
static bool may_retry(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	if (verve_timer_take_retry(&qp->req)) {
		verve_count(qp, completer_retry_err, 1);
		return true;
	}
	verve_count(qp, retry_exceeded_err, 1);
	verve_completer_fail(qp, IB_WC_RETRY_EXC_ERR);
	return false;
}

void verve_completer_timeout(struct verve_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	verve_count(qp, local_ack_timeout_err, 1);
	trace_verve_timeout(qp);
	if (verve_flow_distrust(&qp->flow))
		verve_count(qp, offload_distrusted, 1);
	if (is_outstanding(qp) && may_retry(qp))
		verve_recovery_probe(qp);
}

/*
 * Return: first READ or atomic with a PSN up to @psn whose responses are missing,
 * or NULL.
 */
static struct verve_swqe *awaited_rd_atomic(const struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock)
{
	const struct verve_sq *sq = &qp->sq;
	u32 head = verve_sq_head(sq);
	u32 i;

	for (i = sq->tail; i != head; i++) {
		struct verve_swqe *wqe = verve_sq_at(sq, i);

		if (wqe->state != VERVE_WQE_STARTED ||
		    verve_psn_before(psn, wqe->first_psn))
			break;
		if (uses_rd_atomic(wqe))
			return wqe;
	}
	return NULL;
}

/* Responses before @psn are missing, though later ones have come. */
static void responses_lost(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock)
{
	if (verve_recovery_is_begun(qp))
		return;
	verve_count(qp, implied_nak_seq_err, 1);
	if (may_retry(qp))
		verve_recovery_responses(qp, psn);
}

/*
 * Acknowledge all PSNs up to and including @psn, but no further than the next
 * READ.
 * Return: false if a READ lies between.
 */
static bool acknowledge_upto(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock)
{
	const struct verve_swqe *read = awaited_rd_atomic(qp, psn);

	if (!read) {
		acknowledge(qp, verve_psn_add(psn, 1));
		return true;
	}
	if (verve_psn_before(qp->req.una, read->first_psn))
		acknowledge(qp, read->first_psn);
	if (verve_psn_before(psn, read->last_psn))
		responses_lost(qp, verve_psn_add(psn, 1));
	else
		responses_lost(qp, verve_psn_add(read->last_psn, 1));
	return false;
}

/* An ACK acknowledges its PSN even while earlier responses are missing. */
static void acknowledge_later(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock)
{
	verve_outstanding_acked(&qp->req, psn);
}

/* Process an ACK that had to wait for responses, after they have come. */
static void acknowledge_waiting(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_swqe *read;
	u32 psn = qp->req.acked;

	if (!verve_psn_before(qp->req.una, psn))
		return;
	read = awaited_rd_atomic(qp, verve_psn_add(psn, -1));
	if (read)
		psn = read->first_psn;
	if (verve_psn_before(qp->req.una, psn))
		acknowledge(qp, psn);
}

static void rnr_nak(struct verve_qp *qp, u8 code)
	__must_hold(&qp->lock)
{
	verve_count(qp, rcvd_rnr_err, 1);
	if (qp->req.wait_rnr)
		return;
	if (!verve_timer_take_rnr_retry(&qp->req)) {
		verve_count(qp, retry_rnr_exceeded_err, 1);
		verve_completer_fail(qp, IB_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	/* The packet has arrived, though it will be repeated. */
	verve_uso_cancel(qp->dev, &qp->flow);
	verve_trust_repeated(&qp->flow.trust, qp->req.max_psn);
	/* Send a single packet next, because the peer may still have no receive. */
	verve_count(qp, completer_retry_err, 1);
	verve_recovery_probe(qp);
	verve_timer_rnr_nak(qp, code);
}

static void nak(struct verve_qp *qp, u8 syndrome)
	__must_hold(&qp->lock)
{
	if (syndrome == VERVE_NAK_PSN_SEQ_ERR) {
		verve_count(qp, packet_seq_err, 1);
		verve_count(qp, rcvd_seq_err, 1);
		if (!verve_recovery_is_begun(qp) &&
		    (verve_recovery_covers(qp) || may_retry(qp)))
			verve_recovery_nak(qp);
		return;
	}
	verve_completer_fail(qp, verve_verdict_nak_status(syndrome));
}

/* The PSN of a NAK is the refused one. It acknowledges all PSNs before it. */
static bool acknowledge_before(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock)
{
	return psn == qp->req.una ||
	       acknowledge_upto(qp, verve_psn_add(psn, -1));
}

static void receive_ack(struct verve_qp *qp, u32 psn, u8 syndrome)
	__must_hold(&qp->lock)
{
	if ((syndrome & VERVE_AETH_TYPE_MASK) != VERVE_AETH_ACK)
		trace_verve_nak_received(qp, syndrome, psn);
	switch (syndrome & VERVE_AETH_TYPE_MASK) {
	case VERVE_AETH_ACK:
		acknowledge_later(qp, psn);
		if (acknowledge_upto(qp, psn))
			verve_recovery_ack(qp);
		break;
	case VERVE_AETH_RNR_NAK:
		if (acknowledge_before(qp, psn))
			rnr_nak(qp, syndrome & VERVE_AETH_VALUE_MASK);
		break;
	case VERVE_AETH_NAK:
		if (acknowledge_before(qp, psn))
			nak(qp, syndrome);
		break;
	default:
		verve_qp_drop(qp, rx_drop_protocol);
	}
}

/* Count the packets that take responder resources, were sent, and have no answer yet. */
static void count_rd_atomic(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;

	if (!uses_rd_atomic(wqe))
		return;
	/* The NIC sent READs with its own boundaries. */
	wqe->again = true;
	wqe->rd_atomic =
		requests_done(wqe, req->max_psn) - requests_done(wqe, req->una);
	verve_outstanding_add_rd_atomic(req, wqe->rd_atomic);
}

void verve_completer_resume(struct verve_qp *qp, u32 psn)
{
	struct verve_requester *req = &qp->req;
	struct verve_sq *sq = &qp->sq;
	u32 head = verve_sq_head(sq);

	lockdep_assert_held(&qp->lock);
	verve_outstanding_resume(req, psn);
	verve_outstanding_no_rd_atomic(req);
	for (sq->next = sq->tail; sq->next != head; sq->next++) {
		struct verve_swqe *wqe = verve_sq_at(sq, sq->next);

		if (wqe->state != VERVE_WQE_STARTED ||
		    !verve_psn_before(wqe->first_psn, psn))
			break;
		count_rd_atomic(qp, wqe);
		if (!verve_psn_before(wqe->last_psn, psn))
			break;
	}
	if (req->una != psn)
		verve_recovery_probe(qp);
}

static int copy_response(struct verve_qp *qp, struct verve_swqe *wqe,
			 struct verve_arrival *arrival, u32 offset)
	__must_hold(&qp->lock)
{
	u32 len = arrival->pdu.length;
	struct verve_iter it;
	int err;

	if (!(verve_swqe_def(wqe)->flags & VERVE_WR_INBOUND))
		return 0;
	verve_iter_sges(&it, qp->dev, qp->ibqp->pd, wqe->sge, wqe->num_sge,
			IB_ACCESS_LOCAL_WRITE);
	if (wqe->opcode == IB_WR_RDMA_READ) {
		err = verve_iter_skip(&it, offset);
		if (!err)
			err = verve_arrival_copy(arrival, 0, &it, len);
	} else {
		err = verve_iter_write(&it, &arrival->pdu.orig, sizeof(u64));
	}
	if (err == -EAGAIN)
		err = verve_stall_begin(qp, &it, VERVE_STALL_ARRIVALS);
	verve_iter_end(&it);
	return err;
}

static bool fits(const struct verve_qp *qp, const struct verve_swqe *wqe,
		 const struct verve_arrival *arrival, u32 offset)
	__must_hold(&qp->lock)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	u32 most = verve_arrival_packets(arrival) * qp->mtu;
	u32 flags = verve_opcode_flags(pdu->opcode);

	if (is_atomic(wqe))
		return flags & VERVE_OP_ATOMIC_ACK;
	if (!(flags & VERVE_OP_READ_RESP))
		return false;
	if (wqe->opcode == IB_WR_RDMA_READ)
		return pdu->length == min(wqe->length - offset, most);
	/* FLUSH and ATOMIC WRITE are answered like a READ of length 0 (A19). */
	return (flags & VERVE_OP_ONLY) == VERVE_OP_ONLY && !pdu->length;
}

/* Return: place of the next response of @packets in the requested range. */
static struct verve_awaited await(const struct verve_qp *qp,
				  const struct verve_swqe *wqe, u32 packets)
	__must_hold(&qp->lock)
{
	u32 index = verve_psn_diff(qp->req.una, wqe->first_psn);
	u32 last = verve_psn_add(qp->req.una, packets - 1);

	return (struct verve_awaited) {
		.starts = index % VERVE_READ_PIECE == 0,
		.ends = (index + packets) % VERVE_READ_PIECE == 0 ||
			last == wqe->last_psn,
		.again = wqe->again,
	};
}

static enum verve_response_verdict judge(const struct verve_qp *qp,
					 const struct verve_swqe *wqe,
					 const struct verve_arrival *arrival,
					 u32 offset)
	__must_hold(&qp->lock)
{
	const struct verve_awaited awaited =
		await(qp, wqe, verve_arrival_packets(arrival));

	return fits(qp, wqe, arrival, offset) ?
	       verve_verdict_response(&awaited, &arrival->pdu) :
	       VERVE_RESPONSE_BAD;
}

/*
 * Drop a response that answers another request, or that was received out of order
 * and may be forged (ooo.h). Request it again.
 */
static void doubt(struct verve_qp *qp, const struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	if (arrival->pdu.ooo)
		verve_qp_drop(qp, rx_drop_ooo);
	else
		verve_qp_drop(qp, rx_drop_stale);
	responses_lost(qp, verve_psn_add(arrival->pdu.psn, 1));
}

/*
 * The response was the answer to a whole run. In a pair, no other answer is on its way,
 * and only the timer would ask for the packets behind the run.
 */
static void go_on(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	if (qp->pair.peer && verve_recovery_is_over(qp))
		verve_requester_ask(qp);
}

/* Process a READ or atomic response for @wqe that arrives in order. */
static void receive_data(struct verve_qp *qp, struct verve_swqe *wqe,
			 struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	u32 offset = verve_psn_diff(pdu->psn, wqe->first_psn) * qp->mtu;
	enum verve_response_verdict verdict = judge(qp, wqe, arrival, offset);
	int err;

	if (verdict != VERVE_RESPONSE_GOOD) {
		if (pdu->ooo || verdict == VERVE_RESPONSE_STRAY)
			doubt(qp, arrival);
		else
			verve_completer_fail(qp, IB_WC_BAD_RESP_ERR);
		return;
	}
	err = copy_response(qp, wqe, arrival, offset);
	if (err == -EAGAIN || err == -ECANCELED)
		return;
	if (err) {
		verve_completer_fail(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	acknowledge(qp, verve_psn_add(pdu->psn,
				      verve_arrival_packets(arrival)));
	acknowledge_waiting(qp);
	go_on(qp);
}

/* Return: true if the response is kept until its turn. */
static bool receive_response(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	u32 psn = arrival->pdu.psn;
	struct verve_swqe *wqe = awaited_rd_atomic(qp, psn);

	if (!wqe) {
		verve_qp_drop(qp, rx_drop_protocol);
		return false;
	}
	/* The response also acknowledges all SENDs and WRITEs before the READ. */
	if (verve_psn_before(qp->req.una, wqe->first_psn))
		acknowledge(qp, wqe->first_psn);
	if (psn == qp->req.una) {
		receive_data(qp, wqe, arrival);
		return false;
	}
	responses_lost(qp, psn);
	return is_outstanding(qp) &&
	       verve_dispatch_keep(qp, &qp->req.ooo, arrival);
}

void verve_completer_ack(struct verve_qp *qp, u32 psn, u8 syndrome)
{
	const struct verve_requester *req = &qp->req;

	if (verve_verdict_ack(psn, req->una, req->max_psn) == VERVE_ACK_VALID)
		receive_ack(qp, psn, syndrome);
}

bool verve_completer_receive(struct verve_qp *qp, struct verve_arrival *arrival)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	u32 flags = verve_opcode_flags(pdu->opcode);

	lockdep_assert_held(&qp->lock);
	switch (verve_verdict_ack(pdu->psn, qp->req.una, qp->req.max_psn)) {
	case VERVE_ACK_STALE:
		if (flags & VERVE_OP_READ_RESP)
			verve_timer_dup_response(&qp->req);
		if (verve_verdict_is_recent(pdu->psn, qp->req.una))
			verve_rtt_late(&qp->req.rtt, ktime_get_ns());
		verve_qp_drop(qp, rx_drop_stale);
		return false;
	case VERVE_ACK_GHOST:
		verve_qp_drop(qp, rx_drop_protocol);
		return false;
	case VERVE_ACK_VALID:
		break;
	}
	if (!(flags & VERVE_OP_ACK))
		return receive_response(qp, arrival);
	receive_ack(qp, pdu->psn, pdu->aeth >> 24);
	return false;
}
