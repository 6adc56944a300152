// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues. Resizing keeps the entries. Only an armed CQ raises events.
 * Solicited completions differ from others. An overflow raises an event and no program
 * hangs. Events can be moderated, a CQ can be extended, and overflows can be ignored.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>

#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define DEPTH		64u	/* of the queues of a default connection */
#define MANY		2000
#define BATCH		50

static struct ends e;

/* Post WRITEs [from, to), which complete in end a's send CQ. */
static bool writes(int from, int to)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	for (wr.wr_id = from; (int)wr.wr_id < to; wr.wr_id++)
		CHECK(!post(&e.a, &wr), "post_send");
	return true;
}

/* Wait for all requests before, by a last one with a receive at the other end. */
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

/* Too many entries for one step of copying */
static bool resize_with_many(void)
{
	int i, err;

	err = ibv_resize_cq(e.a.scq, 2 * MANY);
	CHECK(!err, "to %d: %s", 2 * MANY, strerror(err));
	for (i = 0; i < MANY; i += BATCH) {
		if (!writes(i, i + BATCH) || !settle())
			return false;
	}
	if (!expect_writes(0, 300))
		return false;
	err = ibv_resize_cq(e.a.scq, MANY);
	CHECK(!err, "to %d: %s", MANY, strerror(err));
	CHECK(ibv_resize_cq(e.a.scq, MANY / 4), "they went into a quarter");
	return expect_writes(300, MANY) && expect_none(e.a.scq);
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

/* An armed CQ raises one event, and an unarmed CQ none. */
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

/* Arming with entries left unread by earlier polls raises an event. */
static bool armed_with_rest(void)
{
	CHECK(!ibv_req_notify_cq(e.a.scq, 0), "req_notify_cq");
	if (!writes(0, 3) || !settle())
		return false;
	CHECK(event_within(e.a.chan, WAIT_MS), "no event");
	if (!expect_writes(0, 1))
		return false;
	CHECK(!ibv_req_notify_cq(e.a.scq, 0), "req_notify_cq");
	CHECK(event_within(e.a.chan, WAIT_MS), "no event for two left");
	return expect_writes(1, 3);
}

/* Arming before the poll raises no second event for the same entry. */
static bool armed_before_reading(void)
{
	int i;

	CHECK(!ibv_req_notify_cq(e.a.scq, 0), "req_notify_cq");
	for (i = 0; i < 40; i++) {
		if (!writes(i, i + 1))
			return false;
		CHECK(event_within(e.a.chan, WAIT_MS), "%d: no event", i);
		CHECK(!ibv_req_notify_cq(e.a.scq, 0), "req_notify_cq");
		CHECK(!event_within(e.a.chan, 0), "%d: an event too many", i);
		if (!expect_writes(i, i + 1))
			return false;
	}
	CHECK(!event_within(e.a.chan, QUIET_MS), "an event too many");
	return true;
}

/* A completion in error counts as solicited (C11-15). */
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

/* On a CQ armed for solicited completions, only these raise the event. */
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
	/* A CQ armed for all completions raises an event for any message. */
	CHECK(!ibv_req_notify_cq(e.b.rcq, 1) && !ibv_req_notify_cq(e.b.rcq, 0),
	      "req_notify_cq");
	if (!send_with(IBV_WR_SEND, 0))
		return false;
	CHECK(event_within(e.b.chan, WAIT_MS), "no event");
	return true;
}

/* Arming for solicited completions does not revoke arming for all. */
static bool arming_does_not_weaken(void)
{
	CHECK(!ibv_req_notify_cq(e.b.rcq, 0) && !ibv_req_notify_cq(e.b.rcq, 1),
	      "req_notify_cq");
	if (!send_with(IBV_WR_SEND, 0))
		return false;
	CHECK(event_within(e.b.chan, WAIT_MS), "no event");
	return true;
}

/* More completions than the CQ has entries, without polling */
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
	/* The entries can be read, once each. */
	for (i = 0; i < (int)DEPTH && ibv_poll_cq(e.a.scq, 1, &wc) > 0; i++)
		;
	CHECK(i <= (int)DEPTH - 1, "%d completions", i);
	return true;
}

/*
 * librxe cannot modify CQs, so write the command to the device, like libibverbs.
 * Return: 0 or an errno.
 */
static int moderate(struct ibv_cq *cq, uint16_t count, uint16_t period)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		struct ib_uverbs_ex_modify_cq cmd;
	} req = {
		.hdr.command = IB_USER_VERBS_EX_CMD_MODIFY_CQ |
			       IB_USER_VERBS_CMD_FLAG_EXTENDED,
		.hdr.in_words = sizeof(req.cmd) / 8,
		.cmd.cq_handle = cq->handle,
		.cmd.attr_mask = IBV_CQ_ATTR_MODERATE,
		.cmd.attr = { .cq_count = count, .cq_period = period },
	};

	return write(cq->context->cmd_fd, &req, sizeof(req)) == sizeof(req) ?
	       0 : errno;
}

/* A number of completions raises one event before the period ends. */
static bool moderated_by_count(void)
{
	int err = moderate(e.a.scq, 4, 65535);
	uint64_t start = now_ms();

	CHECK(!err, "modify_cq: %s", strerror(err));
	CHECK(!ibv_req_notify_cq(e.a.scq, 0), "req_notify_cq");
	if (!writes(0, 3) || !expect_writes(0, 3))
		return false;
	/* On a slow machine, the period may have ended. */
	CHECK(!event_within(e.a.chan, 0) || now_ms() - start > 60,
	      "an event after 3 completions");
	CHECK(!ibv_req_notify_cq(e.a.scq, 0), "req_notify_cq");
	if (!writes(3, 7))
		return false;
	CHECK(event_within(e.a.chan, WAIT_MS), "no event");
	return expect_writes(3, 7);
}

/* A single completion raises its event at the end of the period. */
static bool moderated_by_time(void)
{
	int err = moderate(e.a.scq, 1000, 50000);
	uint64_t start;

	CHECK(!err, "modify_cq: %s", strerror(err));
	CHECK(!ibv_req_notify_cq(e.a.scq, 0), "req_notify_cq");
	start = now_ms();
	if (!writes(0, 1))
		return false;
	CHECK(event_within(e.a.chan, WAIT_MS), "no event");
	CHECK(now_ms() - start >= 49, "already after %d ms",
	      (int)(now_ms() - start));
	return expect_writes(0, 1);
}

/* The end of moderation raises an event that was held back. */
static bool moderation_off(void)
{
	uint64_t start = now_ms();

	CHECK(!moderate(e.a.scq, 100, 65535), "modify_cq");
	CHECK(!ibv_req_notify_cq(e.a.scq, 0), "req_notify_cq");
	if (!writes(0, 1) || !expect_writes(0, 1))
		return false;
	CHECK(!moderate(e.a.scq, 0, 0), "modify_cq");
	CHECK(event_within(e.a.chan, WAIT_MS), "no event");
	CHECK(!ibv_req_notify_cq(e.a.scq, 0), "req_notify_cq");
	if (!writes(1, 2))
		return false;
	CHECK(event_within(e.a.chan, WAIT_MS), "no event");
	CHECK(now_ms() - start < 65 || e.quick, "not before its time");
	return expect_writes(1, 2);
}

static bool moderation_refused(void)
{
	int err = moderate(e.a.scq, 2, 0);

	CHECK(err == EINVAL, "a count without a period: %s", strerror(err));
	return true;
}

/* Destroy a CQ whose timer runs. */
static bool moderated_to_the_end(void)
{
	CHECK(!moderate(e.a.scq, 100, 65535), "modify_cq");
	CHECK(!ibv_req_notify_cq(e.a.scq, 0), "req_notify_cq");
	return writes(0, 1) && settle();
}

static struct ibv_cq_ex *extended(uint64_t wc_flags, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 15,
		.wc_flags = wc_flags,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = flags,
	};

	return ibv_create_cq_ex(e.a.ctx, &attr);
}

/* Read the completions of an extended CQ one by one. */
static bool reads_as_extended(struct ibv_cq_ex *cqx)
{
	struct ibv_poll_cq_attr none = {};
	struct deadline end = deadline_in(WAIT_MS);
	int err;

	if (!writes(7, 8))
		return false;
	while ((err = ibv_start_poll(cqx, &none)) == ENOENT && !is_past(&end))
		;
	CHECK(!err, "start_poll: %s", strerror(err));
	CHECK(cqx->wr_id == 7 && cqx->status == IBV_WC_SUCCESS &&
	      ibv_wc_read_opcode(cqx) == IBV_WC_RDMA_WRITE &&
	      ibv_wc_read_qp_num(cqx) == e.a.qp->qp_num,
	      "wr_id %d status %d opcode %d", (int)cqx->wr_id, cqx->status,
	      ibv_wc_read_opcode(cqx));
	ibv_end_poll(cqx);
	CHECK(ibv_start_poll(cqx, &none) == ENOENT, "a second completion");
	return true;
}

/* An overflow of a CQ that ignores overruns raises no event. */
static bool overflow_ignored(struct ibv_cq_ex *cqx)
{
	struct ibv_cq *cq = ibv_cq_ex_to_cq(cqx);
	struct ibv_wc wc;
	int n = 0;

	if (!writes(0, DEPTH - 1) || !settle())
		return false;
	CHECK(!async_within(&e.a, IBV_EVENT_CQ_ERR, 3 * QUIET_MS), "CQ_ERR");
	CHECK(end_state(&e.a) == IBV_QPS_RTS, "the QP has ended");
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		n++;
	CHECK(n == cq->cqe, "%d completions of %d", n, cq->cqe);
	return writes(99, 100) && expect_wc(cq, 99, IBV_WC_SUCCESS);
}

/* Run a test with another connection, whose sends complete in an extended CQ. */
static bool with_extended(uint32_t flags, bool (*test)(struct ibv_cq_ex *cqx))
{
	struct qp_conf conf = { .type = IBV_QPT_RC, .depth = DEPTH };
	struct ibv_cq_ex *cqx = extended(IBV_WC_STANDARD_FLAGS, flags);
	struct ibv_cq *plain = e.a.scq;
	bool ok;

	CHECK(cqx, "create_cq_ex: %s", strerror(errno));
	end_destroy_qp(&e.a);
	e.a.scq = ibv_cq_ex_to_cq(cqx);
	end_create_qp(&e.a, &conf, NULL);
	end_destroy_qp(&e.b);
	end_create_qp(&e.b, &conf, NULL);
	ok = !end_to_init(&e.a, &conf) && !end_to_init(&e.b, &conf) &&
	     !end_to_rtr(&e.a, &e.b, &conf) && !end_to_rtr(&e.b, &e.a, &conf) &&
	     !end_to_rts(&e.a, &conf) && !end_to_rts(&e.b, &conf) &&
	     test(cqx);
	end_destroy_qp(&e.a);
	e.a.scq = plain;
	CHECK(!ibv_destroy_cq(ibv_cq_ex_to_cq(cqx)), "destroy_cq");
	return ok;
}

static bool extended_poll(void)
{
	return with_extended(0, reads_as_extended);
}

static bool ignores_overflow(void)
{
	return with_extended(IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
			     overflow_ignored);
}

static bool no_timestamps(void)
{
	CHECK(!extended(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, 0) &&
	      errno == EOPNOTSUPP, "%s", strerror(errno));
	return true;
}

static const struct {
	const char *name;
	bool (*test)(void);
} tests[] = {
	{ "resize with entries in it", resize_with_content },
	{ "resize with thousands in it", resize_with_many },
	{ "resize while entries come", resize_under_load },
	{ "resize below the content or beyond the limit", resize_refused },
	{ "create with impossible attributes", create_refused },
	{ "event when armed", armed },
	{ "event for entries left unread", armed_with_rest },
	{ "one event for an entry, armed before it is read", armed_before_reading },
	{ "event for an error when armed for solicited", armed_for_errors },
	{ "event for solicited messages only", solicited },
	{ "arming for solicited after arming for all", arming_does_not_weaken },
	{ "overflow", overflow },
	{ "events moderated by count", moderated_by_count },
	{ "events moderated by time", moderated_by_time },
	{ "moderation turned off", moderation_off },
	{ "moderation without an end", moderation_refused },
	{ "destroyed while an event is held back", moderated_to_the_end },
	{ "extended CQ", extended_poll },
	{ "overflow ignored", ignores_overflow },
	{ "no completion timestamps", no_timestamps },
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
