// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous events of QPs and CQs (IBTA vol. 1, 11.6.3). Each event is raised once,
 * for the right object, and without other events.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define RECV_ID		99

static struct ends e;
static struct ibv_srq *srq;

/* Return: true if the event is for the right QP, CQ or SRQ of the end. */
static bool concerns(const struct ibv_async_event *event,
		     const struct end *end)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return event->element.cq == end->scq ||
		       event->element.cq == end->rcq;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return event->element.srq == srq;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_GID_CHANGE:
		return event->element.port_num == 1;
	default:
		return event->element.qp == end->qp;
	}
}

/* Return: true if an event was counted */
static bool take_event(struct end *end, unsigned int *counts)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(end->ctx, &event))
		return false;
	counts[event.event_type]++;
	if (!concerns(&event, end))
		tap_diag("%s of something else",
			 ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
	return true;
}

/* Count events until there are @n of @type, and then until none comes for a while. */
static void take_events(struct end *end, enum ibv_event_type type,
			unsigned int n, unsigned int *counts)
{
	struct deadline end_of_wait = deadline_in(WAIT_MS);
	uint64_t quiet;

	while (counts[type] < n && !is_past(&end_of_wait)) {
		if (!take_event(end, counts))
			usleep(1000);
	}
	quiet = now_ms() + 3 * QUIET_MS;
	while (now_ms() < quiet) {
		if (take_event(end, counts))
			quiet = now_ms() + 3 * QUIET_MS;
		else
			usleep(1000);
	}
	while (take_event(end, counts))
		;
}

/* Expect @n events of @type at @end, at most one of type @also, and no other. */
static bool expect_events(struct end *end, enum ibv_event_type type,
			  unsigned int n, enum ibv_event_type also)
{
	unsigned int counts[IBV_EVENT_WQ_FATAL + 1] = {};
	unsigned int i;

	take_events(end, type, n, counts);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		unsigned int want = i == type ? n : i == also && n ? 1 : 0;

		CHECK(counts[i] == want, "end %c: %u times %s, not %u",
		      end == &e.a ? 'a' : 'b', counts[i],
		      ibv_event_type_str(i), want);
	}
	return true;
}

static bool expect_only(struct end *end, enum ibv_event_type type)
{
	return expect_events(end, type, 1, type);
}

static bool expect_nothing(struct end *end)
{
	return expect_events(end, IBV_EVENT_CQ_ERR, 0, IBV_EVENT_CQ_ERR);
}

static bool to_state(struct end *end, enum ibv_qp_state state, bool notify)
{
	struct ibv_qp_attr attr = {
		.qp_state = state, .en_sqd_async_notify = notify,
	};
	int mask = IBV_QP_STATE;
	int err;

	if (state == IBV_QPS_SQD)
		mask |= IBV_QP_EN_SQD_ASYNC_NOTIFY;
	err = ibv_modify_qp(end->qp, &attr, mask);
	CHECK(!err, "modify_qp: %s", strerror(err));
	return true;
}

/* Post a request and expect its completion with @status at end a. */
static bool does(struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	CHECK(!post(&e.a, wr), "post_send");
	return expect_wc(e.a.scq, wr->wr_id, status);
}

static bool established(enum ibv_qp_type type)
{
	struct qp_conf conf = { .type = type };
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	bool ok;

	if (!to_state(&e.b, IBV_QPS_RESET, false))
		return false;
	CHECK(!end_to_init(&e.b, &conf) && !end_to_rtr(&e.b, &e.a, &conf),
	      "to RTR");
	ok = does(&wr, IBV_WC_SUCCESS) && does(&wr, IBV_WC_SUCCESS) &&
	     expect_only(&e.b, IBV_EVENT_COMM_EST);
	CHECK(!end_to_rts(&e.b, &conf), "to RTS");
	return ok && does(&wr, IBV_WC_SUCCESS) && expect_nothing(&e.b) &&
	       expect_nothing(&e.a);
}

static bool rc_established(void)
{
	return established(IBV_QPT_RC);
}

static bool uc_established(void)
{
	return established(IBV_QPT_UC);
}

/* A QP in RTS before the first message raises no IBV_EVENT_COMM_EST. */
static bool not_established(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	return does(&wr, IBV_WC_SUCCESS) && expect_nothing(&e.b);
}

/* Each request for notification raises one event. */
static bool drained(void)
{
	struct ibv_sge sge = end_sge(&e.a, 50000);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	int i;

	for (i = 0; i < 3; i++) {
		CHECK(!post(&e.a, &wr), "post_send");
		if (!to_state(&e.a, IBV_QPS_SQD, i != 1) ||
		    !expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS) ||
		    !expect_events(&e.a, IBV_EVENT_SQ_DRAINED, i != 1,
				   IBV_EVENT_SQ_DRAINED) ||
		    !to_state(&e.a, IBV_QPS_RTS, false))
			return false;
	}
	return true;
}

/* The request is under way, and end b has no receive yet. */
static bool drained_late(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	if (!to_state(&e.b, IBV_QPS_RESET, false))
		return false;
	CHECK(!end_to_init(&e.b, &conf), "to INIT");
	CHECK(!post(&e.a, &wr), "post_send");
	if (!to_state(&e.a, IBV_QPS_SQD, true) || !expect_nothing(&e.a))
		return false;
	CHECK(!end_to_rtr(&e.b, &e.a, &conf) && !end_to_rts(&e.b, &conf),
	      "to RTS");
	return expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS) &&
	       expect_only(&e.a, IBV_EVENT_SQ_DRAINED);
}

/* The request got an RNR NAK and will be sent again. */
static bool drained_after_rnr(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	CHECK(!post(&e.a, &wr), "post_send");
	if (!to_state(&e.a, IBV_QPS_SQD, true) || !expect_nothing(&e.a))
		return false;
	receive(&e.b, RECV_ID, 8);
	return expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS) &&
	       expect_only(&e.a, IBV_EVENT_SQ_DRAINED);
}

static bool access_error(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	wr.wr.rdma.rkey ^= 0x5a5a5a;
	return does(&wr, IBV_WC_REM_ACCESS_ERR) &&
	       expect_only(&e.b, IBV_EVENT_QP_ACCESS_ERR) &&
	       expect_nothing(&e.a);
}

/* The QP refuses a READ. */
static bool request_error(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_READ, &sge);

	return does(&wr, IBV_WC_REM_INV_REQ_ERR) &&
	       expect_only(&e.b, IBV_EVENT_QP_REQ_ERR) &&
	       expect_nothing(&e.a);
}

/* The receive of the responder is bad. */
static bool fatal_error(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8), to = end_sge(&e.b, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	to.lkey ^= 0x5a5a5a;
	CHECK(!post_recv(&e.b, RECV_ID, &to, 1), "post_recv");
	return does(&wr, IBV_WC_REM_OP_ERR) &&
	       expect_only(&e.b, IBV_EVENT_QP_FATAL) && expect_nothing(&e.a);
}

/* Errors with a completion raise no event. */
static bool no_event_for_completions(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	sge.lkey ^= 0x5a5a5a;
	return does(&wr, IBV_WC_LOC_PROT_ERR) && to_state(&e.b, IBV_QPS_ERR, 0) &&
	       expect_nothing(&e.a) && expect_nothing(&e.b);
}

/* A QP with an SRQ raises one event, even if it enters the Error state twice. */
static bool last_wqe(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	wr.wr.rdma.rkey ^= 0x5a5a5a;
	return does(&wr, IBV_WC_REM_ACCESS_ERR) &&
	       expect_events(&e.b, IBV_EVENT_QP_LAST_WQE_REACHED, 1,
			     IBV_EVENT_QP_ACCESS_ERR) &&
	       to_state(&e.b, IBV_QPS_ERR, false) &&
	       to_state(&e.b, IBV_QPS_ERR, false) && expect_nothing(&e.b);
}

static bool last_wqe_by_modify(void)
{
	return to_state(&e.b, IBV_QPS_ERR, false) &&
	       expect_only(&e.b, IBV_EVENT_QP_LAST_WQE_REACHED) &&
	       to_state(&e.b, IBV_QPS_ERR, false) && expect_nothing(&e.b);
}

/* After a reset, the QP raises the event again. */
static bool last_wqe_again(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };

	if (!last_wqe_by_modify() || !to_state(&e.b, IBV_QPS_RESET, false))
		return false;
	CHECK(!end_to_init(&e.b, &conf), "to INIT");
	return last_wqe_by_modify();
}

/* Post receives for more messages than the CQ has room for. */
static bool give(int n)
{
	struct ibv_sge sge = end_sge(&e.b, 8);
	int i;

	for (i = 0; i < n; i++)
		CHECK(!post_recv(&e.b, i, &sge, 1), "post_recv");
	return true;
}

/*
 * A full CQ raises an event for the CQ, and one for the QP whose completion was lost.
 * The peer gets no responses any more and runs into retries.
 */
static bool overrun(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);
	int i, room;

	CHECK(!ibv_resize_cq(e.b.rcq, 3), "resize_cq");
	room = e.b.rcq->cqe;
	if (!give(room + 4))
		return false;
	for (i = 0; i < room; i++)
		if (!does(&wr, IBV_WC_SUCCESS))
			return false;
	if (!expect_nothing(&e.b) || !does(&wr, IBV_WC_RETRY_EXC_ERR) ||
	    !expect_events(&e.b, IBV_EVENT_QP_FATAL, 1, IBV_EVENT_CQ_ERR))
		return false;
	CHECK(end_state(&e.b) == IBV_QPS_ERR, "the QP lives on");
	for (i = 0; i < room; i++)
		if (!expect_wc(e.b.rcq, i, IBV_WC_SUCCESS))
			return false;
	return expect_nothing(&e.b) && expect_nothing(&e.a);
}

static bool send_overrun(enum ibv_qp_type type)
{
	enum ibv_wr_opcode opcode = type == IBV_QPT_UD ? IBV_WR_SEND :
							 IBV_WR_RDMA_WRITE;
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, opcode, &sge);
	int i, room;

	CHECK(!ibv_resize_cq(e.a.scq, 3), "resize_cq");
	room = e.a.scq->cqe;
	for (i = 0; i < room + 4; i++)
		CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_events(&e.a, IBV_EVENT_QP_FATAL, 1, IBV_EVENT_CQ_ERR))
		return false;
	CHECK(end_state(&e.a) == IBV_QPS_ERR, "the QP lives on");
	for (i = 0; i < room; i++)
		if (!expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS))
			return false;
	return true;
}

static bool rc_send_overrun(void)
{
	return send_overrun(IBV_QPT_RC);
}

static bool uc_send_overrun(void)
{
	return send_overrun(IBV_QPT_UC);
}

static bool ud_send_overrun(void)
{
	return send_overrun(IBV_QPT_UD);
}

static const struct {
	const char *name;
	bool (*test)(void);
	enum ibv_qp_type type;
	bool srq;
	unsigned int access;
	uint8_t timeout;
} tests[] = {
	{ "RC COMM_EST", .test = rc_established },
	{ "UC COMM_EST", .test = uc_established, .type = IBV_QPT_UC },
	{ "no COMM_EST in RTS", .test = not_established },
	{ "SQ_DRAINED", .test = drained },
	{ "SQ_DRAINED, not before an answer", .test = drained_late,
	  .timeout = 17 },
	{ "SQ_DRAINED, not before a receive", .test = drained_after_rnr },
	{ "QP_ACCESS_ERR", .test = access_error },
	{ "QP_REQ_ERR", .test = request_error,
	  .access = IBV_ACCESS_REMOTE_WRITE },
	{ "QP_FATAL", .test = fatal_error },
	{ "no event for what completions tell",
	  .test = no_event_for_completions },
	{ "QP_LAST_WQE_REACHED after an error", .test = last_wqe, .srq = true },
	{ "QP_LAST_WQE_REACHED by modify_qp", .test = last_wqe_by_modify,
	  .srq = true },
	{ "QP_LAST_WQE_REACHED after a reset", .test = last_wqe_again,
	  .srq = true },
	{ "CQ_ERR at the responder", .test = overrun, .timeout = 12 },
	{ "RC CQ_ERR at the requester", .test = rc_send_overrun },
	{ "UC CQ_ERR at the requester", .test = uc_send_overrun,
	  .type = IBV_QPT_UC },
	{ "UD CQ_ERR at the sender", .test = ud_send_overrun,
	  .type = IBV_QPT_UD },
};

static void run(size_t i)
{
	struct qp_conf conf = {
		.type = tests[i].type ?: IBV_QPT_RC,
		.access = tests[i].access,
		.timeout = tests[i].timeout ?: 16,
		.retry_cnt = 2,
	};
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 15, .max_sge = 1 },
	};

	if (tests[i].srq) {
		srq = ibv_create_srq(e.b.pd, &init);
		if (!srq)
			tap_bail("no SRQ: %s", strerror(errno));
		conf.srq = srq;
	}
	ends_connect(&e, &conf);
	async_drain(&e.a);
	async_drain(&e.b);
	tap_result(tests[i].test(), "%s", tests[i].name);
	ends_disconnect(&e);
	if (tests[i].srq && ibv_destroy_srq(srq))
		tap_bail("the SRQ stays: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	size_t i;

	ends_open(&e, argc, argv);
	tap_plan(ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		run(i);
	ends_close(&e);
	return tap_done();
}
