// SPDX-License-Identifier: GPL-2.0-only
/*
 * READs, atomics, FLUSHes and ATOMIC WRITEs at the responder.
 *
 * The responder records the last max_dest_rd_atomic of these requests, because a
 * requester that missed a response repeats the request. A duplicate READ reads
 * the memory again. A duplicate atomic returns the original value of its first
 * execution (IBTA vol. 1, 9.4.5, 9.7.4.1.1). FLUSH and ATOMIC WRITE are answered
 * like a READ of length 0 (Annex A19), and duplicates are only answered.
 * Responses are sent in order, within the budget of each round.
 */
#include <linux/slab.h>
#include "../wire/psn.h"
#include "congestion.h"
#include "transport.h"
#include "verdict.h"

struct verve_rd_atomic *verve_rd_atomic_alloc(u32 slots)
{
	/*
	 * One part for executed requests, two parts for responses: new ones and
	 * repeats
	 */
	return kcalloc(3 * slots, sizeof(struct verve_rd_atomic),
		       GFP_KERNEL_ACCOUNT);
}

static struct verve_rd_atomic *response_at(const struct verve_responder *resp,
					   u32 i)
{
	return &resp->responses[(resp->first_response + i) % (2 * resp->room)];
}

/* Copy executed requests, oldest first, and pending responses. */
static void copy(const struct verve_responder *resp,
		 struct verve_rd_atomic *res, struct verve_rd_atomic *responses)
{
	u32 i;

	for (i = 0; i < resp->room; i++)
		res[i] = resp->resources[(resp->next_slot + i) % resp->room];
	for (i = 0; i < resp->num_responses; i++)
		responses[i] = *response_at(resp, i);
}

struct verve_rd_atomic *verve_rd_atomic_resize(struct verve_responder *resp,
					       struct verve_rd_atomic *res,
					       u32 slots)
{
	struct verve_rd_atomic *old = resp->resources;

	resp->slots = slots;
	/*
	 * A smaller limit applies to new requests only. The existing ones keep
	 * their room.
	 */
	if (slots <= resp->room)
		return res;
	copy(resp, res, res + slots);
	resp->resources = res;
	resp->responses = res + slots;
	resp->next_slot = resp->room;
	resp->room = slots;
	resp->first_response = 0;
	return old;
}

void verve_rd_atomic_reset(struct verve_responder *resp)
{
	kfree(resp->resources);
	resp->resources = NULL;
	resp->responses = NULL;
	resp->slots = 0;
	resp->room = 0;
	resp->next_slot = 0;
	resp->first_response = 0;
	resp->num_responses = 0;
	resp->num_repeats = 0;
}

/* Has the peer used up all responder resources? Duplicates do not count. */
static bool is_full(const struct verve_responder *resp)
{
	return resp->num_responses - resp->num_repeats >= resp->slots;
}

static void add_response(struct verve_responder *resp,
			 const struct verve_rd_atomic *res)
{
	*response_at(resp, resp->num_responses) = *res;
	if (!resp->num_responses++)
		resp->response_psn = res->first_psn;
	resp->num_repeats += res->is_repeat;
}

void verve_rd_atomic_remember(struct verve_responder *resp,
			      const struct verve_rd_atomic *res)
{
	if (!resp->room)
		return;
	resp->resources[resp->next_slot] = *res;
	resp->next_slot = (resp->next_slot + 1) % resp->room;
}

/*
 * Queue the response of an executed request, and record the request for
 * duplicates.
 */
static enum verve_request_verdict finish(struct verve_responder *resp,
					 struct verve_rd_atomic *res)
{
	/* The peer exceeds the responder resources (9.7.4.1.4). */
	if (is_full(resp))
		return VERVE_REQUEST_INVALID;
	res->msn = resp->msn + 1;
	add_response(resp, res);
	verve_rd_atomic_remember(resp, res);
	return VERVE_REQUEST_DONE;
}

static bool is_readable(struct verve_qp *qp, const struct verve_rd_atomic *read)
	__must_hold(&qp->lock)
{
	struct verve_mr *mr;

	if (!read->length)
		return true;
	mr = verve_mr_get_range(&qp->scope, read->rkey, read->va, read->length,
				IB_ACCESS_REMOTE_READ);
	if (mr)
		verve_mr_put(mr);
	return mr;
}

static enum verve_request_verdict execute_read(struct verve_qp *qp,
					       const struct verve_pdu *pdu)
	__must_hold(&qp->lock)
{
	u32 packets = verve_psn_count(pdu->dmalen, qp->mtu);
	struct verve_rd_atomic read = {
		.op = VERVE_OP_READ,
		.first_psn = pdu->psn,
		.last_psn = verve_psn_add(pdu->psn, packets - 1),
		.va = pdu->va,
		.rkey = pdu->rkey,
		.length = pdu->dmalen,
	};

	verve_count(qp, rx_read_requests, 1);
	if (pdu->dmalen > VERVE_MAX_MSG)
		return VERVE_REQUEST_INVALID;
	if (!is_readable(qp, &read))
		return VERVE_REQUEST_NO_ACCESS;
	return finish(&qp->resp, &read);
}

/*
 * The CPU's atomic instructions, which are atomic with regard to other Verve QPs
 * and to the CPUs (IB_ATOMIC_GLOB)
 */
static u64 perform(u64 *target, const struct verve_pdu *pdu, u64 value)
{
	if (verve_opcode_flags(pdu->opcode) & VERVE_OP_ATOMIC_WRITE) {
		/*
		 * A program that reads the value must see all earlier writes (A19.4.2).
		 * Pairs with its acquire.
		 */
		smp_store_release(target, value);
		return 0;
	}
	if (verve_op_is_cmp_swp(pdu->opcode))
		return cmpxchg64(target, pdu->compare, pdu->swap_add);
	return atomic64_fetch_add(pdu->swap_add, (atomic64_t *)target);
}

static enum verve_request_verdict page_in(struct verve_qp *qp,
					  const struct verve_mr *mr, u64 va,
					  u32 len)
	__must_hold(&qp->lock)
{
	int err = verve_stall_begin_at(qp, mr, va, len, IB_ACCESS_LOCAL_WRITE,
				       VERVE_STALL_ARRIVALS);

	return err == -EAGAIN ? VERVE_REQUEST_LATER : VERVE_REQUEST_NO_ACCESS;
}

/*
 * The address must be aligned both in the peer's request (9.7.4.1.5) and in
 * memory, and lie in one segment, because the alignment of an MR's IOVA may
 * differ from that of its memory.
 */
static enum verve_request_verdict access_atomic(struct verve_qp *qp,
						const struct verve_pdu *pdu,
						u64 value, u64 *orig)
	__must_hold(&qp->lock)
{
	int access = verve_opcode_flags(pdu->opcode) & VERVE_OP_ATOMIC ?
		     IB_ACCESS_REMOTE_ATOMIC : IB_ACCESS_REMOTE_WRITE;
	enum verve_request_verdict verdict = VERVE_REQUEST_DONE;
	u32 len = sizeof(u64);
	struct verve_mr *mr;
	u64 *target;

	if (!IS_ALIGNED(pdu->va, sizeof(u64)) || is_full(&qp->resp))
		return VERVE_REQUEST_INVALID;
	mr = verve_mr_get_range(&qp->scope, pdu->rkey, pdu->va, len, access);
	if (!mr)
		return VERVE_REQUEST_NO_ACCESS;
	target = verve_mr_map(mr, pdu->va, &len, IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(target))
		verdict = page_in(qp, mr, pdu->va, len);
	else if (len == sizeof(u64) && IS_ALIGNED((uintptr_t)target, len))
		*orig = perform(target, pdu, value);
	else
		verdict = VERVE_REQUEST_INVALID;
	verve_mr_put(mr);
	return verdict;
}

static enum verve_request_verdict
execute_atomic(struct verve_qp *qp, const struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	struct verve_rd_atomic atomic = {
		.op = verve_opcode_flags(pdu->opcode) &
		      (VERVE_OP_ATOMIC | VERVE_OP_ATOMIC_WRITE),
		.first_psn = pdu->psn,
		.last_psn = pdu->psn,
	};
	enum verve_request_verdict verdict;
	struct verve_iter it;
	u64 value = 0;

	/* verve_verdict_request() has checked that an ATOMIC WRITE has 8 bytes. */
	verve_iter_flat(&it, &value, sizeof(value));
	if (pdu->length && verve_arrival_copy(arrival, 0, &it, pdu->length))
		return VERVE_REQUEST_LATER;
	verdict = access_atomic(qp, pdu, value, &atomic.orig);
	if (verdict == VERVE_REQUEST_LATER)
		return verdict;
	verve_count(qp, rx_atomic_requests, 1);
	return verdict ? verdict : finish(&qp->resp, &atomic);
}

/* Is the FLUSH allowed? A FLUSH of a whole region has no address and no length. */
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
 * The CPU executes requests in order, so earlier writes are globally visible as
 * soon as its stores are.
 */
static enum verve_request_verdict execute_flush(struct verve_qp *qp,
						const struct verve_pdu *pdu)
	__must_hold(&qp->lock)
{
	struct verve_rd_atomic flush = {
		.op = VERVE_OP_FLUSH,
		.first_psn = pdu->psn,
		.last_psn = pdu->psn,
	};

	verve_count(qp, rx_flush_requests, 1);
	if (!may_flush(qp, pdu))
		return VERVE_REQUEST_NO_ACCESS;
	/* Order earlier writes before the response. */
	wmb();
	return finish(&qp->resp, &flush);
}

enum verve_request_verdict
verve_rd_atomic_execute(struct verve_qp *qp,
			const struct verve_arrival *arrival)
{
	u32 flags = verve_opcode_flags(arrival->pdu.opcode);

	lockdep_assert_held(&qp->lock);
	if (flags & VERVE_OP_READ)
		return execute_read(qp, &arrival->pdu);
	if (flags & VERVE_OP_FLUSH)
		return execute_flush(qp, &arrival->pdu);
	return execute_atomic(qp, arrival);
}

static bool holds(const struct verve_rd_atomic *res, u32 psn)
{
	return !verve_psn_before(psn, res->first_psn) &&
	       !verve_psn_before(res->last_psn, psn);
}

/* Return: newest request whose PSNs include @psn, or NULL. */
static const struct verve_rd_atomic *find(const struct verve_responder *resp,
					  u32 psn)
{
	u32 i;

	for (i = 1; i <= resp->room; i++) {
		const struct verve_rd_atomic *res =
			&resp->resources[(resp->next_slot + resp->room - i) %
				      resp->room];

		if (res->msn && holds(res, psn))
			return res;
	}
	return NULL;
}

/* Cut the original READ to the part that a duplicate requests (9.7.4.1.1). */
static bool trim(struct verve_rd_atomic *read, const struct verve_pdu *pdu,
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

void verve_rd_atomic_repeat(struct verve_qp *qp, const struct verve_pdu *pdu)
{
	u32 op = verve_opcode_flags(pdu->opcode) & VERVE_OP_RD_ATOMIC;
	const struct verve_rd_atomic *found = find(&qp->resp, pdu->psn);
	struct verve_rd_atomic res;

	if (!found || found->op != op) {
		verve_qp_drop(qp, rx_drop_stale);
		return;
	}
	res = *found;
	if (op == VERVE_OP_READ && !trim(&res, pdu, qp->mtu)) {
		verve_qp_drop(qp, rx_drop_protocol);
		return;
	}
	/* A late duplicate: the key has been invalidated since the answer. */
	if (op == VERVE_OP_READ && !is_readable(qp, &res)) {
		verve_qp_drop(qp, rx_drop_stale);
		return;
	}
	/* With so many repeats pending, this one is being answered already. */
	if (qp->resp.num_repeats == qp->resp.room)
		return;
	res.is_repeat = true;
	add_response(&qp->resp, &res);
}

bool verve_rd_atomic_needs(const struct verve_responder *resp, u32 rkey)
{
	u32 i;

	for (i = 0; i < resp->num_responses; i++) {
		const struct verve_rd_atomic *res = response_at(resp, i);

		if (res->length && res->rkey == rkey)
			return true;
	}
	return false;
}

void verve_rd_atomic_drop(struct verve_responder *resp)
{
	resp->num_responses = 0;
	resp->num_repeats = 0;
}

static void next_response(struct verve_responder *resp)
{
	resp->num_repeats -= response_at(resp, 0)->is_repeat;
	resp->num_responses--;
	resp->first_response = (resp->first_response + 1) % (2 * resp->room);
	resp->response_psn = response_at(resp, 0)->first_psn;
}

static void send_atomic_ack(struct verve_qp *qp,
			    const struct verve_rd_atomic *res)
	__must_hold(&qp->lock)
{
	struct verve_burst burst = {
		.kind = VERVE_SEQ_RC_ATOMIC_ACK,
		.qpn = qp->attr.dest_qp_num,
		.packets = 1,
		.mtu = qp->mtu,
		.starts = true,
		.ends = true,
		.pdu.psn = res->first_psn,
		.pdu.orig = res->orig,
		.pdu.aeth = (VERVE_AETH_ACK | VERVE_AETH_CREDIT_UNLIMITED) << 24 |
			    (res->msn & VERVE_PSN_MASK),
	};

	verve_train_add(qp->train, &qp->flow, &burst);
	qp->budget--;
	next_response(&qp->resp);
}

static int send_part(struct verve_qp *qp, const struct verve_rd_atomic *res,
		     struct verve_burst *burst, u32 offset)
	__must_hold(&qp->lock)
{
	struct verve_iter it;
	struct verve_mr *mr;
	int err;

	if (!res->length)
		return verve_train_add(qp->train, &qp->flow, burst);
	/*
	 * Look the key up again for each burst, because it may have been
	 * invalidated.
	 */
	mr = verve_mr_get_range(&qp->scope, res->rkey, res->va + offset,
				burst->length, IB_ACCESS_REMOTE_READ);
	if (!mr)
		return -EACCES;
	verve_iter_range(&it, mr, res->va + offset, burst->length, 0);
	verve_mr_put(mr);
	burst->payload = &it;
	err = verve_train_add(qp->train, &qp->flow, burst);
	if (err == -EAGAIN)
		err = verve_stall_begin(qp, &it, VERVE_STALL_RESPONSES);
	verve_iter_end(&it);
	return err;
}

/* Send at most @most packets of the response. */
static void send_read(struct verve_qp *qp, const struct verve_rd_atomic *res,
		      u32 most)
	__must_hold(&qp->lock)
{
	struct verve_responder *resp = &qp->resp;
	u32 done = verve_psn_diff(resp->response_psn, res->first_psn);
	u32 left = verve_psn_diff(res->last_psn, resp->response_psn) + 1;
	u32 offset = done * qp->mtu;
	struct verve_burst burst = {
		.kind = VERVE_SEQ_RC_READ_RESP,
		.qpn = qp->attr.dest_qp_num,
		.packets = min3(left, qp->budget, most),
		.mtu = qp->mtu,
		.starts = !done,
		.segmentation = VERVE_SEGMENT_OFFERED,
		.pdu.psn = resp->response_psn,
		.pdu.aeth = (VERVE_AETH_ACK | VERVE_AETH_CREDIT_UNLIMITED) << 24 |
			    (res->msn & VERVE_PSN_MASK),
	};
	int err;

	burst.ends = burst.packets == left;
	burst.length = min(res->length - offset, burst.packets * qp->mtu);
	err = send_part(qp, res, &burst, offset);
	if (err == -EAGAIN)
		return;
	if (err) {
		verve_nak_response(qp, resp->response_psn);
		return;
	}
	qp->budget -= burst.packets;
	verve_congestion_sent(qp, burst.packets, burst.length);
	resp->response_psn = verve_psn_add(resp->response_psn, burst.packets);
	if (burst.ends)
		next_response(resp);
}

void verve_rd_atomic_respond(struct verve_qp *qp)
{
	struct verve_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->lock);
	while (resp->num_responses && qp->budget &&
	       !verve_stall_is_on(qp, VERVE_STALL_RESPONSES)) {
		const struct verve_rd_atomic *res = response_at(resp, 0);
		u32 most = verve_congestion_allow_response(qp);

		if (!most)
			return;
		if (res->op == VERVE_OP_ATOMIC)
			send_atomic_ack(qp, res);
		else
			send_read(qp, res, most);
	}
	if (resp->num_responses &&
	    !verve_stall_is_on(qp, VERVE_STALL_RESPONSES))
		verve_engine_again(qp);
}
