// SPDX-License-Identifier: GPL-2.0-only
/*
 * A QP and its user, which posts requests and receives according to the plan
 */
#include "../../drivers/infiniband/sw/verve/transport/dcqcn.h"
#include "../../drivers/infiniband/sw/verve/transport/outstanding.h"
#include "../../drivers/infiniband/sw/verve/transport/transport.h"
#include "../../drivers/infiniband/sw/verve/transport/verdict.h"
#include "../../drivers/infiniband/sw/verve/wire/psn.h"
#include "model.h"

enum {
	MAX_SGE = 4,
};

static struct rxe_sge sge_at(const struct node *node, u32 at, u32 len)
{
	return (struct rxe_sge) {
		.addr = node->region.mr.iova + at,
		.length = len,
		.lkey = node->region.mr.key,
	};
}

/* Split memory into any number of segments, some empty. Return: their number. */
static u32 cut(const struct node *node, struct rxe_sge *sge, u32 at, u32 len)
{
	u32 n = between(len ? 1 : 0, MAX_SGE), i, part;

	for (i = 0; i < n; i++) {
		part = i + 1 == n ? len : one_in(4) ? 0 : dice(len + 1);
		sge[i] = sge_at(node, at, part);
		at += part;
		len -= part;
	}
	return n;
}

static void fill_source(struct node *node, u32 r, u8 *to)
{
	u32 i;

	for (i = 0; i < node->plan[r].length; i++)
		to[i] = plan_byte(node, r, i);
}

static bool sends_data(const struct request *request)
{
	return plan_takes_receive(request) || request->op == IB_WR_RDMA_WRITE;
}

static void put_data(struct node *node, u32 r, struct rxe_dma_info *dma)
{
	const struct request *request = &node->plan[r];
	u32 i;

	dma->length = request->length;
	if (request->flags & IB_SEND_INLINE ||
	    request->op == IB_WR_ATOMIC_WRITE) {
		fill_source(node, r, dma->inline_data);
		return;
	}
	if (request->op == IB_WR_FLUSH)
		return;
	if (sends_data(request)) {
		fill_source(node, r, node->region.bytes + request->local);
		fill_source(node, r, node->region.image + request->local);
	}
	dma->num_sge = cut(node, dma->sge, request->local, request->length);
	for (i = 0; request->bad_lkey && i < dma->num_sge; i++)
		dma->sge[i].lkey++;
}

/* Linux 6.1's header has no FLUSH: written as librxe does (queue/wqe.c) */
static void put_flush(const struct node *node, struct rxe_send_wr *wr)
{
	const u64 addr = peer_of(node)->region.mr.iova;
	u8 *arm = (u8 *)&wr->wr;

	memcpy(arm, &addr, 8);
	memcpy(arm + 12, &peer_of(node)->region.mr.key, 4);
	arm[16] = VERVE_FETH_GLOBAL;
}

static void put_address(const struct node *node, const struct request *request,
			struct rxe_send_wr *wr)
{
	wr->wr.ud.ah_num = request->ah;
	wr->wr.ud.remote_qpn = request->names_group ? VERVE_MULTICAST_QPN :
						      peer_of(node)->qp.qpn;
	wr->wr.ud.remote_qkey = request->qkey;
}

static void put_operands(struct node *node, const struct request *request,
			 struct rxe_send_wr *wr)
{
	const struct region *there = &peer_of(node)->region;
	u64 raddr = there->mr.iova + request->remote;

	switch (request->op) {
	case IB_WR_LOCAL_INV:
	case IB_WR_SEND_WITH_INV:
		wr->ex.invalidate_rkey = request->key;
		break;
	case IB_WR_BIND_MW:
		wr->wr.mw.rkey = request->key;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = raddr;
		wr->wr.atomic.rkey = there->mr.key + request->bad_rkey;
		wr->wr.atomic.compare_add = request->operand;
		wr->wr.atomic.swap = request->swap;
		break;
	case IB_WR_FLUSH:
		put_flush(node, wr);
		break;
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		wr->ex.imm_data = request->imm;
		if (model.set.type == IB_QPT_UD)
			put_address(node, request, wr);
		break;
	default:
		wr->ex.imm_data = request->imm;
		wr->wr.rdma.remote_addr = raddr;
		wr->wr.rdma.rkey = there->mr.key + request->bad_rkey;
	}
}

/* Write into the ring and then its index, as librxe does. */
static void post_one(struct node *node)
{
	struct verve_ring *ring = &node->qp.sq.ring;
	struct rxe_send_wqe *wqe = verve_ring_peer_slot(ring);
	const struct request *request = &node->plan[node->posted];

	memset(wqe, 0, 1UL << ring->elem_shift);
	wqe->wr.wr_id = node->posted;
	wqe->wr.opcode = request->op;
	wqe->wr.send_flags = request->flags;
	put_operands(node, request, &wqe->wr);
	if (!plan_is_local(request))
		put_data(node, node->posted, &wqe->dma);
	verve_ring_peer_advance(ring);
	node->posted++;
}

/* Is another context in the engine, or does it hold the lock? */
static bool is_locked(const struct node *node)
{
	return node->qp.lock.held;
}

/* The ring has a power of two of slots, but the queue takes only the requested number. */
static bool has_room(const struct node *node)
{
	const struct verve_ring *ring = &node->qp.sq.ring;
	u32 used = ring->mask - verve_ring_peer_room(ring);

	return used < node->qp.sq.max_wr && verve_ring_peer_room(ring);
}

/* After a failure the rest is flushed, and the send queue may go on (10.3.1, SQE). */
static void recover(struct node *node)
{
	struct verve_qp *qp = &node->qp;

	if (qp->state != IB_QPS_SQE || node->done != node->posted ||
	    is_locked(node))
		return;
	verve_engine_lock(qp);
	node->failed = 0;
	verve_engine_state(qp, IB_QPS_RTS);
	verve_engine_unlock(qp);
}

static void post_sends(void *arg)
{
	struct node *node = arg;
	u32 n = model.set.at_once ? node->num_requests : between(1, one_in(3) ? 32 : 4);

	recover(node);
	while (n-- && node->posted < node->num_requests && has_room(node))
		post_one(node);
	/* Kernel users may post with interrupts off. */
	shim_irqs_off = one_in(20);
	verve_engine_kick(&node->qp, VERVE_EV_DOORBELL);
	shim_irqs_off = false;
	if (node->posted < node->num_requests)
		world_after(dice(one_in(4) ? 2 * MS : 50 * US), post_sends,
			    node);
}

static struct verve_rq *rq_of(struct node *node)
{
	return node->qp.srq ? &node->srq.rq : &node->qp.rq;
}

static void post_recvs(void *arg)
{
	struct node *node = arg;
	struct verve_ring *ring = &rq_of(node)->ring;
	u32 n = node->late_receives ? between(1, 3) : MOST_REQUESTS;

	while (n-- && node->recv_posted < node->num_receives &&
	       verve_ring_peer_room(ring)) {
		const struct receive *receive =
			&node->receives[node->recv_posted];
		struct rxe_recv_wqe *wqe = verve_ring_peer_slot(ring);

		wqe->wr_id = node->recv_posted++;
		wqe->dma.num_sge = cut(node, wqe->dma.sge, receive->local,
				       receive->length);
		verve_ring_peer_advance(ring);
	}
	/* On UC and UD, a receive may never be used. */
	if (node->recv_posted < node->num_receives &&
	    (plan_is_reliable() ||
	     peer_of(node)->posted < peer_of(node)->num_requests))
		world_after(dice(1 * MS), post_recvs, node);
}

/* Another context queries the QP slowly. */
static void let_go(void *arg)
{
	struct node *node = arg;

	node->holds_lock = false;
	verve_engine_unlock(&node->qp);
}

static void disturb(void *arg)
{
	struct node *node = arg;

	if (!model.disturbances)
		return;
	model.disturbances--;
	if (!is_locked(node)) {
		node->holds_lock = true;
		verve_engine_lock(&node->qp);
		world_after(dice(30 * US), let_go, node);
	}
	/* Two QPs of a device are no pair while the port is down. */
	if (one_in(4))
		node->dev->port_active = !node->dev->port_active;
	world_after(dice(1 * MS), disturb, node);
}

/* Change the number of READs under way; it stays enough for the peer's. */
static void change_depth(struct node *node)
{
	u32 slots = peer_of(node)->qp.attr.max_rd_atomic + dice(8);

	node->qp.attr.max_dest_rd_atomic = slots;
	free(verve_rd_atomic_resize(&node->qp.resp,
				    verve_rd_atomic_alloc(slots), slots));
}

/* Let a drained send queue go on. */
static void resume(void *arg)
{
	struct node *node = arg;

	if (node->qp.state != IB_QPS_SQD)
		return;
	if (!node->qp.drained || is_locked(node)) {
		world_after(1 * MS, resume, node);
		return;
	}
	expect(node->qp.req.una == node->qp.req.max_psn,
	       "drained, with packets outstanding");
	verve_engine_lock(&node->qp);
	verve_engine_state(&node->qp, IB_QPS_RTS);
	verve_engine_unlock(&node->qp);
}

static void drain(void *arg)
{
	struct node *node = arg;

	if (node->qp.state != IB_QPS_RTS || is_locked(node))
		return;
	verve_engine_lock(&node->qp);
	verve_engine_state(&node->qp, IB_QPS_SQD);
	node->qp.drained = false;
	if (one_in(2))
		change_depth(node);
	verve_engine_unlock(&node->qp);
	world_after(dice(1 * MS), resume, node);
}

static void set_up_queues(struct node *node)
{
	struct verve_qp *qp = &node->qp;
	struct verve_sq *sq = &qp->sq;

	sq->limits = (struct verve_wqe_limits) {
		.qp_type = model.set.type,
		.max_sge = MAX_SGE,
		.max_inline = VERVE_MAX_INLINE,
		.mtu = model.set.mtu,
	};
	sq->max_wr = model.set.at_once ? MOST_REQUESTS :
					 between(1, one_in(2) ? 4 : MOST_REQUESTS);
	sq->slots = roundup_pow_of_two(sq->max_wr);
	sq->wqe_size = verve_swqe_size(MAX_SGE, VERVE_MAX_INLINE);
	sq->wqes = calloc(sq->slots, sq->wqe_size);
	sq->sig_all = one_in(4);
	verve_ring_alloc(&sq->ring, sq->max_wr,
			 verve_send_wqe_size(MAX_SGE, VERVE_MAX_INLINE), NULL);
	if (one_in(6))
		qp->srq = &node->srq;
	node->srq.limit = dice(4);
	verve_rq_init(rq_of(node), between(1, MOST_REQUESTS), MAX_SGE, NULL);
	rq_of(node)->is_user = true;
	qp->rq.exists = !qp->srq;
	qp->scq = &node->scq;
	qp->rcq = &node->rcq;
}

/* The timeout must be well above the longest time of an answer. */
static u8 draw_timeout(void)
{
	const struct weather *w = model.set.weather;
	u64 rtt = (w[0].delay + w[1].delay) * 25ULL + 300 * US +
		  8ULL * 2 * VERVE_MAX_UNACKED * (model.set.mtu + 64) +
		  2 * model.set.coalesce;
	u8 code = 8;

	if (one_in(20))
		return 0;
	while (verve_ack_timeout_ns(code) < 4 * rtt)
		code++;
	return code + dice(3);
}

static void set_up_attr(struct node *node)
{
	struct ib_qp_attr *attr = &node->qp.attr;

	attr->dest_qp_num = 0x11 + !node->index;
	attr->timeout = draw_timeout();
	attr->retry_cnt = one_in(4) ? dice(4) : 7;
	attr->rnr_retry = 7;
	attr->min_rnr_timer = between(1, 14);
	attr->qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
				IB_ACCESS_REMOTE_ATOMIC |
				IB_ACCESS_FLUSH_GLOBAL;
	attr->max_rd_atomic = one_in(2) ? 1 : between(1, 16);
	attr->en_sqd_async_notify = one_in(2);
	attr->qkey = GOOD_QKEY;
}

/* Default parameters, or small random ones */
static void set_up_congestion(struct verve_cc_params *params)
{
	bool is_usual = one_in(2);
	u32 i;

	for (i = 0; i < VERVE_NUM_CC_PARAMS; i++) {
		const struct verve_cc_limit *limit = &verve_cc_limits[i];

		params->value[i] = limit->initial;
		if (!is_usual && one_in(4))
			params->value[i] = between(limit->least,
						   min(limit->most,
						       2 * limit->initial));
	}
}

void node_set_up(struct node *node)
{
	struct verve_qp *qp = &node->qp;

	node->dev = &model.dev[model.set.loopback ? 0 : node->index];
	node->dev->port_active = true;
	set_up_congestion(&node->dev->cc);
	node->dev->stats = &node->stats;
	node->ring_end = &node->ring;
	node->pd.uobject = node;
	node->ibqp.pd = &node->pd;
	node->ibqp.event_handler = check_event;
	node->ibqp.qp_context = node;
	node->ibqp.qp_num = 0x11 + node->index;
	*qp = (struct verve_qp) {
		.ibqp = &node->ibqp,
		.dev = node->dev,
		.qpn = node->ibqp.qp_num,
		.type = model.set.type,
		.is_user = true,
		.scope = { .dev = node->dev, .pd = &node->pd },
		.stats = &node->stats,
		.mtu = model.set.mtu,
		.state = IB_QPS_RTS,
	};
	refcount_set(&qp->ref, 1);
	verve_engine_setup(qp);
	qp->flow.av.saddr.s6_addr[15] = model.set.loopback ? 1 : 1 + node->index;
	qp->flow.av.daddr.s6_addr[15] = model.set.loopback ? 1 : 2 - node->index;
	set_up_queues(node);
	set_up_attr(node);
	verve_stall_init(qp);
	node->go_back_n = one_in(4);
	node->late_receives = one_in(3);
	node->completions_left = one_in(25) ? between(1, 40) : U32_MAX;
}

/* Settings that both nodes have to agree on */
static void agree(struct node *node)
{
	struct verve_qp *qp = &node->qp, *peer = &peer_of(node)->qp;
	u32 psn = one_in(2) ? dice(VERVE_PSN_MASK) :
			      verve_psn_add(dice(2) << 23, -(s32)dice(300));
	u32 slots = peer->attr.max_rd_atomic + (one_in(2) ? 0 : dice(4));

	node->first_psn = psn;
	verve_outstanding_init(&qp->req, psn);
	verve_timer_set_retries(qp);
	verve_timer_set_rnr_retries(qp);
	node->last_una = psn;
	peer_of(node)->answered = psn;
	peer->resp.epsn = psn;
	qp->attr.max_dest_rd_atomic = slots;
	verve_rd_atomic_resize(&qp->resp, verve_rd_atomic_alloc(slots), slots);
}

void node_start(struct node *node)
{
	u32 i;

	agree(node);
	post_recvs(node);
	world_after(dice(100 * US), post_sends, node);
	if (model.set.losses)
		return;
	if (one_in(3))
		world_after(dice(2 * MS), disturb, node);
	if (one_in(6))
		for (i = dice(3); i; i--)
			world_after(dice(5 * MS), drain, node);
}

void node_tear_down(struct node *node)
{
	struct verve_qp *qp = &node->qp;

	verve_stall_detach(qp);
	verve_engine_stop(qp);
	verve_stall_free(qp);
	network_drop_all(node);
	verve_ring_free(&qp->sq.ring);
	verve_rq_free(rq_of(node));
	free(qp->sq.wqes);
	free(qp->resp.resources);
	region_free(&node->region);
}

struct verve_qp *verve_qp_find_any(u32 qpn)
{
	struct verve_qp *qp = &model.node[qpn == model.node[1].qp.qpn].qp;

	return verve_qp_get(qp) ? qp : NULL;
}

void verve_qp_put(struct verve_qp *qp)
{
	expect(!refcount_dec_and_test(&qp->ref), "a QP's last reference");
}
