// SPDX-License-Identifier: GPL-2.0-only
/*
 * Implicit regions: one key for the whole address space of a process.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include "../lib/work.h"
#include <rdma/ib_user_ioctl_verbs.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PAGE		4096u
#define RECV_ID		99
#define SIZE		(70 * PAGE + 100)
/* Size of a part of the driver's table of an implicit region */
#define PART		(512ul * PAGE)

static struct ends e;
static struct ibv_mr *all[2];	/* implicit regions of end a and end b */

static struct ibv_mr *all_of(const struct end *end)
{
	return all[end == &e.b];
}

/* Map new memory, which is a part of the end's implicit region. */
static struct region view(struct end *end, void *hint, size_t size)
{
	void *mem = mmap(hint, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	return (struct region){
		.end = end, .mem = mem, .size = size, .mr = all_of(end),
	};
}

static void drop(const struct region *r)
{
	munmap(r->mem, r->size);
}

static bool moves(enum ibv_wr_opcode opcode, const struct region *from,
		  const struct region *to, uint32_t size)
{
	bool is_send = opcode == IBV_WR_SEND;

	fill(from->mem, size);
	if (is_send)
		region_receive(to, RECV_ID, size);
	CHECK(!region_post(&e, opcode, from, to, size), "post_send");
	return expect_wc(e.a.scq, opcode, IBV_WC_SUCCESS) &&
	       (!is_send || expect_wc(e.b.rcq, RECV_ID, IBV_WC_SUCCESS)) &&
	       memory_becomes(to->mem, from->mem, size);
}

static bool connected(bool (*test)(void))
{
	bool ok;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	ok = test();
	ends_disconnect(&e);
	return ok;
}

static bool operations(void)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
	};
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < ARRAY_SIZE(opcodes); i++) {
		bool reads = opcodes[i] == IBV_WR_RDMA_READ;
		struct region from = view(reads ? &e.b : &e.a, NULL, SIZE);
		struct region to = view(reads ? &e.a : &e.b, NULL, SIZE);

		ok = moves(opcodes[i], &from, &to, SIZE);
		drop(&from);
		drop(&to);
	}
	return ok;
}

/* Addresses that are low, high, and across parts of the table */
static bool far_apart(void)
{
	static const uint64_t hints[] = {
		0x10000000, 0x200000000, 0x7e0000000000,
	};
	struct region from = view(&e.a, NULL, SIZE);
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < ARRAY_SIZE(hints); i++) {
		struct region to = view(&e.b, (void *)hints[i], 3 * PART);
		uintptr_t border = ((uintptr_t)to.mem / PART + 2) * PART;
		struct region across = to;

		across.mem = (void *)(border - SIZE / 2);
		ok = moves(IBV_WR_RDMA_WRITE, &from, &across, SIZE);
		drop(&to);
	}
	drop(&from);
	return ok;
}

/* An address refers to the present mapping, not to a former one. */
static bool mapped_anew(void)
{
	struct region from = view(&e.a, NULL, SIZE), to = view(&e.b, NULL, SIZE);
	bool ok = true;
	int i;

	for (i = 0; ok && i < 20; i++) {
		ok = moves(IBV_WR_RDMA_WRITE, &from, &to, SIZE);
		if (mmap(to.mem, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != to.mem)
			tap_bail("mmap: %s", strerror(errno));
		ok = ok && !to.mem[0] && !to.mem[SIZE - 1];
	}
	drop(&from);
	drop(&to);
	return ok;
}

static bool prefetched(void)
{
	struct region r = view(&e.a, NULL, SIZE);
	struct ibv_sge sge = {
		.addr = (uintptr_t)r.mem, .length = SIZE, .lkey = r.mr->lkey,
	};
	unsigned char there[SIZE / PAGE + 1];
	int err;

	err = uverbs_advise_mr(e.a.pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			       IB_UVERBS_ADVISE_MR_FLAG_FLUSH, &sge, 1);
	CHECK(!err, "advise_mr: %s", strerror(err));
	CHECK(!mincore(r.mem, SIZE, there) && there[0] & 1 &&
	      there[SIZE / PAGE] & 1, "the pages are not there");
	drop(&r);
	return true;
}

/* Access to an unmapped address fails. */
static bool nothing_there(bool at_peer)
{
	struct region from = view(&e.a, NULL, SIZE), to = view(&e.b, NULL, SIZE);
	bool ok;

	drop(at_peer ? &to : &from);
	CHECK(!region_post(&e, IBV_WR_RDMA_WRITE, &from, &to, SIZE),
	      "post_send");
	ok = expect_wc(e.a.scq, IBV_WR_RDMA_WRITE,
		       at_peer ? IBV_WC_REM_ACCESS_ERR : IBV_WC_LOC_PROT_ERR);
	drop(at_peer ? &from : &to);
	return ok;
}

static bool nothing_at_peer(void)
{
	return nothing_there(true);
}

static bool nothing_here(void)
{
	return nothing_there(false);
}

/* Access to addresses of the kernel fails. */
static bool kernel_memory(void)
{
	struct region from = view(&e.a, NULL, PAGE), to = view(&e.b, NULL, PAGE);
	struct region bad = to;
	bool ok;

	bad.mem = (void *)0xffff888000000000;
	CHECK(!region_post(&e, IBV_WR_RDMA_WRITE, &from, &bad, PAGE),
	      "post_send");
	ok = expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR);
	drop(&from);
	drop(&to);
	return ok;
}

static void open_regions(void)
{
	all[0] = ibv_reg_mr(e.a.pd, NULL, SIZE_MAX, ON_DEMAND);
	all[1] = ibv_reg_mr(e.b.pd, NULL, SIZE_MAX, ON_DEMAND);
	if (!all[0] || !all[1])
		tap_bail("ibv_reg_mr: %s", strerror(errno));
}

static bool closed(void)
{
	return !ibv_dereg_mr(all[0]) && !ibv_dereg_mr(all[1]);
}

int main(int argc, char **argv)
{
	ends_open(&e, argc, argv);
	if (!pages_on_demand(&e.a)) {
		tap_plan(1);
		tap_skip("this kernel is built without it", "implicit regions");
		return tap_done();
	}
	tap_plan(9);
	open_regions();
	tap_result(connected(operations), "memory mapped later");
	tap_result(connected(far_apart), "memory far apart");
	tap_result(connected(mapped_anew), "memory mapped anew");
	tap_result(prefetched(), "advice");
	tap_result(connected(nothing_at_peer), "nothing mapped at the peer");
	tap_result(connected(nothing_here), "nothing mapped here");
	tap_result(connected(kernel_memory), "kernel memory");
	tap_result(closed(), "deregister");
	open_regions();
	tap_result(connected(operations) && closed(), "and register again");
	ends_close(&e);
	return tap_done();
}
