// SPDX-License-Identifier: GPL-2.0-only
/*
 * SENDs and RDMA WRITEs at the responder: the message in progress (IBTA vol. 1,
 * 9.4.1, 9.4.3)
 */
#include "../offload/rc/ddp.h"
#include "transport.h"

/* Release the memory of the message at the end of a round, or earlier. */
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
	return verve_iter_skip(&resp->dest, resp->message.offset);
}

static int aim_write(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;
	u64 va = resp->message.va + resp->message.offset;
	struct verve_mr *mr;

	/* The key of a WRITE without data is not checked (9.7.4.1.5). */
	if (!resp->message.left) {
		verve_iter_flat(&resp->dest, NULL, 0);
		return 0;
	}
	mr = verve_mr_get_range(&qp->scope, resp->message.rkey, va,
				resp->message.left, IB_ACCESS_REMOTE_WRITE);
	if (!mr)
		return -EACCES;
	verve_iter_range(&resp->dest, mr, va, resp->message.left,
			 IB_ACCESS_LOCAL_WRITE);
	verve_mr_put(mr);
	return 0;
}

/* Point resp.dest to the destination of the next payload. */
static int aim(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;
	int err;

	if (resp->is_copying)
		return 0;
	err = resp->message.op == VERVE_OP_SEND ? aim_send(qp) : aim_write(qp);
	if (err)
		verve_iter_end(&resp->dest);
	resp->is_copying = !err;
	return err;
}

/* Return: 0, -ECANCELED for a packet that counts as lost, or an error of the copy. */
static int place_or_copy(struct verve_qp *qp,
			 const struct verve_arrival *arrival, u32 len)
	__must_hold(&qp->lock)
{
	int err;

	switch (verve_ddp_place(qp, arrival)) {
	case VERVE_DDP_PLACED:
		return 0;
	case VERVE_DDP_LOST:
		return -ECANCELED;
	default:
		err = verve_arrival_copy(arrival, 0, &qp->resp.dest, len);
		if (!err)
			verve_ddp_copied(qp, &arrival->pdu);
		return err;
	}
}

static int copy_payload(struct verve_qp *qp,
			const struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;
	u32 len = arrival->pdu.length;
	int err;

	/*
	 * A program may poll memory until the last of several WRITEs has arrived, and
	 * expects the earlier ones there, as from a NIC. Pairs with its acquire.
	 */
	smp_wmb();
	err = aim(qp);
	if (!err && len)
		err = place_or_copy(qp, arrival, len);
	if (err == -EAGAIN)
		err = verve_stall_begin(qp, &resp->dest, VERVE_STALL_ARRIVALS);
	if (err) {
		end_copy(resp);
		return err;
	}
	resp->message.offset += len;
	if (resp->message.op == VERVE_OP_WRITE)
		resp->message.left -= len;
	return 0;
}

static bool needs_recv(u32 flags)
{
	if (flags & VERVE_OP_SEND)
		return flags & VERVE_OP_FIRST;
	return flags & VERVE_OP_IMM;
}

static enum verve_request_verdict find_recv(struct verve_qp *qp, u32 flags)
	__must_hold(&qp->lock)
{
	if (!needs_recv(flags))
		return VERVE_REQUEST_DONE;
	switch (verve_responder_take_recv(qp)) {
	case 0:
		return VERVE_REQUEST_DONE;
	case -ENOENT:
		return VERVE_REQUEST_NO_RECV;
	default:
		return VERVE_REQUEST_BAD_RECV;
	}
}

static void complete_message(struct verve_qp *qp, const struct verve_pdu *pdu,
			     u32 flags)
	__must_hold(&qp->lock)
{
	struct ib_wc wc = {
		.opcode = flags & VERVE_OP_SEND ? IB_WC_RECV :
						  IB_WC_RECV_RDMA_WITH_IMM,
		.byte_len = qp->resp.message.offset,
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
	resp->message.op = flags & (VERVE_OP_SEND | VERVE_OP_WRITE);
	resp->message.offset = 0;
	if (flags & VERVE_OP_WRITE) {
		resp->message.va = pdu->va;
		resp->message.rkey = pdu->rkey;
		resp->message.left = pdu->dmalen;
	}
}

static void end(struct verve_qp *qp, const struct verve_pdu *pdu, u32 flags)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;

	if (flags & (VERVE_OP_SEND | VERVE_OP_IMM))
		complete_message(qp, pdu, flags);
	end_copy(resp);
	resp->message.op = 0;
}

static bool is_too_long(const struct verve_responder *resp, u32 flags,
			const struct verve_pdu *pdu)
{
	u32 room = min_t(u64, resp->recv.length, VERVE_MAX_MSG);

	return (flags & VERVE_OP_SEND) &&
	       pdu->length > room - resp->message.offset;
}

/*
 * Invalidate the key after all its uses: the payload has been placed, and earlier
 * READs are answered (9.4.1.1.3).
 */
static enum verve_request_verdict invalidate(struct verve_qp *qp, u32 rkey)
	__must_hold(&qp->lock)
{
	end_copy(&qp->resp);
	if (!verve_pair_is_sent_to(qp))
		verve_rd_atomic_respond(qp);
	if (qp->state == IB_QPS_ERR || verve_rd_atomic_needs(&qp->resp, rkey))
		return VERVE_REQUEST_LATER;
	switch (verve_mr_invalidate(&qp->scope, rkey, true)) {
	case 0:
		return VERVE_REQUEST_DONE;
	case -EAGAIN:
		return VERVE_REQUEST_LATER;
	default:
		return VERVE_REQUEST_BAD_KEY;
	}
}

static enum verve_request_verdict copy_verdict(u32 flags, int err)
{
	switch (err) {
	case 0:
		return VERVE_REQUEST_DONE;
	case -EAGAIN:
	case -ECANCELED:
		return VERVE_REQUEST_LATER;
	default:
		return flags & VERVE_OP_WRITE ? VERVE_REQUEST_NO_ACCESS :
						VERVE_REQUEST_BAD_MEMORY;
	}
}

/* Copy the payload, and invalidate the key of a SEND with Invalidate. */
static enum verve_request_verdict place(struct verve_qp *qp,
					const struct verve_arrival *arrival,
					u32 flags)
	__must_hold(&qp->lock)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	struct verve_responder *resp = &qp->resp;
	enum verve_request_verdict verdict;

	if (is_too_long(resp, flags, pdu))
		return VERVE_REQUEST_TOO_LONG;
	verdict = copy_verdict(flags, copy_payload(qp, arrival));
	if (verdict != VERVE_REQUEST_DONE || !(flags & VERVE_OP_IETH))
		return verdict;
	verdict = invalidate(qp, pdu->inv_rkey);
	/* The QP may have been flushed, and the message dropped. */
	if (verdict != VERVE_REQUEST_DONE && resp->message.op)
		resp->message.offset -= pdu->length;
	return verdict;
}

/* Undo begin(). The packet counts as lost, and its repeat calls begin() again. */
static void take_back(struct verve_responder *resp, u32 flags)
{
	end_copy(resp);
	if (flags & VERVE_OP_FIRST)
		resp->message.op = 0;
}

enum verve_request_verdict
verve_message_execute(struct verve_qp *qp, const struct verve_arrival *arrival,
		      u32 flags)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	enum verve_request_verdict verdict;

	lockdep_assert_held(&qp->lock);
	verdict = find_recv(qp, flags);
	if (verdict != VERVE_REQUEST_DONE)
		return verdict;
	if (flags & VERVE_OP_FIRST)
		begin(qp, pdu, flags);
	verdict = place(qp, arrival, flags);
	if (verdict != VERVE_REQUEST_DONE) {
		if (verdict == VERVE_REQUEST_LATER || pdu->ooo)
			take_back(&qp->resp, flags);
		return verdict;
	}
	if ((flags & VERVE_OP_WRITE) && (flags & VERVE_OP_FIRST))
		verve_count(qp, rx_write_requests, 1);
	if (flags & VERVE_OP_LAST)
		end(qp, pdu, flags);
	return VERVE_REQUEST_DONE;
}

void verve_message_round_end(struct verve_responder *resp)
{
	end_copy(resp);
}

void verve_message_drop(struct verve_responder *resp)
{
	end_copy(resp);
	resp->message.op = 0;
	resp->message.offset = 0;
}

void verve_message_resume(struct verve_responder *resp,
			  const struct verve_message *message)
{
	resp->message = *message;
}
