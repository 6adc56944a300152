// SPDX-License-Identifier: GPL-2.0-only
/*
 * Advice on on-demand memory. Prefetched pages cause no page faults later, and
 * impossible advice is refused.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include "../lib/work.h"
#include <rdma/ib_user_ioctl_verbs.h>

#define PAGE		4096u
#define SIZE		(300 * PAGE + 100)

static struct ends e;

static long counter(const char *name)
{
	char path[160];
	long n = -1;
	FILE *f;

	/*
	 * The core caches counters for 10 ms. Only the sysfs of the first network
	 * namespace shows them.
	 */
	usleep(20000);
	snprintf(path, sizeof(path),
		 "/proc/1/root/sys/class/infiniband/%s/ports/1/hw_counters/%s",
		 e.a.name, name);
	f = fopen(path, "r");
	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

static int advise(const struct region *r, int advice, uint32_t flags,
		  uint64_t offset, uint32_t length, uint32_t lkey)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->mem + offset,
		.length = length,
		.lkey = lkey,
	};

	return uverbs_advise_mr(r->end->pd, advice, flags, &sge, 1);
}

#define FLUSH	IB_UVERBS_ADVISE_MR_FLAG_FLUSH
#define READ	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH
#define WRITE	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE
#define NO_FAULT IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT

/* Prefetched pages cause no page faults when they are used. */
static bool prefetch(uint32_t flags)
{
	struct region from = region_new(&e.a, SIZE, ON_DEMAND);
	long pages = (SIZE + PAGE - 1) / PAGE, before;
	bool ok;
	int i;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	fill(from.mem, SIZE);
	before = counter("page_faults");
	ok = !advise(&from, READ, flags, 0, SIZE, from.mr->lkey);
	for (i = 0; i < 100 && counter("page_faults") != before + pages; i++)
		;
	CHECK(ok && counter("page_faults") == before + pages,
	      "%ld faults for %ld pages", counter("page_faults") - before, pages);
	ok = !advise(&from, WRITE, FLUSH, PAGE, 1, from.mr->lkey);
	CHECK(ok && counter("page_faults") == before + pages + 1, "to be written");
	{
		struct region to = region_over(&e.b, e.b.buf, END_MEMORY,
					       ALL_ACCESS);

		ok = !region_post(&e, IBV_WR_RDMA_WRITE, &from, &to, SIZE) &&
		     expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS) &&
		     !memcmp(from.mem, to.mem, SIZE) &&
		     counter("page_faults") == before + pages + 1;
		ibv_dereg_mr(to.mr);
	}
	ends_disconnect(&e);
	region_free(&from);
	return ok;
}

static bool prefetch_no_fault(void)
{
	struct region r = region_new(&e.a, SIZE, ON_DEMAND);
	long before = counter("page_faults");
	bool ok;

	r.mem[5 * PAGE] = 1;
	ok = !advise(&r, NO_FAULT, FLUSH, 0, SIZE, r.mr->lkey);
	CHECK(ok && counter("page_faults") == before + 1, "%ld faults",
	      counter("page_faults") - before);
	region_free(&r);
	return ok;
}

static bool bad_advice(void)
{
	struct region r = region_new(&e.a, SIZE, ON_DEMAND);
	struct region ro = region_new(&e.a, PAGE,
				      IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_READ);
	uint32_t key = r.mr->lkey;

	CHECK(advise(&r, READ, FLUSH, 0, PAGE, key ^ 0x10000) == EINVAL, "key");
	CHECK(advise(&r, READ, FLUSH, 0, PAGE, e.a.mr->lkey) == EINVAL,
	      "pinned memory");
	CHECK(advise(&ro, WRITE, FLUSH, 0, PAGE, ro.mr->lkey) == EINVAL,
	      "not to be written");
	CHECK(advise(&r, READ, FLUSH, SIZE - 1, 2, key) == EFAULT, "range");
	CHECK(advise(&r, READ, 0, SIZE - 1, 2, key) == EFAULT, "range, later");
	CHECK(advise(&r, READ, FLUSH | 2, 0, PAGE, key) == EINVAL, "flags");
	CHECK(advise(&r, 17, FLUSH, 0, PAGE, key) == EOPNOTSUPP ||
	      advise(&r, 17, FLUSH, 0, PAGE, key) == EINVAL, "advice");
	munmap(r.mem + PAGE, PAGE);
	CHECK(advise(&r, READ, FLUSH, 0, SIZE, key) == EFAULT, "a hole");
	CHECK(!advise(&r, READ, 0, 0, SIZE, key), "a hole, later");
	region_free(&r);
	region_free(&ro);
	return true;
}

int main(int argc, char **argv)
{
	ends_open(&e, argc, argv);
	if (!pages_on_demand(&e.a)) {
		tap_plan(1);
		tap_skip("this kernel is built without it", "paging on demand");
		return tap_done();
	}
	tap_plan(4);
	tap_result(prefetch(FLUSH), "prefetch, waiting");
	tap_result(prefetch(0), "prefetch, not waiting");
	tap_result(prefetch_no_fault(), "prefetch of what is there");
	tap_result(bad_advice(), "bad advice");
	ends_close(&e);
	return tap_done();
}
