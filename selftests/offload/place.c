// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that peers write to, by the NIC or by software: the result is as if software had
 * executed all requests in order, once, and only those that are allowed.
 *
 * CASE=order	random WRITEs, SENDs and atomics to overlapping memory, by three keys of
 *		the same memory; until SIGTERM
 * CASE=once	requests that were completed and are repeated change nothing
 * CASE=gone	requests change nothing when their key, its rights or its memory is gone
 * CASE=denied	requests that are not allowed change nothing
 * CASE=forged	packets of another sender change nothing
 */
#include <arpa/inet.h>
#include <endian.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/cases.h"
#include "../lib/dice.h"
#include "../lib/ends.h"
#include "../lib/hwstats.h"
#include "../lib/packet.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include "../lib/work.h"

enum {
	OPS	= 24,
	SLICE	= 24 << 10,	/* of A's memory, for each operation */
	WINDOW	= 32 << 10,	/* of B's memory, for all operations */
	MOST	= 20000,
	ASIDE	= 1 << 20,	/* of B's memory, not compared */
	FORGED	= 512,		/* bytes of a message */
	WRITE_ONLY = 10,
};

static struct ends e;
static struct dice dice;
static volatile sig_atomic_t enough;

static const struct qp_conf conf = {
	.type = IBV_QPT_RC, .depth = 2 * OPS, .timeout = 14,
	.retry_cnt = 7, .rnr_retry = 7, .rnr_timer = 1,
};

static void stop(int signal)
{
	enough = 1;
}

/* ---------------------------------------------------------------- order */

struct op {
	enum ibv_wr_opcode opcode;
	uint32_t offset, size;
	uint64_t before;
};

static uint8_t shadow[WINDOW];
static struct op ops[OPS];
static struct region twin, lazy;

static uint32_t any_key(void)
{
	switch (dice_roll(&dice, 6)) {
	case 0:
		return lazy.mr ? lazy.mr->rkey : twin.mr->rkey;
	case 1:
		return twin.mr->rkey;
	default:
		return e.b.mr->rkey;
	}
}

static uint8_t *source(int i)
{
	return e.a.buf + i * SLICE;
}

/* Choose an operation. @plain: a WRITE that the NIC can place */
static void choose(struct op *op, bool plain)
{
	unsigned int kind = plain ? 0 : dice_roll(&dice, 20);

	op->opcode = kind < 15 ? IBV_WR_RDMA_WRITE :
		     kind < 17 ? IBV_WR_RDMA_WRITE_WITH_IMM :
		     kind < 19 ? IBV_WR_SEND : IBV_WR_ATOMIC_FETCH_AND_ADD;
	op->size = 1 + dice_roll(&dice, dice_roll(&dice, 3) ? 200 : MOST);
	op->offset = dice_roll(&dice, WINDOW - op->size);
	if (op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		op->size = 8;
		op->offset &= ~7;
	}
}

static void prepare_receive(const struct op *op, int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)e.b.buf +
			(op->opcode == IBV_WR_SEND ? op->offset : ASIDE),
		.length = MOST,
		.lkey = e.b.mr->lkey,
	};

	if (op->opcode == IBV_WR_SEND ||
	    op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		post_recv(&e.b, i, &sge, 1);
}

/* Apply an operation to the expected memory. */
static void foresee(struct op *op, const uint8_t *from)
{
	uint64_t value;

	if (op->opcode != IBV_WR_ATOMIC_FETCH_AND_ADD) {
		memcpy(shadow + op->offset, from, op->size);
		return;
	}
	memcpy(&op->before, shadow + op->offset, 8);
	value = op->before + 7;
	memcpy(shadow + op->offset, &value, 8);
}

static int send_op(struct op *op, int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)source(i), .length = op->size,
		.lkey = e.a.mr->lkey,
	};
	struct ibv_send_wr wr = work(&e, op->opcode, &sge);
	uint64_t addr = (uintptr_t)e.b.buf + op->offset;

	fill(source(i), op->size);
	prepare_receive(op, i);
	foresee(op, source(i));
	wr.wr_id = i;
	if (op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = e.b.mr->rkey;
		wr.wr.atomic.compare_add = 7;
	} else if (op->opcode != IBV_WR_SEND) {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = any_key();
	}
	return post(&e.a, &wr);
}

static bool finish_op(struct op *op, int i)
{
	struct ibv_wc wc;

	CHECK(poll_one(e.a.scq, &wc), "nothing comes");
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == (uint64_t)i,
	      "%s, of %d and not %d", ibv_wc_status_str(wc.status),
	      (int)wc.wr_id, i);
	if (op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		CHECK(!memcmp(source(i), &op->before, 8), "atomic %d", i);
	while (ibv_poll_cq(e.b.rcq, 1, &wc) > 0)
		CHECK(wc.status == IBV_WC_SUCCESS, "a receive failed");
	return true;
}

static bool is_as_foreseen(void)
{
	unsigned int i;

	for (i = 0; i < WINDOW; i++)
		CHECK(e.b.buf[i] == shadow[i], "offset %u: %02x, not %02x", i,
		      e.b.buf[i], shadow[i]);
	return true;
}

/* All requests are done, so the program writes to the memory itself. */
static void change_some(void)
{
	uint32_t size = 1 + dice_roll(&dice, 5000);
	uint32_t offset = dice_roll(&dice, WINDOW - size);

	fill(shadow + offset, size);
	memcpy(e.b.buf + offset, shadow + offset, size);
}

static bool order(void)
{
	bool plain;
	int i, n;

	while (!enough) {
		n = 1 + dice_roll(&dice, OPS);
		plain = dice_roll(&dice, 2);
		for (i = 0; i < n; i++) {
			choose(&ops[i], plain);
			CHECK(!send_op(&ops[i], i), "post");
		}
		for (i = 0; i < n; i++) {
			if (!finish_op(&ops[i], i))
				return false;
		}
		if (!is_as_foreseen())
			return false;
		change_some();
	}
	return true;
}

static int run_order(void)
{
	bool ok;

	twin = region_over(&e.b, e.b.buf, WINDOW, ALL_ACCESS);
	if (pages_on_demand(&e.b))
		lazy = region_over(&e.b, e.b.buf, WINDOW, ON_DEMAND);
	memset(e.b.buf, 0, WINDOW);
	ends_connect(&e, &conf);
	puts("ready");
	fflush(stdout);
	ok = order();
	ends_disconnect(&e);
	ibv_dereg_mr(twin.mr);
	if (lazy.mr)
		ibv_dereg_mr(lazy.mr);
	return !ok;
}

/* ---------------------------------------------------------------- others */

static bool is_all(const uint8_t *at, uint8_t value, size_t size)
{
	while (size--)
		CHECK(*at++ == value, "written to, %zu bytes before the end",
		      size + 1);
	return true;
}

/* Turn a knob of the NIC, outside this network namespace. */
static void turn(const char *knob, const char *value)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path),
		 "/proc/1/root/sys/kernel/debug/verve_testnic/%s", knob);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		tap_bail("cannot write %s", path);
	close(fd);
}

static uint64_t grown(const struct end *end, const struct hwstats *before,
		      const char *name)
{
	return hwstats_since(before, ibv_get_device_name(end->ctx->device),
			     name);
}

static void note(struct hwstats *s, const struct end *end)
{
	hwstats_read(s, ibv_get_device_name(end->ctx->device));
}

/* Send WRITEs until the NIC places them. */
static bool warm_up(void)
{
	struct hwstats before;
	int i;

	note(&before, &e.b);
	for (i = 0; i < 200 && !grown(&e.b, &before, "rx_ddp_pkts"); i++)
		CHECK(write_arrives(&e, 3000), "a WRITE");
	CHECK(i < 200, "nothing is placed");
	return true;
}

static bool once(void)
{
	struct ibv_sge sge = end_sge(&e.a, 3000);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	volatile uint8_t *last = msg(&e.b) + sge.length - 1;
	struct deadline end = deadline_in(WAIT_MS);
	struct hwstats before;
	struct ibv_wc wc;
	bool ok;

	memset(msg(&e.a), 0x11, sge.length);
	memset(msg(&e.b), 0, sge.length);
	turn("vb/lose", "1");
	note(&before, &e.b);
	post(&e.a, &wr);
	while (*last != 0x11 && !is_past(&end))
		usleep(1000);
	/* A duplicate proves that all requests were executed before it. */
	while (!grown(&e.b, &before, "duplicate_request") && !is_past(&end))
		usleep(1000);
	memset(msg(&e.b), POISON, sge.length);
	note(&before, &e.b);
	while (grown(&e.b, &before, "duplicate_request") < 2 && !is_past(&end))
		usleep(1000);
	ok = is_all(msg(&e.b), POISON, sge.length);
	turn("vb/lose", "0");
	CHECK(!is_past(&end), "nothing came again");
	CHECK(poll_one(e.a.scq, &wc) && wc.status == IBV_WC_SUCCESS, "failed");
	return ok && is_all(msg(&e.b), POISON, sge.length);
}

static int run_once(void)
{
	struct qp_conf patient = conf;
	int i, rounds = e.quick ? 5 : 30;
	bool ok = true;

	/* No answer arrives until several files have been read. */
	patient.timeout = 18;
	ends_connect(&e, &patient);
	for (i = 0; ok && i < rounds; i++)
		ok = warm_up() && once();
	ends_disconnect(&e);
	return !ok;
}

/* Post WRITEs all over the region. Return: true if they are posted. */
static bool write_all(const struct region *r)
{
	struct ibv_sge sge = end_sge(&e.a, 4000);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	int i;

	wr.wr.rdma.rkey = r->mr->rkey;
	for (i = 0; i < OPS; i++) {
		wr.wr.rdma.remote_addr = (uintptr_t)r->mem + 4096 * i;
		CHECK(!post(&e.a, &wr), "post");
	}
	return true;
}

/* Wait for @n requests. Return: number that succeeded; -1 if some do not complete */
static int await_all(int n)
{
	struct ibv_wc wc;
	int succeeded = 0;

	while (n--) {
		if (!poll_one(e.a.scq, &wc))
			return -1;
		succeeded += wc.status == IBV_WC_SUCCESS;
	}
	return succeeded;
}

enum loss { KEY, RIGHTS, MEMORY, DOMAIN, LOSSES };

/* Take away the key, its rights or its memory. */
static bool take_away(struct region *r, enum loss what, struct ibv_pd *pd,
		      void *elsewhere)
{
	static const int flags[] = {
		[RIGHTS] = IBV_REREG_MR_CHANGE_ACCESS,
		[MEMORY] = IBV_REREG_MR_CHANGE_TRANSLATION,
		[DOMAIN] = IBV_REREG_MR_CHANGE_PD,
	};
	int err;

	if (what == KEY)
		err = ibv_dereg_mr(r->mr);
	else
		err = uverbs_rereg_mr(r->mr, flags[what], pd, elsewhere,
				      r->size, IBV_ACCESS_LOCAL_WRITE);
	CHECK(!err, "%d: %s", what, strerror(err));
	if (what == KEY)
		r->mr = NULL;
	return true;
}

/*
 * The region loses something amid the WRITEs; or, if @late, when all are done and the NIC
 * would place one more WRITE.
 */
static bool gone(struct region *r, enum loss what, bool late)
{
	uint32_t rkey = r->mr->rkey;
	struct ibv_sge sge = end_sge(&e.a, 4000);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	struct ibv_pd *pd = ibv_alloc_pd(e.b.ctx);
	struct region other = region_new(&e.b, r->size, ALL_ACCESS);
	bool ok;

	wr.wr.rdma.rkey = rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)r->mem;
	ok = write_all(r);
	if (late)
		ok = ok && await_all(OPS) == OPS;
	else
		usleep(dice_roll(&dice, 3000));
	ok = ok && take_away(r, what, pd, other.mem);
	memset(r->mem, POISON, r->size);
	if (late)
		ok = ok && !post(&e.a, &wr) && !await_all(1);
	else
		ok = ok && await_all(OPS) >= 0;
	ok = ok && is_all(r->mem, POISON, r->size);
	if (what != KEY && ibv_dereg_mr(r->mr))
		ok = false;
	r->mr = NULL;
	region_free(&other);
	ibv_dealloc_pd(pd);
	CHECK(ok, "loss %d, %s", what, late ? "late" : "meanwhile");
	return true;
}

static int run_gone(void)
{
	int i, rounds = e.quick ? 2 * LOSSES : 60;
	struct region r;
	bool ok = true;

	for (i = 0; ok && i < rounds; i++) {
		r = region_new(&e.b, 4096 * OPS, ALL_ACCESS);
		ends_connect(&e, &conf);
		ok = warm_up() && gone(&r, i % LOSSES, i / LOSSES % 2);
		ends_disconnect(&e);
		region_free(&r);
	}
	return !ok;
}

/* WRITEs with a wrong @rkey or @addr are refused. */
static bool denied(const char *why, uint32_t rkey, const void *addr)
{
	struct ibv_sge sge = end_sge(&e.a, 9000);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	struct ibv_wc wc = {};
	struct hwstats before;
	uint64_t placed;
	bool ok;

	ends_connect(&e, &conf);
	ok = warm_up();
	note(&before, &e.b);
	wr.wr.rdma.rkey = rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)addr;
	memset(e.b.buf, POISON, END_MEMORY);
	post(&e.a, &wr);
	ok = ok && poll_one(e.a.scq, &wc) &&
	     wc.status == IBV_WC_REM_ACCESS_ERR &&
	     is_all(e.b.buf, POISON, END_MEMORY);
	placed = grown(&e.b, &before, "rx_ddp_pkts");
	ends_disconnect(&e);
	CHECK(ok && !placed, "%s: %s, %llu packets placed", why,
	      ibv_wc_status_str(wc.status), (unsigned long long)placed);
	return true;
}

/* The QP stops allowing WRITEs of its peer. */
static bool qp_denies(void)
{
	struct ibv_qp_attr attr = { .qp_access_flags = IBV_ACCESS_REMOTE_READ };
	struct ibv_sge sge = end_sge(&e.a, 3000);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	bool ok;

	ends_connect(&e, &conf);
	ok = warm_up() && !ibv_modify_qp(e.b.qp, &attr, IBV_QP_ACCESS_FLAGS);
	memset(msg(&e.b), POISON, sge.length);
	ok = ok && !post(&e.a, &wr) && !await_all(1) &&
	     is_all(msg(&e.b), POISON, sge.length);
	ends_disconnect(&e);
	CHECK(ok, "no right of the QP");
	return true;
}

static int run_denied(void)
{
	struct region readable = region_over(&e.b, e.b.buf, WINDOW,
					     IBV_ACCESS_LOCAL_WRITE |
					     IBV_ACCESS_REMOTE_READ);
	struct ibv_pd *pd = ibv_alloc_pd(e.b.ctx);
	struct ibv_mr *other = ibv_reg_mr(pd, e.b.buf, WINDOW, ALL_ACCESS);
	uint32_t rkey = e.b.mr->rkey;
	uint8_t *buf = e.b.buf;
	bool ok;

	ok = denied("another key", rkey ^ 1, buf) &&
	     denied("no key", rkey ^ 0x12345600, buf) &&
	     denied("before the region", rkey, buf - 1) &&
	     denied("beyond it", rkey, buf + END_MEMORY - 8999) &&
	     denied("around the end", rkey, (void *)-4000L) &&
	     denied("no right to write", readable.mr->rkey, buf) &&
	     denied("of another domain", other->rkey, buf) && qp_denies();
	ibv_dereg_mr(other);
	ibv_dealloc_pd(pd);
	ibv_dereg_mr(readable.mr);
	return !ok;
}

/* A WRITE with the next PSN, from @from, with constant bytes */
static void forge_write(struct packet *p, const union ibv_gid *from)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct {
		uint8_t opcode, flags;
		uint16_t pkey;
		uint32_t qpn, psn;
	} bth = {
		.opcode = WRITE_ONLY, .pkey = htons(0xffff),
		.qpn = htonl(e.b.qp->qp_num),
	};
	struct {
		uint64_t va;
		uint32_t rkey, length;
	} reth = {
		.va = htobe64((uintptr_t)msg(&e.b)),
		.rkey = htonl(e.b.mr->rkey), .length = htonl(FORGED),
	};
	uint8_t payload[FORGED];

	if (ibv_query_qp(e.b.qp, &attr, IBV_QP_RQ_PSN, &init))
		tap_bail("query_qp");
	bth.psn = htonl(attr.rq_psn);
	memset(payload, 0x22, sizeof(payload));
	packet_begin(p, from, &e.b.gid);
	packet_add(p, &bth, sizeof(bth));
	packet_add(p, &reth, sizeof(reth));
	packet_add(p, payload, sizeof(payload));
	packet_end(p);
}

/* The QP executes the WRITE only if it comes from its peer. */
static bool forged(int fd)
{
	union ibv_gid somebody = e.a.gid;
	struct hwstats before;
	struct packet p;
	int i;

	somebody.raw[15] ^= 0x40;
	memset(msg(&e.b), POISON, FORGED);
	note(&before, &e.b);
	forge_write(&p, &somebody);
	packet_send(fd, &p);
	for (i = 0; i < 2000 && !grown(&e.b, &before, "rx_drop_address"); i++)
		usleep(1000);
	CHECK(i < 2000, "it did not come");
	if (!is_all(msg(&e.b), POISON, FORGED))
		return false;
	forge_write(&p, &e.a.gid);
	packet_send(fd, &p);
	for (i = 0; i < 2000 && msg(&e.b)[FORGED - 1] != 0x22; i++)
		usleep(1000);
	return is_all(msg(&e.b), 0x22, FORGED);
}

static int run_forged(void)
{
	int i, fd, rounds = e.quick ? 5 : 30;
	bool ok = true;

	end_enter(&e.a);
	fd = packet_socket(e.ipv6);
	for (i = 0; ok && i < rounds; i++) {
		ends_connect(&e, &conf);
		ok = warm_up() && forged(fd);
		ends_disconnect(&e);
	}
	close(fd);
	return !ok;
}

int main(int argc, char **argv)
{
	static const struct named_case cases[] = {
		{ "order", run_order },
		{ "once", run_once },
		{ "gone", run_gone },
		{ "denied", run_denied },
		{ "forged", run_forged },
		{ }
	};
	int rc;

	signal(SIGTERM, stop);
	ends_open(&e, argc, argv);
	dice = dice_of(dice_seed(), 0);
	rc = case_run(cases);
	ends_close(&e);
	return rc;
}
