// SPDX-License-Identifier: GPL-2.0-only
/*
 * A QP enters the Error state by a failed request or by modify_qp. All requests in its
 * queues, and all later ones, complete with IBV_WC_WR_FLUSH_ERR, in order.
 */
#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define SIZE		6000u	/* more than one packet at any path MTU */
#define QUEUE		8

static struct ends e;

static bool post_sends(int from, int to, uint32_t size)
{
	struct ibv_sge sge = end_sge(&e.a, size);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	for (wr.wr_id = from; (int)wr.wr_id < to; wr.wr_id++)
		CHECK(!post(&e.a, &wr), "post_send");
	return true;
}

/* The failed request has its own status. Requests behind it and all receives flush. */
static bool flush_after_failure(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr bad = work(&e, IBV_WR_RDMA_WRITE, &sge);
	int i;

	for (i = 0; i < QUEUE; i++) {
		receive(&e.a, i, SIZE);
		receive(&e.b, i, SIZE);
	}
	bad.wr.rdma.rkey ^= 0x5a5a5a;
	CHECK(!post(&e.a, &bad), "post_send");
	return post_sends(1, QUEUE, 100) &&
	       expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR) &&
	       expect_flushed(e.a.scq, 1, QUEUE) &&
	       expect_flushed(e.a.rcq, 0, QUEUE) &&
	       expect_flushed(e.b.rcq, 0, QUEUE);
}

/* Sends without a receive and receives without a send flush. */
static bool flush_by_modify(void)
{
	int i;

	for (i = 0; i < QUEUE; i++)
		receive(&e.a, i, SIZE);
	if (!post_sends(0, QUEUE, SIZE))
		return false;
	CHECK(!end_to_error(&e.a), "modify_qp");
	return expect_flushed(e.a.scq, 0, QUEUE) &&
	       expect_flushed(e.a.rcq, 0, QUEUE);
}

static bool flush_of_later_posts(void)
{
	CHECK(!end_to_error(&e.a), "modify_qp");
	return post_sends(0, QUEUE, SIZE) &&
	       expect_flushed(e.a.scq, 0, QUEUE);
}

/*
 * Markers posted in the Error state, an empty WRITE and an empty receive, complete after
 * all other requests. ib_drain_qp() of the kernel depends on this.
 */
static bool drained_by_markers(void)
{
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, NULL);
	int i;

	for (i = 0; i < QUEUE; i++)
		receive(&e.a, i, SIZE);
	if (!post_sends(0, QUEUE, SIZE))
		return false;
	CHECK(!end_to_error(&e.a), "modify_qp");
	wr.num_sge = 0;
	wr.wr_id = QUEUE;
	CHECK(!post(&e.a, &wr), "post_send");
	CHECK(!post_recv(&e.a, QUEUE, NULL, 0), "post_recv");
	return expect_flushed(e.a.scq, 0, QUEUE + 1) &&
	       expect_flushed(e.a.rcq, 0, QUEUE + 1);
}

/* Unsignaled requests complete when they fail. */
static bool flush_unsignaled(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	wr.send_flags = 0;
	wr.wr_id = 0;
	CHECK(!post(&e.a, &wr), "post_send");
	wr.wr_id = 1;
	wr.wr.rdma.rkey ^= 0x5a5a5a;
	CHECK(!post(&e.a, &wr), "post_send");
	wr.wr_id = 2;
	CHECK(!post(&e.a, &wr), "post_send");
	return expect_wc(e.a.scq, 1, IBV_WC_REM_ACCESS_ERR) &&
	       expect_flushed(e.a.scq, 2, 3);
}

static const struct {
	const char *name;
	bool (*test)(void);
} tests[] = {
	{ "flush behind a failed request", flush_after_failure },
	{ "flush by modify_qp", flush_by_modify },
	{ "flush of what is posted in the Error state", flush_of_later_posts },
	{ "drained by markers", drained_by_markers },
	{ "unsignaled requests that fail", flush_unsignaled },
};

int main(int argc, char **argv)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };
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
