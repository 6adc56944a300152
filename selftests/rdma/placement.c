// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory placement extensions (IBTA vol. 1, Annex A19). FLUSH and ATOMIC WRITE are
 * executed in order, and refused without the right. Older libibverbs supports neither,
 * so the test writes the requests into the ring.
 */
#include <errno.h>
#include <string.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/ring.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define SIZE		6000u

/* Names that libibverbs 44 lacks */
enum {
	WR_FLUSH		= 14,
	WR_ATOMIC_WRITE		= 15,
	WC_FLUSH		= 8,
	WC_ATOMIC_WRITE		= 9,
	ACCESS_FLUSH_GLOBAL	= 1 << 8,
	ACCESS_FLUSH_PERSISTENT	= 1 << 9,
	FLUSH_GLOBAL		= 1,
	FLUSH_PERSISTENT	= 2,
	FLUSH_RANGE		= 0,
	FLUSH_MR		= 1,
};

#define CAP_FLUSH_GLOBAL	(1ull << 38)
#define CAP_ATOMIC_WRITE	(1ull << 40)
#define ALL_FLUSH		(ACCESS_FLUSH_GLOBAL | ACCESS_FLUSH_PERSISTENT)

static struct ends e;
/* End b's memory, registered with the right to flush; NULL if not supported */
static struct ibv_mr *flushable;

/* A request in the ring */
struct request {
	uint32_t opcode;
	uint64_t addr;
	uint32_t rkey;
	uint32_t length;
	uint8_t type, level;
	uint64_t value;
};

static struct request flush_of(const struct ibv_mr *mr, uint8_t level)
{
	return (struct request){
		.opcode = WR_FLUSH,
		.addr = (uintptr_t)msg(&e.b),
		.rkey = mr->rkey,
		.length = SIZE,
		.type = FLUSH_GLOBAL,
		.level = level,
	};
}

static struct request atomic_write_of(uint64_t value)
{
	return (struct request){
		.opcode = WR_ATOMIC_WRITE,
		.addr = (uintptr_t)msg(&e.b),
		.rkey = e.b.mr->rkey,
		.length = 8,
		.value = value,
	};
}

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* Return: a wr_id that a ring does not hold by chance. */
static uint64_t id(unsigned int n)
{
	return 0x5ca1ab1e00000000ull + n;
}

static int post_request(const struct request *r, unsigned int n)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(e.a.qp);
	uint8_t *wqe;

	ibv_wr_start(qpx);
	qpx->wr_id = id(n);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qpx, r->rkey, r->addr);
	wqe = ring_request(id(n));
	put32(wqe + WQE_OPCODE, r->opcode);
	put32(wqe + WQE_LENGTH, r->length);
	put32(wqe + WQE_RESID, r->length);
	if (r->opcode == WR_FLUSH) {
		put32(wqe + WQE_FLUSH_RKEY, r->rkey);
		wqe[WQE_FLUSH_TYPE] = r->type;
		wqe[WQE_FLUSH_LEVEL] = r->level;
	} else {
		put64(wqe + WQE_PAYLOAD, r->value);
	}
	return ibv_wr_complete(qpx);
}

/* Post a request and expect @status. */
static bool ends_with(const struct request *r, enum ibv_wc_status status)
{
	static unsigned int n;
	struct ibv_wc wc;
	int err = post_request(r, ++n);

	CHECK(!err, "ibv_wr_complete: %s", strerror(err));
	CHECK(poll_one(e.a.scq, &wc), "no completion");
	CHECK(wc.wr_id == id(n) && wc.status == status, "%s, not %s",
	      ibv_wc_status_str(wc.status), ibv_wc_status_str(status));
	CHECK(status != IBV_WC_SUCCESS ||
	      (int)wc.opcode == (r->opcode == WR_FLUSH ? WC_FLUSH :
				 WC_ATOMIC_WRITE), "wc.opcode %d", wc.opcode);
	return true;
}

static bool write_and_flush(uint8_t level)
{
	struct request flush = flush_of(flushable, level);
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	fill(msg(&e.a), SIZE);
	memset(msg(&e.b), POISON, SIZE);
	wr.send_flags = 0;
	CHECK(!post(&e.a, &wr), "post_send");
	if (!ends_with(&flush, IBV_WC_SUCCESS))
		return false;
	CHECK(!memcmp(msg(&e.a), msg(&e.b), SIZE), "the data differ");
	return true;
}

static bool flush_range(void)
{
	return write_and_flush(FLUSH_RANGE);
}

/* A FLUSH of a whole region ignores address and length. */
static bool flush_region(void)
{
	struct request flush = flush_of(flushable, FLUSH_MR);

	flush.addr = 0x123;
	flush.length = 0x7fffffff;
	return write_and_flush(FLUSH_MR) && ends_with(&flush, IBV_WC_SUCCESS);
}

static bool flush_nothing(void)
{
	struct request flush = flush_of(flushable, FLUSH_RANGE);

	flush.length = 0;
	return ends_with(&flush, IBV_WC_SUCCESS);
}

static bool atomic_write(void)
{
	const uint64_t value = 0x0123456789abcdef;
	struct request r = atomic_write_of(value);
	uint64_t *target = (uint64_t *)msg(&e.b);

	memset(target - 1, POISON, 3 * sizeof(*target));
	if (!ends_with(&r, IBV_WC_SUCCESS))
		return false;
	CHECK(*target == value, "the value is %#llx",
	      (unsigned long long)*target);
	CHECK(msg(&e.b)[-1] == POISON && msg(&e.b)[8] == POISON,
	      "bytes around were written");
	return true;
}

/*
 * A program that sees the flag sees the data written before. The test posts requests
 * one by one while it watches the flag.
 */
static bool flag_follows_data(void)
{
	volatile uint64_t *flag = (uint64_t *)(msg(&e.b) + SIZE + 8);
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	unsigned int round;

	wr.send_flags = 0;
	*flag = 0;
	for (round = 1; round <= 50; round++) {
		struct request r = atomic_write_of(round);
		struct deadline end = deadline_in(WAIT_MS);

		r.addr = (uintptr_t)flag;
		fill(msg(&e.a), SIZE);
		CHECK(!post(&e.a, &wr) && !post_request(&r, round), "post");
		while (*flag != round && !is_past(&end))
			;
		CHECK(*flag == round, "the flag is %llu, not %u",
		      (unsigned long long)*flag, round);
		CHECK(!memcmp(msg(&e.a), msg(&e.b), SIZE), "the data differ");
		if (!expect_wc(e.a.scq, id(round), IBV_WC_SUCCESS))
			return false;
	}
	return true;
}

/*
 * More requests than may be outstanding, mixed with others, are executed once and in
 * order. FETCH_ADD of 0 returns the value at its time. A repeated READ could return a
 * later one.
 */
static bool many(void)
{
	enum { COUNT = 60 };
	uint64_t *target = (uint64_t *)msg(&e.b), *got = (uint64_t *)msg(&e.a);
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr add = work(&e, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge);
	struct request flush = flushable ? flush_of(flushable, FLUSH_RANGE) :
					   (struct request){};
	unsigned int i, n = 0, posted;

	*target = ~0ull;
	add.wr.atomic.compare_add = 0;
	for (i = 0; i < COUNT / 3; i++) {
		struct request r = atomic_write_of(i);

		CHECK(!post_request(&r, n++), "post");
		if (flushable)
			CHECK(!post_request(&flush, n++), "post");
		add.wr_id = id(n++);
		CHECK(!post(&e.a, &add), "post_send");
		sge.addr += 8;
	}
	posted = n;
	for (n = 0; n < posted; n++)
		if (!expect_wc(e.a.scq, id(n), IBV_WC_SUCCESS))
			return false;
	for (i = 0; i < COUNT / 3; i++)
		CHECK(got[i] == i, "atomic %u saw %llu", i,
		      (unsigned long long)got[i]);
	return true;
}

/* The request fails and does not change the memory. */
static bool not_written(struct request r, enum ibv_wc_status status)
{
	memset(e.b.buf, POISON, END_MEMORY);
	if (!ends_with(&r, status))
		return false;
	CHECK(e.b.buf[0] == POISON &&
	      !memcmp(e.b.buf, e.b.buf + 1, END_MEMORY - 1), "memory changed");
	return true;
}

static bool misaligned(void)
{
	struct request r = atomic_write_of(1);

	r.addr += 4;
	return not_written(r, IBV_WC_REM_INV_REQ_ERR);
}

static bool atomic_write_bad_rkey(void)
{
	struct request r = atomic_write_of(1);

	r.rkey ^= 0x5a5a5a;
	return not_written(r, IBV_WC_REM_ACCESS_ERR);
}

static bool atomic_write_past_end(void)
{
	struct request r = atomic_write_of(1);

	r.addr = (uintptr_t)e.b.buf + END_MEMORY;
	return not_written(r, IBV_WC_REM_ACCESS_ERR);
}

static bool atomic_write_without_right(void)
{
	struct ibv_mr *mr = ibv_reg_mr(e.b.pd, e.b.buf, END_MEMORY,
				       IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_ATOMIC);
	struct request r = atomic_write_of(1);
	bool ok;

	CHECK(mr, "no MR: %s", strerror(errno));
	r.rkey = mr->rkey;
	ok = not_written(r, IBV_WC_REM_ACCESS_ERR);
	ibv_dereg_mr(mr);
	return ok;
}

static bool atomic_write_wrong_length(void)
{
	struct request r = atomic_write_of(1);

	r.length = 4;
	return not_written(r, IBV_WC_LOC_LEN_ERR);
}

/* An ATOMIC WRITE to untouched memory is executed after the page fault. */
static bool atomic_write_on_demand(void)
{
	struct region r = region_new(&e.b, SIZE, ON_DEMAND);
	struct request first = atomic_write_of(0x1122334455667788);
	struct request second = atomic_write_of(~0ull);
	uint64_t *value = (uint64_t *)r.mem;
	bool ok;

	first.addr = (uintptr_t)value;
	second.addr = (uintptr_t)(value + SIZE / 8 - 1);
	first.rkey = r.mr->rkey;
	second.rkey = r.mr->rkey;
	ok = ends_with(&first, IBV_WC_SUCCESS) &&
	     ends_with(&second, IBV_WC_SUCCESS) &&
	     value[0] == first.value && !value[1] &&
	     value[SIZE / 8 - 1] == second.value;
	region_free(&r);
	return ok;
}

static bool flush_bad_rkey(void)
{
	struct request r = flush_of(e.b.mr, FLUSH_RANGE);

	r.rkey ^= 0x5a5a5a;
	return ends_with(&r, IBV_WC_REM_ACCESS_ERR);
}

/* e.b.mr has all rights but this one. */
static bool flush_without_right(void)
{
	struct request r = flush_of(e.b.mr, FLUSH_MR);

	return ends_with(&r, IBV_WC_REM_ACCESS_ERR);
}

static bool flush_past_end(void)
{
	struct request r = flush_of(flushable, FLUSH_RANGE);

	r.addr = (uintptr_t)e.b.buf + END_MEMORY - SIZE + 1;
	return ends_with(&r, IBV_WC_REM_ACCESS_ERR);
}

static bool flush_persistent(void)
{
	struct request r = flush_of(flushable, FLUSH_RANGE);

	r.type = FLUSH_GLOBAL | FLUSH_PERSISTENT;
	return ends_with(&r, IBV_WC_REM_ACCESS_ERR);
}

static bool flush_to_nowhere(void)
{
	struct request r = flush_of(e.b.mr, FLUSH_RANGE);

	r.type = 0;
	return ends_with(&r, IBV_WC_LOC_QP_OP_ERR);
}

/* Registration of volatile memory with the right of persistent flushes fails. */
static bool register_persistent(void)
{
	struct ibv_mr *mr = ibv_reg_mr(e.b.pd, e.b.buf, END_MEMORY,
				       IBV_ACCESS_LOCAL_WRITE |
				       ACCESS_FLUSH_PERSISTENT);

	CHECK(!mr && (errno == EINVAL || errno == EOPNOTSUPP), "%s",
	      mr ? "it was registered" : strerror(errno));
	return true;
}

static bool capabilities(void)
{
	struct ibv_device_attr_ex attr;
	uint64_t flush = flushable ? CAP_FLUSH_GLOBAL : 0;

	CHECK(!ibv_query_device_ex(e.a.ctx, NULL, &attr), "query_device_ex");
	CHECK((attr.device_cap_flags_ex & CAP_FLUSH_GLOBAL) == flush &&
	      attr.device_cap_flags_ex & CAP_ATOMIC_WRITE, "%#llx",
	      (unsigned long long)attr.device_cap_flags_ex);
	return true;
}

static bool qp_without_right(void)
{
	struct request r = atomic_write_of(1);

	return not_written(r, IBV_WC_REM_INV_REQ_ERR);
}

static bool qp_without_flush(void)
{
	struct request r = flush_of(e.b.mr, FLUSH_RANGE);

	return ends_with(&r, IBV_WC_REM_INV_REQ_ERR);
}

static bool of_uc(void)
{
	struct request r = atomic_write_of(1);

	return not_written(r, IBV_WC_LOC_QP_OP_ERR);
}

static const struct {
	const char *name;
	bool (*test)(void);
	bool flushes;		/* needs memory with the right to flush */
	bool pages;		/* needs on-demand paging */
	bool refused;		/* by a NAK, which is sent only once */
	bool local;		/* ends without the peer */
	enum ibv_qp_type type;	/* 0: RC */
	unsigned int access;	/* 0: all */
} tests[] = {
	{ "device capabilities", .test = capabilities, .local = true },
	{ "FLUSH of a range", .test = flush_range, .flushes = true },
	{ "FLUSH of a region", .test = flush_region, .flushes = true },
	{ "FLUSH of nothing", .test = flush_nothing, .flushes = true },
	{ "ATOMIC WRITE", .test = atomic_write },
	{ "ATOMIC WRITE of memory on demand",
	  .test = atomic_write_on_demand, .pages = true },
	{ "ATOMIC WRITE of a flag after the data", .test = flag_follows_data },
	{ "more than may be outstanding", .test = many },
	{ "ATOMIC WRITE, misaligned", .test = misaligned, .refused = true },
	{ "ATOMIC WRITE with a bad rkey",
	  .test = atomic_write_bad_rkey, .refused = true },
	{ "ATOMIC WRITE past the end of the MR",
	  .test = atomic_write_past_end, .refused = true },
	{ "ATOMIC WRITE, MR without the right",
	  .test = atomic_write_without_right, .refused = true },
	{ "ATOMIC WRITE, QP without the right",
	  .test = qp_without_right, .refused = true,
	  .access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC },
	{ "ATOMIC WRITE of 4 bytes",
	  .test = atomic_write_wrong_length, .local = true },
	{ "ATOMIC WRITE on UC",
	  .test = of_uc, .local = true, .type = IBV_QPT_UC },
	{ "FLUSH with a bad rkey", .test = flush_bad_rkey, .refused = true },
	{ "FLUSH, MR without the right",
	  .test = flush_without_right, .refused = true },
	{ "FLUSH, QP without the right",
	  .test = qp_without_flush, .refused = true,
	  .access = ALL_REMOTE },
	{ "FLUSH past the end of the MR",
	  .test = flush_past_end, .refused = true, .flushes = true },
	{ "FLUSH to persistence, MR without the right",
	  .test = flush_persistent, .refused = true, .flushes = true },
	{ "FLUSH to nowhere", .test = flush_to_nowhere, .local = true },
	{ "persistence of memory that has none",
	  .test = register_persistent, .local = true },
};

static const char *why_not(size_t i)
{
	if (tests[i].flushes && !flushable)
		return "the kernel knows no right to flush";
	if (tests[i].pages && (getenv("PEER_RXE") || !pages_on_demand(&e.b)))
		return "no paging on demand";
	if (tests[i].refused && getenv("LOSSY"))
		return "the refusal may be lost";
	if (tests[i].local && getenv("PEER_RXE"))
		return "the peer has no part in it";
	if (!strncmp(tests[i].name, "FLUSH", 5) && getenv("PEER_RXE"))
		return "rdma_rxe's FLUSH has a wrong ICRC";
	return NULL;
}

static void run(size_t i)
{
	struct qp_conf conf = {
		.type = tests[i].type ?: IBV_QPT_RC,
		.send_ops = IBV_QP_EX_WITH_RDMA_WRITE,
		.access = tests[i].access ?: ALL_REMOTE | ALL_FLUSH,
	};

	if (why_not(i)) {
		tap_skip(why_not(i), "%s", tests[i].name);
		return;
	}
	ends_connect(&e, &conf);
	tap_result(tests[i].test(), "%s", tests[i].name);
	ends_disconnect(&e);
}

int main(int argc, char **argv)
{
	size_t i;

	ends_open(&e, argc, argv);
	if (!getenv("PEER_RXE"))
		flushable = ibv_reg_mr(e.b.pd, e.b.buf, END_MEMORY,
				       IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE |
				       ACCESS_FLUSH_GLOBAL);
	tap_plan(ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		run(i);
	if (flushable)
		ibv_dereg_mr(flushable);
	ends_close(&e);
	return tap_done();
}
