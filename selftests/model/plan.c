// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests, receives and conditions of a run. All are drawn before the run, so that its
 * results can be compared with the expected ones.
 */
#include "../../drivers/infiniband/sw/verve/wire/psn.h"
#include "model.h"

enum {
	LONGEST = 200000,	/* bytes of a message */
	/* On UC, each receive must have room for any message. */
	LONGEST_UNRELIABLE = 20000,
};

bool plan_is_local(const struct request *request)
{
	return request->op == IB_WR_LOCAL_INV || request->op == IB_WR_BIND_MW;
}

bool plan_takes_receive(const struct request *request)
{
	return request->op == IB_WR_SEND || request->op == IB_WR_SEND_WITH_IMM ||
	       request->op == IB_WR_SEND_WITH_INV ||
	       request->op == IB_WR_RDMA_WRITE_WITH_IMM;
}

bool plan_is_refused(const struct request *request)
{
	return request->bad_rkey || request->gone_remote;
}

static bool is_atomic(const struct request *request)
{
	return request->op == IB_WR_ATOMIC_CMP_AND_SWP ||
	       request->op == IB_WR_ATOMIC_FETCH_AND_ADD;
}

u8 plan_byte(const struct node *node, u32 r, u32 i)
{
	return node->index * 89 + r * 151 + i * 7 + (i >> 8) * 13 + 1;
}

/* Most messages are short, some have several packets, a few fill the window. */
static u32 draw_length(void)
{
	u32 mtu = model.set.mtu;

	switch (dice(12)) {
	case 0:
		return 0;
	case 1 ... 4:
		return dice(mtu);
	case 5:
		return mtu * between(1, 4);
	case 6 ... 9:
		return dice(6 * mtu);
	case 10:
		return dice(min(40 * mtu, model.set.longest));
	default:
		return dice(min(2 * VERVE_MAX_UNACKED * mtu, model.set.longest));
	}
}

static enum ib_wr_opcode draw_op(void)
{
	static const u8 ops[] = {
		IB_WR_SEND, IB_WR_SEND, IB_WR_SEND, IB_WR_SEND_WITH_IMM,
		IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE,
		IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ, IB_WR_RDMA_READ,
		IB_WR_RDMA_READ, IB_WR_ATOMIC_CMP_AND_SWP,
		IB_WR_ATOMIC_FETCH_AND_ADD, IB_WR_FLUSH, IB_WR_ATOMIC_WRITE,
		IB_WR_SEND_WITH_INV, IB_WR_LOCAL_INV, IB_WR_BIND_MW,
	};

	static const u8 unreliable[] = {
		IB_WR_SEND, IB_WR_SEND, IB_WR_SEND_WITH_IMM,
		/* UC only */
		IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM,
		IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM,
		IB_WR_LOCAL_INV, IB_WR_BIND_MW,
	};

	switch (model.set.type) {
	case IB_QPT_UC:
		return unreliable[dice(ARRAY_SIZE(unreliable))];
	case IB_QPT_UD:
		return unreliable[dice(3)];
	default:
		return ops[dice(ARRAY_SIZE(ops))];
	}
}

/* The original value is known, since requests are executed once, in order. */
static void plan_atomic(struct node *node, struct request *request)
{
	u32 i = dice(NUM_COUNTERS);
	u64 *counter = &peer_of(node)->counters[i];

	request->length = sizeof(u64);
	request->local = region_alloc(&node->region, sizeof(u64));
	request->remote = ROM_BYTES + HOT_BYTES + 8 * i;
	request->found = *counter;
	request->operand = dice(1000) + 1;
	if (request->op == IB_WR_ATOMIC_FETCH_AND_ADD) {
		*counter += request->operand;
		return;
	}
	request->swap = (u64)dice(1 << 30) << 20;
	if (one_in(2))
		request->operand = *counter;
	if (request->operand == *counter)
		*counter = request->swap;
}

/* An earlier WRITE to memory of its own, which no other request writes */
static int draw_source(const struct node *node, u32 before)
{
	u32 i, first = dice(before + 1);

	for (i = first; i < before; i++)
		if (node->plan[i].op == IB_WR_RDMA_WRITE &&
		    node->plan[i].remote > ROM_BYTES + HOT_BYTES &&
		    node->plan[i].length)
			return i;
	return -1;
}

static void plan_read(struct node *node, u32 r)
{
	struct request *request = &node->plan[r];

	request->source = one_in(2) ? draw_source(node, r) : -1;
	if (request->source >= 0) {
		request->length = node->plan[request->source].length;
		request->remote = node->plan[request->source].remote;
	} else {
		request->length = draw_length();
		if (request->length > ROM_BYTES)
			request->length %= ROM_BYTES;
		request->remote = dice(ROM_BYTES - request->length + 1);
	}
	request->local = region_alloc(&node->region, request->length);
}

static void plan_write(struct node *node, struct request *request)
{
	bool is_hot = one_in(3);

	request->length = draw_length();
	if (is_hot)
		request->length %= HOT_BYTES / 2;
	request->local = region_alloc(&node->region, request->length);
	request->remote = is_hot ?
		ROM_BYTES + dice(HOT_BYTES - request->length) :
		region_alloc(&peer_of(node)->region, request->length);
	if (request->length <= VERVE_MAX_INLINE && one_in(3))
		request->flags |= IB_SEND_INLINE;
}

/* Most datagrams go to the peer; some go nowhere in one way or another. */
static void plan_datagram(struct request *request)
{
	static const u32 qkeys[] = {
		GOOD_QKEY, GOOD_QKEY, OWN_QKEY, OWN_QKEY | 5, GOOD_QKEY + 1,
	};

	request->length %= model.set.mtu + 1;
	request->ah = GOOD_AH;
	request->qkey = qkeys[dice(ARRAY_SIZE(qkeys))];
	request->names_group = one_in(5);
	request->to_group = request->names_group != one_in(10);
}

static void plan_send(struct node *node, struct request *request)
{
	request->length = draw_length();
	if (model.set.type == IB_QPT_UD)
		plan_datagram(request);
	request->local = region_alloc(&node->region, request->length);
	if (request->length <= VERVE_MAX_INLINE && one_in(3))
		request->flags |= IB_SEND_INLINE;
	if (request->op == IB_WR_SEND_WITH_INV)
		request->key = peer_of(node)->num_inv++;
}

static void plan_operands(struct node *node, u32 r)
{
	struct request *request = &node->plan[r];

	switch (request->op) {
	case IB_WR_LOCAL_INV:
	case IB_WR_BIND_MW:
		request->key = node->num_local++;
		break;
	case IB_WR_RDMA_READ:
		plan_read(node, r);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		plan_atomic(node, request);
		break;
	case IB_WR_ATOMIC_WRITE:
		request->length = sizeof(u64);
		request->remote = region_alloc(&peer_of(node)->region,
					       sizeof(u64));
		break;
	case IB_WR_FLUSH:
		break;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		plan_write(node, request);
		break;
	default:
		plan_send(node, request);
	}
}

static void plan_receive(struct node *node, u32 r)
{
	struct node *peer = peer_of(node);
	const struct request *request = &node->plan[r];
	struct receive *receive = &peer->receives[peer->num_receives++];

	receive->request = r;
	receive->length = request->op == IB_WR_RDMA_WRITE_WITH_IMM ? 0 :
			  request->length + (one_in(2) ? dice(100) : 0);
	receive->local = region_alloc(&peer->region, receive->length);
}

/* Any message may take any receive, or be lost. */
static void plan_unreliable_receives(struct node *node)
{
	const struct node *peer = peer_of(node);
	u32 r, most = 0;

	for (r = 0; r < peer->num_requests; r++)
		most = max(most, peer->plan[r].length);
	if (model.set.type == IB_QPT_UD)
		most += GRH;
	node->num_receives = between(MOST_REQUESTS / 2, MOST_REQUESTS);
	for (r = 0; r < node->num_receives; r++) {
		struct receive *receive = &node->receives[r];

		receive->length = one_in(1000) ? dice(most) : most + dice(9);
		receive->gone = receive->length && one_in(2000);
		receive->local = receive->gone ?
			region_alloc_pages(&node->region, receive->length) :
			region_alloc(&node->region, receive->length);
	}
}

static u32 packets_of(const struct request *request)
{
	if (plan_is_local(request))
		return 0;
	if (is_atomic(request) || request->op == IB_WR_FLUSH)
		return 2;
	/* Responses use PSNs, too. */
	return 2 * verve_psn_count(request->length, model.set.mtu);
}

static void plan_requests(struct node *node)
{
	u32 unsignaled = dice(4), fenced = dice(3), r;

	for (r = 0; r < node->num_requests; r++) {
		struct request *request = &node->plan[r];

		request->op = draw_op();
		/* Where messages may be lost, the data tell the request. */
		request->imm = plan_is_reliable() ? dice(0xffffffff) : r;
		request->source = -1;
		plan_operands(node, r);
		if (!dice(4) || dice(4) >= unsignaled)
			request->flags |= IB_SEND_SIGNALED;
		if (fenced && one_in(6))
			request->flags |= IB_SEND_FENCE;
		if (plan_takes_receive(request) && plan_is_reliable())
			plan_receive(node, r);
		model.needed += packets_of(request);
	}
}

static bool has_sges(const struct request *request)
{
	return request->length && request->op != IB_WR_ATOMIC_WRITE &&
	       !(request->flags & IB_SEND_INLINE);
}

static bool has_remote_memory(const struct request *request)
{
	switch (request->op) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return request->length;
	default:
		return false;
	}
}

/* The receive of the plan's last request loses its memory. */
static void lose_receive(struct node *peer, struct request *request)
{
	struct receive *receive = &peer->receives[peer->num_receives - 1];

	request->gone_receive = true;
	receive->gone = true;
	receive->length = request->length;
	receive->local = region_alloc_pages(&peer->region, receive->length);
}

/* Memory exists when the request is posted, but is gone when it is needed. */
static void plan_gone(struct node *node, struct request *request)
{
	bool has_receive = plan_takes_receive(request) &&
			   request->op != IB_WR_RDMA_WRITE_WITH_IMM;

	model.set.paging = true;
	if (has_sges(request) && one_in(2)) {
		request->gone_local = true;
		request->local = region_alloc_pages(&node->region,
						    request->length);
	} else if (has_remote_memory(request)) {
		request->gone_remote = true;
		request->source = -1;
		request->remote = region_alloc_pages(&peer_of(node)->region,
						     request->length);
	} else if (has_receive && request->length && plan_is_reliable()) {
		lose_receive(peer_of(node), request);
	}
}

/*
 * In a few plans, a request names memory that does not exist. On RC it is the last one,
 * since the QP fails.
 */
static void plan_failure(struct node *node)
{
	struct request *request;

	if (!node->num_requests)
		return;
	request = &node->plan[plan_is_reliable() ? node->num_requests - 1 :
						   dice(node->num_requests)];
	if (one_in(15))
		request->bad_lkey = has_sges(request);
	else if (one_in(15))
		request->bad_rkey = has_remote_memory(request);
	else if (one_in(10))
		plan_gone(node, request);
	else if (one_in(10) && model.set.type == IB_QPT_UD)
		request->ah = GOOD_AH + 1;
}

static void draw_weather(struct weather *weather)
{
	static const u32 losses[] = { 0, 0, 1, 5, 10, 30, 100, 200 };

	weather->delay = between(1, one_in(3) ? 500 * US : 20 * US);
	weather->jitter = one_in(2) ? dice(weather->delay + 1) : 0;
	weather->loss = losses[dice(ARRAY_SIZE(losses))];
	weather->ns_per_byte = dice(4);
	if (one_in(4)) {
		weather->burst_begins = between(1, 10);
		weather->burst_ends = between(100, 500);
	}
	if (one_in(3))
		weather->repeat = dice(100);
	if (one_in(3))
		weather->overtaken = dice(100);
	if (one_in(6))
		weather->marks = dice(one_in(2) ? 20 : 300);
	if (one_in(5))
		weather->queue = between(4, 200) * 4096;
	if (one_in(6)) {
		weather->out_from = dice(5 * MS);
		weather->out_until = weather->out_from + dice(30 * MS);
	}
}

/* One draw for both, so that a seed's plan is the same with a bypass and without. */
static void plan_ways(struct setting *set)
{
	u32 drawn = dice(60 * 400), period = drawn / 60;

	set->loopback = drawn % 10 == 0;
	if (drawn % 6 == 1)
		set->bypass = (1 + period / 2) * (period % 2 ? US : MS);
}

void plan_setting(void)
{
	struct setting *set = &model.set;

	set->type = one_in(4) ? one_in(2) ? IB_QPT_UC : IB_QPT_UD : IB_QPT_RC;
	set->requests = MOST_REQUESTS;
	set->longest = plan_is_reliable() ? LONGEST : LONGEST_UNRELIABLE;
	set->mtu = 256 << dice(one_in(3) ? 5 : 2);
	plan_ways(set);
	set->paging = one_in(6);
	set->blind = plan_is_reliable() && one_in(6);
	set->coalesce = one_in(2) ? dice(20 * US) : 0;
	set->block = one_in(2) ? 8 * between(8, 512) : 1U << 20;
	if (one_in(5))
		return;
	draw_weather(&set->weather[0]);
	draw_weather(&set->weather[1]);
}

void plan_make(void)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct node *node = &model.node[i];

		node->index = i;
		node->num_requests = dice(4) ? dice(model.set.requests + 1) : 0;
		node->region.size = ROM_BYTES + HOT_BYTES + 8 * NUM_COUNTERS;
	}
	plan_requests(&model.node[0]);
	plan_requests(&model.node[1]);
	plan_failure(&model.node[0]);
	plan_failure(&model.node[1]);
	if (plan_is_reliable())
		return;
	plan_unreliable_receives(&model.node[0]);
	plan_unreliable_receives(&model.node[1]);
}
