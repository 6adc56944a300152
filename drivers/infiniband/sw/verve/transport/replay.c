// SPDX-License-Identifier: GPL-2.0-only
/*
 * READs, atomics, FLUSH and ATOMIC WRITE at the responder.
 *
 * The last max_dest_rd_atomic of them are remembered, so that a requester that
 * missed a response can ask again: a READ is read anew, an atomic answers with
 * the value that it found the first time (IBTA vol. 1, 9.4.5, 9.7.4.1.1). FLUSH
 * and ATOMIC WRITE are answered as a READ of nothing (Annex A19), and when
 * repeated only answered.
 * Their responses are jobs that go out in order, a budget's worth at a time.
 */
#include <linux/slab.h>
#include "../wire/psn.h"
#include "congestion.h"
#include "transport.h"
#include "verdict.h"

struct verve_replay *verve_replay_alloc(u32 slots)
{
	/* The memory, and jobs: new ones and repetitions */
	return kcalloc(3 * slots, sizeof(struct verve_replay),
		       GFP_KERNEL_ACCOUNT);
}

static struct verve_replay *job_at(const struct verve_responder *resp, u32 i)
{
	return &resp->jobs[(resp->first_job + i) % (2 * resp->room)];
}

/* What is remembered, the oldest first, and what is still to be sent */
static void copy(const struct verve_responder *resp, struct verve_replay *replay,
		 struct verve_replay *jobs)
{
	u32 i;

	for (i = 0; i < resp->room; i++)
		replay[i] = resp->replay[(resp->next_slot + i) % resp->room];
	for (i = 0; i < resp->num_jobs; i++)
		jobs[i] = *job_at(resp, i);
}

struct verve_replay *verve_replay_resize(struct verve_responder *resp,
					 struct verve_replay *replay, u32 slots)
{
	struct verve_replay *old = resp->replay;

	resp->slots = slots;
	/* Fewer are taken from now on; those that there are have their room. */
	if (slots <= resp->room)
		return replay;
	copy(resp, replay, replay + slots);
	resp->replay = replay;
	resp->jobs = replay + slots;
	resp->next_slot = resp->room;
	resp->room = slots;
	resp->first_job = 0;
	return old;
}

void verve_replay_reset(struct verve_responder *resp)
{
	kfree(resp->replay);
	resp->replay = NULL;
	resp->jobs = NULL;
	resp->slots = 0;
	resp->room = 0;
	resp->next_slot = 0;
	resp->first_job = 0;
	resp->num_jobs = 0;
	resp->num_repeats = 0;
}

/* As many are under way as the QP was said to take; repetitions do not count. */
static bool is_full(const struct verve_responder *resp)
{
	return resp->num_jobs - resp->num_repeats >= resp->slots;
}

static void add_job(struct verve_responder *resp,
		    const struct verve_replay *replay)
{
	*job_at(resp, resp->num_jobs) = *replay;
	if (!resp->num_jobs++)
		resp->job_psn = replay->first_psn;
	resp->num_repeats += replay->is_repeat;
}

void verve_replay_remember(struct verve_responder *resp,
			   const struct verve_replay *replay)
{
	if (!resp->room)
		return;
	resp->replay[resp->next_slot] = *replay;
	resp->next_slot = (resp->next_slot + 1) % resp->room;
}

/* A request has been executed: remember it, answer it, expect what follows. */
static void record(struct verve_qp *qp, struct verve_replay *replay)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;

	/* More than the QP was said to take (9.7.4.1.4) */
	if (is_full(resp)) {
		verve_nak_fatal(qp, VERVE_NAK_INV_REQ);
		return;
	}
	replay->msn = ++resp->msn;
	add_job(resp, replay);
	verve_replay_remember(resp, replay);
	resp->epsn = verve_psn_add(replay->last_psn, 1);
}

static struct verve_mr *get_range(struct verve_qp *qp, u32 rkey, u64 va,
				  u32 len, int access)
{
	struct verve_mr *mr;

	mr = verve_mr_get_remote(&qp->scope, rkey, access);
	if (mr && verve_mr_covers(mr, va, len))
		return mr;
	if (mr)
		verve_mr_put(mr);
	return NULL;
}

void verve_replay_read(struct verve_qp *qp, const struct verve_pdu *pdu)
{
	u32 packets = verve_psn_count(pdu->dmalen, qp->mtu);
	struct verve_replay read = {
		.op = VERVE_OP_READ,
		.first_psn = pdu->psn,
		.last_psn = verve_psn_add(pdu->psn, packets - 1),
		.va = pdu->va,
		.rkey = pdu->rkey,
		.length = pdu->dmalen,
	};
	struct verve_mr *mr;

	verve_count(qp, rx_read_requests, 1);
	if (pdu->dmalen > VERVE_MAX_MSG) {
		verve_nak_fatal(qp, VERVE_NAK_INV_REQ);
		return;
	}
	if (pdu->dmalen) {
		mr = get_range(qp, pdu->rkey, pdu->va, pdu->dmalen,
			       IB_ACCESS_REMOTE_READ);
		if (!mr) {
			verve_nak_fatal(qp, VERVE_NAK_REM_ACC_ERR);
			return;
		}
		verve_mr_put(mr);
	}
	record(qp, &read);
}

/*
 * Atomic with regard to other Verve QPs and to the CPUs (IB_ATOMIC_GLOB): it
 * is the CPU's own instruction.
 */
static u64 perform(u64 *target, const struct verve_pdu *pdu, u64 value)
{
	if (verve_opcode_flags(pdu->opcode) & VERVE_OP_ATOMIC_WRITE) {
		/* Who sees it sees all that was written before it (A19.4.2). */
		smp_store_release(target, value);
		return 0;
	}
	if (verve_op_is_cmp_swp(pdu->opcode))
		return cmpxchg64(target, pdu->compare, pdu->swap_add);
	return atomic64_fetch_add(pdu->swap_add, (atomic64_t *)target);
}

/*
 * Return: 0, the NAK that answers it, or -EAGAIN. The address must be aligned
 * both as the peer names it (9.7.4.1.5) and in memory, all of it in one piece:
 * an MR's IOVA need not be aligned as its memory is.
 */
static int execute_atomic(struct verve_qp *qp, const struct verve_pdu *pdu,
			  u64 value, u64 *orig)
	__must_hold(&qp->lock)
{
	int access = verve_opcode_flags(pdu->opcode) & VERVE_OP_ATOMIC ?
		     IB_ACCESS_REMOTE_ATOMIC : IB_ACCESS_REMOTE_WRITE;
	u32 len = sizeof(u64);
	struct verve_mr *mr;
	u64 *target;
	int err = 0;

	if (!IS_ALIGNED(pdu->va, sizeof(u64)) || is_full(&qp->resp))
		return VERVE_NAK_INV_REQ;
	mr = get_range(qp, pdu->rkey, pdu->va, len, access);
	if (!mr)
		return VERVE_NAK_REM_ACC_ERR;
	target = verve_mr_map(mr, pdu->va, &len, IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(target))
		err = verve_fault_stall_at(qp, mr, pdu->va, len,
					   IB_ACCESS_LOCAL_WRITE,
					   VERVE_STALL_ARRIVALS);
	else if (len == sizeof(u64) && IS_ALIGNED((uintptr_t)target, len))
		*orig = perform(target, pdu, value);
	else
		err = VERVE_NAK_INV_REQ;
	verve_mr_put(mr);
	return err == -EACCES ? VERVE_NAK_REM_ACC_ERR : err;
}

void verve_replay_atomic(struct verve_qp *qp,
			 const struct verve_arrival *arrival)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	struct verve_replay atomic = {
		.op = verve_opcode_flags(pdu->opcode) &
		      (VERVE_OP_ATOMIC | VERVE_OP_ATOMIC_WRITE),
		.first_psn = pdu->psn,
		.last_psn = pdu->psn,
	};
	struct verve_iter it;
	u64 value = 0;
	int err;

	/* The verdict saw to it that an ATOMIC WRITE brings 8 bytes. */
	verve_iter_flat(&it, &value, sizeof(value));
	if (pdu->length && verve_arrival_place(arrival, 0, &it, pdu->length))
		return;
	err = execute_atomic(qp, pdu, value, &atomic.orig);
	if (err == -EAGAIN)
		return;
	verve_count(qp, rx_atomic_requests, 1);
	if (err) {
		verve_nak_fatal(qp, err);
		return;
	}
	record(qp, &atomic);
}

/* May it be flushed? Of a whole region, no address and no length are named. */
static bool may_flush(struct verve_qp *qp, const struct verve_pdu *pdu)
	__must_hold(&qp->lock)
{
	struct verve_mr *mr;
	bool covered;

	mr = verve_mr_get_remote(&qp->scope, pdu->rkey,
				 verve_verdict_flush_access(pdu->feth));
	if (!mr)
		return false;
	covered = (pdu->feth & VERVE_FETH_SELECTIVITY) == VERVE_FETH_MR ||
		  verve_mr_covers(mr, pdu->va, pdu->dmalen);
	verve_mr_put(mr);
	return covered;
}

/*
 * Requests are executed in order and by the CPU, so what was written before
 * is where all can see it as soon as the stores are.
 */
void verve_replay_flush(struct verve_qp *qp, const struct verve_pdu *pdu)
{
	struct verve_replay flush = {
		.op = VERVE_OP_FLUSH,
		.first_psn = pdu->psn,
		.last_psn = pdu->psn,
	};

	verve_count(qp, rx_flush_requests, 1);
	if (!may_flush(qp, pdu)) {
		verve_nak_fatal(qp, VERVE_NAK_REM_ACC_ERR);
		return;
	}
	/* All that was written before, ahead of the answer: see above */
	wmb();
	record(qp, &flush);
}

static bool holds(const struct verve_replay *replay, u32 psn)
{
	return !verve_psn_before(psn, replay->first_psn) &&
	       !verve_psn_before(replay->last_psn, psn);
}

/* The newest request that @psn belongs to. */
static const struct verve_replay *find(const struct verve_responder *resp,
				       u32 psn)
{
	u32 i;

	for (i = 1; i <= resp->room; i++) {
		const struct verve_replay *replay =
			&resp->replay[(resp->next_slot + resp->room - i) %
				      resp->room];

		if (replay->msn && holds(replay, psn))
			return replay;
	}
	return NULL;
}

/* The repeated READ asks for a part of the first one (9.7.4.1.1). */
static bool trim(struct verve_replay *read, const struct verve_pdu *pdu,
		 u32 mtu)
{
	u32 skip = verve_psn_diff(pdu->psn, read->first_psn) * mtu;

	if (skip > read->length || pdu->dmalen > read->length - skip ||
	    pdu->va != read->va + skip || pdu->rkey != read->rkey)
		return false;
	read->va += skip;
	read->length = pdu->dmalen;
	read->first_psn = pdu->psn;
	read->last_psn = verve_psn_add(pdu->psn,
				       verve_psn_count(pdu->dmalen, mtu) - 1);
	return true;
}

static bool is_readable(struct verve_qp *qp, const struct verve_replay *read)
	__must_hold(&qp->lock)
{
	struct verve_mr *mr;

	if (!read->length)
		return true;
	mr = get_range(qp, read->rkey, read->va, read->length,
		       IB_ACCESS_REMOTE_READ);
	if (mr)
		verve_mr_put(mr);
	return mr;
}

void verve_replay_repeat(struct verve_qp *qp, const struct verve_pdu *pdu)
{
	u32 op = verve_opcode_flags(pdu->opcode) & VERVE_OP_ANSWERED;
	const struct verve_replay *found = find(&qp->resp, pdu->psn);
	struct verve_replay replay;

	if (!found || found->op != op) {
		verve_qp_drop(qp, rx_drop_stale);
		return;
	}
	replay = *found;
	if (op == VERVE_OP_READ && !trim(&replay, pdu, qp->mtu)) {
		verve_qp_drop(qp, rx_drop_protocol);
		return;
	}
	/* A straggler: its key has been invalidated since it was answered. */
	if (op == VERVE_OP_READ && !is_readable(qp, &replay)) {
		verve_qp_drop(qp, rx_drop_stale);
		return;
	}
	/* So many means that it is being answered already. */
	if (qp->resp.num_repeats == qp->resp.room)
		return;
	replay.is_repeat = true;
	add_job(&qp->resp, &replay);
}

bool verve_replay_needs(const struct verve_responder *resp, u32 rkey)
{
	u32 i;

	for (i = 0; i < resp->num_jobs; i++) {
		const struct verve_replay *job = job_at(resp, i);

		if (job->length && job->rkey == rkey)
			return true;
	}
	return false;
}

void verve_replay_drop(struct verve_responder *resp)
{
	resp->num_jobs = 0;
	resp->num_repeats = 0;
}

static void next_job(struct verve_responder *resp)
{
	resp->num_repeats -= job_at(resp, 0)->is_repeat;
	resp->num_jobs--;
	resp->first_job = (resp->first_job + 1) % (2 * resp->room);
	resp->job_psn = job_at(resp, 0)->first_psn;
}

static void send_atomic_ack(struct verve_qp *qp, const struct verve_replay *job)
	__must_hold(&qp->lock)
{
	struct verve_burst burst = {
		.kind = VERVE_SEQ_RC_ATOMIC_ACK,
		.qpn = qp->attr.dest_qp_num,
		.packets = 1,
		.mtu = qp->mtu,
		.starts = true,
		.ends = true,
		.pdu.psn = job->first_psn,
		.pdu.orig = job->orig,
		.pdu.aeth = (VERVE_AETH_ACK | VERVE_AETH_CREDIT_UNLIMITED) << 24 |
			    (job->msn & VERVE_PSN_MASK),
	};

	verve_train_add(qp->train, &qp->flow, &burst);
	qp->budget--;
	next_job(&qp->resp);
}

static int send_part(struct verve_qp *qp, const struct verve_replay *job,
		     struct verve_burst *burst, u32 offset)
	__must_hold(&qp->lock)
{
	struct verve_iter it;
	struct verve_mr *mr;
	int err;

	if (!job->length)
		return verve_train_add(qp->train, &qp->flow, burst);
	/* Looked up again each time: it may have gone since the request. */
	mr = get_range(qp, job->rkey, job->va + offset, burst->length,
		       IB_ACCESS_REMOTE_READ);
	if (!mr)
		return -EACCES;
	verve_iter_range(&it, mr, job->va + offset, burst->length, 0);
	verve_mr_put(mr);
	burst->payload = &it;
	err = verve_train_add(qp->train, &qp->flow, burst);
	if (err == -EAGAIN)
		err = verve_fault_stall(qp, &it, VERVE_STALL_RESPONSES);
	verve_iter_end(&it);
	return err;
}

/* Up to @most packets of the response */
static void send_read(struct verve_qp *qp, const struct verve_replay *job,
		      u32 most)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;
	u32 done = verve_psn_diff(resp->job_psn, job->first_psn);
	u32 left = verve_psn_diff(job->last_psn, resp->job_psn) + 1;
	u32 offset = done * qp->mtu;
	struct verve_burst burst = {
		.kind = VERVE_SEQ_RC_READ_RESP,
		.qpn = qp->attr.dest_qp_num,
		.packets = min3(left, qp->budget, most),
		.mtu = qp->mtu,
		.starts = !done,
		.segmentation = VERVE_SEGMENT_OFFERED,
		.pdu.psn = resp->job_psn,
		.pdu.aeth = (VERVE_AETH_ACK | VERVE_AETH_CREDIT_UNLIMITED) << 24 |
			    (job->msn & VERVE_PSN_MASK),
	};
	int err;

	burst.ends = burst.packets == left;
	burst.length = min(job->length - offset, burst.packets * qp->mtu);
	err = send_part(qp, job, &burst, offset);
	if (err == -EAGAIN)
		return;
	if (err) {
		verve_ack_send(qp, VERVE_NAK_REM_ACC_ERR, resp->job_psn);
		verve_engine_event(qp, IB_EVENT_QP_ACCESS_ERR);
		verve_engine_error(qp);
		return;
	}
	qp->budget -= burst.packets;
	verve_congestion_sent(qp, burst.packets, burst.length);
	resp->job_psn = verve_psn_add(resp->job_psn, burst.packets);
	if (burst.ends)
		next_job(resp);
}

void verve_replay_run(struct verve_qp *qp)
{
	struct verve_responder *resp = &qp->resp;

	while (resp->num_jobs && qp->budget &&
	       !verve_fault_stalls(qp, VERVE_STALL_RESPONSES)) {
		const struct verve_replay *job = job_at(resp, 0);
		u32 most = verve_congestion_allowance(qp);

		if (!most)
			return;
		if (job->op == VERVE_OP_ATOMIC)
			send_atomic_ack(qp, job);
		else
			send_read(qp, job, most);
	}
	if (resp->num_jobs && !verve_fault_stalls(qp, VERVE_STALL_RESPONSES))
		verve_engine_again(qp);
}
