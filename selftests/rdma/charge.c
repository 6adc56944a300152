// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues are memory, and charged to the control group of the process that
 * creates them, until it destroys them.
 *
 *	charge DEVICE FILE	FILE: memory.current of the group it runs in
 */
#include <errno.h>
#include <string.h>
#include <infiniband/verbs.h>

#include "../lib/tap.h"

/* A ring of so many completions, of 64 bytes each */
#define CQE		((1 << 16) - 1)
#define RING_BYTES	(64ll << 16)

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

/* What the machine says of memory of this kind, in bytes */
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
	/* Charges are counted in batches: not to the byte */
	CHECK(between - before > (COUNT - 1) * RING_BYTES,
	      "too little charged");
	CHECK(after - before < RING_BYTES, "too little given back");
	CHECK(used_between - used_before > (COUNT - 1) * RING_BYTES,
	      "VmallocUsed says %lld bytes", used_between - used_before);
	CHECK(vmalloc_used() - used_before < RING_BYTES,
	      "VmallocUsed does not go back");
	return true;
}

int main(int argc, char **argv)
{
	struct ibv_context *ctx;

	if (argc != 3)
		return TAP_FAIL;
	file = argv[2];
	ctx = open_by_name(argv[1]);
	tap_plan(1);
	tap_result(cqs(ctx), "CQs are charged");
	ibv_close_device(ctx);
	return tap_done();
}
