// SPDX-License-Identifier: GPL-2.0-only
/*
 * The responder of connected QPs: executes the peer's requests in the order of
 * their PSNs (IBTA vol. 1, 9.7.4 for RC, 9.8.3 for UC).
 */
#include <linux/ktime.h>
#include "../offload/rc/ddp.h"
#include "../wire/psn.h"
#include "transport.h"
#include "verdict.h"

/* The memory of the message under way is not used beyond this round. */
static void end_copy(struct verve_responder *resp)
{
	if (resp->is_copying)
		verve_iter_end(&resp->dest);
	resp->is_copying = false;
}

static int aim_send(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;

	verve_iter_sges(&resp->dest, qp->dev, qp->ibqp->pd, resp->recv.sge,
			resp->recv.num_sge, IB_ACCESS_LOCAL_WRITE);
	return verve_iter_skip(&resp->dest, resp->offset);
}

static int aim_write(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;
	u64 va = resp->va + resp->offset;
	struct verve_mr *mr;

	/* An empty WRITE names no memory: its key is not looked at (9.7.4.1.5) */
	if (!resp->left) {
		verve_iter_flat(&resp->dest, NULL, 0);
		return 0;
	}
	mr = verve_mr_get_remote(&qp->scope, resp->rkey, IB_ACCESS_REMOTE_WRITE);
	if (!mr)
		return -EACCES;
	if (verve_mr_covers(mr, va, resp->left)) {
		verve_iter_range(&resp->dest, mr, va, resp->left,
				 IB_ACCESS_LOCAL_WRITE);
		verve_mr_put(mr);
		return 0;
	}
	verve_mr_put(mr);
	return -EACCES;
}

/* Have resp.dest point to where the next payload goes. */
static int aim(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;
	int err;

	if (resp->is_copying)
		return 0;
	err = resp->op == VERVE_OP_SEND ? aim_send(qp) : aim_write(qp);
	if (err)
		verve_iter_end(&resp->dest);
	resp->is_copying = !err;
	return err;
}

static int copy_payload(struct verve_qp *qp,
			const struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;
	u32 len = arrival->pdu.length;
	int err;

	err = aim(qp);
	if (!err && len && !verve_ddp_skip(qp, arrival))
		err = verve_arrival_copy(arrival, 0, &resp->dest, len);
	if (err == -EAGAIN)
		err = verve_stall_begin(qp, &resp->dest, VERVE_STALL_ARRIVALS);
	if (err) {
		end_copy(resp);
		return err;
	}
	resp->offset += len;
	if (resp->op == VERVE_OP_WRITE)
		resp->left -= len;
	return 0;
}

/* A message that UC cannot take is dropped as a whole (9.8.3.2). */
static void abandon(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	end_copy(&qp->resp);
	qp->resp.op = 0;
	qp->resp.offset = 0;
}

/*
 * The receive that the message had taken does not just end as those behind it: it
 * says that a request was wrong, or that its WRITE had no access (9.9.3, 11.6.2).
 */
static void fail_recv_in_use(struct verve_qp *qp, u8 nak)
	__must_hold(&qp->lock)
{
	if (qp->resp.recv_valid)
		verve_responder_fail_recv(qp, nak == VERVE_NAK_REM_ACC_ERR ?
					      IB_WC_LOC_ACCESS_ERR :
					      IB_WC_REM_INV_REQ_ERR);
}

/* The packet breaks a rule: NAK it, or on UC drop its message. */
static void refuse(struct verve_qp *qp, u8 nak)
	__must_hold(&qp->lock)
{
	if (qp->type == IB_QPT_RC) {
		if (!qp->resp.is_ooo)
			fail_recv_in_use(qp, nak);
		verve_nak_fatal(qp, nak);
		return;
	}
	verve_qp_drop(qp, rx_drop_protocol);
	abandon(qp);
}

/* The receive is at fault: it fails, and the QP with it. */
static void fail_locally(struct verve_qp *qp, enum ib_wc_status status, u8 nak)
	__must_hold(&qp->lock)
{
	if (qp->resp.is_ooo) {
		verve_nak_ooo(qp);
		return;
	}
	verve_responder_fail_recv(qp, status);
	if (qp->type == IB_QPT_RC) {
		verve_nak_fatal(qp, nak);
		return;
	}
	verve_engine_event(qp, IB_EVENT_QP_FATAL);
	verve_engine_error(qp);
}

/* Longer than its receive. On UC that waits for the next message (9.9.3, class D). */
static void fail_length(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	if (qp->type == IB_QPT_RC) {
		fail_locally(qp, IB_WC_LOC_LEN_ERR, VERVE_NAK_INV_REQ);
		return;
	}
	verve_qp_drop(qp, rx_drop_too_long);
	abandon(qp);
}

/* There is no receive yet. */
static void no_recv(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	if (qp->resp.is_ooo) {
		verve_nak_ooo(qp);
		return;
	}
	verve_count(qp, out_of_buffer, 1);
	if (qp->type == IB_QPT_UC) {
		verve_qp_drop(qp, rx_drop_no_recv);
		abandon(qp);
		return;
	}
	verve_nak_rnr_later(qp);
}

static bool needs_recv(u32 flags)
{
	if (flags & VERVE_OP_SEND)
		return flags & VERVE_OP_FIRST;
	return flags & VERVE_OP_IMM;
}

/* Return: true when the request may go on. */
static bool find_recv(struct verve_qp *qp, u32 flags)
	__must_hold(&qp->lock)
{
	if (!needs_recv(flags))
		return true;
	switch (verve_responder_take_recv(qp)) {
	case 0:
		return true;
	case -ENOENT:
		no_recv(qp);
		return false;
	default:
		fail_locally(qp, IB_WC_LOC_QP_OP_ERR, VERVE_NAK_REM_OP_ERR);
		return false;
	}
}

static void complete_message(struct verve_qp *qp, const struct verve_pdu *pdu,
			     u32 flags)
	__must_hold(&qp->lock)
{
	struct ib_wc wc = {
		.opcode = flags & VERVE_OP_SEND ? IB_WC_RECV :
						  IB_WC_RECV_RDMA_WITH_IMM,
		.byte_len = qp->resp.offset,
		.src_qp = qp->attr.dest_qp_num,
	};

	if (flags & VERVE_OP_IMM) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = pdu->imm;
	}
	if (flags & VERVE_OP_IETH) {
		wc.wc_flags |= IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = pdu->inv_rkey;
	}
	verve_count(qp, rdma_recvs, 1);
	verve_responder_complete(qp, &wc, pdu->flags & VERVE_PDU_SOLICITED);
}

static void begin(struct verve_qp *qp, const struct verve_pdu *pdu, u32 flags)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;

	end_copy(resp);
	resp->op = flags & (VERVE_OP_SEND | VERVE_OP_WRITE);
	resp->offset = 0;
	if (flags & VERVE_OP_WRITE) {
		resp->va = pdu->va;
		resp->rkey = pdu->rkey;
		resp->left = pdu->dmalen;
	}
}

static void end(struct verve_qp *qp, const struct verve_pdu *pdu, u32 flags)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;

	if (flags & (VERVE_OP_SEND | VERVE_OP_IMM))
		complete_message(qp, pdu, flags);
	end_copy(resp);
	resp->op = 0;
	resp->msn++;
}

static bool is_too_long(const struct verve_responder *resp, u32 flags,
			const struct verve_pdu *pdu)
{
	return (flags & VERVE_OP_SEND) &&
	       pdu->length > resp->recv.length - resp->offset;
}

/*
 * The key goes after all that was to use it: the data have been placed, and
 * READs that came before are answered (9.4.1.1.3).
 */
static int invalidate(struct verve_qp *qp, u32 rkey)
	__must_hold(&qp->lock)
{
	end_copy(&qp->resp);
	if (!verve_pair_is_sent_to(qp))
		verve_rd_atomic_respond(qp);
	if (qp->state == IB_QPS_ERR || verve_rd_atomic_needs(&qp->resp, rkey))
		return -EAGAIN;
	return verve_mr_invalidate(&qp->scope, rkey, true);
}

/* The packet counts as lost. It will come again, and so will its begin(). */
static void take_back(struct verve_responder *resp, u32 flags)
{
	end_copy(resp);
	if (flags & VERVE_OP_FIRST)
		resp->op = 0;
}

/* Its payload could not be copied. */
static void fail_copy(struct verve_qp *qp, u32 flags, int err)
	__must_hold(&qp->lock)
{
	if (err == -EAGAIN || err == -ECANCELED || qp->resp.is_ooo)
		take_back(&qp->resp, flags);
	if (err == -EAGAIN || err == -ECANCELED)
		return;
	if (flags & VERVE_OP_WRITE)
		refuse(qp, VERVE_NAK_REM_ACC_ERR);
	else
		fail_locally(qp, IB_WC_LOC_PROT_ERR, VERVE_NAK_REM_OP_ERR);
}

/* SEND, WRITE: one packet, in order and allowed. */
static void execute_data(struct verve_qp *qp, struct verve_arrival *arrival,
			 u32 flags)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;
	const struct verve_pdu *pdu = &arrival->pdu;
	int err;

	if (!find_recv(qp, flags))
		return;
	if (flags & VERVE_OP_FIRST)
		begin(qp, pdu, flags);
	if (is_too_long(resp, flags, pdu)) {
		if (resp->is_ooo)
			take_back(resp, flags);
		fail_length(qp);
		return;
	}
	err = copy_payload(qp, arrival);
	if (err) {
		fail_copy(qp, flags, err);
		return;
	}
	if ((flags & VERVE_OP_WRITE) && (flags & VERVE_OP_FIRST))
		verve_count(qp, rx_write_requests, 1);
	switch (flags & VERVE_OP_IETH ? invalidate(qp, pdu->inv_rkey) : 0) {
	case 0:
		break;
	case -EAGAIN:
		resp->offset -= pdu->length;
		take_back(resp, flags);
		return;
	default:
		resp->offset -= pdu->length;
		take_back(resp, flags);
		fail_locally(qp, IB_WC_REM_INV_REQ_ERR, VERVE_NAK_INV_REQ);
		return;
	}
	resp->epsn = verve_psn_add(resp->epsn, verve_arrival_packets(arrival));
	if (flags & VERVE_OP_LAST)
		end(qp, pdu, flags);
	if (pdu->flags & VERVE_PDU_ACKREQ)
		resp->ack_due = true;
}

static void execute(struct verve_qp *qp, struct verve_arrival *arrival,
		    u32 flags)
	__must_hold(&qp->lock)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	const struct verve_expect expect = {
		.op = qp->resp.op,
		.mtu = qp->mtu,
		.packets = verve_arrival_packets(arrival),
		.left = qp->resp.left,
		.access = qp->attr.qp_access_flags,
		.max_read = qp->resp.slots,
	};
	u8 nak = verve_verdict_request(&expect, pdu);

	qp->resp.nak_sent = false;
	qp->resp.rnr_due = false;
	qp->resp.repeats = 0;
	qp->resp.is_ooo = pdu->ooo;
	if (nak)
		refuse(qp, nak);
	else if (flags & VERVE_OP_READ)
		verve_rd_atomic_read(qp, pdu);
	else if (flags & (VERVE_OP_ATOMIC | VERVE_OP_ATOMIC_WRITE))
		verve_rd_atomic_atomic(qp, arrival);
	else if (flags & VERVE_OP_FLUSH)
		verve_rd_atomic_flush(qp, pdu);
	else
		execute_data(qp, arrival, flags);
	/* What waits on does so because of another gap. */
	if (pdu->ooo && qp->resp.ooo.count)
		verve_answer_gap(&qp->resp, qp->resp.epsn);
	qp->resp.is_ooo = false;
}

/* So many requests that come again mean that our answers do not arrive. */
#define PATIENCE	8

/* 9.7.4.1.1: SENDs and WRITEs are acknowledged again, others respond again. */
static void repeat(struct verve_qp *qp, const struct verve_pdu *pdu, u32 flags)
	__must_hold(&qp->lock)
{
	verve_count(qp, duplicate_request, 1);
	if (verve_verdict_is_recent(pdu->psn, qp->resp.epsn) &&
	    ++qp->resp.repeats == PATIENCE && verve_flow_distrust(&qp->flow))
		verve_count(qp, offload_distrusted, 1);
	if (!(flags & VERVE_OP_RD_ATOMIC))
		qp->resp.ack_due = true;
	else if (verve_stall_is_on(qp, VERVE_STALL_RESPONSES))
		verve_nak_rnr(qp, pdu->psn);
	else
		verve_rd_atomic_repeat(qp, pdu);
}

/* A packet before it is missing. It waits for that, where there is room. */
static bool keep(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	verve_count(qp, out_of_seq_request, 1);
	verve_answer_gap(&qp->resp, arrival->pdu.psn);
	return !verve_ddp_is_placed(qp, arrival) &&
	       verve_engine_keep(qp, &qp->resp.ooo, arrival);
}

/*
 * So far ahead are only peers that go back anyway when something is missing, and behind
 * a long READ that was lost, so it need not be kept. Anybody may have sent it, with a
 * chance of a half. Were each one answered, one packet would have the peer send a whole
 * window again.
 */
static void refuse_far(struct verve_qp *qp, const struct verve_pdu *pdu)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;
	u64 now = ktime_get_ns();

	verve_count(qp, out_of_seq_request, 1);
	verve_qp_drop(qp, rx_drop_far);
	if (resp->far_at && now - resp->far_at < VERVE_OOO_MS * NSEC_PER_MSEC)
		return;
	resp->far_at = now;
	verve_answer_gap(resp, pdu->psn);
}

/* UC: whatever comes is next; what was under way is lost (9.8.2.2.1). */
static bool resynchronise(struct verve_qp *qp, const struct verve_pdu *pdu,
			  u32 flags)
	__must_hold(&qp->lock)
{
	bool lost = pdu->psn != qp->resp.epsn;

	qp->resp.epsn = pdu->psn;
	if (lost || (qp->resp.op && (flags & VERVE_OP_FIRST)))
		abandon(qp);
	if (qp->resp.op || (flags & VERVE_OP_FIRST))
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
	execute(qp, arrival, flags);
	if (verve_stall_is_on(qp, VERVE_STALL_ARRIVALS))
		return;
	/* Dropped or not, the PSN is used up. */
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
		if (flags & VERVE_OP_RD_ATOMIC)
			verve_nak_rnr(qp, pdu->psn);
		else if (!qp->resp.rnr_sent)
			verve_nak_rnr(qp, qp->resp.epsn);
		qp->resp.rnr_sent = true;
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

	if (qp->state == IB_QPS_RTR && !qp->comm_est) {
		qp->comm_est = true;
		verve_engine_event(qp, IB_EVENT_COMM_EST);
	}
	/* As if the QP were in the error state already */
	if (unlikely(qp->resp.fatal_nak)) {
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
			execute(qp, arrival, flags);
		break;
	case VERVE_PSN_DUPLICATE:
		repeat(qp, pdu, flags);
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
	end_copy(&qp->resp);
	qp->resp.rnr_sent = false;
	if (qp->state == IB_QPS_ERR) {
		verve_responder_flush(qp);
		return;
	}
	verve_rd_atomic_respond(qp);
	/* Responses go out in the order of their PSNs (9.7.5.1.2). */
	if (!qp->resp.num_responses && qp->state != IB_QPS_ERR)
		verve_ack_flush(qp);
	verve_ddp_round_end(qp);
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

	end_copy(resp);
	resp->op = 0;
	verve_rd_atomic_drop(resp);
	verve_ack_reset(resp);
	verve_ooo_drop(&resp->ooo);
	if (resp->recv_valid)
		verve_responder_fail_recv(qp, IB_WC_WR_FLUSH_ERR);
	/* An SRQ's receives stay: others use them (10.2.9.2). */
	if (qp->srq)
		report_last_wqe(qp);
	while (qp->rq.exists) {
		/* A user may post as fast as that is flushed. */
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
