// SPDX-License-Identifier: GPL-2.0-only
/*
 * A short message arrives, and a long one posted with it does not: a router on the way
 * drops the packets of the long one, which exceed its MTU.
 */
#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

enum { SHORT = 8, LONG = 32768 };

static struct ends e;

static struct ibv_send_wr write_of(struct ibv_sge *sge)
{
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, sge);

	wr.wr_id = sge->length;
	return wr;
}

/* Both requests in one call, so that the driver sends their packets together */
static bool only_short_passes(void)
{
	struct ibv_sge first = end_sge(&e.a, SHORT), second = end_sge(&e.a, LONG);
	struct ibv_send_wr last = write_of(&second), wr = write_of(&first);

	wr.next = &last;
	CHECK(!post(&e.a, &wr), "post_send");
	return expect_wc(e.a.scq, SHORT, IBV_WC_SUCCESS) &&
	       expect_wc(e.a.scq, LONG, IBV_WC_RETRY_EXC_ERR);
}

int main(int argc, char **argv)
{
	ends_open(&e, argc, argv);
	tap_plan(1);
	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC, .retry_cnt = 1 });
	tap_result(only_short_passes(), "only the short message arrives");
	ends_disconnect(&e);
	ends_close(&e);
	return tap_done();
}
