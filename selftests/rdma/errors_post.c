// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work requests that cannot be executed. ibv_post_send() refuses them, or they complete
 * in error. They are neither executed nor lost. Datagrams that must not be delivered
 * are dropped, and the QP keeps working.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "../lib/ends.h"
#include "../lib/hwstats.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define RECV_ID		99
#define GRH_BYTES	40u

static struct ends e;

/*
 * A provider may refuse a bad request at once or complete it in error, by the manual of
 * the verbs.
 */
static bool refused(struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	int err = post(&e.a, wr);

	if (err) {
		CHECK(err == EINVAL || err == ENOMEM || err == EOPNOTSUPP,
		      "post_send: %s", strerror(err));
		return expect_none(e.a.scq);
	}
	return expect_wc(e.a.scq, wr->wr_id, status);
}

static bool inline_too_long(void)
{
	struct ibv_sge sge = end_sge(&e.a, e.a.max_inline + 1);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);
	int err;

	wr.send_flags |= IBV_SEND_INLINE;
	err = post(&e.a, &wr);
	CHECK(err, "post_send took %u bytes", sge.length);
	return expect_none(e.a.scq);
}

static bool too_many_sges(void)
{
	struct ibv_sge sge[512];
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, sge);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i] = end_sge(&e.a, 1);
	wr.num_sge = ARRAY_SIZE(sge);
	CHECK(post(&e.a, &wr), "post_send took %d SGEs", wr.num_sge);
	CHECK(post_recv(&e.a, RECV_ID, sge, ARRAY_SIZE(sge)),
	      "post_recv took %zu SGEs", ARRAY_SIZE(sge));
	return expect_none(e.a.scq);
}

/* A full queue refuses a request and keeps the requests that it has accepted. */
static bool queue_full(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);
	int sent, i;

	for (sent = 0; sent < 100000; sent++) {
		wr.wr_id = sent;
		if (post(&e.a, &wr))
			break;
	}
	CHECK(sent >= 4 && sent < 100000, "%d posts were taken", sent);
	for (i = 0; i < sent; i++) {
		receive(&e.b, i, 8);
		if (!expect_wc(e.a.scq, i, IBV_WC_SUCCESS) ||
		    !expect_wc(e.b.rcq, i, IBV_WC_SUCCESS))
			return false;
	}
	return expect_none(e.a.scq);
}

static bool receive_queue_full(void)
{
	struct ibv_sge sge = end_sge(&e.b, 8);
	int n;

	for (n = 0; n < 100000; n++)
		if (post_recv(&e.b, n, &sge, 1))
			break;
	CHECK(n >= 4 && n < 100000, "%d posts were taken", n);
	return true;
}

/* The good requests before a bad one in a list are executed. */
static bool list_with_a_bad_one(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8), many[512] = {};
	struct ibv_send_wr good = work(&e, IBV_WR_RDMA_WRITE, &sge);
	struct ibv_send_wr wrong = good, last = good, *bad_wr = NULL;

	good.next = &wrong;
	wrong.next = &last;
	wrong.sg_list = many;
	wrong.num_sge = ARRAY_SIZE(many);
	CHECK(ibv_post_send(e.a.qp, &good, &bad_wr), "post_send");
	CHECK(bad_wr == &wrong, "bad_wr is not the bad one");
	return expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS) &&
	       expect_none(e.a.scq);
}

/* Connect end a again, with at most @depth READs and atomics. */
static bool limit_reads(uint8_t depth)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int mask;

	CHECK(!ibv_modify_qp(e.a.qp, &attr, IBV_QP_STATE) &&
	      !end_to_init(&e.a, &conf) && !end_to_rtr(&e.a, &e.b, &conf),
	      "to RTR");
	mask = attr_rts(&attr, &conf, &e.a);
	attr.max_rd_atomic = depth;
	CHECK(!ibv_modify_qp(e.a.qp, &attr, mask), "to RTS");
	return true;
}

/* Set the same limit in the present connection (table 91: SQD to SQD). */
static bool limit_reads_in_sqd(uint8_t depth)
{
	struct ibv_qp_attr sqd = { .qp_state = IBV_QPS_SQD };
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	struct ibv_qp_attr limit = sqd;

	limit.max_rd_atomic = depth;
	CHECK(!ibv_modify_qp(e.a.qp, &sqd, IBV_QP_STATE), "to SQD");
	CHECK(!ibv_modify_qp(e.a.qp, &limit, IBV_QP_STATE |
			     IBV_QP_MAX_QP_RD_ATOMIC), "max_rd_atomic");
	CHECK(!ibv_modify_qp(e.a.qp, &rts, IBV_QP_STATE), "to RTS");
	return true;
}

/* A WRITE succeeds, and @opcode behind it must fail. */
static bool fails_behind_write(enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr read = work(&e, opcode, &sge);
	struct ibv_send_wr write = work(&e, IBV_WR_RDMA_WRITE, &sge);

	write.next = &read;
	CHECK(!post(&e.a, &write), "post_send");
	if (!expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS) ||
	    !expect_wc(e.a.scq, opcode, IBV_WC_LOC_QP_OP_ERR))
		return false;
	CHECK(end_state(&e.a) == IBV_QPS_ERR, "the QP lives on");
	return true;
}

static bool read_without_depth(void)
{
	return limit_reads(0) && fails_behind_write(IBV_WR_RDMA_READ);
}

static bool atomic_without_depth(void)
{
	return limit_reads(0) && fails_behind_write(IBV_WR_ATOMIC_FETCH_AND_ADD);
}

static bool depth_taken_away(void)
{
	return limit_reads_in_sqd(0) && fails_behind_write(IBV_WR_RDMA_READ);
}

static bool depth_given_again(void)
{
	struct ibv_sge sge = end_sge(&e.a, 6000);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_READ, &sge);

	if (!limit_reads_in_sqd(0) || !limit_reads_in_sqd(1))
		return false;
	CHECK(!post(&e.a, &wr), "post_send");
	return expect_wc(e.a.scq, IBV_WR_RDMA_READ, IBV_WC_SUCCESS);
}

/* In SQD, begun requests finish even if the limit is set to 0 meanwhile. */
static bool depth_taken_meanwhile(void)
{
	struct ibv_sge sge = end_sge(&e.a, 1u << 20);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_READ, &sge);

	CHECK(!post(&e.a, &wr), "post_send");
	return limit_reads_in_sqd(0) &&
	       expect_wc(e.a.scq, IBV_WR_RDMA_READ, IBV_WC_SUCCESS);
}

static bool not_of_uc(enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, opcode, &sge);

	memset(msg(&e.b), POISON, 8);
	if (!refused(&wr, IBV_WC_LOC_QP_OP_ERR))
		return false;
	CHECK(msg(&e.b)[0] == POISON, "it was done");
	return true;
}

static bool uc_read(void)
{
	return not_of_uc(IBV_WR_RDMA_READ);
}

static bool uc_atomic(void)
{
	return not_of_uc(IBV_WR_ATOMIC_FETCH_AND_ADD);
}

/*
 * A message of @size bytes is too long for a receive of @room bytes. It is dropped and
 * counted. The sender gets no error, and the receive is kept for the next message.
 */
static bool too_long(uint32_t size, uint32_t room, uint32_t grh)
{
	struct ibv_sge sge = end_sge(&e.a, size);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);
	struct hwstats before, after;

	memset(msg(&e.b), POISON, size + grh);
	receive(&e.b, RECV_ID, room);
	hwstats_read(&before, e.b.name);
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS) ||
	    !expect_none(e.b.rcq))
		return false;
	hwstats_read(&after, e.b.name);
	CHECK(msg(&e.b)[room] == POISON, "written past the buffer");
	CHECK(hwstats_growth(&before, &after, "rx_drop_too_long") == 1,
	      "it is not counted");
	sge.length = room - grh;
	fill(msg(&e.a), sge.length);
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.b.rcq, RECV_ID, IBV_WC_SUCCESS))
		return false;
	CHECK(!memcmp(msg(&e.a), msg(&e.b) + grh, sge.length), "the data differ");
	CHECK(end_state(&e.b) == IBV_QPS_RTS, "the QP has failed");
	return true;
}

static bool uc_receive_too_short(void)
{
	return too_long(6000, 5000, 0);
}

/* A message in one packet, and the first packet of many, exceed the receive. */
static bool uc_receive_far_too_short(void)
{
	return too_long(100, 99, 0) && too_long(6000, 10, 0);
}

static bool ud_receive_too_short(void)
{
	return too_long(100, 139, 40) && too_long(1000, 41, 40);
}

/* The receive has not even room for the GRH. */
static bool ud_receive_far_too_short(void)
{
	struct ibv_sge sge = end_sge(&e.a, 100);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	receive(&e.b, RECV_ID, 39);
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS) ||
	    !expect_none(e.b.rcq))
		return false;
	CHECK(end_state(&e.b) == IBV_QPS_RTS, "the QP has failed");
	return true;
}

/* A UC message without a receive is dropped. The next one with a receive arrives. */
static bool uc_no_receive(void)
{
	struct ibv_sge sge = end_sge(&e.a, 6000);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS) ||
	    !expect_none(e.b.rcq))
		return false;
	receive(&e.b, RECV_ID, 6000);
	fill(msg(&e.a), 6000);
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.b.rcq, RECV_ID, IBV_WC_SUCCESS))
		return false;
	CHECK(!memcmp(msg(&e.a), msg(&e.b), 6000), "the data differ");
	return true;
}

/* A datagram is one packet: C9-93.1.1 makes a longer one a local error. */
static bool ud_too_long(void)
{
	uint32_t size = mtu_bytes(e.a.active_mtu) + 1;
	struct ibv_sge sge = end_sge(&e.a, size);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	receive(&e.b, RECV_ID, GRH_BYTES + size);
	if (!refused(&wr, IBV_WC_LOC_LEN_ERR))
		return false;
	return expect_none(e.b.rcq);
}

static bool ud_write(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	return refused(&wr, IBV_WC_LOC_QP_OP_ERR);
}

/* The datagram completes at end a and is dropped at end b. A good one then arrives. */
static bool ud_dropped(struct ibv_send_wr bad)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr good = work(&e, IBV_WR_SEND, &sge);
	struct ibv_wc wc;

	CHECK(!post(&e.a, &bad), "post_send");
	if (!expect_wc(e.a.scq, bad.wr_id, IBV_WC_SUCCESS) ||
	    !expect_none(e.b.rcq))
		return false;
	CHECK(!post(&e.a, &good), "post_send");
	CHECK(poll_one(e.b.rcq, &wc) && wc.status == IBV_WC_SUCCESS &&
	      wc.byte_len == GRH_BYTES + 8, "the next one does not arrive");
	return true;
}

static bool ud_wrong_qkey(void)
{
	struct ibv_sge sge = end_sge(&e.a, 16);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	receive(&e.b, RECV_ID, GRH_BYTES + 16);
	wr.wr.ud.remote_qkey ^= 1;
	return ud_dropped(wr);
}

static bool ud_no_such_qp(void)
{
	struct ibv_sge sge = end_sge(&e.a, 16);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	receive(&e.b, RECV_ID, GRH_BYTES + 16);
	wr.wr.ud.remote_qpn = 0xfffffe;
	return ud_dropped(wr);
}

static bool ud_no_receive(void)
{
	struct ibv_sge sge = end_sge(&e.a, 16);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS))
		return false;
	/* Wait until the datagram has been dropped before posting a receive. */
	if (!expect_none(e.b.rcq))
		return false;
	receive(&e.b, RECV_ID, GRH_BYTES + 16);
	sge.length = 8;
	CHECK(!post(&e.a, &wr), "post_send");
	return expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS) &&
	       expect_wc(e.b.rcq, RECV_ID, IBV_WC_SUCCESS);
}

/* RESET, INIT and RTR refuse sends. INIT and RTR take receives. */
static bool wrong_states(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	CHECK(!ibv_modify_qp(e.a.qp, &reset, IBV_QP_STATE), "to RESET");
	CHECK(post(&e.a, &wr), "post_send in RESET");
	CHECK(!end_to_init(&e.a, &conf), "to INIT");
	CHECK(post(&e.a, &wr), "post_send in INIT");
	CHECK(!end_to_rtr(&e.a, &e.b, &conf), "to RTR");
	CHECK(post(&e.a, &wr), "post_send in RTR");
	return expect_none(e.a.scq);
}

/* Receives posted before RTR serve the connection later. */
static bool early_receives(void)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct qp_conf conf = { .type = IBV_QPT_RC };
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	CHECK(!ibv_modify_qp(e.b.qp, &reset, IBV_QP_STATE) &&
	      !end_to_init(&e.b, &conf), "to INIT");
	receive(&e.b, 1, 8);
	CHECK(!end_to_rtr(&e.b, &e.a, &conf), "to RTR");
	receive(&e.b, 2, 8);
	CHECK(!post(&e.a, &wr) && !post(&e.a, &wr), "post_send");
	return expect_wc(e.b.rcq, 1, IBV_WC_SUCCESS) &&
	       expect_wc(e.b.rcq, 2, IBV_WC_SUCCESS) &&
	       expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS) &&
	       expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS);
}

/* Neither Verve nor the rxe provider supports rate limits. */
static bool rate_limit(void)
{
	struct ibv_qp_rate_limit_attr limit = { .rate_limit = 1000000 };
	struct ibv_qp_attr attr = { .rate_limit = 1000000 };
	int err = ibv_modify_qp_rate_limit(e.a.qp, &limit);

	CHECK(err == EOPNOTSUPP, "modify_qp_rate_limit: %s", strerror(err));
	err = ibv_modify_qp(e.a.qp, &attr, IBV_QP_RATE_LIMIT);
	CHECK(err == EOPNOTSUPP || err == EINVAL, "modify_qp: %s",
	      strerror(err));
	return true;
}

static bool xrc(void)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD |
			     IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_qp_init_attr_ex qp_init = {
		.qp_type = IBV_QPT_XRC_SEND,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = e.a.pd,
		.send_cq = e.a.scq,
		.recv_cq = e.a.rcq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};

	CHECK(!ibv_open_xrcd(e.a.ctx, &init) &&
	      (errno == EOPNOTSUPP || errno == ENOSYS), "open_xrcd: %s",
	      strerror(errno));
	CHECK(!ibv_create_qp_ex(e.a.ctx, &qp_init) && errno == EOPNOTSUPP,
	      "create_qp_ex: %s", strerror(errno));
	return true;
}

static const struct {
	const char *name;
	bool (*test)(void);
	enum ibv_qp_type type;
} tests[] = {
	{ "RC inline data too long", inline_too_long, IBV_QPT_RC },
	{ "RC too many SGEs", too_many_sges, IBV_QPT_RC },
	{ "RC full send queue", queue_full, IBV_QPT_RC },
	{ "RC full receive queue", receive_queue_full, IBV_QPT_RC },
	{ "RC list with a bad request", list_with_a_bad_one, IBV_QPT_RC },
	{ "RC sends in RESET, INIT, RTR", wrong_states, IBV_QPT_RC },
	{ "RC receives in INIT, RTR", early_receives, IBV_QPT_RC },
	{ "RC READ, where none is allowed", read_without_depth, IBV_QPT_RC },
	{ "RC atomic, where none is allowed", atomic_without_depth, IBV_QPT_RC },
	{ "RC READ, where none is allowed any more", depth_taken_away,
	  IBV_QPT_RC },
	{ "RC READ, where one is allowed again", depth_given_again, IBV_QPT_RC },
	{ "RC READ that was begun before", depth_taken_meanwhile, IBV_QPT_RC },
	{ "no rate limit", rate_limit, IBV_QPT_RC },
	{ "no XRC", xrc, IBV_QPT_RC },
	{ "UC read", uc_read, IBV_QPT_UC },
	{ "UC atomic", uc_atomic, IBV_QPT_UC },
	{ "UC receive too short", uc_receive_too_short, IBV_QPT_UC },
	{ "UC receive far too short", uc_receive_far_too_short, IBV_QPT_UC },
	{ "UC no receive", uc_no_receive, IBV_QPT_UC },
	{ "UD message longer than the MTU", ud_too_long, IBV_QPT_UD },
	{ "UD write", ud_write, IBV_QPT_UD },
	{ "UD wrong qkey", ud_wrong_qkey, IBV_QPT_UD },
	{ "UD no such QP", ud_no_such_qp, IBV_QPT_UD },
	{ "UD no receive", ud_no_receive, IBV_QPT_UD },
	{ "UD receive too short", ud_receive_too_short, IBV_QPT_UD },
	{ "UD receive too short for the GRH", ud_receive_far_too_short,
	  IBV_QPT_UD },
};

int main(int argc, char **argv)
{
	size_t i;

	ends_open(&e, argc, argv);
	tap_plan(ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		struct qp_conf conf = { .type = tests[i].type, .depth = 16 };

		ends_connect(&e, &conf);
		tap_result(tests[i].test(), "%s", tests[i].name);
		ends_disconnect(&e);
	}
	ends_close(&e);
	return tap_done();
}
