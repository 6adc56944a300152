// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must hold: of each completion when it comes, of both engines after each
 * event, and of everything when nothing is left to happen.
 */
#include "../../drivers/infiniband/sw/verve/transport/psn.h"
#include "../../drivers/infiniband/sw/verve/transport/verdict.h"
#include "model.h"

enum {
	/* That loss may use up within the time of an answer */
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

/* The payload of @node's request @r, from its @from th byte on */
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

/* Request @r is done: its results are there, and its memory is the user's. */
static void finish(struct node *node, u32 r)
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

static bool is_signaled(const struct node *node, u32 r)
{
	return node->qp.sq.sig_all || node->plan[r].flags & IB_SEND_SIGNALED;
}

/*
 * A node that must refuse the peer's last request fails, and is told so by nothing
 * but its flushed requests.
 */
static void note_refusal(struct node *node)
{
	const struct node *peer = peer_of(node);
	u32 last = peer->num_requests - 1;

	if (node->failed || node->qp.state != IB_QPS_ERR)
		return;
	if (peer->num_requests && peer->posted == peer->num_requests &&
	    peer->plan[last].bad_rkey)
		node->failed = IB_WC_WR_FLUSH_ERR;
}

/*
 * Who is gone does not answer. Who refuses has answered all that came before, so
 * then an answer must have been lost.
 */
static bool is_forsaken(const struct node *node)
{
	const struct node *peer = peer_of(node);

	if (peer->failed == IB_WC_WR_FLUSH_ERR)
		return model.harm || model.set.paging;
	return peer->failed;
}

/*
 * A requester gives up when nobody answers for as long as it was told to try.
 * NAKs cost retries, too, so few of those may be used up by what the network did.
 */
static bool is_excused(const struct node *node)
{
	const struct ib_qp_attr *attr = &node->qp.attr;
	u64 timeout = verve_ack_timeout_ns(attr->timeout);
	u64 silence = world_now() - node->progress_at;

	if (is_forsaken(node))
		return true;
	if (timeout && silence >= (attr->retry_cnt + 1) * timeout)
		return true;
	/* Beside the network, a peer that waits for a page may throw away. */
	return attr->retry_cnt < FEW_RETRIES &&
	       (model.harm || model.set.paging);
}

/* A request may fail because nobody answers, or because it was meant to. */
static void check_failure(struct node *node, const struct ib_wc *wc)
{
	note_refusal(node);
	if (node->failed) {
		expect(wc->status == IB_WC_WR_FLUSH_ERR,
		       "request %u.%llu: status %d after a failure",
		       node->index, wc->wr_id, wc->status);
	} else if (node->plan[wc->wr_id].bad_lkey) {
		expect(wc->status == IB_WC_LOC_PROT_ERR,
		       "request %u.%llu: status %d", node->index, wc->wr_id,
		       wc->status);
	} else if (!node->plan[wc->wr_id].bad_rkey ||
		   wc->status != IB_WC_REM_ACCESS_ERR) {
		expect(wc->status == IB_WC_RETRY_EXC_ERR && is_excused(node),
		       "request %u.%llu: status %d, %llu ns after progress",
		       node->index, wc->wr_id, wc->status,
		       world_now() - node->progress_at);
		expect(wc->wr_id == node->done, "not the oldest failed");
	}
	node->failed = node->failed ?: wc->status;
}

static void send_done(struct node *node, const struct ib_wc *wc)
{
	expect(wc->wr_id < node->posted, "%u.%llu was not posted", node->index,
	       wc->wr_id);
	expect(wc->wr_id >= node->done, "%u.%llu completes again, or late",
	       node->index, wc->wr_id);
	for (; node->done < wc->wr_id; node->done++) {
		expect(!is_signaled(node, node->done) && !node->failed,
		       "%u.%u has not completed", node->index, node->done);
		finish(node, node->done);
	}
	if (wc->status != IB_WC_SUCCESS) {
		check_failure(node, wc);
	} else {
		const struct request *request = &node->plan[wc->wr_id];

		expect(!node->failed, "%u.%llu: success after a failure",
		       node->index, wc->wr_id);
		expect(is_signaled(node, wc->wr_id), "%u.%llu is unsignaled",
		       node->index, wc->wr_id);
		expect(wc->opcode == wc_opcodes[request->op], "opcode %d",
		       wc->opcode);
		finish(node, wc->wr_id);
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

static void recv_done(struct node *node, const struct ib_wc *wc)
{
	const struct receive *receive = &node->receives[node->recv_done];
	const struct request *request = &peer_of(node)->plan[receive->request];
	bool is_write = request->op == IB_WR_RDMA_WRITE_WITH_IMM;

	expect(node->recv_done < node->recv_posted, "a receive out of nothing");
	expect(wc->wr_id == node->recv_done, "receive %llu, not %u", wc->wr_id,
	       node->recv_done);
	node->recv_done++;
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		expect(node->qp.state == IB_QPS_ERR, "flushed without cause");
		node->flushed_recv = true;
		return;
	}
	expect(wc->status == IB_WC_SUCCESS && !node->flushed_recv,
	       "receive %llu: status %d", wc->wr_id, wc->status);
	expect(receive->request < peer_of(node)->posted, "before it was sent");
	expect(wc->byte_len == request->length, "%u bytes, not %u",
	       wc->byte_len, request->length);
	expect(wc->opcode == (is_write ? IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV),
	       "opcode %d", wc->opcode);
	if (is_write || request->op == IB_WR_SEND_WITH_IMM)
		expect(wc->wc_flags & IB_WC_WITH_IMM &&
		       wc->ex.imm_data == request->imm, "immediate data");
	if (request->op == IB_WR_SEND_WITH_INV)
		expect(wc->wc_flags & IB_WC_WITH_INVALIDATE &&
		       wc->ex.invalidate_rkey == request->key, "the key");
	if (is_write) {
		check_written(node, receive->request);
		return;
	}
	check_payload(peer_of(node), receive->request,
		      node->region.bytes + receive->local, request->length,
		      "SEND");
	region_scribble(&node->region, receive->local, receive->length);
}

bool verve_cq_post(struct verve_cq *cq, const struct ib_wc *wc, u32 n,
		   bool solicited)
{
	struct node *node = container_of(wc->qp, struct node, ibqp);

	(void)solicited;
	expect(n == 1, "%u completions at once", n);
	if (cq == &node->scq)
		send_done(node, wc);
	else
		recv_done(node, wc);
	return true;
}

/* Of all that can happen to a QP, only failures of the plan may. */
void check_event(struct ib_event *event, void *context)
{
	struct node *node = context;

	if (event->event == IB_EVENT_SQ_DRAINED)
		return;
	note_refusal(node);
	expect(node->failed || peer_of(node)->failed, "event %d of QP %#x",
	       event->event, event->element.qp->qp_num);
}

int check_key(struct node *node, u32 key, bool is_remote)
{
	u32 *seen = is_remote ? &node->inv_seen : &node->local_seen;

	expect(key == *seen, "key %u changes, the next is %u", key, *seen);
	++*seen;
	return 0;
}

void verve_cq_notify(struct verve_cq *cq)
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
	(void)dev;
	(void)pd;
	broken("address handle %u, which nobody has", num);
}

static void check_early(const struct verve_early *early, u32 due)
{
	const struct llist_node *node;
	u32 n = 0, psn = due;

	for (node = early->first; node; node = node->next, n++) {
		const struct verve_arrival *arrival =
			container_of(node, struct verve_arrival, node);

		expect(verve_psn_before(psn, arrival->pdu.psn) ||
		       (!n && psn == arrival->pdu.psn) ||
		       (!n && verve_psn_before(arrival->pdu.psn, psn)),
		       "packets that came early are out of order");
		psn = arrival->pdu.psn;
	}
	expect(n == early->count && n <= VERVE_MAX_EARLY,
	       "%u packets came early, counted are %u", n, early->count);
}

/* What is fenced begins when no READ or atomic before it is under way. */
static void check_fences(const struct verve_qp *qp)
{
	const struct verve_sq *sq = &qp->sq;
	u32 i, reads = 0;

	for (i = sq->tail; i != sq->head; i++) {
		const struct verve_swqe *wqe = verve_sq_at(sq, i);

		if (wqe->state != VERVE_WQE_STARTED)
			return;
		expect(!reads || !(wqe->flags & IB_SEND_FENCE),
		       "%u has overtaken %u READs", i, reads);
		reads += wqe->reads;
	}
}

static void check_requester(struct node *node)
{
	const struct verve_qp *qp = &node->qp;
	const struct verve_requester *req = &qp->req;
	const struct verve_responder *there = &peer_of(node)->qp.resp;
	u32 outstanding = verve_psn_diff(req->max_psn, req->una);

	expect(outstanding <= VERVE_MAX_UNACKED, "%u outstanding", outstanding);
	expect(verve_psn_diff(req->psn, req->una) >= 0 &&
	       verve_psn_diff(req->max_psn, req->psn) >= 0,
	       "PSN %#x, not in %#x .. %#x", req->psn, req->una, req->max_psn);
	expect(verve_psn_diff(there->epsn, req->una) >= 0,
	       "acknowledged up to %#x, executed up to %#x", req->una,
	       there->epsn);
	expect(verve_psn_diff(req->max_psn, there->epsn) >= 0,
	       "executed up to %#x, sent up to %#x", there->epsn, req->max_psn);
	expect(req->rd_atomic <= qp->attr.max_rd_atomic, "%u READs at once",
	       req->rd_atomic);
	expect(verve_psn_diff(req->max_psn, req->asked) >= 0,
	       "asked for an answer up to %#x, sent up to %#x", req->asked,
	       req->max_psn);
	check_early(&req->early, req->una);
	check_fences(qp);
}

/* The clock of failure starts when there is something that can fail. */
static void note_progress(struct node *node)
{
	const struct verve_requester *req = &node->qp.req;

	if (req->una == node->last_una && req->una != req->max_psn)
		return;
	node->last_una = req->una;
	node->progress_at = world_now();
}

/* What had succeeded before a refusal, and is unsignaled, does not say so. */
static void catch_up(struct node *node)
{
	for (; node->done < node->qp.sq.tail; node->done++) {
		expect(!is_signaled(node, node->done), "%u.%u never completed",
		       node->index, node->done);
		finish(node, node->done);
	}
}

static void check_node(struct node *node)
{
	const struct verve_qp *qp = &node->qp;
	const struct verve_sq *sq = &qp->sq;

	note_refusal(node);
	if (node->failed == IB_WC_WR_FLUSH_ERR)
		catch_up(node);
	expect(node->holds_lock || !qp->lock.held, "an owner has not let go");
	expect(!node->region.held, "a region is held by nobody");
	/* One more for a note in the peer's list of callers: pair.h */
	expect(qp->ref.refs == 1 + qp->pair.calling, "%d references",
	       qp->ref.refs);
	expect(sq->tail <= sq->next && sq->next <= sq->head, "send queue");
	expect(qp->resp.num_jobs - qp->resp.num_repeats <= qp->resp.slots &&
	       qp->resp.num_repeats <= qp->resp.slots, "responses");
	expect(qp->state != IB_QPS_ERR || node->failed || peer_of(node)->failed,
	       "failed without saying so");
	check_early(&qp->resp.early, qp->resp.epsn);
	if (!node->failed && !peer_of(node)->failed)
		check_requester(node);
	note_progress(node);
}

void check_step(void)
{
	check_node(&model.node[0]);
	check_node(&model.node[1]);
}

/* What @node's requests have done to its peer's memory */
static void apply(struct node *node)
{
	struct region *there = &peer_of(node)->region;
	u32 r, i;

	for (r = 0; r < node->num_requests; r++) {
		const struct request *request = &node->plan[r];

		if (request->op == IB_WR_RDMA_WRITE ||
		    request->op == IB_WR_RDMA_WRITE_WITH_IMM ||
		    request->op == IB_WR_ATOMIC_WRITE)
			for (i = 0; i < request->length; i++)
				there->image[request->remote + i] =
					plan_byte(node, r, i);
	}
	memcpy(there->image + ROM_BYTES + HOT_BYTES,
	       peer_of(node)->counters, 8 * NUM_COUNTERS);
}

static void check_memory(struct node *node)
{
	const struct region *region = &node->region;
	u32 i;

	apply(peer_of(node));
	for (i = 0; i < region->size; i++)
		expect(region->bytes[i] == region->image[i],
		       "node %u, byte %#x of %#x: %02x, not %02x", node->index,
		       i, region->size, region->bytes[i], region->image[i]);
}

static u32 count(const struct node *node, enum ib_wr_opcode op)
{
	u32 r, n = 0;

	for (r = 0; r < node->num_requests; r++)
		n += node->plan[r].op == op;
	return n;
}

static u32 count_reads(const struct node *node)
{
	u32 r, n = 0;

	for (r = 0; r < node->num_requests; r++)
		if (node->plan[r].op == IB_WR_RDMA_READ)
			n += DIV_ROUND_UP(verve_psn_count(node->plan[r].length,
							  model.set.mtu),
					  VERVE_READ_PIECE);
	return n;
}

static void check_counter(struct node *node, enum verve_counter counter,
			  u32 want, const char *what)
{
	u64 have = node->stats.counter[counter];

	expect(have == want, "%llu %s were executed, %u were sent", have, what,
	       want);
}

/* As often as the peer asked for it, whatever was repeated on the way */
static void check_executed(struct node *node)
{
	const struct node *peer = peer_of(node);

	check_counter(node, VERVE_CNT_rx_atomic_requests,
		      count(peer, IB_WR_ATOMIC_CMP_AND_SWP) +
		      count(peer, IB_WR_ATOMIC_FETCH_AND_ADD) +
		      count(peer, IB_WR_ATOMIC_WRITE), "atomics");
	check_counter(node, VERVE_CNT_rx_flush_requests,
		      count(peer, IB_WR_FLUSH), "FLUSHes");
	check_counter(node, VERVE_CNT_rx_read_requests, count_reads(peer),
		      "READs");
	check_counter(node, VERVE_CNT_rx_write_requests,
		      count(peer, IB_WR_RDMA_WRITE) +
		      count(peer, IB_WR_RDMA_WRITE_WITH_IMM), "WRITEs");
	expect(node->inv_seen == node->num_inv, "%u keys of %u are invalidated",
	       node->inv_seen, node->num_inv);
	expect(node->local_seen == node->num_local,
	       "%u local requests of %u were executed", node->local_seen,
	       node->num_local);
}

static void check_idle(const struct node *node)
{
	const struct verve_qp *qp = &node->qp;
	const struct verve_requester *req = &qp->req;

	expect(qp->sq.tail == node->num_requests, "%u requests of %u are done",
	       qp->sq.tail, node->num_requests);
	expect(node->recv_done == node->num_receives,
	       "%u receives of %u have completed", node->recv_done,
	       node->num_receives);
	expect(req->una == req->psn && req->psn == req->max_psn &&
	       req->una == peer_of(node)->qp.resp.epsn,
	       "PSNs: una %#x, psn %#x, max %#x", req->una, req->psn,
	       req->max_psn);
	expect(!req->rd_atomic && !req->early.count && !qp->resp.early.count,
	       "%u READs, %u and %u early packets are left", req->rd_atomic,
	       req->early.count, qp->resp.early.count);
	expect(!qp->resp.num_jobs && !qp->resp.op && !qp->stall.parts &&
	       !qp->stall.held && !req->recovery.under_way && !qp->events,
	       "the engine has not come to rest");
	expect(qp->state == IB_QPS_RTS, "state %d", qp->state);
}

/*
 * Nobody may send without need: beside what an ideal network takes, so many for
 * each packet that was harmed on its way, and one now and then to ask. Who keeps
 * what comes early is sent little that he has.
 */
static void check_packets(void)
{
	bool goes_back = model.node[0].go_back_n || model.node[1].go_back_n;
	u64 sent = model.node[0].sent + model.node[1].sent;
	u64 refused = model.node[0].stats.counter[VERVE_CNT_send_rnr_err] +
		      model.node[1].stats.counter[VERVE_CNT_send_rnr_err];
	u64 most = model.needed + 2 * refused + 4 * world_now() / MS + 100 +
		   model.harm * (goes_back ? 12 : 2);

	expect(sent <= most, "%llu packets were sent, %llu needed, %llu harmed",
	       sent, model.needed, model.harm);
}

/* Where nothing is lost or overtaken, no response is missed. */
static void check_calm(const struct node *node)
{
	u64 missed = node->stats.counter[VERVE_CNT_implied_nak_seq_err];

	expect(!missed || model.harm || model.set.paging,
	       "%llu responses were missed, none was lost", missed);
}

/* The receiver says for how long not to ask again. */
static void check_refusals(const struct node *node)
{
	u64 refused = node->stats.counter[VERVE_CNT_send_rnr_err];
	u64 ns = verve_rnr_timeout_ns(node->qp.attr.min_rnr_timer);

	expect(refused <= world_now() / ns + model.harm + 10,
	       "%llu RNR NAKs within %llu ns", refused, world_now());
}

/* A dead QP has told of all that was posted, and needs nothing any more. */
void check_failed(void)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		const struct node *node = &model.node[i];
		const struct verve_qp *qp = &node->qp;

		if (qp->state != IB_QPS_ERR)
			continue;
		expect(node->done == node->posted &&
		       node->recv_done == node->recv_posted,
		       "%u requests of %u and %u receives of %u were flushed",
		       node->done, node->posted, node->recv_done,
		       node->recv_posted);
		expect(!qp->req.early.count && !qp->resp.early.count &&
		       !qp->stall.held && !qp->req.rd_atomic,
		       "a dead QP keeps something");
	}
}

void check_rest(void)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct node *node = &model.node[i];

		check_idle(node);
		for (; node->done < node->num_requests; node->done++) {
			expect(!is_signaled(node, node->done),
			       "%u.%u never completed", i, node->done);
			finish(node, node->done);
		}
		check_executed(node);
		check_refusals(node);
		check_calm(node);
	}
	check_packets();
	expect(!model.arrivals, "%llu arrivals are not freed", model.arrivals);
	check_memory(&model.node[0]);
	check_memory(&model.node[1]);
}
