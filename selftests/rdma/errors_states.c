// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibv_modify_qp(). Legal transitions work. Other transitions, and missing, superfluous
 * or illegal attributes, return EINVAL and do not change the QP. SQD drains the send
 * queue, and the events of the state machine are raised.
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

static const char *const state_names[] = {
	"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR",
};

/* Move end a from RESET to @state. */
static int go_to(enum ibv_qp_state state, const struct qp_conf *conf)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int err = ibv_modify_qp(e.a.qp, &attr, IBV_QP_STATE);

	if (state == IBV_QPS_RESET)
		return err;
	err = err ?: end_to_init(&e.a, conf);
	if (state == IBV_QPS_ERR)
		return err ?: end_to_error(&e.a);
	if (state >= IBV_QPS_RTR)
		err = err ?: end_to_rtr(&e.a, &e.b, conf);
	if (state >= IBV_QPS_RTS)
		err = err ?: end_to_rts(&e.a, conf);
	attr.qp_state = IBV_QPS_SQD;
	if (state == IBV_QPS_SQD)
		err = err ?: ibv_modify_qp(e.a.qp, &attr, IBV_QP_STATE);
	return err;
}

/* Fill in the attributes of a legal transition to @to. */
static int attr_for(struct ibv_qp_attr *attr, enum ibv_qp_state from,
		    enum ibv_qp_state to, const struct qp_conf *conf)
{
	if (to == IBV_QPS_INIT)
		return attr_init(attr, conf);
	if (to == IBV_QPS_RTR)
		return attr_rtr(attr, conf, &e.a, &e.b);
	if (to == IBV_QPS_RTS && from != IBV_QPS_SQD && from != IBV_QPS_RTS)
		return attr_rts(attr, conf, &e.a);
	*attr = (struct ibv_qp_attr){ .qp_state = to };
	return IBV_QP_STATE;
}

/* Transitions of IBTA 10.3.1 that ibv_modify_qp() can make */
static bool legal(enum ibv_qp_state from, enum ibv_qp_state to)
{
	if (from == IBV_QPS_RESET)
		return to == IBV_QPS_RESET || to == IBV_QPS_INIT;
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return true;
	switch (from) {
	case IBV_QPS_INIT:
		return to == IBV_QPS_INIT || to == IBV_QPS_RTR;
	case IBV_QPS_RTR:
		return to == IBV_QPS_RTS;
	case IBV_QPS_RTS:
	case IBV_QPS_SQD:
		return to == IBV_QPS_RTS || to == IBV_QPS_SQD;
	default:
		return false;
	}
}

static bool step(enum ibv_qp_state from, enum ibv_qp_state to,
		 const struct qp_conf *conf)
{
	struct ibv_qp_attr attr;
	int mask, err;

	err = go_to(from, conf);
	CHECK(!err && end_state(&e.a) == from, "not in %s: %s",
	      state_names[from], strerror(err));
	mask = attr_for(&attr, from, to, conf);
	err = ibv_modify_qp(e.a.qp, &attr, mask);
	/* Draining takes some time. */
	if (legal(from, to))
		CHECK(!err && end_state(&e.a) == to, "%s to %s: %s",
		      state_names[from], state_names[to], strerror(err));
	else
		CHECK(err == EINVAL && end_state(&e.a) == from,
		      "%s to %s: %s, now in %s", state_names[from],
		      state_names[to], strerror(err),
		      state_names[end_state(&e.a)]);
	return true;
}

static bool steps(enum ibv_qp_state from, const struct qp_conf *conf)
{
	enum ibv_qp_state to;
	bool ok = true;

	for (to = IBV_QPS_RESET; to <= IBV_QPS_ERR; to++) {
		/* Users cannot set SQE. Specifications differ on RESET to ERR. */
		if (to == IBV_QPS_SQE ||
		    (to == IBV_QPS_ERR && from == IBV_QPS_RESET))
			continue;
		ok &= step(from, to, conf);
	}
	return ok;
}

static void test_steps(const char *transport, enum ibv_qp_type type)
{
	struct qp_conf conf = { .type = type };
	enum ibv_qp_state from;

	ends_connect(&e, &conf);
	for (from = IBV_QPS_RESET; from <= IBV_QPS_ERR; from++)
		if (from != IBV_QPS_SQD && from != IBV_QPS_SQE)
			tap_result(steps(from, &conf), "%s from %s", transport,
				   state_names[from]);
	if (type == IBV_QPT_RC)
		tap_result(steps(IBV_QPS_SQD, &conf), "RC from SQD");
	ends_disconnect(&e);
}

/* The transition needs each of its attributes and refuses others. */
static bool attributes(enum ibv_qp_state from, enum ibv_qp_state to,
		       int superfluous, const struct qp_conf *conf)
{
	struct ibv_qp_attr attr;
	int mask, bit, err;

	err = go_to(from, conf);
	CHECK(!err, "not in %s: %s", state_names[from], strerror(err));
	mask = attr_for(&attr, from, to, conf);
	for (bit = 1; bit <= mask; bit <<= 1) {
		if (bit == IBV_QP_STATE || !(mask & bit))
			continue;
		err = ibv_modify_qp(e.a.qp, &attr, mask & ~bit);
		CHECK(err == EINVAL && end_state(&e.a) == from,
		      "without %#x: %s", bit, strerror(err));
	}
	for (bit = 1; bit <= superfluous; bit <<= 1) {
		if (!(superfluous & bit))
			continue;
		err = ibv_modify_qp(e.a.qp, &attr, mask | bit);
		CHECK(err == EINVAL && end_state(&e.a) == from,
		      "with %#x: %s", bit, strerror(err));
	}
	err = ibv_modify_qp(e.a.qp, &attr, mask);
	CHECK(!err, "with all: %s", strerror(err));
	return true;
}

static void test_attributes(const char *transport, enum ibv_qp_type type)
{
	struct qp_conf conf = { .type = type };

	ends_connect(&e, &conf);
	tap_result(attributes(IBV_QPS_RESET, IBV_QPS_INIT,
			      IBV_QP_SQ_PSN | IBV_QP_DEST_QPN | IBV_QP_AV,
			      &conf), "%s attributes of INIT", transport);
	tap_result(attributes(IBV_QPS_INIT, IBV_QPS_RTR,
			      IBV_QP_SQ_PSN | IBV_QP_RETRY_CNT, &conf),
		   "%s attributes of RTR", transport);
	tap_result(attributes(IBV_QPS_RTR, IBV_QPS_RTS,
			      IBV_QP_DEST_QPN | IBV_QP_PATH_MTU | IBV_QP_PORT,
			      &conf), "%s attributes of RTS", transport);
	ends_disconnect(&e);
}

/* A transition refuses an attribute with a value out of range. */
static bool refuses(const char *what, enum ibv_qp_state from,
		    struct ibv_qp_attr *attr, int mask)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };
	int err = go_to(from, &conf);

	CHECK(!err, "not in %s: %s", state_names[from], strerror(err));
	err = ibv_modify_qp(e.a.qp, attr, mask);
	CHECK(err == EINVAL || err == ENODATA, "%s: %s", what, strerror(err));
	CHECK(end_state(&e.a) == from, "%s: left %s", what, state_names[from]);
	return true;
}

static bool values_of_init(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };
	struct ibv_qp_attr attr;
	int mask = attr_init(&attr, &conf);
	bool ok;

	attr.port_num = 0;
	ok = refuses("port 0", IBV_QPS_RESET, &attr, mask);
	attr.port_num = 2;
	ok &= refuses("port 2", IBV_QPS_RESET, &attr, mask);
	attr.port_num = 1;
	attr.pkey_index = 999;
	ok &= refuses("pkey_index 999", IBV_QPS_RESET, &attr, mask);
	return ok;
}

static bool values_of_rtr(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };
	struct ibv_qp_attr good, attr;
	int mask = attr_rtr(&good, &conf, &e.a, &e.b);
	bool ok;

	attr = good;
	attr.path_mtu = 6;
	ok = refuses("path MTU 6", IBV_QPS_INIT, &attr, mask);
	attr.path_mtu = 0;
	ok &= refuses("path MTU 0", IBV_QPS_INIT, &attr, mask);
	attr.path_mtu = e.a.active_mtu + 1;
	ok &= refuses("path MTU > active", IBV_QPS_INIT, &attr, mask);
	attr = good;
	attr.ah_attr.grh.sgid_index = 200;
	ok &= refuses("empty GID", IBV_QPS_INIT, &attr, mask);
	attr = good;
	attr.ah_attr.is_global = 0;
	ok &= refuses("no GRH", IBV_QPS_INIT, &attr, mask);
	attr = good;
	attr.max_dest_rd_atomic = 255;
	ok &= refuses("max_dest_rd_atomic 255", IBV_QPS_INIT, &attr, mask);
	attr = good;
	attr.min_rnr_timer = 32;
	ok &= refuses("min_rnr_timer 32", IBV_QPS_INIT, &attr, mask);
	return ok;
}

static bool values_of_rts(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };
	struct ibv_qp_attr good, attr;
	int mask = attr_rts(&good, &conf, &e.a);
	bool ok;

	attr = good;
	attr.max_rd_atomic = 255;
	ok = refuses("max_rd_atomic 255", IBV_QPS_RTR, &attr, mask);
	attr = good;
	attr.retry_cnt = 8;
	ok &= refuses("retry_cnt 8", IBV_QPS_RTR, &attr, mask);
	attr = good;
	attr.rnr_retry = 8;
	ok &= refuses("rnr_retry 8", IBV_QPS_RTR, &attr, mask);
	attr = good;
	attr.timeout = 32;
	ok &= refuses("timeout 32", IBV_QPS_RTR, &attr, mask);
	return ok;
}

/* ibv_query_qp() returns the values that ibv_modify_qp() has set. */
static bool query(void)
{
	struct qp_conf conf = {
		.type = IBV_QPT_RC, .mtu = IBV_MTU_512, .timeout = 13,
		.retry_cnt = 5, .rnr_retry = 4, .rnr_timer = 21,
		.access = IBV_ACCESS_REMOTE_READ,
	};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr got, rtr;

	CHECK(!go_to(IBV_QPS_RTS, &conf), "not in RTS");
	attr_rtr(&rtr, &conf, &e.a, &e.b);
	CHECK(!ibv_query_qp(e.a.qp, &got, 0x1fffff, &init), "query_qp");
	CHECK(got.qp_state == IBV_QPS_RTS && got.port_num == 1, "state, port");
	CHECK(got.path_mtu == IBV_MTU_512, "path_mtu %d", got.path_mtu);
	CHECK(got.timeout == 13 && got.retry_cnt == 5 && got.rnr_retry == 4 &&
	      got.min_rnr_timer == 21, "timeout %u retry %u rnr %u timer %u",
	      got.timeout, got.retry_cnt, got.rnr_retry, got.min_rnr_timer);
	CHECK(got.qp_access_flags == IBV_ACCESS_REMOTE_READ, "access %#x",
	      got.qp_access_flags);
	CHECK(got.dest_qp_num == e.b.qp->qp_num && got.rq_psn == e.b.psn &&
	      got.sq_psn == e.a.psn, "dest_qp_num %#x rq_psn %#x sq_psn %#x",
	      got.dest_qp_num, got.rq_psn, got.sq_psn);
	CHECK(got.max_rd_atomic == 16 && got.max_dest_rd_atomic == 16,
	      "max_rd_atomic %u, %u", got.max_rd_atomic,
	      got.max_dest_rd_atomic);
	CHECK(got.ah_attr.is_global && got.ah_attr.grh.hop_limit == 64 &&
	      !memcmp(&got.ah_attr.grh.dgid, &rtr.ah_attr.grh.dgid, 16) &&
	      got.ah_attr.grh.sgid_index == e.a.gid_index, "address vector");
	CHECK(init.qp_type == IBV_QPT_RC && init.cap.max_send_wr >= 1 &&
	      init.send_cq == e.a.scq && init.recv_cq == e.a.rcq, "init");
	return true;
}

/* A draining send queue finishes begun requests and holds later ones back. */
static bool drain(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1,
	};
	struct ibv_sge sge = end_sge(&e.a, 100000);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	int err;

	wr.wr_id = 1;
	CHECK(!post(&e.a, &wr), "post_send");
	err = ibv_modify_qp(e.a.qp, &attr,
			    IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
	CHECK(!err, "to SQD: %s", strerror(err));
	CHECK(async_within(&e.a, IBV_EVENT_SQ_DRAINED, WAIT_MS),
	      "no event IBV_EVENT_SQ_DRAINED");
	if (!expect_wc(e.a.scq, 1, IBV_WC_SUCCESS))
		return false;
	wr.wr_id = 2;
	CHECK(!post(&e.a, &wr), "post_send in SQD");
	if (!expect_none(e.a.scq))
		return false;
	attr.qp_state = IBV_QPS_RTS;
	err = ibv_modify_qp(e.a.qp, &attr, IBV_QP_STATE);
	CHECK(!err, "back to RTS: %s", strerror(err));
	return expect_wc(e.a.scq, 2, IBV_WC_SUCCESS);
}

/* The first message to a QP in RTR raises IBV_EVENT_COMM_EST. */
static bool established(void)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct qp_conf conf = { .type = IBV_QPT_RC };
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	CHECK(!ibv_modify_qp(e.b.qp, &reset, IBV_QP_STATE) &&
	      !end_to_init(&e.b, &conf) && !end_to_rtr(&e.b, &e.a, &conf),
	      "to RTR");
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS))
		return false;
	CHECK(async_within(&e.b, IBV_EVENT_COMM_EST, WAIT_MS / 10),
	      "no event IBV_EVENT_COMM_EST");
	return true;
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
	tap_plan(6 + 5 + 5 + 3 * 3 + 6);
	test_steps("RC", IBV_QPT_RC);
	test_steps("UC", IBV_QPT_UC);
	test_steps("UD", IBV_QPT_UD);
	test_attributes("RC", IBV_QPT_RC);
	test_attributes("UC", IBV_QPT_UC);
	test_attributes("UD", IBV_QPT_UD);
	run(values_of_init, "values of INIT");
	run(values_of_rtr, "values of RTR");
	run(values_of_rts, "values of RTS");
	run(query, "query_qp");
	run(drain, "SQD drains");
	run(established, "event of the first message in RTR");
	ends_close(&e);
	return tap_done();
}
