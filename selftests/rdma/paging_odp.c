// SPDX-License-Identifier: GPL-2.0-only
/*
 * On-demand paging. Each operation works with memory that was never touched, that was
 * taken away, or that comes and goes meanwhile. It fails with the right status without
 * memory. See paging_stall.c for pages that user space provides.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include "../lib/work.h"
#include <rdma/ib_user_ioctl_verbs.h>

#define PAGE		4096u
#define RECV_ID		99
#define SIZE		(300 * PAGE + 100)
#define GRH		40u

static struct ends e;

static bool has_receive(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* A message succeeds at both ends. */
static bool moves(enum ibv_wr_opcode opcode, const struct region *from,
		  const struct region *to, uint32_t size)
{
	bool ok;

	if (has_receive(opcode))
		region_receive(to, RECV_ID, size + (e.a.ah ? GRH : 0));
	CHECK(!region_post(&e, opcode, from, to, size), "post_send");
	ok = expect_wc(e.a.scq, opcode, IBV_WC_SUCCESS);
	if (has_receive(opcode))
		ok &= expect_wc(e.b.rcq, RECV_ID, IBV_WC_SUCCESS);
	return ok;
}

/* Return: source of an operation; of a READ, in end b's memory. */
static struct region source_of(enum ibv_wr_opcode opcode, size_t size)
{
	return region_new(opcode == IBV_WR_RDMA_READ ? &e.b : &e.a, size,
			  ON_DEMAND);
}

static struct region target_of(enum ibv_wr_opcode opcode, size_t size)
{
	return region_new(opcode == IBV_WR_RDMA_READ ? &e.a : &e.b, size,
			  ON_DEMAND);
}

/* The target was never touched, and the device has never read the source. */
static bool untouched(enum ibv_wr_opcode opcode, uint32_t size)
{
	uint32_t grh = e.a.ah ? GRH : 0;
	struct region from = source_of(opcode, size);
	struct region to = target_of(opcode, size + grh);
	bool ok;

	fill(from.mem, size);
	ok = moves(opcode, &from, &to, size) &&
	     memory_becomes(to.mem + grh, from.mem, size);
	region_free(&to);
	region_free(&from);
	return ok;
}

static bool all_untouched(enum ibv_qp_type type)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	};
	static const uint32_t sizes[] = { 1, 200, PAGE, 3 * PAGE + 1, SIZE };
	/* UC may lose packets while pages are faulted in. */
	unsigned int opcode, size, most = type == IBV_QPT_RC ? 5 : 4;
	unsigned int num_sizes = type == IBV_QPT_RC ? 5 :
				 type == IBV_QPT_UC ? 4 : 2;
	bool ok = true;

	ends_connect(&e, &(struct qp_conf){ .type = type });
	if (type == IBV_QPT_UD)
		most = 2;
	for (opcode = 0; ok && opcode < most; opcode++)
		for (size = 0; ok && size < num_sizes; size++) {
			ok = untouched(opcodes[opcode], sizes[size]);
			if (!ok)
				tap_diag("opcode %u, %u bytes",
					 opcodes[opcode], sizes[size]);
		}
	ends_disconnect(&e);
	return ok;
}

/* Reading untouched memory maps the zero page. */
static bool zeroes(void)
{
	struct region from, to;
	bool ok;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	from = region_new(&e.a, SIZE, ON_DEMAND);
	to = region_new(&e.b, SIZE, ON_DEMAND);
	memset(to.mem, POISON, SIZE);
	ok = moves(IBV_WR_RDMA_WRITE, &from, &to, SIZE) &&
	     memory_becomes(to.mem, from.mem, SIZE) && !to.mem[SIZE - 1];
	/*
	 * A later write allocates a page. (On user-mode Linux, the process sees the
	 * page after it has entered the kernel, as in memory_becomes().)
	 */
	fill(to.mem, SIZE);
	ok = ok && moves(IBV_WR_RDMA_READ, &to, &from, SIZE) &&
	     memory_becomes(from.mem, to.mem, SIZE);
	region_free(&to);
	region_free(&from);
	ends_disconnect(&e);
	return ok;
}

static uint64_t value(const struct region *r)
{
	return *(volatile uint64_t *)r->mem;
}

static bool atomics(void)
{
	struct region counter, found;
	uint64_t i;
	bool ok = true;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	counter = region_new(&e.b, PAGE, ON_DEMAND);
	for (i = 0; ok && i < 20; i++) {
		found = region_new(&e.a, PAGE, ON_DEMAND);
		ok = moves(IBV_WR_ATOMIC_FETCH_AND_ADD, &counter, &found, 8) &&
		     value(&found) == i && value(&counter) == i + 1;
		region_free(&found);
	}
	region_free(&counter);
	ends_disconnect(&e);
	return ok;
}

/* Memory whose pages a thread takes away. Shared memory keeps its contents. */
struct churn {
	pthread_t thread;
	atomic_bool stop;
	const struct region *regions[2];
};

static void *take_away(void *arg)
{
	struct churn *c = arg;
	unsigned int i;

	while (!c->stop) {
		for (i = 0; i < 2; i++) {
			const struct region *r = c->regions[i];

			madvise(r->mem, r->size, MADV_DONTNEED);
			madvise(r->mem + r->size / 2, PAGE, MADV_DONTNEED);
			mprotect(r->mem, PAGE, PROT_READ);
			mprotect(r->mem, PAGE, PROT_READ | PROT_WRITE);
		}
		usleep(100);
	}
	return NULL;
}

static struct region shared_region(struct end *end, size_t size)
{
	struct region r;
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	r = region_over(end, mem, size, ON_DEMAND);
	if (!r.mr)
		tap_bail("ibv_reg_mr: %s", strerror(errno));
	return r;
}

/*
 * A write may fail while the memory is read-only, and the connection with it. madvise()
 * does not change rights.
 */
static void *take_away_pages(void *arg)
{
	struct churn *c = arg;
	unsigned int i;

	while (!c->stop) {
		for (i = 0; i < 2; i++)
			madvise(c->regions[i]->mem, c->regions[i]->size,
				MADV_DONTNEED);
		usleep(200);
	}
	return NULL;
}

static bool under_churn(enum ibv_wr_opcode opcode)
{
	bool is_read = opcode == IBV_WR_RDMA_READ;
	struct region from = shared_region(is_read ? &e.b : &e.a, SIZE);
	struct region to = shared_region(is_read ? &e.a : &e.b, SIZE);
	struct churn c = { .regions = { &from, &to } };
	bool ok = true;
	int i;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	if (pthread_create(&c.thread, NULL, take_away_pages, &c))
		tap_bail("pthread_create");
	for (i = 0; ok && i < 40; i++) {
		fill(from.mem, SIZE);
		ok = moves(opcode, &from, &to, SIZE) &&
		     !memcmp(from.mem, to.mem, SIZE);
	}
	c.stop = true;
	pthread_join(c.thread, NULL);
	ends_disconnect(&e);
	region_free(&to);
	region_free(&from);
	return ok;
}

/* Each atomic is executed once, though its page is taken away again and again. */
static bool atomics_under_churn(void)
{
	struct region counter = shared_region(&e.b, PAGE);
	struct region found = shared_region(&e.a, PAGE);
	struct churn c = { .regions = { &counter, &found } };
	bool ok = true;
	uint64_t i;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	if (pthread_create(&c.thread, NULL, take_away_pages, &c))
		tap_bail("pthread_create");
	for (i = 0; ok && i < 500; i++)
		ok = moves(IBV_WR_ATOMIC_FETCH_AND_ADD, &counter, &found, 8) &&
		     value(&found) == i;
	c.stop = true;
	pthread_join(c.thread, NULL);
	ok = ok && value(&counter) == 500;
	ends_disconnect(&e);
	region_free(&found);
	region_free(&counter);
	return ok;
}

/* While rights change, operations succeed or fail with the right status. */
static bool rights_under_churn(void)
{
	struct region from = shared_region(&e.a, SIZE);
	struct region to = shared_region(&e.b, SIZE);
	struct churn c = { .regions = { &from, &to } };
	bool ok = true;
	int i;

	if (pthread_create(&c.thread, NULL, take_away, &c))
		tap_bail("pthread_create");
	for (i = 0; ok && i < 20; i++) {
		struct ibv_wc wc;

		ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
		ok = !region_post(&e, IBV_WR_RDMA_WRITE, &from, &to, SIZE) &&
		     poll_one(e.a.scq, &wc) &&
		     (wc.status == IBV_WC_SUCCESS ||
		      wc.status == IBV_WC_REM_ACCESS_ERR);
		ends_disconnect(&e);
	}
	c.stop = true;
	pthread_join(c.thread, NULL);
	region_free(&to);
	region_free(&from);
	return ok;
}

/* Nothing of a moved mapping stays at its old address. */
static bool moved(void)
{
	struct region from, to;
	uint8_t *elsewhere;
	bool ok;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	from = region_new(&e.a, SIZE, ON_DEMAND);
	to = region_new(&e.b, SIZE, ON_DEMAND);
	fill(from.mem, SIZE);
	ok = moves(IBV_WR_RDMA_WRITE, &from, &to, SIZE);
	elsewhere = mremap(to.mem, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
			   to.mem + (64u << 20));
	ok = ok && elsewhere != MAP_FAILED &&
	     !memcmp(elsewhere, from.mem, SIZE);
	/* The region refers to new memory at the old address. */
	ok = ok && mmap(to.mem, SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			0) == to.mem;
	fill(from.mem, SIZE);
	ok = ok && moves(IBV_WR_RDMA_WRITE, &from, &to, SIZE) &&
	     !memcmp(to.mem, from.mem, SIZE) &&
	     memcmp(elsewhere, from.mem, SIZE);
	munmap(elsewhere, SIZE);
	region_free(&to);
	region_free(&from);
	ends_disconnect(&e);
	return ok;
}

/*
 * From page 2 on, memory is absent or lacks the right; with @missing, that of the source.
 * Return: true if the request fails with @status, and the receive with @recv.
 */
static bool fails(enum ibv_wr_opcode opcode, bool missing, int prot,
		  enum ibv_wc_status status, enum ibv_wc_status recv)
{
	struct region from = source_of(opcode, SIZE);
	struct region to = target_of(opcode, SIZE);
	struct region *bad = missing ? &from : &to;
	bool ok;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	memset(bad->mem, POISON, SIZE);
	if (prot < 0)
		munmap(bad->mem + 2 * PAGE, SIZE - 2 * PAGE);
	else
		mprotect(bad->mem + 2 * PAGE, SIZE - 2 * PAGE, prot);
	if (has_receive(opcode))
		region_receive(&to, RECV_ID, SIZE);
	ok = !region_post(&e, opcode, &from, &to, SIZE) &&
	     expect_wc(e.a.scq, opcode, status);
	if (has_receive(opcode) && recv != IBV_WC_SUCCESS)
		ok = ok && expect_wc(e.b.rcq, RECV_ID, recv);
	ends_disconnect(&e);
	region_free(&to);
	region_free(&from);
	return ok;
}

static void failures(void)
{
	tap_result(fails(IBV_WR_RDMA_WRITE, false, -1, IBV_WC_REM_ACCESS_ERR, 0),
		   "write into unmapped memory");
	tap_result(fails(IBV_WR_RDMA_WRITE, true, -1, IBV_WC_LOC_PROT_ERR, 0),
		   "write from unmapped memory");
	tap_result(fails(IBV_WR_RDMA_READ, true, -1, IBV_WC_REM_ACCESS_ERR, 0),
		   "read from unmapped memory");
	tap_result(fails(IBV_WR_RDMA_READ, false, -1, IBV_WC_LOC_PROT_ERR, 0),
		   "read into unmapped memory");
	tap_result(fails(IBV_WR_SEND, false, -1, IBV_WC_REM_OP_ERR,
			 IBV_WC_LOC_PROT_ERR), "receive into unmapped memory");
	tap_result(fails(IBV_WR_SEND, true, -1, IBV_WC_LOC_PROT_ERR, 0),
		   "send from unmapped memory");
	tap_result(fails(IBV_WR_RDMA_WRITE, false, PROT_READ,
			 IBV_WC_REM_ACCESS_ERR, 0),
		   "write into memory made read-only");
	tap_result(fails(IBV_WR_RDMA_READ, true, PROT_NONE,
			 IBV_WC_REM_ACCESS_ERR, 0),
		   "read from memory made inaccessible");
}

static bool atomic_fails(void)
{
	struct region counter = region_new(&e.b, PAGE, ON_DEMAND);
	struct region found = region_new(&e.a, PAGE, ON_DEMAND);
	bool ok;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	munmap(counter.mem, PAGE);
	ok = !region_post(&e, IBV_WR_ATOMIC_FETCH_AND_ADD, &counter, &found, 8) &&
	     expect_wc(e.a.scq, IBV_WR_ATOMIC_FETCH_AND_ADD,
		       IBV_WC_REM_ACCESS_ERR);
	ends_disconnect(&e);
	region_free(&found);
	region_free(&counter);
	return ok;
}

/* Read-only memory can be read in a region with more rights. */
static bool read_only(void)
{
	struct region from = source_of(IBV_WR_RDMA_READ, SIZE);
	struct region to = target_of(IBV_WR_RDMA_READ, SIZE);
	bool ok;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	fill(from.mem, SIZE);
	mprotect(from.mem, SIZE, PROT_READ);
	ok = moves(IBV_WR_RDMA_READ, &from, &to, SIZE) &&
	     !memcmp(from.mem, to.mem, SIZE);
	ends_disconnect(&e);
	region_free(&to);
	region_free(&from);
	return ok;
}

/* A child keeps the data of the time of fork(), while the parent's memory changes. */
static bool forked(void)
{
	struct region from = region_new(&e.a, SIZE, ON_DEMAND);
	struct region to = region_new(&e.b, SIZE, ON_DEMAND);
	uint8_t *before = malloc(SIZE);
	int gate[2], status = -1;
	bool ok;
	pid_t child;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	fill(from.mem, SIZE);
	ok = moves(IBV_WR_RDMA_WRITE, &from, &to, SIZE) && !pipe(gate);
	memcpy(before, to.mem, SIZE);
	child = fork();
	if (!child) {
		char c;

		close(gate[1]);
		if (read(gate[0], &c, 1))
			_exit(1);
		_exit(memcmp(to.mem, before, SIZE) ? 2 : 0);
	}
	fill(from.mem, SIZE);
	ok = ok && moves(IBV_WR_RDMA_WRITE, &from, &to, SIZE);
	/* The device wrote to new pages. They are seen as in zeroes(). */
	sched_yield();
	ok = ok && !memcmp(to.mem, from.mem, SIZE) && memcmp(to.mem, before, SIZE);
	close(gate[0]);
	close(gate[1]);
	waitpid(child, &status, 0);
	ok = ok && !status;
	ends_disconnect(&e);
	free(before);
	region_free(&to);
	region_free(&from);
	return ok;
}

/* A large region is not pinned and costs no memory before its use. */
static bool not_pinned(void)
{
	long pin = status_kb("VmPin"), lock = status_kb("VmLck");
	long rss = status_kb("VmRSS");
	struct region r = region_new(&e.a, 256u << 20, ON_DEMAND);
	bool ok = status_kb("VmPin") == pin && status_kb("VmLck") == lock &&
		  status_kb("VmRSS") < rss + 4096;

	region_free(&r);
	return ok;
}

static bool refused(void)
{
	struct ibv_mr *mr = ibv_reg_mr(e.a.pd, (void *)(SIZE_MAX - 2 * PAGE + 1),
				       PAGE, ON_DEMAND);

	CHECK(!mr, "kernel memory");
	mr = ibv_reg_mr(e.a.pd, (void *)(uintptr_t)PAGE, SIZE_MAX - 2 * PAGE,
			ON_DEMAND);
	CHECK(!mr, "user memory and kernel memory");
	return true;
}

static int prefetch(const struct region *r)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->mem,
		.length = r->size,
		.lkey = r->mr->lkey,
	};

	return uverbs_advise_mr(r->end->pd,
				IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0,
				&sge, 1);
}

/* Regions are deregistered while page faults for them are under way. */
static bool deregistered(void)
{
	bool ok = true;
	int i;

	for (i = 0; ok && i < 30; i++) {
		struct region from = region_new(&e.a, SIZE, ON_DEMAND);
		struct region to = region_new(&e.b, SIZE, ON_DEMAND);
		struct ibv_wc wc;

		ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
		ok = !region_post(&e, IBV_WR_RDMA_WRITE, &from, &to, SIZE) &&
		     !prefetch(&to);
		usleep(i * 20);
		region_free(i & 1 ? &from : &to);
		ok = ok && poll_one(e.a.scq, &wc);
		ends_disconnect(&e);
		region_free(i & 1 ? &to : &from);
	}
	return ok;
}

int main(int argc, char **argv)
{
	ends_open(&e, argc, argv);
	if (!pages_on_demand(&e.a)) {
		tap_plan(1);
		tap_skip("this kernel is built without it", "paging on demand");
		return tap_done();
	}
	tap_plan(5 + 5 + 8 + 6);
	tap_result(all_untouched(IBV_QPT_RC), "RC finds untouched memory");
	tap_result(all_untouched(IBV_QPT_UC), "UC finds untouched memory");
	tap_result(all_untouched(IBV_QPT_UD), "UD finds untouched memory");
	tap_result(zeroes(), "memory that was never written is zero");
	tap_result(atomics(), "atomics find untouched memory");
	tap_result(under_churn(IBV_WR_RDMA_WRITE), "writes, pages taken away");
	tap_result(under_churn(IBV_WR_RDMA_READ), "reads, pages taken away");
	tap_result(under_churn(IBV_WR_SEND), "sends, pages taken away");
	tap_result(atomics_under_churn(), "atomics, pages taken away");
	tap_result(rights_under_churn(), "writes, rights come and go");
	failures();
	tap_result(atomic_fails(), "atomic on unmapped memory");
	tap_result(read_only(), "read from a read-only mapping");
	tap_result(moved(), "a mapping is moved, another takes its place");
	tap_result(forked(), "a child keeps what it had");
	tap_result(not_pinned() && refused(), "nothing pinned; what is refused");
	tap_result(deregistered(), "deregister with faults under way");
	ends_close(&e);
	return tap_done();
}
