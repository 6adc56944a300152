// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: removal_flush OPTION...	(see lib/ends.c)
 *
 * Fills the queues of many QPs with requests that the peers have no receives for, and
 * with receives that nothing arrives for. Prints a line, and waits for the removal of the
 * device: all of them complete with IBV_WC_WR_FLUSH_ERR, in order, and nothing else does.
 */
#include <unistd.h>
#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define PAIRS	16
#define LIST	64
#define SENDS	(8 * LIST)
#define RECVS	4096

static struct ends pairs[PAIRS];

static const struct qp_conf conf = { .type = IBV_QPT_RC, .depth = RECVS, .rnr_retry = 7 };

static bool post_list(struct ends *e, int from)
{
	struct ibv_sge sge = end_sge(&e->a, 8);
	struct ibv_send_wr list[LIST];
	int i;

	for (i = 0; i < LIST; i++) {
		list[i] = work(e, IBV_WR_SEND, &sge);
		list[i].wr_id = from + i;
		list[i].next = i + 1 < LIST ? &list[i + 1] : NULL;
	}
	CHECK(!post(&e->a, list), "post_send");
	return true;
}

static bool fill_queues(struct ends *e)
{
	int i;

	for (i = 0; i < RECVS; i++)
		receive(&e->a, i, 8);
	for (i = 0; i < SENDS; i += LIST)
		if (!post_list(e, i))
			return false;
	return true;
}

static bool is_flushed(const struct ends *e)
{
	return expect_flushed(e->a.scq, 0, SENDS) && expect_flushed(e->a.rcq, 0, RECVS);
}

int main(int argc, char **argv)
{
	int i;

	ends_open(&pairs[0], argc, argv);
	for (i = PAIRS - 1; i >= 0; i--) {
		pairs[i] = pairs[0];
		ends_connect(&pairs[i], &conf);
		if (!fill_queues(&pairs[i]))
			return TAP_FAIL;
	}
	puts("posted");
	fflush(stdout);
	for (i = 0; i < PAIRS; i++) {
		if (!is_flushed(&pairs[i])) {
			tap_diag("QP %d of %d", i, PAIRS);
			return TAP_FAIL;
		}
	}
	return TAP_PASS;
}
