// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared receive queues. Several QPs take receives in order. The capacity is as
 * advertised. The limit event is raised. Resizing keeps the receives. An empty SRQ
 * causes RNR NAKs.
 */
#include <errno.h>
#include <string.h>

#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define DEPTH		15u
#define SIZE		6000u
#define QPS		4
#define GRH_BYTES	40u
#define MANY		4000u
#define BATCH		50u

static struct ends e;
static struct ibv_srq *srq;

static int give(uint64_t wr_id)
{
	struct ibv_sge sge = end_sge(&e.b, SIZE);
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
	};

	sge.addr += wr_id * SIZE;
	return ibv_post_srq_recv(srq, &wr, &bad);
}

/* Post receives [from, to). */
static bool give_many(int from, int to)
{
	for (; from < to; from++)
		CHECK(!give(from), "post_srq_recv %d", from);
	return true;
}

/* Send a message, which must take receive @recv_id of the SRQ. */
static bool send_one(uint64_t recv_id)
{
	uint8_t *to = msg(&e.b) + recv_id * SIZE;
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);
	struct ibv_wc wc;

	fill(msg(&e.a), SIZE);
	memset(to, POISON, SIZE);
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS))
		return false;
	CHECK(poll_one(e.b.rcq, &wc) && wc.status == IBV_WC_SUCCESS,
	      "no receive");
	CHECK(wc.wr_id == recv_id && wc.qp_num == e.b.qp->qp_num &&
	      wc.byte_len == SIZE, "receive %llu of QP %#x, not %llu",
	      (unsigned long long)wc.wr_id, wc.qp_num,
	      (unsigned long long)recv_id);
	CHECK(!memcmp(to, msg(&e.a), SIZE), "the data differ");
	return true;
}

static bool in_order(void)
{
	unsigned int i;

	if (!give_many(0, DEPTH))
		return false;
	for (i = 0; i < DEPTH; i++)
		if (!send_one(i))
			return false;
	return expect_none(e.b.rcq);
}

static bool holds_what_it_says(void)
{
	struct ibv_srq_attr attr;
	unsigned int n;

	CHECK(!ibv_query_srq(srq, &attr), "query_srq");
	CHECK(attr.max_wr >= DEPTH, "max_wr %u", attr.max_wr);
	for (n = 0; n < 100000 && !give(n % DEPTH); n++)
		;
	CHECK(n == attr.max_wr, "%u posts were taken, max_wr is %u", n,
	      attr.max_wr);
	/* A full SRQ takes another receive only after one was consumed. */
	if (!send_one(0))
		return false;
	CHECK(!give(0), "post_srq_recv");
	return true;
}

static bool set_limit(uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };
	int err = ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);

	CHECK(!err, "modify_srq: %s", strerror(err));
	CHECK(!ibv_query_srq(srq, &attr) && attr.srq_limit == limit,
	      "srq_limit %u", attr.srq_limit);
	return true;
}

/* The event is raised once, when fewer receives are left than the limit. */
static bool limit_event(void)
{
	struct ibv_srq_attr attr;
	int i;

	if (!give_many(0, 8) || !set_limit(6))
		return false;
	for (i = 0; i < 2; i++)
		if (!send_one(i))
			return false;
	CHECK(!async_within(&e.b, IBV_EVENT_SRQ_LIMIT_REACHED, QUIET_MS),
	      "an event with 6 left");
	if (!send_one(2))
		return false;
	CHECK(async_within(&e.b, IBV_EVENT_SRQ_LIMIT_REACHED, WAIT_MS),
	      "no event with 5 left");
	CHECK(!ibv_query_srq(srq, &attr) && !attr.srq_limit,
	      "srq_limit %u after the event", attr.srq_limit);
	if (!send_one(3))
		return false;
	CHECK(!async_within(&e.b, IBV_EVENT_SRQ_LIMIT_REACHED, QUIET_MS),
	      "a second event");
	return true;
}

static int resize(uint32_t max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

/* Resizing keeps the receives in order. */
static bool resizes(void)
{
	unsigned int i;
	int err;

	if (!give_many(0, 8))
		return false;
	err = resize(60);
	CHECK(!err, "to 60: %s", strerror(err));
	if (!give_many(8, 50))
		return false;
	for (i = 0; i < 40; i++)
		if (!send_one(i))
			return false;
	err = resize(15);
	CHECK(!err, "to 15: %s", strerror(err));
	for (; i < 50; i++)
		if (!send_one(i))
			return false;
	return true;
}

static int give_small(uint64_t wr_id)
{
	struct ibv_sge sge = end_sge(&e.b, 8);
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
	};

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static bool are_received(uint64_t from, uint64_t to)
{
	struct ibv_wc wc;

	for (; from < to; from++) {
		if (!expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS))
			return false;
		CHECK(poll_one(e.b.rcq, &wc) && wc.wr_id == from &&
		      wc.status == IBV_WC_SUCCESS, "receive %llu",
		      (unsigned long long)from);
	}
	return true;
}

/* Too many receives for one step of copying, while messages consume some of them */
static bool resizes_with_many(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);
	unsigned int i, round;

	CHECK(!resize(MANY), "to %u", MANY);
	for (i = 0; i < MANY; i++)
		CHECK(!give_small(i), "post_srq_recv %u", i);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < BATCH; i++)
			CHECK(!post(&e.a, &wr), "post_send");
		CHECK(!resize(round & 1 ? MANY : 2 * MANY), "round %u", round);
		if (!are_received(round * BATCH, (round + 1) * BATCH))
			return false;
	}
	CHECK(resize(MANY / 2), "%u receives went into half", MANY - i);
	return true;
}

static bool resize_below_content(void)
{
	if (!give_many(0, 12))
		return false;
	CHECK(resize(3), "12 receives went into 3");
	return send_one(0);
}

static bool resize_out_of_range(void)
{
	CHECK(resize(0x7fffffff), "it took 2^31-1");
	return give_many(0, 1) && send_one(0);
}

/* An empty SRQ causes an RNR NAK, and the message succeeds after a receive. */
static bool empty_then_filled(void)
{
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_none(e.a.scq) || !give_many(3, 4))
		return false;
	return expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS) &&
	       expect_wc(e.b.rcq, 3, IBV_WC_SUCCESS);
}

/* A QP in the Error state keeps the SRQ's receives and raises LAST_WQE_REACHED. */
static bool last_wqe(void)
{
	if (!give_many(0, 4))
		return false;
	CHECK(!end_to_error(&e.b), "modify_qp");
	CHECK(async_within(&e.b, IBV_EVENT_QP_LAST_WQE_REACHED, WAIT_MS),
	      "no event IBV_EVENT_QP_LAST_WQE_REACHED");
	return expect_none(e.b.rcq);
}

static bool no_plain_receive(void)
{
	struct ibv_sge sge = end_sge(&e.b, 8);

	CHECK(post_recv(&e.b, 0, &sge, 1), "post_recv on a QP with an SRQ");
	return true;
}

static bool busy(void)
{
	int err = ibv_destroy_srq(srq);

	CHECK(err == EBUSY, "destroy_srq with a QP on it: %s", strerror(err));
	return true;
}

/* The QPs take the receives in turn. */
static bool feed_all(struct ends *pairs)
{
	int i;

	for (i = 0; i < QPS; i++) {
		struct end a = e.a, b = e.b;
		bool ok;

		if (!give_many(i, i + 1))
			return false;
		e.a.qp = pairs[i].a.qp;
		e.a.scq = pairs[i].a.scq;
		e.b.qp = pairs[i].b.qp;
		e.b.rcq = pairs[i].b.rcq;
		ok = send_one(i);
		e.a = a;
		e.b = b;
		if (!ok)
			return false;
	}
	return true;
}

static bool several_qps(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC, .srq = srq };
	struct ends pairs[QPS];
	bool ok;
	int i;

	for (i = 0; i < QPS; i++) {
		pairs[i] = e;
		ends_connect(&pairs[i], &conf);
	}
	ok = feed_all(pairs);
	for (i = 0; i < QPS; i++)
		ends_disconnect(&pairs[i]);
	return ok;
}

/* A datagram takes a receive of the SRQ, with 40 bytes in front of the payload. */
static bool datagrams(void)
{
	struct ibv_sge sge = end_sge(&e.a, 500);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);
	struct ibv_wc wc;
	int i;

	if (!give_many(0, 3))
		return false;
	for (i = 0; i < 3; i++) {
		fill(msg(&e.a), 500);
		CHECK(!post(&e.a, &wr), "post_send");
		if (!expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS))
			return false;
		CHECK(poll_one(e.b.rcq, &wc) && wc.status == IBV_WC_SUCCESS &&
		      (int)wc.wr_id == i && wc.byte_len == GRH_BYTES + 500 &&
		      wc.qp_num == e.b.qp->qp_num &&
		      wc.src_qp == e.a.qp->qp_num, "receive %d: %s", i,
		      ibv_wc_status_str(wc.status));
		CHECK(!memcmp(msg(&e.a), msg(&e.b) + i * SIZE + GRH_BYTES,
			      500), "the data differ");
	}
	/* A datagram to an empty SRQ is lost. */
	CHECK(!post(&e.a, &wr), "post_send");
	return expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS) &&
	       expect_none(e.b.rcq) && give_many(5, 6) && expect_none(e.b.rcq);
}

static void create_srq(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = DEPTH, .max_sge = 1 },
	};

	srq = ibv_create_srq(e.b.pd, &init);
	if (!srq)
		tap_bail("no SRQ: %s", strerror(errno));
}

static const struct {
	const char *name;
	bool (*test)(void);
	enum ibv_qp_type type;	/* 0: RC */
} tests[] = {
	{ "receives are used in order", .test = in_order },
	{ "it holds what it says", .test = holds_what_it_says },
	{ "limit event", .test = limit_event },
	{ "grow and shrink with receives in it", .test = resizes },
	{ "grow and shrink with thousands in it", .test = resizes_with_many },
	{ "no shrinking below the content", .test = resize_below_content },
	{ "no resizing beyond the limits", .test = resize_out_of_range },
	{ "an empty SRQ, filled late", .test = empty_then_filled },
	{ "last WQE event", .test = last_wqe },
	{ "no receives on the QP itself", .test = no_plain_receive },
	{ "not destroyed while a QP uses it", .test = busy },
	{ "one SRQ, several QPs", .test = several_qps },
	{ "datagrams", .test = datagrams, .type = IBV_QPT_UD },
};

int main(int argc, char **argv)
{
	size_t i;

	ends_open(&e, argc, argv);
	tap_plan(ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		struct qp_conf conf = {
			.type = tests[i].type ?: IBV_QPT_RC,
			.rnr_timer = 20,
		};

		create_srq();
		conf.srq = srq;
		ends_connect(&e, &conf);
		tap_result(tests[i].test(), "%s", tests[i].name);
		ends_disconnect(&e);
		if (ibv_destroy_srq(srq))
			tap_bail("the SRQ stays: %s", strerror(errno));
	}
	ends_close(&e);
	return tap_done();
}
