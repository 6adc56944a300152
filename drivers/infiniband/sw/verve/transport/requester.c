// SPDX-License-Identifier: GPL-2.0-only
/*
 * The requester: turns send requests into bursts (IBTA vol. 1, 9.7.3).
 *
 * A message takes its PSNs at its first start and keeps them. req.psn and the
 * request at sq.next always define the next packet, so recovery from loss sets
 * only these two. A READ requests as many responses as the window has room for. A
 * long READ is several READ requests on the wire, so that READs obey the window
 * like all other operations.
 */
#include <linux/ktime.h>
#include "../wire/psn.h"
#include "congestion.h"
#include "outstanding.h"
#include "transport.h"

static bool has_flag(const struct verve_swqe *wqe, enum verve_opdef_flags flag)
{
	return verve_swqe_def(wqe)->flags & flag;
}

/* Number of PSNs that may be sent before an acknowledgment */
static u32 window(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	s32 used = verve_psn_diff(qp->req.psn, qp->req.una);

	return used < VERVE_MAX_UNACKED ? VERVE_MAX_UNACKED - used : 0;
}

/* Number of packets that may be sent now */
static u32 allowance(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_requester *req = &qp->req;

	if (req->recovery.under_way)
		return verve_psn_diff(req->recovery.stop, req->psn);
	return window(qp);
}

static bool may_start(struct verve_qp *qp, const struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	/* A draining queue starts no new request (10.3.1). */
	if (qp->state == IB_QPS_SQD)
		return false;
	if ((wqe->flags & IB_SEND_FENCE) && qp->req.rd_atomic)
		return false;
	return true;
}

/*
 * Will another message with data follow the one at sq.next at once? Then one ACK
 * request serves both.
 */
static bool more_follows(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_sq *sq = &qp->sq;
	const struct verve_swqe *wqe;

	if (sq->next + 1 == verve_sq_head(sq) &&
	    !verve_requester_fetch(qp))
		return false;
	wqe = verve_sq_at(sq, sq->next + 1);
	return !wqe->error && !(wqe->flags & IB_SEND_FENCE) &&
	       !has_flag(wqe, VERVE_WR_LOCAL | VERVE_WR_RESPONSE) &&
	       may_start(qp, wqe);
}

void verve_requester_start(struct verve_qp *qp, struct verve_swqe *wqe)
{
	u32 packets = has_flag(wqe, VERVE_WR_SINGLE) ? 1 :
		      verve_psn_count(wqe->length, qp->mtu);

	wqe->first_psn = qp->req.psn;
	wqe->last_psn = verve_psn_add(qp->req.psn, packets - 1);
	wqe->state = VERVE_WQE_STARTED;
	verve_count(qp, rdma_sends, 1);
}

/* Is a message partly sent? */
static bool is_midway(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_sq *sq = &qp->sq;
	const struct verve_swqe *wqe = verve_sq_at(sq, sq->next);

	return sq->next != verve_sq_head(sq) &&
	       wqe->state == VERVE_WQE_STARTED && !wqe->error &&
	       qp->req.psn != wqe->first_psn;
}

bool verve_requester_ask(struct verve_qp *qp)
{
	const struct verve_requester *req = &qp->req;

	lockdep_assert_held(&qp->lock);
	if (qp->type != IB_QPT_RC || req->una == req->max_psn ||
	    verve_psn_before(req->una, req->asked) ||
	    req->recovery.under_way || is_midway(qp))
		return false;
	verve_recovery_ask(qp);
	return true;
}

/* Fail an unsendable request after all earlier requests have completed. */
static bool fail_in_turn(struct verve_qp *qp, u8 status)
	__must_hold(&qp->lock)
{
	if (qp->sq.tail != qp->sq.next)
		return verve_requester_ask(qp);
	verve_completer_fail(qp, status);
	return false;
}

static void advance(struct verve_qp *qp, const struct verve_swqe *wqe, u32 n)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;
	bool done = verve_psn_add(req->psn, n - 1) == wqe->last_psn;

	verve_outstanding_sent(req, n);
	if (done)
		qp->sq.next++;
	verve_recovery_sent(qp);
}

static int check_memory(struct verve_qp *qp, const struct verve_swqe *wqe,
			int access)
{
	return wqe->is_inline ? 0 :
	       verve_sges_check(qp->dev, qp->ibqp->pd, wqe->sge, wqe->num_sge,
				access);
}

static void describe(const struct verve_swqe *wqe, struct verve_burst *burst)
{
	if (has_flag(wqe, VERVE_WR_RDMA | VERVE_WR_FLUSH)) {
		burst->pdu.va = wqe->raddr;
		burst->pdu.rkey = wqe->rkey;
		burst->pdu.dmalen = wqe->length;
	}
	if (wqe->opcode == IB_WR_SEND_WITH_INV)
		burst->pdu.inv_rkey = wqe->inv_rkey;
	else if (wqe->opcode == IB_WR_FLUSH)
		burst->pdu.feth = wqe->feth;
	else
		burst->pdu.imm = wqe->imm;
	if (wqe->flags & IB_SEND_SOLICITED)
		burst->pdu.flags |= VERVE_PDU_SOLICITED;
}

/*
 * Can the ACK of the request be late without harm? A user that did not ask for a
 * completion learns of the request by a later one. Until then only a loss must be
 * noticed, and the timer does that. Kernel users often invalidate a key next,
 * which has to wait for all earlier requests.
 */
static bool is_unawaited(const struct verve_qp *qp, const struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	return qp->is_user && qp->attr.timeout && qp->state == IB_QPS_RTS &&
	       !qp->sq.sig_all && !(wqe->flags & IB_SEND_SIGNALED);
}

/*
 * Note that an answer is requested, which covers @packets from req.psn on and all
 * before. Time the answer, unless the packets are repeated: the answer could be
 * to either copy.
 */
static void ask(struct verve_qp *qp, u32 packets)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;

	verve_outstanding_ask(req, packets);
	if (!req->rtt.since && !req->recovery.under_way && !qp->pair.peer)
		verve_rtt_start(&req->rtt, verve_psn_add(req->psn, packets - 1),
				ktime_get_ns());
}

/*
 * Should the last packet of this burst request an ACK? Nothing follows soon if the burst
 * has as many packets as congestion allows, @most.
 */
static bool asks_ack(struct verve_qp *qp, const struct verve_swqe *wqe,
		     const struct verve_burst *burst, u32 most)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;

	verve_outstanding_add(req, burst->packets);
	if (req->recovery.under_way)
		return burst->packets == allowance(qp);
	return req->unasked >= VERVE_ACKREQ_INTERVAL ||
	       burst->packets >= min(window(qp), most) ||
	       qp->budget <= burst->packets ||
	       (burst->ends && !is_unawaited(qp, wqe) && !more_follows(qp));
}

/*
 * RC: ACKs show whether the NIC segments correctly, and an error costs one retry.
 * Repeated packets are not segmented by a NIC. UC has no such check.
 */
static enum verve_segmentation segmentation(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	if (qp->type != IB_QPT_RC)
		return VERVE_SEGMENT_OFFERED;
	if (qp->req.recovery.under_way)
		return VERVE_SEGMENT_HERE;
	return qp->req.retries > 1 ? VERVE_SEGMENT_TRY : VERVE_SEGMENT_PROVEN;
}

/*
 * SEND, WRITE: send as much of the message as window and budget allow.
 * Return: false if memory must be paged in first.
 */
static bool send_data(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	bool is_rc = qp->type == IB_QPT_RC;
	u32 done = verve_psn_diff(qp->req.psn, wqe->first_psn);
	u32 offset = done * qp->mtu;
	u32 packets = verve_psn_diff(wqe->last_psn, qp->req.psn) + 1;
	u32 most = verve_congestion_allow_request(qp);
	u32 planned;
	bool asks;
	struct verve_iter it;
	struct verve_burst burst = {
		.kind = is_rc ? verve_swqe_def(wqe)->rc : verve_swqe_def(wqe)->uc,
		.qpn = qp->attr.dest_qp_num,
		.mtu = qp->mtu,
		.starts = !done,
		.payload = &it,
	};
	int err;

	if (!most)
		return false;
	burst.packets = min3(packets, qp->budget, most);
	if (is_rc)
		burst.packets = min(burst.packets, allowance(qp));
	burst.ends = burst.packets == packets;
	burst.length = min(wqe->length - offset, burst.packets * qp->mtu);
	burst.pdu.psn = qp->req.psn;
	describe(wqe, &burst);
	asks = is_rc && asks_ack(qp, wqe, &burst, most);
	if (asks)
		burst.pdu.flags |= VERVE_PDU_ACKREQ;
	burst.segmentation = segmentation(qp);

	if (wqe->is_inline)
		verve_iter_flat(&it, wqe->inline_data, wqe->length);
	else
		verve_iter_sges(&it, qp->dev, qp->ibqp->pd, wqe->sge,
				wqe->num_sge, 0);
	planned = burst.packets;
	err = verve_iter_skip(&it, offset);
	if (!err)
		err = verve_train_add(qp->train, &qp->flow, &burst);
	if (err == -EAGAIN)
		err = verve_stall_begin(qp, &it, VERVE_STALL_REQUESTS);
	verve_iter_end(&it);
	if (err == -EAGAIN)
		return false;
	if (err) {
		/* The memory was invalidated after the request began. */
		wqe->error = IB_WC_LOC_PROT_ERR;
		return true;
	}
	/*
	 * If the burst is shorter, the packet with the AckReq bit has not been
	 * sent.
	 */
	if (asks && burst.packets == planned)
		ask(qp, planned);
	qp->budget -= burst.packets;
	verve_congestion_sent(qp, burst.packets, burst.length);
	advance(qp, wqe, burst.packets);
	return true;
}

/*
 * Return: number of response packets for the next READ packet. A repeated READ
 * must request a part of the original one (9.7.4.1.1). So the boundaries between
 * the pieces of a long READ are fixed. They depend neither on the window nor on
 * the place where recovery starts.
 */
static u32 read_piece(const struct verve_qp *qp, const struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	u32 done = verve_psn_diff(qp->req.psn, wqe->first_psn);
	u32 left = verve_psn_diff(wqe->last_psn, qp->req.psn) + 1;

	if (qp->req.recovery.under_way && qp->req.recovery.is_exact)
		left = min(left, allowance(qp));
	return min(left, VERVE_READ_PIECE - done % VERVE_READ_PIECE);
}

/* A request with @packets responses is sent. A repeated one is already counted. */
static void requested(struct verve_qp *qp, struct verve_swqe *wqe, u32 packets)
	__must_hold(&qp->lock)
{
	ask(qp, packets);
	qp->budget--;
	if (!qp->req.recovery.under_way) {
		wqe->rd_atomic++;
		verve_outstanding_add_rd_atomic(&qp->req, 1);
	} else {
		wqe->again = true;
	}
	advance(qp, wqe, packets);
}

/* READ: request a piece, if the window has room for its responses. */
static bool send_read(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	u32 offset = verve_psn_diff(qp->req.psn, wqe->first_psn) * qp->mtu;
	u32 packets = read_piece(qp, wqe);
	struct verve_burst burst = {
		.kind = VERVE_SEQ_RC_READ,
		.qpn = qp->attr.dest_qp_num,
		.packets = 1,
		.mtu = qp->mtu,
		.starts = true,
		.ends = true,
	};

	if (!qp->req.recovery.under_way && packets > window(qp))
		return false;
	burst.pdu.psn = qp->req.psn;
	describe(wqe, &burst);
	burst.pdu.va += offset;
	burst.pdu.dmalen = min(wqe->length - offset, packets * qp->mtu);
	verve_train_add(qp->train, &qp->flow, &burst);
	requested(qp, wqe, packets);
	return true;
}

static void describe_atomic(const struct verve_swqe *wqe,
			    struct verve_burst *burst)
{
	burst->pdu.va = wqe->raddr;
	burst->pdu.rkey = wqe->rkey;
	if (wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
		burst->pdu.swap_add = wqe->swap;
		burst->pdu.compare = wqe->compare_add;
	} else {
		burst->pdu.swap_add = wqe->compare_add;
	}
}

static bool send_single(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	struct verve_iter value;
	struct verve_burst burst = {
		.kind = verve_swqe_def(wqe)->rc,
		.qpn = qp->attr.dest_qp_num,
		.packets = 1,
		.mtu = qp->mtu,
		.starts = true,
		.ends = true,
		.pdu.psn = qp->req.psn,
	};

	if (has_flag(wqe, VERVE_WR_ATOMIC))
		describe_atomic(wqe, &burst);
	else
		describe(wqe, &burst);
	if (wqe->is_inline) {
		verve_iter_flat(&value, wqe->inline_data, wqe->length);
		burst.payload = &value;
		burst.length = wqe->length;
	}
	verve_train_add(qp->train, &qp->flow, &burst);
	requested(qp, wqe, 1);
	return true;
}

/*
 * May another READ or atomic start? In SQD the initiator depth may change, even
 * to 0, before the rest of a long READ has been requested.
 */
static bool has_depth(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return qp->req.rd_atomic < max_t(u32, qp->attr.max_rd_atomic, 1);
}

/* Return: false if no request can proceed now. */
static bool send_reliable(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	bool again = qp->req.recovery.under_way;

	if (qp->req.wait_rnr || !allowance(qp) || (qp->req.probing && !again))
		return false;
	if (!has_flag(wqe, VERVE_WR_RESPONSE))
		return send_data(qp, wqe);
	if (!has_depth(qp) && !again)
		return false;
	return has_flag(wqe, VERVE_WR_SINGLE) ? send_single(qp, wqe) :
						send_read(qp, wqe);
}

/* UC: a request is complete when its packets have been sent. */
static bool send_unreliable(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	bool sent = send_data(qp, wqe);

	if (qp->sq.next != qp->sq.tail) {
		verve_outstanding_answered(&qp->req, qp->req.psn);
		verve_completer_retire(qp, IB_WC_SUCCESS);
	}
	return sent;
}

/* With an initiator depth of 0, a QP allows no READs and atomics (11.2.5.2). */
static bool is_out_of_depth(const struct verve_qp *qp,
			    const struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	return has_flag(wqe, VERVE_WR_RESPONSE) && !qp->attr.max_rd_atomic;
}

/* Return: false if the request must wait. */
static bool begin(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	bool writes = has_flag(wqe, VERVE_WR_INBOUND);

	if (!may_start(qp, wqe))
		return verve_requester_ask(qp);
	if (is_out_of_depth(qp, wqe)) {
		wqe->error = IB_WC_LOC_QP_OP_ERR;
		return true;
	}
	if (check_memory(qp, wqe, writes ? IB_ACCESS_LOCAL_WRITE : 0)) {
		wqe->error = IB_WC_LOC_PROT_ERR;
		return true;
	}
	verve_requester_start(qp, wqe);
	return true;
}

static bool run_local(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	u32 begun = qp->sq.next - qp->sq.tail;
	bool waits = begun >= VERVE_MAX_BEGUN ||
		     (begun && wqe->opcode == IB_WR_LOCAL_INV);

	/* Recovery does not execute local requests again. */
	if (wqe->state == VERVE_WQE_POSTED && (waits || !may_start(qp, wqe)))
		return verve_requester_ask(qp);
	return verve_local_run(qp, wqe);
}

/*
 * A peer in a pair answers READs before it invalidates a key. Return: true if @wqe is
 * still next. Answers may have begun a recovery, also while sending stalls.
 */
static bool await_reads(struct verve_qp *qp, const struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	return !verve_pair_settle(qp) && verve_requester_next(qp) == wqe;
}

/*
 * Does a READ before the next request lack responses? A round of this QP follows the one
 * in which the peer sends them. If they are lost to a page fault, they are asked for.
 */
static bool has_reads(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_sq *sq = &qp->sq;
	u32 i;

	for (i = sq->tail; i != sq->next; i++)
		if (verve_sq_at(sq, i)->rd_atomic)
			return true;
	return false;
}

/* Return: false if no request can proceed now. */
static bool step(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_swqe *wqe = verve_requester_next(qp);

	if (!wqe)
		return false;
	if (wqe->error)
		return fail_in_turn(qp, wqe->error);
	if (verve_swqe_is_local(wqe))
		return run_local(qp, wqe);
	if (wqe->state == VERVE_WQE_POSTED)
		return begin(qp, wqe);
	if (wqe->opcode == IB_WR_SEND_WITH_INV) {
		if (!await_reads(qp, wqe))
			return !verve_stall_is_on(qp, VERVE_STALL_REQUESTS);
		if (qp->pair.peer && has_reads(qp))
			return verve_requester_ask(qp);
	}
	switch (qp->type) {
	case IB_QPT_RC:
		return send_reliable(qp, wqe);
	case IB_QPT_UC:
		return send_unreliable(qp, wqe);
	default:
		return verve_datagram_send(qp, wqe);
	}
}

/*
 * SQD: when all started requests have completed, raise the event if requested
 * (10.3.1).
 */
static void check_drained(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	if (qp->state != IB_QPS_SQD || qp->drained || qp->sq.tail != qp->sq.next)
		return;
	if (qp->sq.next != verve_sq_head(&qp->sq) &&
	    verve_sq_at(&qp->sq, qp->sq.next)->state == VERVE_WQE_STARTED)
		return;
	qp->drained = true;
	if (qp->attr.en_sqd_async_notify)
		verve_engine_event(qp, IB_EVENT_SQ_DRAINED);
}

/* Each step may fail a request or overrun the CQ, which stops the queue. */
static bool is_sending(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD;
}

/*
 * A step uses the budget for the packets that it sends. Steps without packets are
 * limited, too, so that no sequence of requests can hold the engine here.
 */
static void serve(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	u32 steps = VERVE_BUDGET_STEPS;

	while (qp->budget && is_sending(qp) && step(qp)) {
		if (!--steps) {
			verve_engine_again(qp);
			return;
		}
	}
}

void verve_requester_run(struct verve_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	switch (qp->state) {
	case IB_QPS_RTS:
	case IB_QPS_SQD:
		if (!verve_completer_flush_doomed(qp))
			break;
		if (qp->state == IB_QPS_SQD)
			verve_requester_ask(qp);
		serve(qp);
		check_drained(qp);
		if (!qp->budget)
			verve_engine_again(qp);
		break;
	case IB_QPS_ERR:
	case IB_QPS_SQE:
		verve_completer_flush(qp);
		break;
	default:
		break;
	}
}
