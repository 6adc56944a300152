// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenarios: two messages from node 0, with fixed losses, of which the first teaches the
 * requester about the peer and the path; and then, READs.
 *
 * go_back: the peer drops all packets out of order, as some NICs and rdma_rxe do. The
 * second message has eight windows and loses one packet, so it may take nine round trips.
 *
 * slow: an answer takes so long that the requester would wait for it longer than the
 * local ACK timeout. The second message has one packet, which is lost many times. All
 * retries together must try it more often than that.
 *
 * queue: a window waits for the link for much longer than the local ACK timeout, and so
 * does each packet that is sent again. Packets that came out of order must wait as long,
 * or the peer looks like one that goes back.
 *
 * far: each answer takes three local ACK timeouts. The QP must learn not to ask before an
 * answer can be there. One window loses several packets, each of which takes a round trip
 * of its own. Those behind must wait for all.
 *
 * near: two QPs of a device need no packets. The answers of READs take many rounds of the
 * responder, and the requester must go on after each, not at an expiry of its timer.
 *
 * cold: as near, with READs of a packet into pages that are absent. The first response
 * stalls the requester, and the others are lost. It must ask for each as soon as it has
 * the one before; also if more READs wait for the initiator depth.
 *
 * invalidate: as near, and a SEND invalidates the key of the READs. It must come after
 * the last response, and not be lost before; also if pages are absent.
 *
 * busy: node 1 reads all the time. Meanwhile node 0 has a WRITE, which must not wait for
 * the last response: where its responses use up each round, or the rate that congestion
 * leaves. Nor must READs of node 1 wait until a writing node 0 has nothing more to send.
 *
 * low rate: congestion leaves so little that a window takes seconds. Nothing is lost, so
 * no packet goes twice.
 *
 * lossy: both directions lose a tenth of all packets, also of those that go again. Only
 * the timer notices the latter, soon. With a fifth, it has to notice many in a row.
 *
 * reordered: on a long path, which loses nothing, packets overtake each other by little.
 * mute: such a path, and a peer that answers no packet twice. Few packets go again, once
 * the QP knows how long the path is.
 *
 * tail: the requests of all READs are lost. They must not be noticed one by one.
 */
#include "../../drivers/infiniband/sw/verve/wire/psn.h"
#include "model.h"

/* Of go_back, and of slow: a little less than half of its local ACK timeout */
#define ONE_WAY		(5 * MS)
#define SLOW_WAY	(30 * MS)
#define FAR_WAY		(100 * MS)
#define ROUND_TRIP	(2 * ONE_WAY)
/* Of queue: a byte on the link. With its BTH, a packet takes 0.8 ms, a window 200 ms. */
#define QUEUE_PER_BYTE	(3 * US)
/* Time for work items, coalescing and late posts */
#define SLACK		(ROUND_TRIP / 2)
/* Of near, cold, invalidate: for work items, less than a requester's first timeout */
#define NEAR_TIME	(3 * MS)
/* Of lossy */
#define LOSSY_WAY	(50 * US)
#define LOSSY_TIME	(750 * MS)
/* Of tail: time for one loss, once the timer has noticed it, and not for all of them */
#define TAIL_TIME	(40 * MS)

enum {
	MTU	= 256,
	WINDOW	= VERVE_MAX_UNACKED,
	TAUGHT	= 2 * WINDOW,	/* packets that teach go_back */
	MEASURED = 8 * WINDOW,	/* packets that go_back measures, and that teach slow */
	TRIES	= 24,		/* losses of one packet */
	QUEUE_LOSSES = 7,
	FAR_LOSSES = 8,
	FAR_PROBES = 60,	/* until the QP knows how far its peer is, and at losses */
	NEAR_READS = 8,
	LOSSY_WRITES = 40,
	LOSSY_READS = 40,
	FEW_MISSES = 9,
	FEW_PROBES = 30,
	BUSY_READS = 48,
	BUSY_WRITES = 48,
	FEW_READS = 32,
	LARGE_MTU = 4096,
	SLOW_PACKETS = 500,
};

static u32 most_backoff;
static u64 taught_at, posted_at, done_at;
static u32 read_before, read_since;	/* READs of node 1: before node 0 posts, then */

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

static void plan_begin(u64 one_way)
{
	struct node *node = model.node;
	u32 i;

	model.set.type = IB_QPT_RC;
	model.set.mtu = MTU;
	model.set.block = 1U << 20;
	model.set.weather[0].delay = one_way;
	model.set.weather[1].delay = one_way;
	taught_at = 0;
	posted_at = 0;
	done_at = 0;
	most_backoff = 0;
	read_before = 0;
	read_since = 0;
	for (i = 0; i < 2; i++) {
		node[i].index = i;
		node[i].region.size = ROM_BYTES + HOT_BYTES + 8 * NUM_COUNTERS;
	}
}

/* Plan a message of @first packets, then one of @second packets. */
static void plan_writes(u32 first, u32 second, u64 one_way)
{
	struct node *node = model.node;

	plan_begin(one_way);
	node[0].num_requests = 2;
	plan_write(&node[0].plan[0], first);
	plan_write(&node[0].plan[1], second);
}

static void go_back_plan(void)
{
	model.set = (struct setting) {
		.losses = 2,
		.lost = { WINDOW / 3, TAUGHT + between(WINDOW, MEASURED - 2 * WINDOW) },
	};
	plan_writes(TAUGHT, MEASURED, ONE_WAY);
}

static void slow_plan(void)
{
	u32 i;

	model.set = (struct setting) { .losses = TRIES };
	for (i = 0; i < TRIES; i++)
		model.set.lost[i] = MEASURED;
	plan_writes(MEASURED, 1, SLOW_WAY);
}

static void queue_plan(void)
{
	u32 i;

	model.set = (struct setting) { .losses = QUEUE_LOSSES };
	model.set.weather[0].ns_per_byte = QUEUE_PER_BYTE;
	for (i = 0; i < QUEUE_LOSSES; i++)
		model.set.lost[i] = TAUGHT + i * WINDOW + dice(WINDOW);
	plan_writes(TAUGHT, MEASURED, US);
}

static void far_plan(void)
{
	u32 i;

	model.set = (struct setting) {
		.losses = FAR_LOSSES,
		.lost = { TAUGHT + WINDOW / 3 },
	};
	for (i = 1; i < FAR_LOSSES; i++)
		model.set.lost[i] = TAUGHT + 4 * WINDOW + i * WINDOW / FAR_LOSSES;
	plan_writes(TAUGHT, MEASURED, FAR_WAY);
}

static void plan_reads(struct node *node, u32 reads, u32 length)
{
	u32 i;

	model.set.at_once = true;
	node->num_requests = reads;
	for (i = 0; i < reads; i++) {
		node->plan[i] = (struct request) {
			.op = IB_WR_RDMA_READ,
			.flags = IB_SEND_SIGNALED,
			.length = length,
			.local = region_alloc_pages(&node->region, length),
			.source = -1,
		};
		model.needed += 2 * (1 + length / MTU);
	}
}

static void near_plan(void)
{
	plan_begin(0);
	model.set.loopback = true;
	plan_reads(&model.node[0], NEAR_READS, ROM_BYTES);
}

/* A SEND after the READs invalidates the key that they use. */
static void invalidate_plan(void)
{
	struct node *node = model.node;
	struct request *send = &node->plan[NEAR_READS];

	near_plan();
	model.set.keys_idle = true;
	node[0].num_requests++;
	*send = (struct request) {
		.op = IB_WR_SEND_WITH_INV,
		.flags = IB_SEND_SIGNALED,
		.length = MTU,
		.local = region_alloc(&node[0].region, MTU),
		.key = REGION_KEY(1),
		.source = -1,
	};
	node[1].num_receives = 1;
	node[1].receives[0] = (struct receive) {
		.request = NEAR_READS,
		.local = region_alloc(&node[1].region, MTU),
		.length = MTU,
	};
}

static void cold_plan(void)
{
	plan_begin(0);
	model.set.loopback = true;
	plan_reads(&model.node[0], NEAR_READS, MTU);
	model.set.cold = true;
}

static void cold_invalidate_plan(void)
{
	invalidate_plan();
	model.set.cold = true;
}

static void busy_plan(void)
{
	plan_begin(US);
	model.node[0].num_requests = 1;
	plan_write(&model.node[0].plan[0], 1);
	plan_reads(&model.node[1], BUSY_READS, ROM_BYTES);
}

static void near_busy_plan(void)
{
	busy_plan();
	model.set.loopback = true;
}

static void congested_busy_plan(void)
{
	busy_plan();
	model.set.weather[0].marks = 1000;
}

static void congested_writer_plan(void)
{
	u32 i;

	plan_begin(US);
	model.node[0].num_requests = BUSY_WRITES;
	for (i = 0; i < BUSY_WRITES; i++)
		plan_write(&model.node[0].plan[i], WINDOW / 4);
	plan_reads(&model.node[1], FEW_READS, MTU);
	model.set.weather[0].marks = 1000;
}

static void slow_rate_plan(void)
{
	plan_begin(US);
	model.set.mtu = LARGE_MTU;
	model.node[0].num_requests = 1;
	plan_write(&model.node[0].plan[0], SLOW_PACKETS * LARGE_MTU / MTU);
	model.set.weather[0].marks = 1000;
}

static void tail_plan(void)
{
	u32 i;

	model.set = (struct setting) { .losses = NEAR_READS };
	for (i = 0; i < NEAR_READS; i++)
		model.set.lost[i] = i;
	plan_begin(US);
	plan_reads(&model.node[0], NEAR_READS, MTU);
}

static void lossy_plan(void)
{
	u32 i;

	plan_begin(LOSSY_WAY);
	model.node[0].num_requests = LOSSY_WRITES;
	for (i = 0; i < LOSSY_WRITES; i++)
		plan_write(&model.node[0].plan[i], WINDOW);
	model.set.weather[0].loss = 100;
	model.set.weather[1].loss = 100;
}

static void lossier_plan(void)
{
	lossy_plan();
	model.node[0].num_requests /= 2;
	model.set.weather[0].loss = 200;
	model.set.weather[1].loss = 200;
}

/* WRITEs of node 0 and READs of node 1 */
static void reordered_plan(void)
{
	lossy_plan();
	plan_reads(&model.node[1], LOSSY_READS, ROM_BYTES);
	model.set.weather[0] = (struct weather) {
		.delay = FAR_WAY / 4,
		.jitter = FAR_WAY / 200,
	};
	model.set.weather[1] = model.set.weather[0];
}

static void mute_plan(void)
{
	lossy_plan();
	model.set.mute = true;
	model.set.weather[0] = (struct weather) { .delay = FAR_WAY };
	model.set.weather[1] = model.set.weather[0];
}

static void set_up(bool go_back_n, u8 timeout)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct node *node = &model.node[i];

		node->go_back_n = go_back_n;
		node->completions_left = U32_MAX;
		node->qp.attr.timeout = timeout;
		node->qp.attr.retry_cnt = 7;
	}
}

static void go_back_set_up(void)
{
	set_up(true, 18);
}

static void slow_set_up(void)
{
	set_up(false, 14);
}

static void near_set_up(void)
{
	slow_set_up();
	model.node[0].qp.attr.max_rd_atomic = NEAR_READS;
	model.node[1].qp.attr.max_rd_atomic = NEAR_READS;
}

/* READs wait for the initiator depth, and no loss is forgiven. */
static void shallow_set_up(void)
{
	near_set_up();
	model.node[0].qp.attr.max_rd_atomic = NEAR_READS / 2;
	model.node[0].qp.attr.retry_cnt = 0;
}

static void lossier_set_up(void)
{
	set_up(false, 18);
}

static void one_read_set_up(void)
{
	near_set_up();
	model.node[1].qp.attr.max_rd_atomic = 1;
}

static void invalidate_set_up(void)
{
	near_set_up();
	model.node[1].inv_seen = REGION_KEY(1);
	model.node[1].num_inv = REGION_KEY(1) + 1;
}

void scenario_step(void)
{
	const struct node *node = &model.node[0];

	most_backoff = max_t(u32, most_backoff, node->qp.req.rtt.backoff);
	if (!taught_at && node->done >= 1)
		taught_at = world_now();
	if (!posted_at && node->posted == node->num_requests) {
		posted_at = world_now();
		read_before = model.node[1].done;
	}
	if (!done_at && node->done == node->num_requests) {
		done_at = world_now();
		read_since = model.node[1].done - read_before;
	}
}

static void go_back_check(void)
{
	u64 took = done_at - taught_at;
	u64 trips = took / ROUND_TRIP;

	expect(model.node[0].losses == 2, "not all was lost that was to be");
	expect(took <= 9 * ROUND_TRIP + SLACK, "%llu round trips and %llu us",
	       trips, took % ROUND_TRIP / US);
}

static void slow_check(void)
{
	expect(model.node[0].losses == TRIES, "the QP gave up after %u tries",
	       model.node[0].losses);
}

/* All planned losses have come, and few of the packets of both messages went twice. */
static void check_repeats(u32 losses, u32 most)
{
	u64 sent = model.node[0].sent;
	u32 needed = TAUGHT + MEASURED;

	expect(model.node[0].losses == losses, "not all was lost");
	expect(sent <= needed + most, "%llu packets, %u needed", sent, needed);
}

/* Each loss costs one packet, and each expiry of the timer a probe. */
static void queue_check(void)
{
	check_repeats(QUEUE_LOSSES, (TAUGHT + MEASURED) / 8);
}

static void far_check(void)
{
	check_repeats(FAR_LOSSES, FAR_PROBES);
}

static void near_check(void)
{
	u64 took = done_at - posted_at;

	expect(took < NEAR_TIME, "the last READs took %llu us", took / US);
}

static void busy_check(void)
{
	expect(read_since < BUSY_READS / 4, "the WRITE waited for %u READs", read_since);
}

static void congested_writer_check(void)
{
	u64 waits = model.node[1].stats.counter[VERVE_CNT_local_ack_timeout_err];

	expect(!waits, "READs waited for all WRITEs");
}

static void slow_rate_check(void)
{
	expect(model.node[0].sent == SLOW_PACKETS, "%llu packets, %u needed",
	       model.node[0].sent, SLOW_PACKETS);
}

static void tail_check(void)
{
	u64 took = done_at - posted_at;

	expect(model.node[0].losses == NEAR_READS, "not all was lost");
	expect(took < TAIL_TIME, "the READs took %llu us", took / US);
}

static void lossy_check(void)
{
	expect(done_at < LOSSY_TIME, "the WRITEs took %llu ms", done_at / MS);
}

static void lossier_check(void)
{
	expect(most_backoff <= FEW_MISSES, "a backoff of %u", most_backoff);
}

static u64 probes(const struct node *node)
{
	return node->stats.counter[VERVE_CNT_loss_probes];
}

static void few_probes_check(void)
{
	expect(probes(&model.node[0]) <= FEW_PROBES &&
	       probes(&model.node[1]) <= FEW_PROBES,
	       "%llu and %llu probes", probes(&model.node[0]), probes(&model.node[1]));
}

const struct scenario scenarios[] = {
	{ "a peer that goes back", go_back_plan, go_back_set_up, go_back_check },
	{ "a slow peer", slow_plan, slow_set_up, slow_check },
	{ "a far peer", far_plan, slow_set_up, far_check },
	{ "a long queue", queue_plan, slow_set_up, queue_check },
	{ "a near peer", near_plan, near_set_up, near_check },
	{ "a near peer, absent pages", cold_plan, near_set_up, near_check },
	{ "a near peer, invalidate", invalidate_plan, invalidate_set_up, near_check },
	{ "a near peer, absent pages, no retry", cold_plan, shallow_set_up, near_check },
	{ "a near peer, absent pages, invalidate", cold_invalidate_plan,
	  invalidate_set_up, near_check },
	{ "a busy responder, near", near_busy_plan, near_set_up, busy_check },
	{ "a busy responder, congested", congested_busy_plan, near_set_up, busy_check },
	{ "a busy requester, congested", congested_writer_plan, one_read_set_up,
	  congested_writer_check },
	{ "a low rate, no retry", slow_rate_plan, shallow_set_up, slow_rate_check },
	{ "a lost tail", tail_plan, near_set_up, tail_check },
	{ "a path that loses a tenth", lossy_plan, near_set_up, lossy_check },
	{ "a path that loses a fifth", lossier_plan, lossier_set_up, lossier_check },
	{ "a far peer, reordered", reordered_plan, near_set_up, few_probes_check },
	{ "a far peer, repeats not answered", mute_plan, lossier_set_up, few_probes_check },
	{}
};
