// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions: re-registration with other rights, another PD or other memory;
 * regions larger than 4 GiB, of huge pages, over the same memory, and read-only; and
 * regions after a fork.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define PAGE		4096u
#define SIZE		(40 * PAGE)

static struct ends e;
static const struct qp_conf rc = { .type = IBV_QPT_RC };

/* Send a WRITE from end a's memory to @to, on a new connection. */
static bool write_ends(const struct region *to, uint64_t offset, uint32_t size,
		       enum ibv_wc_status status)
{
	struct region from = { &e.a, msg(&e.a), size, e.a.mr };
	struct region at = *to;
	bool ok;

	at.mem += offset;
	ends_connect(&e, &rc);
	fill(from.mem, size);
	ok = !region_post(&e, IBV_WR_RDMA_WRITE, &from, &at, size) &&
	     expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, status);
	ends_disconnect(&e);
	return ok;
}

static bool writes(const struct region *to, uint64_t offset, uint32_t size)
{
	return write_ends(to, offset, size, IBV_WC_SUCCESS) &&
	       !memcmp(to->mem + offset, msg(&e.a), size);
}

static bool is_refused(const struct region *to)
{
	return write_ends(to, 0, 100, IBV_WC_REM_ACCESS_ERR);
}

static int rereg(struct region *r, int flags, struct ibv_pd *pd, void *mem,
		 size_t size, int access)
{
	return uverbs_rereg_mr(r->mr, flags, pd, mem, size, access);
}

static bool rereg_access(void)
{
	struct region r = region_new(&e.b, SIZE, ALL_ACCESS);
	uint32_t key = r.mr->rkey;

	CHECK(writes(&r, 0, SIZE), "as registered");
	CHECK(!rereg(&r, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
		     IBV_ACCESS_REMOTE_READ), "take away");
	CHECK(is_refused(&r), "taken away");
	CHECK(!rereg(&r, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL_ACCESS),
	      "give back");
	CHECK(writes(&r, 0, SIZE), "given back");
	CHECK(r.mr->rkey == key, "another key");
	region_free(&r);
	return true;
}

static bool rereg_pd(void)
{
	struct region r = region_new(&e.b, SIZE, ALL_ACCESS);
	struct ibv_pd *pd = ibv_alloc_pd(e.b.ctx);

	CHECK(!rereg(&r, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), "other PD");
	CHECK(is_refused(&r), "a QP of the old PD");
	CHECK(ibv_dealloc_pd(pd) == EBUSY, "the PD is not in use");
	CHECK(!rereg(&r, IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS,
		     e.b.pd, NULL, 0, ALL_ACCESS), "the first PD");
	CHECK(!ibv_dealloc_pd(pd), "the PD is in use");
	CHECK(writes(&r, 0, SIZE), "as it was");
	region_free(&r);
	return true;
}

static bool rereg_memory(void)
{
	struct region r = region_new(&e.b, SIZE, ALL_ACCESS);
	long pinned = status_kb("VmPin");
	struct region other, old = r;
	struct ibv_mr old_mr = *r.mr;

	old.mr = &old_mr;
	other = r;
	other.mem = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(!rereg(&r, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, other.mem,
		     2 * SIZE, 0), "other memory");
	CHECK(writes(&other, SIZE, SIZE), "write to it");
	CHECK(is_refused(&old), "the old key lives on");
	CHECK(status_kb("VmPin") == pinned + (long)SIZE / 1024,
	      "%ld kB pinned, then %ld", pinned, status_kb("VmPin"));
	region_free(&r);
	munmap(other.mem, 2 * SIZE);
	return true;
}

/* Re-registration for writing fails for read-only memory and works for other memory. */
static bool rereg_writable(void)
{
	struct region r = region_new(&e.b, SIZE, IBV_ACCESS_REMOTE_READ);
	long pinned = status_kb("VmPin");

	r.mem[0] = 1;
	CHECK(!rereg(&r, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL_ACCESS),
	      "to be written");
	CHECK(writes(&r, 0, SIZE), "written");
	CHECK(status_kb("VmPin") == pinned, "other memory is pinned");
	region_free(&r);
	return true;
}

/* A refused re-registration does not change the region. */
static bool rereg_refused(void)
{
	struct region r = region_new(&e.b, SIZE, ALL_ACCESS);
	void *hole = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	long pinned = status_kb("VmPin");
	int err;

	CHECK(rereg(&r, 0, NULL, NULL, 0, 0) == EINVAL, "nothing to be done");
	CHECK((err = rereg(&r, 64, NULL, NULL, 0, 0)) == EOPNOTSUPP ||
	      err == EINVAL, "unknown flags: %d", err);
	CHECK(rereg(&r, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
		    IBV_ACCESS_REMOTE_WRITE) == EINVAL, "impossible access");
	CHECK(rereg(&r, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, hole, SIZE, 0) ==
	      EFAULT, "no memory");
	CHECK(rereg(&r, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, r.mem, 0, 0) ==
	      EINVAL, "no length");
	CHECK(status_kb("VmPin") == pinned, "memory is left pinned");
	CHECK(writes(&r, 0, SIZE), "does not work any more");
	munmap(hole, SIZE);
	region_free(&r);
	return true;
}

struct changes {
	struct region *r;
	atomic_bool stop;
	bool failed;
	atomic_uint done;
};

static void *change(void *arg)
{
	struct changes *c = arg;

	while (!c->stop) {
		int access = c->done++ & 1 ? ALL_ACCESS : IBV_ACCESS_REMOTE_READ;

		c->failed |= rereg(c->r, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL,
				   0, access);
	}
	return NULL;
}

/* Requests during re-registration succeed or are refused. */
static bool rereg_under_traffic(void)
{
	struct region r = region_new(&e.b, SIZE, ALL_ACCESS);
	struct region from = { &e.a, msg(&e.a), SIZE, e.a.mr };
	struct changes c = { .r = &r };
	pthread_t thread;
	bool ok = true;
	int i;

	if (pthread_create(&thread, NULL, change, &c))
		tap_bail("pthread_create");
	/* On a busy machine, the other thread may start late. */
	for (i = 0; ok && (i < 60 || c.done < 3) && i < 6000; i++) {
		struct ibv_wc wc;

		ends_connect(&e, &rc);
		ok = !region_post(&e, IBV_WR_RDMA_WRITE, &from, &r, SIZE) &&
		     poll_one(e.a.scq, &wc) &&
		     (wc.status == IBV_WC_SUCCESS ||
		      wc.status == IBV_WC_REM_ACCESS_ERR);
		ends_disconnect(&e);
	}
	c.stop = true;
	pthread_join(thread, NULL);
	region_free(&r);
	return ok && !c.failed && c.done > 2;
}

/* 65 mappings of the same 64 MiB cover 4 GiB and 64 MiB of addresses. */
#define STRIPE	(64ull << 20)
#define STRIPES	65

/* User-mode Linux needs a mapping of the host for each page, and these are limited. */
static bool is_user_mode_linux(void)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];
	bool is = false;

	while (f && fgets(line, sizeof(line), f))
		is |= !!strstr(line, "User Mode Linux");
	if (f)
		fclose(f);
	return is;
}

static bool large(void)
{
	static const uint64_t offsets[] = {
		0, (4ull << 30) - 100, 4ull << 30, STRIPE * STRIPES - SIZE,
	};
	int fd = memfd_create("stripe", MFD_CLOEXEC);
	struct region r = { .end = &e.b, .size = STRIPE * STRIPES };
	unsigned int i;
	bool ok;

	r.mem = mmap(NULL, r.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
		     MAP_NORESERVE, -1, 0);
	ok = fd >= 0 && !ftruncate(fd, STRIPE) && r.mem != MAP_FAILED;
	for (i = 0; ok && i < STRIPES; i++)
		ok = mmap(r.mem + i * STRIPE, STRIPE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
	close(fd);
	CHECK(ok, "mmap: %s", strerror(errno));
	r.mr = ibv_reg_mr(e.b.pd, r.mem, r.size, ALL_ACCESS);
	CHECK(r.mr, "ibv_reg_mr: %s", strerror(errno));
	for (i = 0; ok && i < 4; i++)
		ok = writes(&r, offsets[i], SIZE);
	ok = ok && write_ends(&r, r.size - SIZE + 1, SIZE,
			      IBV_WC_REM_ACCESS_ERR);
	region_free(&r);
	return ok;
}

/* Return: memory of huge pages, or NULL without them. */
static void *huge_pages(size_t size)
{
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");
	void *mem;

	if (f) {
		fprintf(f, "%zu", size >> 21);
		fclose(f);
	}
	mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	return mem == MAP_FAILED ? NULL : mem;
}

static void give_back_huge_pages(void)
{
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");

	if (f) {
		fputs("0", f);
		fclose(f);
	}
}

/* Regions over all and over an unaligned part of huge pages, pinned and on demand */
static bool huge(uint8_t *mem, size_t size)
{
	static const int access[] = {
		ALL_ACCESS, ALL_ACCESS | IBV_ACCESS_HUGETLB,
		ALL_ACCESS | IBV_ACCESS_ON_DEMAND,
	};
	bool ok = true;
	unsigned int i;

	for (i = 0; ok && i < 3; i++) {
		struct region r = region_over(&e.b, mem, size, access[i]);
		struct region part = region_over(&e.b, mem + 12345,
						 size - 23456, access[i]);

		ok = r.mr && part.mr &&
		     writes(&r, (2u << 20) - 5000, 10000) &&
		     writes(&r, size - 100, 100) && writes(&part, 0, 77) &&
		     writes(&part, (2u << 20) - 12345 - 1, 3);
		if (!ok)
			tap_diag("access %#x: %s", access[i], strerror(errno));
		if (r.mr)
			ibv_dereg_mr(r.mr);
		if (part.mr)
			ibv_dereg_mr(part.mr);
	}
	return ok;
}

static void huge_or_skip(void)
{
	size_t size = 4u << 20;
	void *mem = huge_pages(size);

	if (!mem) {
		tap_skip("there are none", "huge pages");
		return;
	}
	tap_result(huge(mem, size), "huge pages");
	munmap(mem, size);
	give_back_huge_pages();
}

/* Overlapping regions have their own rights and lifetimes. */
static bool overlapping(void)
{
	struct region a = region_new(&e.b, SIZE, ALL_ACCESS);
	struct region b = region_over(&e.b, a.mem + 1000, SIZE - 3000,
				      ALL_ACCESS);
	struct region ro = region_over(&e.b, a.mem, SIZE,
				       IBV_ACCESS_REMOTE_READ);

	CHECK(b.mr && ro.mr, "ibv_reg_mr");
	CHECK(writes(&a, 0, SIZE) && writes(&b, 0, SIZE - 3000), "both");
	CHECK(is_refused(&ro), "the read-only one");
	CHECK(!ibv_dereg_mr(ro.mr) && !ibv_dereg_mr(b.mr), "ibv_dereg_mr");
	CHECK(writes(&a, 0, SIZE), "the one that is left");
	region_free(&a);
	return true;
}

static bool read_only(void)
{
	struct region to = { &e.a, msg(&e.a), SIZE, e.a.mr };
	struct region r = { .end = &e.b, .size = SIZE };
	bool ok;

	r.mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fill(r.mem, SIZE);
	mprotect(r.mem, SIZE, PROT_READ);
	CHECK(!ibv_reg_mr(e.b.pd, r.mem, SIZE, ALL_ACCESS) && errno == EFAULT,
	      "to be written");
	r.mr = ibv_reg_mr(e.b.pd, r.mem, SIZE, IBV_ACCESS_REMOTE_READ);
	CHECK(r.mr, "to be read: %s", strerror(errno));
	CHECK(is_refused(&r), "written");
	ends_connect(&e, &rc);
	ok = !region_post(&e, IBV_WR_RDMA_READ, &r, &to, SIZE) &&
	     expect_wc(e.a.scq, IBV_WR_RDMA_READ, IBV_WC_SUCCESS) &&
	     !memcmp(to.mem, r.mem, SIZE);
	ends_disconnect(&e);
	CHECK(rereg(&r, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
		    ALL_ACCESS) == EFAULT, "may be written now");
	region_free(&r);
	return ok;
}

static bool flags(void)
{
	struct region r = region_new(&e.b, SIZE, ALL_ACCESS |
				     IBV_ACCESS_RELAXED_ORDERING);
	struct region zero = region_over(&e.b, r.mem, SIZE, ALL_ACCESS |
					 IBV_ACCESS_ZERO_BASED);
	uint8_t *mem = r.mem;

	CHECK(writes(&r, 0, SIZE), "relaxed ordering");
	CHECK(zero.mr, "zero-based: %s", strerror(errno));
	zero.mem = NULL;
	CHECK(write_ends(&zero, 1000, SIZE - 1000, IBV_WC_SUCCESS) &&
	      !memcmp(mem + 1000, msg(&e.a), SIZE - 1000), "zero-based");
	CHECK(write_ends(&zero, 1001, SIZE - 1000, IBV_WC_REM_ACCESS_ERR),
	      "beyond the end of a zero-based one");
	ibv_dereg_mr(zero.mr);
	region_free(&r);
	return true;
}

/* Data arrive in the memory of the parent, not in that of the child. */
static bool forked(void)
{
	struct region r = region_new(&e.b, SIZE, ALL_ACCESS);
	uint8_t *before = malloc(SIZE);
	int gate[2], status = -1;
	bool ok;
	pid_t child;

	ok = writes(&r, 0, SIZE) && !pipe(gate);
	memcpy(before, r.mem, SIZE);
	child = fork();
	if (!child) {
		char c;

		close(gate[1]);
		if (read(gate[0], &c, 1))
			_exit(1);
		status = memcmp(r.mem, before, SIZE) ? 2 : 0;
		memset(r.mem, POISON, SIZE);
		_exit(status);
	}
	ok = ok && writes(&r, 0, SIZE) && memcmp(r.mem, before, SIZE);
	close(gate[0]);
	close(gate[1]);
	waitpid(child, &status, 0);
	ok = ok && !status && !memcmp(r.mem, msg(&e.a), SIZE) &&
	     writes(&r, 0, SIZE);
	free(before);
	region_free(&r);
	return ok;
}

/* Wait until no memory is pinned or locked any more. */
static bool settles(long pinned, long locked)
{
	CHECK(status_kb("VmPin") == pinned, "%ld kB pinned before, %ld now",
	      pinned, status_kb("VmPin"));
	CHECK(status_kb("VmLck") == locked, "locked memory");
	return true;
}

int main(int argc, char **argv)
{
	long pinned, locked;

	ends_open(&e, argc, argv);
	pinned = status_kb("VmPin");
	locked = status_kb("VmLck");
	tap_plan(13);
	tap_result(rereg_access(), "other rights");
	tap_result(rereg_pd(), "another PD");
	tap_result(rereg_memory(), "other memory");
	tap_result(rereg_writable(), "may be written from now on");
	tap_result(rereg_refused(), "what is refused changes nothing");
	tap_result(rereg_under_traffic(), "other rights under traffic");
	if (is_user_mode_linux())
		tap_skip("too many pages for User-mode Linux",
			 "larger than 4 GiB");
	else
		tap_result(large(), "larger than 4 GiB");
	huge_or_skip();
	tap_result(overlapping(), "over the same memory");
	tap_result(read_only(), "a read-only mapping");
	tap_result(flags(), "relaxed ordering, zero-based");
	tap_result(forked(), "fork under traffic");
	tap_result(settles(pinned, locked), "pinned memory is as before");
	ends_close(&e);
	return tap_done();
}
