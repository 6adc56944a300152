// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receives that a NIC holds: they are flushed in order together with those of the queue,
 * and one that software has to refuse is refused in its turn.
 */
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/hwstats.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

enum {
	DEPTH	= 32,	/* more than a NIC or the transport holds */
	SIZE	= 3000,	/* more than one packet */
	GOOD	= 4,	/* messages before the end */
};

static struct ends e;
static struct hwstats before;

static uint64_t growth(const char *name)
{
	return hwstats_since(&before, ibv_get_device_name(e.b.ctx->device),
			     name);
}

static bool is_offloaded_soon(void)
{
	int i;

	for (i = 0; i < 200 && !growth("rc_offloaded"); i++) {
		CHECK(write_arrives(&e, SIZE), "a WRITE");
		usleep(1000);
	}
	CHECK(i < 200, "no NIC has the QP");
	return true;
}

static void send_one(uint64_t id)
{
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	wr.wr_id = id;
	if (post(&e.a, &wr))
		tap_bail("post_send");
}

/* Messages arrive until the NIC holds receives from @id on. */
static bool is_held_from(int id)
{
	int i;

	for (i = 0; i < id; i++) {
		send_one(i);
		if (!expect_wc(e.a.scq, i, IBV_WC_SUCCESS) ||
		    !expect_wc(e.b.rcq, i, IBV_WC_SUCCESS))
			return false;
	}
	CHECK(!growth("rc_offload_returned"), "the QP is in software");
	return true;
}

static bool flushed(void)
{
	int i;

	for (i = 0; i < DEPTH; i++)
		receive(&e.b, i, SIZE);
	if (!is_offloaded_soon() || !is_held_from(GOOD))
		return false;
	CHECK(!end_to_error(&e.b), "modify_qp");
	return expect_flushed(e.b.rcq, GOOD, DEPTH);
}

/* The receive behind the good ones is over @bad, and fails at the peers so. */
static bool refused(struct ibv_sge *bad, enum ibv_wc_status at_b,
		    enum ibv_wc_status at_a)
{
	int i;

	for (i = 0; i < DEPTH; i++) {
		if (i != GOOD)
			receive(&e.b, i, SIZE);
		else
			CHECK(!post_recv(&e.b, i, bad, 1), "post_recv");
	}
	if (!is_offloaded_soon() || !is_held_from(GOOD))
		return false;
	send_one(GOOD);
	send_one(GOOD + 1);
	return expect_wc(e.b.rcq, GOOD, at_b) &&
	       expect_flushed(e.b.rcq, GOOD + 1, DEPTH) &&
	       expect_wc(e.a.scq, GOOD, at_a) &&
	       expect_flushed(e.a.scq, GOOD + 1, GOOD + 2);
}

static bool wrong_key(void)
{
	struct ibv_sge bad = end_sge(&e.b, SIZE);

	bad.lkey ^= 0x5a5a5a;
	return refused(&bad, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
}

static bool too_short(void)
{
	struct ibv_sge bad = end_sge(&e.b, SIZE - 1);

	return refused(&bad, IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR);
}

static const struct {
	const char *name;
	bool (*test)(void);
} tests[] = {
	{ "flushed in order", flushed },
	{ "one with a wrong key", wrong_key },
	{ "one that is too short", too_short },
};

int main(int argc, char **argv)
{
	struct qp_conf conf = { .type = IBV_QPT_RC, .depth = DEPTH };
	size_t i;

	ends_open(&e, argc, argv);
	tap_plan(ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		hwstats_read(&before, ibv_get_device_name(e.b.ctx->device));
		ends_connect(&e, &conf);
		tap_result(tests[i].test(), "receives that a NIC holds: %s",
			   tests[i].name);
		ends_disconnect(&e);
	}
	ends_close(&e);
	return tap_done();
}
