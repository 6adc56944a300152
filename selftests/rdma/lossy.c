// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages far longer than the requester's window, over a lossy network (lossy.sh). The
 * data of each message are compared.
 */
#include <string.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define SIZE	((1u << 20) + 1)
#define RECV_ID	99
#define ROUNDS	20
#define ROUNDS_QUICK	5

static struct ends e;
static uint64_t spent_ms;

static bool moves(enum ibv_wr_opcode opcode, const struct region *from,
		  const struct region *to)
{
	fill(from->mem, SIZE);
	memset(to->mem, POISON, SIZE);
	if (opcode == IBV_WR_SEND)
		region_receive(to, RECV_ID, SIZE);
	spent_ms -= now_ms();
	CHECK(!region_post(&e, opcode, from, to, SIZE), "post_send");
	if (!expect_wc(e.a.scq, opcode, IBV_WC_SUCCESS))
		return false;
	spent_ms += now_ms();
	return (opcode != IBV_WR_SEND ||
		expect_wc(e.b.rcq, RECV_ID, IBV_WC_SUCCESS)) &&
	       memory_becomes(to->mem, from->mem, SIZE);
}

static bool all_arrive(enum ibv_wr_opcode opcode)
{
	/* A timeout of 4 ms finds the loss of a last packet. */
	struct qp_conf conf = { .type = IBV_QPT_RC, .timeout = e.timeout ?: 10 };
	bool is_read = opcode == IBV_WR_RDMA_READ, ok = true;
	struct region from = region_new(is_read ? &e.b : &e.a, SIZE, ALL_ACCESS);
	struct region to = region_new(is_read ? &e.a : &e.b, SIZE, ALL_ACCESS);
	int i;

	spent_ms = 0;
	ends_connect(&e, &conf);
	for (i = 0; ok && i < (e.quick ? ROUNDS_QUICK : ROUNDS); i++)
		ok = moves(opcode, &from, &to);
	if (ok)
		tap_diag("%.1f MB/s", i * (SIZE / 1e3) / (spent_ms ?: 1));
	ends_disconnect(&e);
	region_free(&to);
	region_free(&from);
	return ok;
}

int main(int argc, char **argv)
{
	ends_open(&e, argc, argv);
	tap_plan(3);
	tap_result(all_arrive(IBV_WR_RDMA_WRITE), "writes of 1 MiB");
	tap_result(all_arrive(IBV_WR_RDMA_READ), "reads of 1 MiB");
	tap_result(all_arrive(IBV_WR_SEND), "sends of 1 MiB");
	ends_close(&e);
	return tap_done();
}
