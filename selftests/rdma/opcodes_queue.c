// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several requests in a send queue: order, fences, completions, and more READs and
 * atomics than may be outstanding, each of which is executed once. SEND_WITH_INV
 * invalidates a key.
 */
#include <errno.h>
#include <string.h>

#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define RECV_ID		99

static struct ends e;

/*
 * Of more atomics than max_rd_atomic, each is executed once, and sees the result of the
 * one before.
 */
static bool many_atomics(void)
{
	enum { COUNT = 48 };
	uint64_t *old = (uint64_t *)msg(&e.a), *sum = (uint64_t *)msg(&e.b);
	struct ibv_sge sge = end_sge(&e.a, sizeof(*old));
	struct ibv_send_wr wr = work(&e, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge);
	int i, err;

	*sum = 0;
	wr.wr.atomic.compare_add = 3;
	for (i = 0; i < COUNT; i++, sge.addr += sizeof(*old)) {
		wr.wr_id = i;
		wr.send_flags = i == COUNT - 1 ? IBV_SEND_SIGNALED : 0;
		err = post(&e.a, &wr);
		CHECK(!err, "post_send %d: %s", i, strerror(err));
	}
	if (!expect_wc(e.a.scq, COUNT - 1, IBV_WC_SUCCESS))
		return false;
	CHECK(*sum == 3 * COUNT, "the sum is %llu", (unsigned long long)*sum);
	for (i = 0; i < COUNT; i++)
		CHECK(old[i] == 3u * i, "atomic %d saw %llu", i,
		      (unsigned long long)old[i]);
	return true;
}

/* Only the signaled one of many requests completes, after all requests before it. */
static bool unsignaled(void)
{
	enum { COUNT = 16, SIZE = 512 };
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	int i, err;

	fill(msg(&e.a), COUNT * SIZE);
	for (i = 0; i < COUNT; i++) {
		wr.wr_id = i;
		wr.send_flags = i % 8 == 7 ? IBV_SEND_SIGNALED : 0;
		err = post(&e.a, &wr);
		CHECK(!err, "post_send: %s", strerror(err));
		sge.addr += SIZE;
		wr.wr.rdma.remote_addr += SIZE;
	}
	if (!expect_wc(e.a.scq, 7, IBV_WC_SUCCESS) ||
	    !expect_wc(e.a.scq, 15, IBV_WC_SUCCESS) || !expect_none(e.a.scq))
		return false;
	CHECK(!memcmp(msg(&e.a), msg(&e.b), COUNT * SIZE), "the data differ");
	return true;
}

/* A fenced SEND waits for the READ before it, and sends the data of the READ. */
static bool fenced(void)
{
	enum { SIZE = 256 << 10 };
	struct ibv_sge sge = end_sge(&e.a, SIZE), back = end_sge(&e.b, SIZE);
	struct ibv_send_wr send = work(&e, IBV_WR_SEND, &sge);
	struct ibv_send_wr read = work(&e, IBV_WR_RDMA_READ, &sge);
	int err;

	fill(msg(&e.b), SIZE);
	memset(msg(&e.a), POISON, SIZE);
	back.addr += SIZE;
	memset(msg(&e.b) + SIZE, POISON, SIZE);
	err = post_recv(&e.b, RECV_ID, &back, 1);
	read.next = &send;
	send.send_flags |= IBV_SEND_FENCE;
	err = err ?: post(&e.a, &read);
	CHECK(!err, "post: %s", strerror(err));
	if (!expect_wc(e.a.scq, IBV_WR_RDMA_READ, IBV_WC_SUCCESS) ||
	    !expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS) ||
	    !expect_wc(e.b.rcq, RECV_ID, IBV_WC_SUCCESS))
		return false;
	CHECK(!memcmp(msg(&e.b), msg(&e.b) + SIZE, SIZE), "the data differ");
	return true;
}

/* More READs of several packets than may be outstanding */
static bool many_reads(void)
{
	enum { COUNT = 40, SIZE = 9000 };
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_READ, &sge);
	int i, err;

	fill(msg(&e.b), COUNT * SIZE);
	memset(msg(&e.a), POISON, COUNT * SIZE);
	for (i = 0; i < COUNT; i++) {
		wr.wr_id = i;
		err = post(&e.a, &wr);
		CHECK(!err, "post_send: %s", strerror(err));
		sge.addr += SIZE;
		wr.wr.rdma.remote_addr += SIZE;
	}
	for (i = 0; i < COUNT; i++)
		if (!expect_wc(e.a.scq, i, IBV_WC_SUCCESS))
			return false;
	CHECK(!memcmp(msg(&e.a), msg(&e.b), COUNT * SIZE), "the data differ");
	return true;
}

/* Requests of all kinds are executed and completed in order. */
static bool mixed(void)
{
	static const enum ibv_wr_opcode order[] = {
		IBV_WR_SEND, IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	struct ibv_sge sge = end_sge(&e.a, 8);
	size_t i, round, receives = 0;
	int err;

	for (i = 0; i < 12; i++)
		receive(&e.b, i, 8);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < ARRAY_SIZE(order); i++) {
			struct ibv_send_wr wr = work(&e, order[i], &sge);

			err = post(&e.a, &wr);
			CHECK(!err, "post_send: %s", strerror(err));
		}
	}
	for (round = 0; round < 4; round++)
		for (i = 0; i < ARRAY_SIZE(order); i++)
			if (!expect_wc(e.a.scq, order[i], IBV_WC_SUCCESS))
				return false;
	while (receives < 12)
		if (!expect_wc(e.b.rcq, receives++, IBV_WC_SUCCESS))
			return false;
	return true;
}

/* Bind @mw to the message of end b, with the right to write. */
static bool bind_window(struct ibv_mw *mw)
{
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = {
				.mr = e.b.mr,
				.addr = (uintptr_t)msg(&e.b),
				.length = 4096,
				.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
			},
		},
	};
	int err = post(&e.b, &wr);

	CHECK(!err, "post_send: %s", strerror(err));
	mw->rkey = wr.bind_mw.rkey;
	return expect_wc(e.b.scq, 1, IBV_WC_SUCCESS);
}

/* The peer's SEND_WITH_INV invalidates the key of the window. */
static bool send_with_inv(struct ibv_mw *mw)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr write = work(&e, IBV_WR_RDMA_WRITE, &sge);
	struct ibv_send_wr inv = work(&e, IBV_WR_SEND_WITH_INV, &sge);
	struct ibv_wc wc;

	if (!bind_window(mw))
		return false;
	write.wr.rdma.rkey = mw->rkey;
	inv.invalidate_rkey = mw->rkey;
	receive(&e.b, RECV_ID, 8);
	CHECK(!post(&e.a, &write) && !post(&e.a, &inv), "post_send");
	if (!expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS) ||
	    !expect_wc(e.a.scq, IBV_WR_SEND_WITH_INV, IBV_WC_SUCCESS))
		return false;
	CHECK(poll_one(e.b.rcq, &wc) && wc.status == IBV_WC_SUCCESS &&
	      wc.wc_flags & IBV_WC_WITH_INV &&
	      wc.invalidated_rkey == mw->rkey, "the receive: %s, flags %#x",
	      ibv_wc_status_str(wc.status), wc.wc_flags);
	CHECK(!post(&e.a, &write), "post_send");
	return expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR);
}

static void test_send_with_inv(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(e.b.pd, IBV_MW_TYPE_2);
	struct qp_conf conf = {
		.type = IBV_QPT_RC,
		.access = ALL_REMOTE | IBV_ACCESS_MW_BIND,
	};
	struct ibv_mr *plain = e.b.mr;

	if (!mw) {
		tap_skip("no memory windows", "RC SEND_WITH_INV");
		return;
	}
	e.b.mr = ibv_reg_mr(e.b.pd, e.b.buf, END_MEMORY,
			    IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE |
			    IBV_ACCESS_MW_BIND);
	if (!e.b.mr)
		tap_bail("no MR to bind a window to: %s", strerror(errno));
	ends_connect(&e, &conf);
	tap_result(send_with_inv(mw), "RC SEND_WITH_INV");
	ends_disconnect(&e);
	if (ibv_dealloc_mw(mw) || ibv_dereg_mr(e.b.mr))
		tap_bail("the window or its MR stays");
	e.b.mr = plain;
}

static void run(bool (*test)(void), const char *name)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };

	ends_connect(&e, &conf);
	tap_result(test(), "RC %s", name);
	ends_disconnect(&e);
}

int main(int argc, char **argv)
{
	ends_open(&e, argc, argv);
	tap_plan(6);
	run(many_atomics, "more atomics than may be outstanding");
	run(many_reads, "more reads than may be outstanding");
	run(unsignaled, "unsignaled writes");
	run(fenced, "fenced send");
	run(mixed, "all opcodes in one queue");
	test_send_with_inv();
	ends_close(&e);
	return tap_done();
}
