// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invariants of both engines after each event, and of the final state when no event is
 * left.
 */
#include "../../drivers/infiniband/sw/verve/transport/verdict.h"
#include "../../drivers/infiniband/sw/verve/wire/psn.h"
#include "model.h"

static void check_ooo(const struct verve_ooo *ooo, u32 due)
{
	const struct llist_node *node;
	u32 n = 0, psn = due;

	for (node = ooo->first; node; node = node->next, n++) {
		const struct verve_arrival *arrival =
			container_of(node, struct verve_arrival, node);

		expect(verve_psn_before(psn, arrival->pdu.psn) ||
		       (!n && psn == arrival->pdu.psn) ||
		       (!n && verve_psn_before(arrival->pdu.psn, psn)),
		       "packets that came out of order are not sorted");
		psn = arrival->pdu.psn;
	}
	expect(n == ooo->count && n <= VERVE_MAX_OOO,
	       "%u packets came out of order, counted are %u", n, ooo->count);
}

/* A fenced request begins when no earlier READ or atomic is under way. */
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
		reads += wqe->rd_atomic;
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
	expect(!req->probing || outstanding, "waits for an answer to no packet");
	check_ooo(&req->ooo, req->una);
	check_fences(qp);
}

/* The peer's silence counts from the last progress, or since there are requests. */
static void note_progress(struct node *node)
{
	const struct verve_requester *req = &node->qp.req;

	if (req->una == node->last_una && req->una != req->max_psn)
		return;
	node->last_una = req->una;
	node->progress_at = world_now();
	node->naks_at = completion_naks(node);
}

/* Unsignaled requests that succeeded before a refusal have no completion. */
static void catch_up(struct node *node)
{
	for (; node->done < node->qp.sq.tail; node->done++) {
		expect(!completion_is_due(node, node->done),
		       "%u.%u never completed", node->index, node->done);
		completion_finish(node, node->done);
	}
}

static void check_node(struct node *node)
{
	const struct verve_qp *qp = &node->qp;
	const struct verve_sq *sq = &qp->sq;

	completion_note_refusal(node);
	if (node->failed == IB_WC_WR_FLUSH_ERR && !is_overrun(node))
		catch_up(node);
	expect(node->holds_lock || !qp->lock.held, "an owner has not let go");
	expect(!node->region.held, "a region is held by nobody");
	/* The peer's list of callers may hold one more reference (pair.h). */
	expect(qp->ref.refs == 1 + qp->pair.calling, "%d references",
	       qp->ref.refs);
	expect(sq->tail <= sq->next && sq->next <= sq->head, "send queue");
	expect(qp->resp.num_responses - qp->resp.num_repeats <=
			       qp->resp.slots &&
		       qp->resp.num_repeats <= qp->resp.room,
	       "responses");
	expect(qp->state != IB_QPS_ERR || node->failed || peer_of(node)->failed,
	       "failed without saying so");
	check_ooo(&qp->resp.ooo, qp->resp.epsn);
	if (plan_is_reliable() && !node->failed && !peer_of(node)->failed)
		check_requester(node);
	note_progress(node);
}

void check_step(void)
{
	check_node(&model.node[0]);
	check_node(&model.node[1]);
}

/* Apply the effects of @node's requests to the image of its peer's memory. */
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

static bool is_write(const struct request *request)
{
	return request->op == IB_WR_RDMA_WRITE ||
	       request->op == IB_WR_RDMA_WRITE_WITH_IMM;
}

/* Accept any content where a message may have arrived in part, or at another time. */
static void forgive(struct node *node)
{
	const struct node *peer = peer_of(node);
	struct region *region = &node->region;
	u32 r;

	for (r = 0; r < peer->num_requests; r++) {
		const struct request *request = &peer->plan[r];

		if (is_write(request) &&
		    (request->gone_remote || !oracle_knows(node)))
			region_forgive(region, request->remote,
				       request->length);
	}
	for (r = node->recv_done; r < node->recv_posted; r++)
		region_forgive(region, node->receives[r].local,
			       node->receives[r].length);
}

static void check_memory(struct node *node)
{
	const struct region *region = &node->region;
	u32 i;

	if (plan_is_reliable())
		apply(peer_of(node));
	else
		forgive(node);
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

/* Each request was executed as often as the peer asked, whatever the network repeated. */
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

static void check_reliable(const struct node *node)
{
	const struct verve_qp *qp = &node->qp;
	const struct verve_requester *req = &qp->req;

	expect(node->recv_done == node->num_receives,
	       "%u receives of %u have completed", node->recv_done,
	       node->num_receives);
	expect(req->una == req->psn && req->psn == req->max_psn &&
	       req->una == peer_of(node)->qp.resp.epsn,
	       "PSNs: una %#x, psn %#x, max %#x", req->una, req->psn,
	       req->max_psn);
	expect(!req->rd_atomic && !req->ooo.count && !qp->resp.ooo.count,
	       "%u READs, %u and %u packets out of order are left",
	       req->rd_atomic, req->ooo.count, qp->resp.ooo.count);
	expect(!qp->resp.num_responses && !qp->resp.message.op &&
	       !req->recovery.under_way, "the engine has not come to rest");
	expect(qp->state == IB_QPS_RTS, "state %d", qp->state);
}

static void check_idle(const struct node *node)
{
	const struct verve_qp *qp = &node->qp;

	expect(qp->sq.tail == node->num_requests, "%u requests of %u are done",
	       qp->sq.tail, node->num_requests);
	expect(!qp->stall.parts && !qp->stall.held && !qp->events,
	       "the engine has not come to rest");
	if (plan_is_reliable())
		check_reliable(node);
	else
		oracle_rest(node);
}

/*
 * No packets are sent without need. The limit is the packets of an ideal network, some
 * for each packet that was harmed, and a few probes. A node that keeps packets out of
 * order is sent few that it has already.
 */
static void check_packets(void)
{
	bool goes_back = model.node[0].go_back_n || model.node[1].go_back_n;
	u64 sent = model.node[0].sent + model.node[1].sent;
	u64 refused = model.node[0].stats.counter[VERVE_CNT_send_rnr_err] +
		      model.node[1].stats.counter[VERVE_CNT_send_rnr_err];
	u64 told = model.node[0].stats.counter[VERVE_CNT_np_cnp_sent] +
		   model.node[1].stats.counter[VERVE_CNT_np_cnp_sent];
	u64 most = model.needed + 2 * refused + told + 4 * model.sent_at / MS +
		   200 + model.harm * (goes_back ? 16 : 3);

	/* Even a single loss may cost the whole window. */
	if (goes_back)
		most += 2 * VERVE_MAX_UNACKED;

	expect(sent <= most, "%llu packets were sent, %llu needed, %llu harmed",
	       sent, model.needed, model.harm);
}

/* Without loss and reordering, no response is missed. Memory overtakes packets. */
static void check_calm(const struct node *node)
{
	u64 missed = node->stats.counter[VERVE_CNT_implied_nak_seq_err];

	expect(!missed || model.harm || model.set.paging || model.set.cold ||
	       model.set.bypass,
	       "%llu responses were missed, none was lost", missed);
}

/* No node acknowledges a packet that was not sent. */
static void check_sense(const struct node *node)
{
	u64 dropped = node->stats.counter[VERVE_CNT_rx_drop_protocol];

	expect(!dropped || model.set.blind, "%llu answers made no sense",
	       dropped);
}

/* The RNR timer of the receiver is respected. */
static void check_refusals(const struct node *node)
{
	u64 refused = node->stats.counter[VERVE_CNT_send_rnr_err];
	u64 ns = verve_rnr_timeout_ns(node->qp.attr.min_rnr_timer);

	expect(refused <= model.sent_at / ns + model.harm + 10,
	       "%llu RNR NAKs within %llu ns", refused, model.sent_at);
}

/* A failed QP has flushed all that was posted, and holds no more resources. */
void check_failed(void)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		const struct node *node = &model.node[i];
		const struct verve_qp *qp = &node->qp;

		expect(!is_overrun(node) || qp->state == IB_QPS_ERR,
		       "a QP lives on whose CQ is overrun");
		if (qp->state != IB_QPS_ERR)
			continue;
		/* The receives of an SRQ remain for other QPs. */
		expect(is_overrun(node) ||
		       (node->done == node->posted &&
			(qp->srq || node->recv_done == node->recv_posted)),
		       "%u requests of %u and %u receives of %u were flushed",
		       node->done, node->posted, node->recv_done,
		       node->recv_posted);
		expect(!qp->req.ooo.count && !qp->resp.ooo.count &&
		       !qp->stall.held && !qp->req.rd_atomic,
		       "a dead QP keeps something");
	}
}

/* Each message arrived once and whole, unless its sender saw an error. */
static void check_sent(const struct node *node)
{
	u32 r, packets;

	for (r = 0; r < node->num_requests; r++) {
		packets = plan_is_local(&node->plan[r]) ? 0 :
			  verve_psn_count(node->plan[r].length, model.set.mtu);
		expect(node->oracle.sent[r] == packets ||
		       (node->oracle.sent[r] < packets && node->has_flushed),
		       "%u.%u: %u packets of %u were sent", node->index, r,
		       node->oracle.sent[r], packets);
	}
}

void check_rest(void)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct node *node = &model.node[i];

		check_idle(node);
		for (; node->done < node->num_requests; node->done++) {
			expect(!completion_is_due(node, node->done),
			       "%u.%u never completed", i, node->done);
			completion_finish(node, node->done);
		}
		if (plan_is_reliable()) {
			check_executed(node);
			check_refusals(node);
			check_calm(node);
			check_sense(node);
		} else {
			check_sent(node);
		}
	}
	if (plan_is_reliable())
		check_packets();
	expect(!model.arrivals, "%llu arrivals are not freed", model.arrivals);
	check_memory(&model.node[0]);
	check_memory(&model.node[1]);
}
