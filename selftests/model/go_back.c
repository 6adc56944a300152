// SPDX-License-Identifier: GPL-2.0-only
/*
 * A peer that drops all packets out of order, as some NICs and rdma_rxe do. Once the
 * requester knows this, a loss costs one round trip.
 *
 * The first message teaches it to the requester. The second message has eight windows
 * and loses one packet, so it may take nine round trips.
 */
#include "../../drivers/infiniband/sw/verve/wire/psn.h"
#include "model.h"

#define ONE_WAY		(5 * MS)
#define ROUND_TRIP	(2 * ONE_WAY)
/* Time for work items, coalescing and late posts */
#define SLACK		(ROUND_TRIP / 2)

enum {
	MTU	= 256,
	WINDOW	= VERVE_MAX_UNACKED,
	TAUGHT	= 2 * WINDOW,	/* packets of the first message */
	MEASURED = 8 * WINDOW,	/* packets of the second message */
};

static struct {
	u64 taught_at, done_at;
} go_back;

static void plan_write(struct request *request, u32 packets)
{
	*request = (struct request) {
		.op = IB_WR_RDMA_WRITE,
		.flags = IB_SEND_SIGNALED,
		.length = packets * MTU,
		.source = -1,
	};
	request->local = region_alloc(&model.node[0].region, request->length);
	request->remote = region_alloc(&model.node[1].region, request->length);
	model.needed += 2 * packets;
}

void go_back_plan(void)
{
	struct node *node = model.node;
	u32 i;

	model.set = (struct setting) {
		.type = IB_QPT_RC,
		.mtu = MTU,
		.block = 1U << 20,
		.weather[0].delay = ONE_WAY,
		.weather[1].delay = ONE_WAY,
		.losses = 2,
		.lost = { WINDOW / 3, TAUGHT + between(WINDOW, MEASURED - 2 * WINDOW) },
	};
	go_back.taught_at = 0;
	go_back.done_at = 0;
	for (i = 0; i < 2; i++) {
		node[i].index = i;
		node[i].region.size = ROM_BYTES + HOT_BYTES + 8 * NUM_COUNTERS;
	}
	node[0].num_requests = 2;
	plan_write(&node[0].plan[0], TAUGHT);
	plan_write(&node[0].plan[1], MEASURED);
}

void go_back_set_up(void)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct node *node = &model.node[i];

		node->go_back_n = true;
		node->completions_left = U32_MAX;
		node->qp.attr.timeout = 18;
		node->qp.attr.retry_cnt = 7;
	}
}

void go_back_step(void)
{
	const struct node *node = &model.node[0];

	if (!go_back.taught_at && node->done >= 1)
		go_back.taught_at = world_now();
	if (!go_back.done_at && node->done == 2)
		go_back.done_at = world_now();
}

void go_back_check(void)
{
	u64 took = go_back.done_at - go_back.taught_at;
	u64 trips = took / ROUND_TRIP;

	expect(model.node[0].losses == 2, "not all was lost that was to be");
	expect(took <= 9 * ROUND_TRIP + SLACK, "%llu round trips and %llu us",
	       trips, took % ROUND_TRIP / US);
}
