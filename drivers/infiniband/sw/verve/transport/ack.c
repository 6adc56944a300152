// SPDX-License-Identifier: GPL-2.0-only
/*
 * ACKs of the responder, and its NAKs (IBTA vol. 1, 9.7.5.2)
 */
#include "../offload/rc/ddp.h"
#include "../wire/psn.h"
#include "transport.h"

static const struct {
	u8 nak;
	enum ib_event_type event;
} nak_events[] = {
	{ VERVE_NAK_INV_REQ, IB_EVENT_QP_REQ_ERR },
	{ VERVE_NAK_REM_ACC_ERR, IB_EVENT_QP_ACCESS_ERR },
	{ VERVE_NAK_REM_OP_ERR, IB_EVENT_QP_FATAL },
};

void verve_ack_send(struct verve_qp *qp, u8 syndrome, u32 psn)
{
	struct verve_burst burst = {
		.kind = VERVE_SEQ_RC_ACK,
		.qpn = qp->attr.dest_qp_num,
		.packets = 1,
		.mtu = qp->mtu,
		.starts = true,
		.ends = true,
		.pdu.psn = psn,
		.pdu.aeth = syndrome << 24 | (qp->resp.msn & VERVE_PSN_MASK),
	};

	if ((syndrome & VERVE_AETH_TYPE_MASK) != VERVE_AETH_ACK)
		trace_verve_nak_sent(qp, syndrome, psn);
	verve_train_add(qp->train, &qp->flow, &burst);
}

static void send_fatal_nak(struct verve_qp *qp, u8 nak)
	__must_hold(&qp->lock)
{
	unsigned int i;

	verve_ack_send(qp, nak, qp->resp.epsn);
	for (i = 0; i < ARRAY_SIZE(nak_events); i++)
		if (nak_events[i].nak == nak)
			verve_engine_event(qp, nak_events[i].event);
	verve_engine_error(qp);
}

void verve_nak_ooo(struct verve_qp *qp)
{
	verve_qp_drop(qp, rx_drop_ooo);
	verve_answer_gap(&qp->resp, qp->resp.epsn);
}

void verve_nak_fatal(struct verve_qp *qp, u8 nak)
{
	if (qp->resp.is_ooo) {
		verve_nak_ooo(qp);
		return;
	}
	verve_ddp_stop(qp);
	if (qp->resp.num_responses)
		qp->resp.fatal_nak = nak;
	else
		send_fatal_nak(qp, nak);
}

void verve_nak_rnr(struct verve_qp *qp, u32 psn)
{
	verve_count(qp, send_rnr_err, 1);
	verve_ack_send(qp, VERVE_AETH_RNR_NAK | qp->attr.min_rnr_timer, psn);
}

void verve_nak_rnr_later(struct verve_qp *qp)
{
	qp->resp.nak_sent = true;
	qp->resp.rnr_due = true;
}

/*
 * What is missing still when all has been taken in, the peer is told (9.7.5.2.8). It is
 * told once of a packet that came out of order, and again when a gap has been closed
 * and there is one more. That something waits is no reason: it may be somebody else's.
 */
static void send_nak_seq_err(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	bool stalls = verve_stall_is_on(qp, VERVE_STALL_ARRIVALS);
	struct verve_responder *resp = &qp->resp;

	if (!resp->nak_due)
		return;
	/* What waits for a page is not missing. */
	resp->nak_due = stalls && resp->ooo.count;
	/* Nor is what has come since: the NAK would name what is not sent yet. */
	if (resp->nak_sent || stalls ||
	    verve_psn_before(resp->nak_psn, resp->epsn))
		return;
	resp->nak_sent = true;
	verve_ack_send(qp, VERVE_NAK_PSN_SEQ_ERR, resp->epsn);
}

/* All before it was taken (9.7.5.2.8). */
static void send_nak_rnr(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;

	if (!resp->rnr_due)
		return;
	resp->rnr_due = false;
	resp->ack_due = false;
	verve_nak_rnr(qp, resp->epsn);
}

/*
 * Also where a NAK says as much. To a peer that has not sent what is missing, the NAK
 * says nothing: what waits here may be somebody else's.
 */
static void send_ack(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;

	if (!resp->ack_due)
		return;
	resp->ack_due = false;
	verve_ack_send(qp, VERVE_AETH_ACK | VERVE_AETH_CREDIT_UNLIMITED,
		       verve_psn_add(resp->epsn, -1));
}

void verve_ack_flush(struct verve_qp *qp)
{
	struct verve_responder *resp = &qp->resp;

	if (resp->fatal_nak) {
		send_fatal_nak(qp, resp->fatal_nak);
		return;
	}
	send_nak_rnr(qp);
	send_ack(qp);
	send_nak_seq_err(qp);
}

void verve_ack_reset(struct verve_responder *resp)
{
	resp->nak_sent = false;
	resp->nak_due = false;
	resp->rnr_due = false;
	resp->ack_due = false;
	resp->fatal_nak = 0;
}
