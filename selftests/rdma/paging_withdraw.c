// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory is taken away while a peer writes to it without end. Afterwards no engine
 * writes to the old memory, not even one that was copying. Engines write to the memory
 * that took its place.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/storm.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define PAGE		4096u
#define BYTES		(1u << 18)

/* Repetitions of each test; in half of them, an engine is copying. */
static int rounds = 40;

static struct ends e;

/* Two mappings of the same memory: that of the region, and one that stays */
struct views {
	struct region r;
	uint8_t *ours;
};

static struct views views(int access)
{
	int fd = memfd_create("views", MFD_CLOEXEC);
	struct views v;
	void *mem;

	if (fd < 0 || ftruncate(fd, BYTES))
		tap_bail("memfd: %s", strerror(errno));
	mem = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	v.ours = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (mem == MAP_FAILED || v.ours == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	v.r = region_over(&e.b, mem, BYTES, access);
	if (!v.r.mr)
		tap_bail("ibv_reg_mr: %s", strerror(errno));
	return v;
}

static void close_views(struct views *v)
{
	region_free(&v->r);
	munmap(v->ours, BYTES);
}

static int dereg(struct region *r)
{
	int err = ibv_dereg_mr(r->mr);

	r->mr = NULL;
	return err;
}

static int take_rights(struct region *r)
{
	return uverbs_rereg_mr(r->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			       IBV_ACCESS_REMOTE_READ);
}

static int take_memory(struct region *r)
{
	static uint8_t other[2 * PAGE];

	return uverbs_rereg_mr(r->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			       other, PAGE, 0);
}

/* The page table decides what an on-demand region may write. */
static int protect(struct region *r)
{
	return mprotect(r->mem, r->size, PROT_READ);
}

static int unmap(struct region *r)
{
	return munmap(r->mem, r->size);
}

static bool is_taken(int (*take)(struct region *r), int access)
{
	struct storm storm;
	int i, err;
	bool ok;

	for (i = 0; i < rounds; i++) {
		struct views v = views(access);

		storm_begin(&storm, &e, v.ours, (uintptr_t)v.r.mem, BYTES,
			    v.r.mr->rkey);
		err = take(&v.r);
		ok = storm_is_over(&storm);
		close_views(&v);
		CHECK(ok && !err, "round %d: %s", i, strerror(err));
	}
	return true;
}

/*
 * Pages go and come while page faults look them up for the storm. A page that was looked
 * up and has gone meanwhile must not be written.
 */
static bool is_current(void)
{
	struct region own = { &e.a, msg(&e.a), BYTES, e.a.mr };
	struct storm storm;
	bool ok = true;
	int i, k;

	for (i = 0; ok && i < rounds; i++) {
		struct region r = region_new(&e.b, BYTES, ON_DEMAND);

		storm_begin(&storm, &e, r.mem, (uintptr_t)r.mem, BYTES,
			    r.mr->rkey);
		for (k = 0; k < 300; k++)
			madvise(r.mem, BYTES, MADV_DONTNEED);
		storm_end(&storm);
		ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
		fill(own.mem, BYTES);
		ok = !region_post(&e, IBV_WR_RDMA_WRITE, &own, &r, BYTES) &&
		     expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS) &&
		     !memcmp(r.mem, own.mem, BYTES);
		ends_disconnect(&e);
		region_free(&r);
	}
	if (!ok)
		tap_diag("round %d: other bytes", i);
	return ok;
}

static void on_demand(void)
{
	static const char *const names[] = {
		"dereg_mr, on demand", "mprotect", "munmap", "pages that go",
	};
	unsigned int i;

	if (!pages_on_demand(&e.b)) {
		for (i = 0; i < 4; i++)
			tap_skip("this kernel has none on demand", "%s",
				 names[i]);
		return;
	}
	tap_result(is_taken(dereg, ON_DEMAND), "%s", names[0]);
	tap_result(is_taken(protect, ON_DEMAND), "%s", names[1]);
	tap_result(is_taken(unmap, ON_DEMAND), "%s", names[2]);
	tap_result(is_current(), "%s", names[3]);
}

int main(int argc, char **argv)
{
	ends_open(&e, argc, argv);
	if (e.quick)
		rounds = 8;
	tap_plan(7);
	tap_result(is_taken(dereg, ALL_ACCESS), "dereg_mr");
	tap_result(is_taken(take_rights, ALL_ACCESS), "rereg_mr, other rights");
	tap_result(is_taken(take_memory, ALL_ACCESS), "rereg_mr, other memory");
	on_demand();
	ends_close(&e);
	return tap_done();
}
