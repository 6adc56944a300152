// SPDX-License-Identifier: GPL-2.0-only
/*
 * A completion queue keeps its entries when it is resized, raises an event
 * when it is armed and only then, tells solicited completions from others, and
 * when it overflows says so and hangs nobody.
 */
#include <errno.h>
#include <string.h>

#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define DEPTH		64u	/* of the queues of a default connection */

static struct ends e;

/* Posts writes [from, to), whose completions go to end a's send CQ. */
static bool writes(int from, int to)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	for (wr.wr_id = from; (int)wr.wr_id < to; wr.wr_id++)
		CHECK(!post(&e.a, &wr), "post_send");
	return true;
}

/* Waits until all requests before were done, by one on the other queue. */
static bool settle(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	receive(&e.b, 77, 8);
	wr.send_flags = 0;
	CHECK(!post(&e.a, &wr), "post_send");
	return expect_wc(e.b.rcq, 77, IBV_WC_SUCCESS);
}

static bool expect_writes(int from, int to)
{
	for (; from < to; from++)
		if (!expect_wc(e.a.scq, from, IBV_WC_SUCCESS))
			return false;
	return true;
}

static bool resize_with_content(void)
{
	int err, depth = e.a.scq->cqe;

	if (!writes(0, 20) || !expect_writes(0, 10) || !settle())
		return false;
	err = ibv_resize_cq(e.a.scq, 4 * depth);
	CHECK(!err && e.a.scq->cqe >= 4 * depth, "grow: %s, cqe %d",
	      strerror(err), e.a.scq->cqe);
	if (!expect_writes(10, 15) || !writes(20, 30) || !settle())
		return false;
	err = ibv_resize_cq(e.a.scq, 31);
	CHECK(!err && e.a.scq->cqe >= 31, "shrink: %s, cqe %d", strerror(err),
	      e.a.scq->cqe);
	return expect_writes(15, 30) && writes(30, 40) &&
	       expect_writes(30, 40) && expect_none(e.a.scq);
}

/* Resizing while completions come in loses and repeats none. */
static bool resize_under_load(void)
{
	int round, base, err;

	for (round = 0; round < 20; round++) {
		base = round * 32;
		if (!writes(base, base + 32))
			return false;
		err = ibv_resize_cq(e.a.scq, round & 1 ? 127 : 255);
		CHECK(!err, "resize_cq: %s", strerror(err));
		if (!expect_writes(base, base + 32))
			return false;
	}
	return expect_none(e.a.scq);
}

static bool resize_refused(void)
{
	int cqe = e.a.scq->cqe;

	if (!writes(0, 20) || !settle())
		return false;
	CHECK(ibv_resize_cq(e.a.scq, 5), "20 entries went into 5");
	CHECK(ibv_resize_cq(e.a.scq, e.a.attr.max_cqe + 1), "max_cqe + 1");
	CHECK(e.a.scq->cqe == cqe, "cqe changed to %d", e.a.scq->cqe);
	return expect_writes(0, 20);
}

static bool create_refused(void)
{
	CHECK(!ibv_create_cq(e.a.ctx, e.a.attr.max_cqe + 1, NULL, NULL, 0),
	      "max_cqe + 1 entries");
	CHECK(!ibv_create_cq(e.a.ctx, 0, NULL, NULL, 0), "no entries");
	CHECK(!ibv_create_cq(e.a.ctx, 16, NULL, NULL, 0x7fff), "bad vector");
	return true;
}

/* Once armed, one event; not armed, none. */
static bool armed(void)
{
	if (!writes(0, 1) || !expect_writes(0, 1))
		return false;
	CHECK(!event_within(e.a.chan, QUIET_MS), "an event without arming");
	CHECK(!ibv_req_notify_cq(e.a.scq, 0), "req_notify_cq");
	CHECK(!event_within(e.a.chan, QUIET_MS), "an event out of nothing");
	if (!writes(1, 3))
		return false;
	CHECK(event_within(e.a.chan, WAIT_MS), "no event");
	if (!expect_writes(1, 3))
		return false;
	CHECK(!event_within(e.a.chan, QUIET_MS), "a second event");
	return true;
}

/* An error completes as solicited: C11-15. */
static bool armed_for_errors(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	CHECK(!ibv_req_notify_cq(e.a.scq, 1), "req_notify_cq");
	if (!writes(0, 1) || !expect_writes(0, 1))
		return false;
	CHECK(!event_within(e.a.chan, QUIET_MS), "an event for a success");
	wr.wr.rdma.rkey ^= 0x5a5a5a;
	CHECK(!post(&e.a, &wr), "post_send");
	CHECK(event_within(e.a.chan, WAIT_MS), "no event for an error");
	return expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR);
}

static bool send_with(enum ibv_wr_opcode opcode, int flags)
{
	struct ibv_sge sge = end_sge(&e.a, 6000);
	struct ibv_send_wr wr = work(&e, opcode, &sge);

	receive(&e.b, opcode, 6000);
	wr.send_flags |= flags;
	CHECK(!post(&e.a, &wr), "post_send");
	return expect_wc(e.a.scq, opcode, IBV_WC_SUCCESS) &&
	       expect_wc(e.b.rcq, opcode, IBV_WC_SUCCESS);
}

/* Armed for solicited: only messages sent so raise the event. */
static bool solicited(void)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		CHECK(!ibv_req_notify_cq(e.b.rcq, 1), "req_notify_cq");
		if (!send_with(opcodes[i], 0))
			return false;
		CHECK(!event_within(e.b.chan, QUIET_MS),
		      "opcode %d: an event, not solicited", opcodes[i]);
		if (!send_with(opcodes[i], IBV_SEND_SOLICITED))
			return false;
		CHECK(event_within(e.b.chan, WAIT_MS), "opcode %d: no event",
		      opcodes[i]);
	}
	/* Armed for all, a plain message is enough. */
	CHECK(!ibv_req_notify_cq(e.b.rcq, 1) && !ibv_req_notify_cq(e.b.rcq, 0),
	      "req_notify_cq");
	if (!send_with(IBV_WR_SEND, 0))
		return false;
	CHECK(event_within(e.b.chan, WAIT_MS), "no event");
	return true;
}

/* What arming for all asked for, arming for solicited does not take back. */
static bool arming_does_not_weaken(void)
{
	CHECK(!ibv_req_notify_cq(e.b.rcq, 0) && !ibv_req_notify_cq(e.b.rcq, 1),
	      "req_notify_cq");
	if (!send_with(IBV_WR_SEND, 0))
		return false;
	CHECK(event_within(e.b.chan, WAIT_MS), "no event");
	return true;
}

/* More completions than entries, nobody polling. */
static bool overflow(void)
{
	struct ibv_wc wc;
	int i;

	CHECK(!ibv_resize_cq(e.a.scq, 1), "resize_cq");
	CHECK((unsigned int)e.a.scq->cqe < DEPTH, "cqe %d", e.a.scq->cqe);
	if (!writes(0, DEPTH - 1))
		return false;
	CHECK(async_within(&e.a, IBV_EVENT_CQ_ERR, WAIT_MS),
	      "no event IBV_EVENT_CQ_ERR");
	/* What is in it may be read, and does not repeat for ever. */
	for (i = 0; i < (int)DEPTH && ibv_poll_cq(e.a.scq, 1, &wc) > 0; i++)
		;
	CHECK(i <= (int)DEPTH - 1, "%d completions", i);
	return true;
}

static const struct {
	const char *name;
	bool (*test)(void);
} tests[] = {
	{ "resize with entries in it", resize_with_content },
	{ "resize while entries come", resize_under_load },
	{ "resize below the content or beyond the limit", resize_refused },
	{ "create with impossible attributes", create_refused },
	{ "event when armed", armed },
	{ "event for an error when armed for solicited", armed_for_errors },
	{ "event for solicited messages only", solicited },
	{ "arming for solicited after arming for all", arming_does_not_weaken },
	{ "overflow", overflow },
};

int main(int argc, char **argv)
{
	struct qp_conf conf = { .type = IBV_QPT_RC, .depth = DEPTH };
	size_t i;

	ends_open(&e, argc, argv);
	tap_plan(ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		ends_connect(&e, &conf);
		tap_result(tests[i].test(), "%s", tests[i].name);
		ends_disconnect(&e);
	}
	ends_close(&e);
	return tap_done();
}
