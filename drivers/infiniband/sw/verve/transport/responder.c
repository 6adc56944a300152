// SPDX-License-Identifier: GPL-2.0-only
/*
 * The responder of connected QPs: executes the peer's requests in the order of
 * their PSNs (IBTA vol. 1, 9.7.4 for RC, 9.8.3 for UC).
 */
#include <linux/ktime.h>
#include "../offload/rc/ddp.h"
#include "../wire/psn.h"
#include "dispatch.h"
#include "transport.h"

/*
 * NAK for a refused request, and the status of the receive that the request has
 * taken
 */
static const struct {
	u8 nak;
	u8 status;
} refusals[] = {
	[VERVE_REQUEST_TOO_LONG] = { VERVE_NAK_INV_REQ, IB_WC_LOC_LEN_ERR },
	[VERVE_REQUEST_INVALID] = { VERVE_NAK_INV_REQ, IB_WC_REM_INV_REQ_ERR },
	[VERVE_REQUEST_NO_ACCESS] = { VERVE_NAK_REM_ACC_ERR,
				      IB_WC_LOC_ACCESS_ERR },
	[VERVE_REQUEST_BAD_KEY] = { VERVE_NAK_INV_REQ, IB_WC_REM_INV_REQ_ERR },
	[VERVE_REQUEST_BAD_RECV] = { VERVE_NAK_REM_OP_ERR, IB_WC_LOC_QP_OP_ERR },
	[VERVE_REQUEST_BAD_MEMORY] = { VERVE_NAK_REM_OP_ERR,
				       IB_WC_LOC_PROT_ERR },
};

/*
 * Fail the receive that the message has taken, with a status of its own. Later
 * receives are flushed (9.9.3, 11.6.2).
 */
static void fail_recv(struct verve_qp *qp, enum verve_request_verdict verdict)
	__must_hold(&qp->lock)
{
	if (qp->resp.recv_valid)
		verve_responder_fail_recv(qp, refusals[verdict].status);
}

/*
 * RC: turn the verdict on a request into an ACK or a NAK (9.7.5). A request that
 * was received out of order may be forged (ooo.h). It is never refused. Instead,
 * the peer is asked to send that PSN.
 */
static void answer(struct verve_qp *qp, const struct verve_pdu *pdu,
		   enum verve_request_verdict verdict)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;

	if (pdu->ooo && verdict > VERVE_REQUEST_LATER) {
		verve_qp_drop(qp, rx_drop_ooo);
		verve_ack_gap(&resp->ack, resp->epsn);
		return;
	}
	switch (verdict) {
	case VERVE_REQUEST_DONE:
		/* The responses of READs, atomics and so on acknowledge them. */
		if ((pdu->flags & VERVE_PDU_ACKREQ) &&
		    !(verve_opcode_flags(pdu->opcode) & VERVE_OP_RD_ATOMIC))
			verve_ack_owe(&resp->ack);
		break;
	case VERVE_REQUEST_LATER:
		break;
	case VERVE_REQUEST_NO_RECV:
		verve_count(qp, out_of_buffer, 1);
		verve_ack_rnr(&resp->ack);
		break;
	default:
		fail_recv(qp, verdict);
		verve_nak_fatal(qp, refusals[verdict].nak);
	}
}

/*
 * UC: there are no acknowledgments. A message that violates the protocol is
 * dropped (9.8.3.2). A faulty receive moves the QP to the error state (9.9.3).
 */
static void conclude(struct verve_qp *qp, enum verve_request_verdict verdict)
	__must_hold(&qp->lock)
{
	switch (verdict) {
	case VERVE_REQUEST_DONE:
	case VERVE_REQUEST_LATER:
		break;
	case VERVE_REQUEST_NO_RECV:
		verve_count(qp, out_of_buffer, 1);
		verve_qp_drop(qp, rx_drop_no_recv);
		verve_message_drop(&qp->resp);
		break;
	case VERVE_REQUEST_TOO_LONG:
		verve_qp_drop(qp, rx_drop_too_long);
		verve_message_drop(&qp->resp);
		break;
	case VERVE_REQUEST_INVALID:
	case VERVE_REQUEST_NO_ACCESS:
		verve_qp_drop(qp, rx_drop_protocol);
		verve_message_drop(&qp->resp);
		break;
	default:
		fail_recv(qp, verdict);
		verve_engine_event(qp, IB_EVENT_QP_FATAL);
		verve_engine_error(qp);
	}
}

/* Number of PSNs of a request. A READ takes those of its responses (9.7.2). */
static u32 count_psns(const struct verve_qp *qp,
		      const struct verve_arrival *arrival, u32 flags)
	__must_hold(&qp->lock)
{
	if (flags & VERVE_OP_READ)
		return verve_psn_count(arrival->pdu.dmalen, qp->mtu);
	return verve_arrival_packets(arrival);
}

/* Execute the request whose turn it is. */
static enum verve_request_verdict execute(struct verve_qp *qp,
					  const struct verve_arrival *arrival,
					  u32 flags)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;
	const struct verve_expect expect = {
		.op = resp->message.op,
		.mtu = qp->mtu,
		.packets = verve_arrival_packets(arrival),
		.left = resp->message.left,
		.access = qp->attr.qp_access_flags,
		.max_read = resp->slots,
	};
	enum verve_request_verdict verdict;

	resp->repeats = 0;
	verdict = verve_verdict_request(&expect, &arrival->pdu);
	if (verdict != VERVE_REQUEST_DONE)
		return verdict;
	verdict = flags & VERVE_OP_RD_ATOMIC ?
		  verve_rd_atomic_execute(qp, arrival) :
		  verve_message_execute(qp, arrival, flags);
	if (verdict != VERVE_REQUEST_DONE)
		return verdict;
	resp->epsn = verve_psn_add(resp->epsn,
				   count_psns(qp, arrival, flags));
	if (flags & VERVE_OP_LAST)
		resp->msn++;
	return VERVE_REQUEST_DONE;
}

/* RC: process a request with the expected PSN. */
static void receive_expected(struct verve_qp *qp,
			     const struct verve_arrival *arrival, u32 flags)
	__must_hold(&qp->lock)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	struct verve_responder *resp = &qp->resp;

	verve_ack_advance(&resp->ack);
	answer(qp, pdu, execute(qp, arrival, flags));
	/* There is another gap if packets still wait. */
	if (pdu->ooo && resp->ooo.count)
		verve_ack_gap(&resp->ack, resp->epsn);
}

/*
 * This number of duplicates in a row means that the peer does not get the
 * answers.
 */
#define PATIENCE	8

/* The end of a handover is new if its beginning has come in packets. */
static void ask_for_rest(struct verve_qp *qp,
			 const struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	u32 last = verve_psn_add(arrival->pdu.psn,
				 verve_arrival_packets(arrival) - 1);

	if (!verve_psn_before(last, qp->resp.epsn))
		verve_ack_gap(&qp->resp.ack, last);
}

/*
 * Duplicates: acknowledge SENDs and WRITEs again, respond to others again
 * (9.7.4.1.1).
 */
static void repeat(struct verve_qp *qp, const struct verve_arrival *arrival,
		   u32 flags)
	__must_hold(&qp->lock)
{
	const struct verve_pdu *pdu = &arrival->pdu;

	verve_count(qp, duplicate_request, 1);
	if (verve_verdict_is_recent(pdu->psn, qp->resp.epsn) &&
	    ++qp->resp.repeats == PATIENCE && verve_flow_distrust(&qp->flow))
		verve_count(qp, offload_distrusted, 1);
	ask_for_rest(qp, arrival);
	if (!(flags & VERVE_OP_RD_ATOMIC))
		verve_ack_owe(&qp->resp.ack);
	else if (verve_stall_is_on(qp, VERVE_STALL_RESPONSES))
		verve_nak_rnr(qp, pdu->psn);
	else
		verve_rd_atomic_repeat(qp, pdu);
}

/* An earlier packet is missing. Keep this one until its turn, if there is room. */
static bool keep(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	verve_count(qp, out_of_seq_request, 1);
	if (!verve_ddp_keeps(qp, arrival))
		return false;
	verve_ack_gap(&qp->resp.ack, arrival->pdu.psn);
	return verve_dispatch_keep(qp, &qp->resp.ooo, arrival);
}

/*
 * The peer is so far ahead only if it goes back N after a loss anyway, and if it
 * has sent past a long READ that was lost. So the packet need not be kept. It may
 * be forged: a random PSN is far ahead with a probability of one half. If each
 * such packet were answered, one packet would make the peer repeat a whole
 * window.
 */
static void refuse_far(struct verve_qp *qp, const struct verve_pdu *pdu)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;
	u64 now = ktime_get_ns();

	verve_count(qp, out_of_seq_request, 1);
	verve_qp_drop(qp, rx_drop_far);
	if (resp->far_at && now - resp->far_at < VERVE_FAR_MS * NSEC_PER_MSEC)
		return;
	resp->far_at = now;
	verve_ack_gap(&resp->ack, pdu->psn);
}

/* UC: accept any PSN. After a gap, the message in progress is lost (9.8.2.2.1). */
static bool resynchronise(struct verve_qp *qp, const struct verve_pdu *pdu,
			  u32 flags)
	__must_hold(&qp->lock)
{
	bool lost = pdu->psn != qp->resp.epsn;

	qp->resp.epsn = pdu->psn;
	if (lost || (qp->resp.message.op && (flags & VERVE_OP_FIRST)))
		verve_message_drop(&qp->resp);
	if (qp->resp.message.op || (flags & VERVE_OP_FIRST))
		return true;
	verve_qp_drop(qp, rx_drop_sequence);
	qp->resp.epsn = verve_psn_add(pdu->psn, 1);
	return false;
}

static void receive_unreliable(struct verve_qp *qp,
			       struct verve_arrival *arrival, u32 flags)
	__must_hold(&qp->lock)
{
	const struct verve_pdu *pdu = &arrival->pdu;

	if (!resynchronise(qp, pdu, flags))
		return;
	conclude(qp, execute(qp, arrival, flags));
	if (verve_stall_is_on(qp, VERVE_STALL_ARRIVALS))
		return;
	/* Dropped or not, the packet uses up its PSN. */
	qp->resp.epsn = verve_psn_add(pdu->psn, 1);
}

bool verve_responder_rnr(struct verve_qp *qp,
			 const struct verve_arrival *arrival)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	u32 flags = verve_opcode_flags(pdu->opcode);
	bool due_again = qp->stall.due_held;

	if (!(flags & VERVE_OP_RC) || (flags & VERVE_OP_RESPONSE) ||
	    !verve_arrival_matches(arrival, &qp->flow.av))
		return false;
	switch (verve_verdict_psn(pdu->psn, qp->resp.epsn)) {
	case VERVE_PSN_EXPECTED:
		qp->stall.due_held = true;
		if (due_again)
			verve_nak_rnr(qp, pdu->psn);
		return due_again;
	case VERVE_PSN_DUPLICATE:
		verve_nak_rnr_repeat(qp, flags & VERVE_OP_RD_ATOMIC, pdu->psn);
		return true;
	case VERVE_PSN_FAR:
		refuse_far(qp, pdu);
		return true;
	default:
		return false;
	}
}

bool verve_responder_receive(struct verve_qp *qp, struct verve_arrival *arrival)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	u32 flags = verve_opcode_flags(pdu->opcode);

	lockdep_assert_held(&qp->lock);
	if (qp->state == IB_QPS_RTR && !qp->comm_est) {
		qp->comm_est = true;
		verve_engine_event(qp, IB_EVENT_COMM_EST);
	}
	/* Behave as in the error state. */
	if (unlikely(verve_ack_is_fatal(&qp->resp.ack))) {
		verve_qp_drop(qp, rx_drop_qp_state);
		return false;
	}
	if (qp->type == IB_QPT_UC) {
		receive_unreliable(qp, arrival, flags);
		return false;
	}
	switch (verve_verdict_psn(pdu->psn, qp->resp.epsn)) {
	case VERVE_PSN_EXPECTED:
		if (verve_ddp_admits(qp, arrival))
			receive_expected(qp, arrival, flags);
		break;
	case VERVE_PSN_DUPLICATE:
		repeat(qp, arrival, flags);
		break;
	case VERVE_PSN_OOO:
		return keep(qp, arrival);
	case VERVE_PSN_FAR:
		refuse_far(qp, pdu);
		break;
	}
	return false;
}

void verve_responder_round_end(struct verve_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	verve_message_round_end(&qp->resp);
	if (qp->state == IB_QPS_ERR) {
		verve_responder_flush(qp);
		return;
	}
	verve_rd_atomic_respond(qp);
	verve_ddp_answer(qp);
	verve_ack_round_end(qp);
	verve_ddp_round_end(qp);
}

void verve_responder_set_psn(struct verve_responder *resp, u32 psn)
{
	resp->epsn = psn & VERVE_PSN_MASK;
}

void verve_responder_resume(struct verve_responder *resp, u32 epsn, u32 msn,
			    const struct verve_message *message)
{
	resp->epsn = epsn;
	resp->msn = msn;
	verve_message_resume(resp, message);
	verve_ack_advance(&resp->ack);
}

void verve_responder_reset(struct verve_responder *resp)
{
	resp->msn = 0;
	verve_ooo_drop(&resp->ooo);
	verve_message_drop(resp);
	verve_ack_reset(&resp->ack);
	verve_rd_atomic_reset(resp);
	verve_responder_forget_recv(resp);
}

static void report_last_wqe(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	if (qp->last_wqe_reported)
		return;
	qp->last_wqe_reported = true;
	verve_engine_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

void verve_responder_flush(struct verve_qp *qp)
{
	struct verve_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->lock);
	verve_message_drop(resp);
	verve_rd_atomic_drop(resp);
	verve_ack_reset(&resp->ack);
	verve_ooo_drop(&resp->ooo);
	if (resp->recv_valid)
		verve_responder_fail_recv(qp, IB_WC_WR_FLUSH_ERR);
	/* The receives of an SRQ stay, because other QPs use them (10.2.9.2). */
	if (qp->srq)
		report_last_wqe(qp);
	while (qp->rq.exists) {
		/* A user may post receives as fast as they are flushed. */
		if (!qp->budget) {
			verve_engine_again(qp);
			return;
		}
		if (verve_responder_take_recv(qp) == -ENOENT)
			return;
		qp->budget--;
		verve_responder_fail_recv(qp, IB_WC_WR_FLUSH_ERR);
	}
}
