// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of each completion and of each event
 */
#include "../../drivers/infiniband/sw/verve/transport/verdict.h"
#include "model.h"

enum {
	/* Retries that loss may use up within the time of one answer */
	FEW_RETRIES	= 4,
};

static const u8 wc_opcodes[] = {
	[IB_WR_SEND] = IB_WC_SEND,
	[IB_WR_SEND_WITH_IMM] = IB_WC_SEND,
	[IB_WR_SEND_WITH_INV] = IB_WC_SEND,
	[IB_WR_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_READ] = IB_WC_RDMA_READ,
	[IB_WR_ATOMIC_CMP_AND_SWP] = IB_WC_COMP_SWAP,
	[IB_WR_ATOMIC_FETCH_AND_ADD] = IB_WC_FETCH_ADD,
	[IB_WR_LOCAL_INV] = IB_WC_LOCAL_INV,
	[IB_WR_BIND_MW] = IB_WC_BIND_MW,
	[IB_WR_FLUSH] = IB_WC_FLUSH,
	[IB_WR_ATOMIC_WRITE] = IB_WC_ATOMIC_WRITE,
};

/* Check payload of @node's request @r, from byte @from on. */
static void check_payload(const struct node *node, u32 r, const u8 *bytes,
			  u32 len, const char *what)
{
	u32 i;

	for (i = 0; i < len; i++)
		expect(bytes[i] == plan_byte(node, r, i),
		       "%s of %u.%u differs at byte %u of %u", what, node->index,
		       r, i, len);
}

static void check_read(struct node *node, u32 r)
{
	const struct request *request = &node->plan[r];
	const struct region *there = &peer_of(node)->region;
	const u8 *bytes = node->region.bytes + request->local;

	if (request->source >= 0)
		check_payload(node, request->source, bytes, request->length,
			      "READ");
	else
		expect(!memcmp(bytes, there->image + request->remote,
			       request->length),
		       "READ %u.%u found something else", node->index, r);
}

static void check_atomic(const struct node *node, u32 r)
{
	const struct request *request = &node->plan[r];
	u64 found;

	memcpy(&found, node->region.bytes + request->local, sizeof(found));
	expect(found == request->found, "atomic %u.%u: %#llx, not %#llx",
	       node->index, r, found, request->found);
}

void completion_finish(struct node *node, u32 r)
{
	const struct request *request = &node->plan[r];

	switch (request->op) {
	case IB_WR_RDMA_READ:
		check_read(node, r);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		check_atomic(node, r);
		break;
	case IB_WR_LOCAL_INV:
	case IB_WR_BIND_MW:
	case IB_WR_FLUSH:
	case IB_WR_ATOMIC_WRITE:
		return;
	default:
		break;
	}
	region_scribble(&node->region, request->local, request->length);
}

bool completion_is_due(const struct node *node, u32 r)
{
	return node->qp.sq.sig_all || node->plan[r].flags & IB_SEND_SIGNALED;
}

void completion_note_refusal(struct node *node)
{
	const struct node *peer = peer_of(node);
	u32 last = peer->num_requests - 1;

	if (node->failed || node->qp.state != IB_QPS_ERR)
		return;
	if (node->recv_failed ||
	    (peer->num_requests && peer->posted == peer->num_requests &&
	     plan_is_refused(&peer->plan[last])))
		node->failed = IB_WC_WR_FLUSH_ERR;
}

/*
 * Is the peer unable to answer? A failed peer does not answer. A peer that refused a
 * request has answered all before it, so in that case an answer was lost.
 */
static bool is_forsaken(const struct node *node)
{
	const struct node *peer = peer_of(node);

	if (peer->failed == IB_WC_WR_FLUSH_ERR && !is_overrun(peer))
		return model.harm || model.set.paging;
	return peer->failed;
}

/* Missing responses and packets: each may cost a retry. */
u64 completion_naks(const struct node *node)
{
	const u64 *counter = node->stats.counter;

	return counter[VERVE_CNT_implied_nak_seq_err] +
	       counter[VERVE_CNT_packet_seq_err];
}

/*
 * May a requester fail with a retry error? It does when no answer comes for all its
 * retries. NAKs cost retries, too, so loss in the network may use up a few.
 */
static bool is_excused(const struct node *node)
{
	const struct ib_qp_attr *attr = &node->qp.attr;
	u64 timeout = verve_ack_timeout_ns(attr->timeout);
	u64 silence = world_now() - node->progress_at;
	/* The NAK that acknowledged the last progress has cost a retry, too. */
	u64 naks = completion_naks(node) - node->naks_at + 1;

	if (is_forsaken(node))
		return true;
	if (timeout && silence + naks * timeout >=
		       (attr->retry_cnt + 1) * timeout)
		return true;
	/* A peer that waits for a page may drop packets, or receive far ones. */
	return attr->retry_cnt < FEW_RETRIES &&
	       (model.harm || model.set.paging || model.set.blind);
}

/* The status with which the plan lets @request fail first, or 0 */
static enum ib_wc_status planned_failure(const struct request *request)
{
	if (request->bad_lkey || request->gone_local)
		return IB_WC_LOC_PROT_ERR;
	if (model.set.type == IB_QPT_UD && request->ah != GOOD_AH)
		return IB_WC_LOC_QP_OP_ERR;
	if (plan_is_refused(request))
		return IB_WC_REM_ACCESS_ERR;
	return request->gone_receive ? IB_WC_REM_OP_ERR : 0;
}

/* A request may fail by the plan, or because the peer does not answer. */
static void check_failure(struct node *node, const struct ib_wc *wc)
{
	enum ib_wc_status planned = planned_failure(&node->plan[wc->wr_id]);

	completion_note_refusal(node);
	if (node->failed) {
		expect(wc->status == IB_WC_WR_FLUSH_ERR,
		       "request %u.%llu: status %d after a failure",
		       node->index, wc->wr_id, wc->status);
	} else if (!planned || wc->status != planned) {
		expect(wc->status == IB_WC_RETRY_EXC_ERR && is_excused(node),
		       "request %u.%llu: status %d, %llu ns after progress",
		       node->index, wc->wr_id, wc->status,
		       world_now() - node->progress_at);
		expect(wc->wr_id == node->done, "not the oldest failed");
	}
	node->failed = node->failed ?: wc->status;
	node->has_flushed = true;
}

/* Is a request of UC or UD lost? Its sender is not told. */
static bool is_doomed(const struct request *request)
{
	enum ib_wc_status planned = planned_failure(request);

	if (plan_is_reliable())
		return planned;
	return planned == IB_WC_LOC_PROT_ERR || planned == IB_WC_LOC_QP_OP_ERR;
}

static void send_done(struct node *node, const struct ib_wc *wc)
{
	expect(wc->wr_id < node->posted, "%u.%llu was not posted", node->index,
	       wc->wr_id);
	expect(wc->wr_id >= node->done, "%u.%llu completes again, or late",
	       node->index, wc->wr_id);
	for (; node->done < wc->wr_id; node->done++) {
		/* A receive may be flushed before the first failed request completes. */
		expect(!completion_is_due(node, node->done) &&
		       (!node->failed || !node->has_flushed),
		       "%u.%u has not completed", node->index, node->done);
		completion_finish(node, node->done);
	}
	if (wc->status != IB_WC_SUCCESS) {
		check_failure(node, wc);
	} else {
		const struct request *request = &node->plan[wc->wr_id];

		expect(!node->failed, "%u.%llu: success after a failure",
		       node->index, wc->wr_id);
		expect(completion_is_due(node, wc->wr_id),
		       "%u.%llu is unsignaled", node->index, wc->wr_id);
		expect(wc->opcode == wc_opcodes[request->op], "opcode %d",
		       wc->opcode);
		expect(!is_doomed(request), "%u.%llu: no failure", node->index,
		       wc->wr_id);
		completion_finish(node, wc->wr_id);
	}
	node->done++;
}

static void check_written(struct node *node, u32 r)
{
	struct node *peer = peer_of(node);
	const struct request *request = &peer->plan[r];

	check_payload(peer, r, node->region.bytes + request->remote,
		      request->length, "WRITE with immediate");
}

/* Check the fields of a receive's completion against the message that it took. */
static void check_message(const struct node *node, const struct ib_wc *wc, u32 r)
{
	const struct request *request = &peer_of(node)->plan[r];
	bool is_write = request->op == IB_WR_RDMA_WRITE_WITH_IMM;
	u32 grh = model.set.type == IB_QPT_UD ? GRH : 0;

	expect(r < peer_of(node)->posted, "before it was sent");
	expect(wc->byte_len == request->length + grh, "%u bytes, not %u",
	       wc->byte_len, request->length + grh);
	expect(wc->opcode == (is_write ? IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV),
	       "opcode %d", wc->opcode);
	expect(wc->src_qp == peer_of(node)->qp.qpn, "from QP %#x", wc->src_qp);
	if (is_write || request->op == IB_WR_SEND_WITH_IMM)
		expect(wc->wc_flags & IB_WC_WITH_IMM &&
		       wc->ex.imm_data == request->imm, "immediate data");
	if (request->op == IB_WR_SEND_WITH_INV)
		expect(wc->wc_flags & IB_WC_WITH_INVALIDATE &&
		       wc->ex.invalidate_rkey == request->key, "the key");
	expect(!!(wc->wc_flags & IB_WC_GRH) == !!grh, "the GRH");
}

static void check_grh(const u8 *bytes)
{
	u32 i;

	for (i = 0; i < GRH; i++)
		expect(bytes[i] == grh_byte(i), "GRH, byte %u: %02x", i,
		       bytes[i]);
}

static void check_sent_data(const struct node *node,
			    const struct receive *receive, u32 r)
{
	const struct request *request = &peer_of(node)->plan[r];
	const u8 *bytes = node->region.bytes + receive->local;

	if (model.set.type == IB_QPT_UD) {
		check_grh(bytes);
		bytes += GRH;
	}
	check_payload(peer_of(node), r, bytes, request->length, "SEND");
}

/*
 * Find the message of a receive on UC and UD. The oracle knows it, unless this side
 * dropped packets. Then the message itself contains its number.
 */
static u32 identify(struct node *node, const struct ib_wc *wc,
		    const struct receive *receive)
{
	u32 grh = model.set.type == IB_QPT_UD ? GRH : 0, r;
	const struct node *peer = peer_of(node);

	if (oracle_knows(node))
		return oracle_next(node);
	if (wc->wc_flags & IB_WC_WITH_IMM) {
		expect(wc->ex.imm_data < peer->num_requests, "immediate data");
		return wc->ex.imm_data;
	}
	for (r = 0; r < peer->num_requests; r++) {
		const struct request *request = &peer->plan[r];

		if (request->op == IB_WR_SEND &&
		    wc->byte_len == grh + request->length &&
		    node->oracle.times[r] <= peer->oracle.copies[r] &&
		    (!request->length ||
		     node->region.bytes[receive->local + grh] ==
		     plan_byte(peer, r, 0)))
			return r;
	}
	broken("a message that nobody has sent");
}

/* A message is delivered no more often than it was sent or arrived. */
static void count_message(struct node *node, u32 r)
{
	struct oracle *oracle = &node->oracle;

	if (plan_is_reliable())
		return;
	expect(oracle->times[r]++ <= peer_of(node)->oracle.copies[r],
	       "message %u once more", r);
}

/* Can a WRITE of the peer take a receive and then be refused? */
static bool may_refuse_write(const struct node *node)
{
	const struct node *peer = peer_of(node);
	u32 r;

	for (r = peer->done; r < peer->posted; r++)
		if (peer->plan[r].op == IB_WR_RDMA_WRITE_WITH_IMM &&
		    plan_is_refused(&peer->plan[r]))
			return true;
	return false;
}

/* A receive failed because its own memory or that of a WRITE is gone. */
static void recv_failed(struct node *node, const struct ib_wc *wc,
			const struct receive *receive)
{
	expect((wc->status == IB_WC_LOC_PROT_ERR && receive->gone) ||
	       (wc->status == IB_WC_LOC_ACCESS_ERR && may_refuse_write(node)),
	       "receive %llu: status %d", wc->wr_id, wc->status);
	expect(!node->recv_failed && (!node->failed || !plan_is_reliable()),
	       "receive %llu: status %d after a failure", wc->wr_id,
	       wc->status);
	node->recv_failed = true;
}

static void recv_done(struct node *node, const struct ib_wc *wc)
{
	const struct receive *receive = &node->receives[node->recv_done];
	u32 r;

	expect(node->recv_done < node->recv_posted, "a receive out of nothing");
	expect(wc->wr_id == node->recv_done, "receive %llu, not %u", wc->wr_id,
	       node->recv_done);
	node->recv_done++;
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		expect(node->qp.state == IB_QPS_ERR, "flushed without cause");
		node->flushed_recv = true;
		return;
	}
	expect(!node->flushed_recv, "receive %llu is not flushed", wc->wr_id);
	if (wc->status != IB_WC_SUCCESS) {
		recv_failed(node, wc, receive);
		return;
	}
	r = plan_is_reliable() ? receive->request :
				 identify(node, wc, receive);
	check_message(node, wc, r);
	count_message(node, r);
	if (peer_of(node)->plan[r].op == IB_WR_RDMA_WRITE_WITH_IMM)
		check_written(node, r);
	else
		check_sent_data(node, receive, r);
	region_scribble(&node->region, receive->local, receive->length);
}

bool verve_cq_post(struct verve_cq *cq, const struct ib_wc *wc, u32 n,
		   bool solicited)
{
	struct node *node = container_of(wc->qp, struct node, ibqp);

	(void)solicited;
	expect(n == 1, "%u completions at once", n);
	if (!is_overrun(node))
		node->completions_left--;
	if (is_overrun(node)) {
		node->failed = node->failed ?: IB_WC_WR_FLUSH_ERR;
		return false;
	}
	if (cq == &node->scq)
		send_done(node, wc);
	else
		recv_done(node, wc);
	return true;
}

/* Only failures of the plan may raise an event. */
void check_event(struct ib_event *event, void *context)
{
	struct node *node = context;

	if (event->event == IB_EVENT_SQ_DRAINED)
		return;
	completion_note_refusal(node);
	expect(node->failed || peer_of(node)->failed, "event %d of QP %#x",
	       event->event, event->element.qp->qp_num);
}

int check_key(struct node *node, u32 key, bool is_remote)
{
	u32 *seen = is_remote ? &node->inv_seen : &node->local_seen;

	/* On UC, earlier requests may have been flushed. */
	expect(key == *seen || (!plan_is_reliable() && key > *seen),
	       "key %u changes, the next is %u", key, *seen);
	*seen = key + 1;
	return 0;
}

void verve_cq_notify(struct verve_cq *cq)
{
	(void)cq;
}

void verve_cq_notify_later(struct verve_cq *cq)
{
	(void)cq;
}

void verve_srq_notify(struct verve_srq *srq)
{
	(void)srq;
}

struct verve_av *verve_av_find(struct verve_dev *dev, struct ib_pd *pd,
			       u32 num)
{
	static struct verve_av av;

	(void)dev;
	(void)pd;
	expect(model.set.type == IB_QPT_UD, "address handle %u of a QP", num);
	return num == GOOD_AH ? &av : NULL;
}
