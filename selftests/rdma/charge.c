// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of queues is charged to the control group of the process that creates
 * them, until it destroys them. The memory for on-demand regions is charged, too,
 * though another task faults the pages in.
 *
 *	charge DEVICE FILE	FILE: memory.current of the program's control group
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include <rdma/ib_user_ioctl_verbs.h>

/* Completions of a ring, of 64 bytes each */
#define CQE		((1 << 16) - 1)
#define RING_BYTES	(64ll << 16)

/* Size of a part of the driver's table of an implicit region */
#define PART		((size_t)2 << 20)
#define PARTS		2048u
/* Two pages for each part, but for memory charged in advance */
#define LEAST_BYTES	(PARTS * 2ll * 4096 * 9 / 10)

static const char *file;

static long long charged(void)
{
	FILE *f = fopen(file, "r");
	long long bytes;

	if (!f || fscanf(f, "%lld", &bytes) != 1)
		tap_bail("%s: %s", file, strerror(errno));
	fclose(f);
	return bytes;
}

static struct ibv_context *open_by_name(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx)
		tap_bail("device %s does not open", name);
	return ctx;
}

/* Return: bytes of vmalloc() memory in /proc/meminfo. */
static long long vmalloc_used(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	long long kb = -1;
	char line[128];

	while (f && kb < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmallocUsed: %lld", &kb) != 1)
			kb = -1;
	if (kb < 0)
		tap_bail("no VmallocUsed");
	fclose(f);
	return kb * 1024;
}

static bool cqs(struct ibv_context *ctx)
{
	enum { COUNT = 8 };
	long long before = charged(), between, after;
	long long used_before = vmalloc_used(), used_between;
	struct ibv_cq *cq[COUNT];
	int i;

	for (i = 0; i < COUNT; i++) {
		cq[i] = ibv_create_cq(ctx, CQE, NULL, NULL, 0);
		CHECK(cq[i], "create_cq: %s", strerror(errno));
	}
	between = charged();
	used_between = vmalloc_used();
	for (i = 0; i < COUNT; i++)
		CHECK(!ibv_destroy_cq(cq[i]), "destroy_cq");
	after = charged();
	tap_diag("%lld, %lld, %lld bytes", before, between, after);
	/* The kernel counts charges in batches, so the number is not exact. */
	CHECK(between - before > (COUNT - 1) * RING_BYTES,
	      "too little charged");
	CHECK(after - before < RING_BYTES, "too little given back");
	CHECK(used_between - used_before > (COUNT - 1) * RING_BYTES,
	      "VmallocUsed says %lld bytes", used_between - used_before);
	CHECK(vmalloc_used() - used_before < RING_BYTES,
	      "VmallocUsed does not go back");
	return true;
}

static struct ibv_sge piece_at(const uint8_t *mem, size_t i, uint32_t lkey)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)mem + i * PART, .length = 1, .lkey = lkey,
	};
}

/* Prefetch one page in each part of an implicit region's table. */
static int advise_all(struct ibv_pd *pd, const uint8_t *mem, uint32_t lkey)
{
	enum { AT_ONCE = 64 };
	struct ibv_sge sge[AT_ONCE];
	int err = 0;
	size_t i, j;

	for (i = 0; !err && i < PARTS; i += AT_ONCE) {
		for (j = 0; j < AT_ONCE; j++)
			sge[j] = piece_at(mem, i + j, lkey);
		err = uverbs_advise_mr(pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH,
				       0, sge, AT_ONCE);
	}
	return err;
}

/* Each part costs a page of the driver's table and a page table of the process. */
static bool tables(struct ibv_context *ctx)
{
	struct deadline end = deadline_in(WAIT_MS);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	long long before, now;
	struct ibv_mr *mr;
	uint8_t *mem;

	mem = mmap(NULL, PARTS * PART, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(pd && mem != MAP_FAILED, "%s", strerror(errno));
	/* Huge pages need no page tables, and would be charged themselves. */
	madvise(mem, PARTS * PART, MADV_NOHUGEPAGE);
	mr = ibv_reg_mr(pd, NULL, SIZE_MAX, ON_DEMAND);
	CHECK(mr, "reg_mr: %s", strerror(errno));
	before = charged();
	CHECK(!advise_all(pd, mem, mr->lkey), "advise_mr");
	do {
		usleep(10000);
		now = charged();
	} while (now - before < LEAST_BYTES && !is_past(&end));
	tap_diag("%lld bytes for %u parts", now - before, PARTS);
	CHECK(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd), "dereg_mr");
	munmap(mem, PARTS * PART);
	CHECK(now - before >= LEAST_BYTES, "too little charged");
	return true;
}

static bool has_paging(struct ibv_context *ctx)
{
	return pages_on_demand(&(struct end) { .ctx = ctx });
}

int main(int argc, char **argv)
{
	struct ibv_context *ctx;

	if (argc != 3)
		return TAP_FAIL;
	file = argv[2];
	ctx = open_by_name(argv[1]);
	tap_plan(2);
	tap_result(cqs(ctx), "CQs are charged");
	if (has_paging(ctx))
		tap_result(tables(ctx), "tables of regions on demand are charged");
	else
		tap_skip("this kernel is built without it",
			 "tables of regions on demand are charged");
	ibv_close_device(ctx);
	return tap_done();
}
