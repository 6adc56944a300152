// SPDX-License-Identifier: GPL-2.0-only
/* ACKs and NAKs of the responder (IBTA vol. 1, 9.7.5.2) */
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

static void send_aeth(struct verve_qp *qp, u8 syndrome, u32 psn)
	__must_hold(&qp->lock)
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

/* The QP accepts no more requests, and an event tells the consumer the reason. */
static void send_fatal_nak(struct verve_qp *qp, u8 nak, u32 psn)
	__must_hold(&qp->lock)
{
	unsigned int i;

	send_aeth(qp, nak, psn);
	for (i = 0; i < ARRAY_SIZE(nak_events); i++)
		if (nak_events[i].nak == nak)
			verve_engine_event(qp, nak_events[i].event);
	verve_engine_error(qp);
}

void verve_nak_fatal(struct verve_qp *qp, u8 nak)
{
	lockdep_assert_held(&qp->lock);
	verve_ddp_stop(qp);
	if (qp->resp.num_responses)
		qp->resp.ack.fatal_nak = nak;
	else
		send_fatal_nak(qp, nak, qp->resp.epsn);
}

void verve_nak_response(struct verve_qp *qp, u32 psn)
{
	lockdep_assert_held(&qp->lock);
	send_fatal_nak(qp, VERVE_NAK_REM_ACC_ERR, psn);
}

void verve_nak_rnr(struct verve_qp *qp, u32 psn)
{
	lockdep_assert_held(&qp->lock);
	verve_count(qp, send_rnr_err, 1);
	send_aeth(qp, VERVE_AETH_RNR_NAK | qp->attr.min_rnr_timer, psn);
}

void verve_nak_rnr_repeat(struct verve_qp *qp, bool is_rd_atomic, u32 psn)
{
	struct verve_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->lock);
	if (!is_rd_atomic && !resp->num_responses) {
		verve_ack_owe(&resp->ack);
		return;
	}
	if (is_rd_atomic || !resp->ack.rnr_sent)
		verve_nak_rnr(qp, psn);
	resp->ack.rnr_sent = true;
}

/*
 * The NAK is sent once for a gap, and again for the next gap after the first is
 * closed (9.7.5.2.8). A kept packet is no reason for a NAK, because it may be
 * forged.
 */
static void send_nak_seq_err(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	bool stalls = verve_stall_is_on(qp, VERVE_STALL_ARRIVALS);
	struct verve_responder *resp = &qp->resp;
	struct verve_ack *ack = &resp->ack;

	if (!ack->nak_due)
		return;
	/* A packet that waits for a page is not missing. */
	ack->nak_due = stalls && resp->ooo.count;
	/*
	 * No packet is missing: the NAK would name a PSN that has not been sent
	 * yet.
	 */
	if (ack->nak_sent || stalls ||
	    verve_psn_before(ack->nak_psn, resp->epsn))
		return;
	ack->nak_sent = true;
	send_aeth(qp, VERVE_NAK_PSN_SEQ_ERR, resp->epsn);
}

/* The RNR NAK acknowledges every request before it (9.7.5.2.8). */
static void send_nak_rnr(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_ack *ack = &qp->resp.ack;

	if (!ack->rnr_due)
		return;
	ack->rnr_due = false;
	ack->ack_due = false;
	verve_nak_rnr(qp, qp->resp.epsn);
}

/*
 * A sequence error NAK would acknowledge the same PSNs. But a peer that has not
 * sent the missing packet ignores the NAK, and the kept packet may be forged.
 */
static void send_ack(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;

	if (!resp->ack.ack_due)
		return;
	resp->ack.ack_due = false;
	send_aeth(qp, VERVE_AETH_ACK | VERVE_AETH_CREDIT_UNLIMITED,
		  verve_psn_add(resp->epsn, -1));
}

void verve_ack_round_end(struct verve_qp *qp)
{
	struct verve_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->lock);
	resp->ack.rnr_sent = false;
	/* Responses go out in the order of their PSNs (9.7.5.1.2). */
	if (resp->num_responses || qp->state == IB_QPS_ERR)
		return;
	if (resp->ack.fatal_nak) {
		send_fatal_nak(qp, resp->ack.fatal_nak, resp->epsn);
		return;
	}
	send_nak_rnr(qp);
	send_ack(qp);
	send_nak_seq_err(qp);
}
