// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both ends of several connections send to each other, and all data are compared: each
 * message arrives once, in order and unchanged, by NIC or by software.
 *
 * CASE=stream	until SIGTERM. ALL=1: also operations that NICs do not execute; MODIFY=1:
 *		the QPs are modified and drained meanwhile
 * CASE=gone	keys and rights are taken away under traffic. LOSSY=1: retries may run out
 * CASE=silent	a peer stops answering
 * CASE=dead	QPs whose NIC returns no state: their programs get an event
 * CASE=idle	an offloaded QP is idle until SIGTERM, and then sends one WRITE
 * CASE=region	no QP: a region is registered and deregistered
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/cases.h"
#include "../lib/dice.h"
#include "../lib/ends.h"
#include "../lib/hwstats.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include "../lib/work.h"

enum {
	PAIRS	= 2,
	LANES	= 2 * PAIRS,
	OPS	= 12,
	MOST	= 20000,
	SLICE	= 20 << 10,
	INLINE	= 64,
	/* Local ACK timeouts, for bad networks and for good ones */
	TIMEOUT	= 16,
	HASTE	= 12,
};

struct op {
	enum ibv_wr_opcode opcode;
	uint32_t size;
	uint64_t before;
};

/* One direction of a connection */
struct lane {
	struct end *from, *to;
	int number;
	int n;
	struct op ops[OPS];
};

static struct ends e, pairs[PAIRS];
static struct lane lanes[LANES];
static struct dice dice;
static volatile sig_atomic_t enough;

static struct qp_conf conf = {
	.type = IBV_QPT_RC, .depth = 2 * OPS, .timeout = TIMEOUT,
	.retry_cnt = 7, .rnr_retry = 7, .rnr_timer = 1, .inline_data = INLINE,
};

static void stop(int signal)
{
	enough = 1;
}

/* Each lane has half of an end's memory to send from, and half to receive in. */
static uint8_t *place(const struct end *end, const struct lane *lane, int i,
		      bool arrives)
{
	size_t slot = (lane->number * OPS + i) * 2 + arrives;

	_Static_assert(LANES * OPS * 2 * SLICE <= END_MEMORY, "memory");
	return end->buf + slot * SLICE;
}

static bool is_read(const struct op *op)
{
	return op->opcode == IBV_WR_RDMA_READ;
}

static bool is_atomic(const struct op *op)
{
	return op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool needs_receive(const struct op *op)
{
	return op->opcode == IBV_WR_SEND || op->opcode == IBV_WR_SEND_WITH_IMM ||
	       op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool has_imm(const struct op *op)
{
	return op->opcode == IBV_WR_SEND_WITH_IMM ||
	       op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* The target of a READ or an atomic, at the other end */
static uint8_t *source(const struct lane *lane, int i)
{
	return place(is_read(&lane->ops[i]) ? lane->to : lane->from, lane, i,
		     false);
}

static uint8_t *target(const struct lane *lane, int i)
{
	const struct op *op = &lane->ops[i];

	return place(is_read(op) ? lane->from : lane->to, lane, i, true);
}

static void choose(struct op *op)
{
	static const enum ibv_wr_opcode carried[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	};

	op->opcode = dice_pick(&dice, carried);
	op->size = 1 + dice_roll(&dice, dice_roll(&dice, 3) ? 300 : MOST);
	if (getenv("ALL") && dice_one_in(&dice, 200)) {
		op->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		op->size = 8;
	}
}

static void prepare(struct lane *lane, int i)
{
	choose(&lane->ops[i]);
	memset(place(lane->from, lane, i, true), POISON, SLICE);
	memset(place(lane->to, lane, i, true), POISON, SLICE);
	fill(source(lane, i), lane->ops[i].size);
	memcpy(&lane->ops[i].before, target(lane, i), 8);
}

static bool expect(struct lane *lane, int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)place(lane->to, lane, i, true),
		.length = SLICE,
		.lkey = lane->to->mr->lkey,
	};

	if (needs_receive(&lane->ops[i]))
		CHECK(!post_recv(lane->to, i, &sge, 1), "post_recv");
	return true;
}

static bool send_op(struct lane *lane, int i)
{
	const struct op *op = &lane->ops[i];
	bool reads = is_read(op) || is_atomic(op);
	struct ibv_sge sge = {
		.addr = (uintptr_t)(is_read(op) ? target(lane, i) :
						  source(lane, i)),
		.length = op->size,
		.lkey = lane->from->mr->lkey,
	};
	uint64_t addr = (uintptr_t)(is_read(op) ? source(lane, i) :
						  target(lane, i));
	struct ibv_send_wr wr = {
		.wr_id = i, .opcode = op->opcode, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = htonl(i),
		.wr.rdma = { .remote_addr = addr, .rkey = lane->to->mr->rkey },
	};

	if (!reads && op->size <= INLINE && dice_roll(&dice, 2))
		wr.send_flags |= IBV_SEND_INLINE;
	if (dice_one_in(&dice, 10))
		wr.send_flags |= IBV_SEND_FENCE;
	if (is_atomic(op)) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = lane->to->mr->rkey;
		wr.wr.atomic.compare_add = 7;
	}
	CHECK(!post(lane->from, &wr), "post_send");
	return true;
}

/* Now and then, receives are posted late. */
static bool begin(struct lane *lane)
{
	bool late = dice_one_in(&dice, 30), ok = true;
	int i;

	lane->n = 1 + dice_roll(&dice, OPS);
	for (i = 0; i < lane->n; i++)
		prepare(lane, i);
	for (i = 0; ok && !late && i < lane->n; i++)
		ok = expect(lane, i);
	for (i = 0; ok && i < lane->n; i++)
		ok = send_op(lane, i);
	if (late)
		usleep(dice_roll(&dice, 3000));
	for (i = 0; ok && late && i < lane->n; i++)
		ok = expect(lane, i);
	return ok;
}

static bool came(const struct lane *lane, int i)
{
	const struct op *op = &lane->ops[i];
	bool is_write = op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct ibv_wc wc;

	CHECK(poll_one(lane->to->rcq, &wc), "lane %d: nothing comes",
	      lane->number);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == (uint64_t)i &&
	      wc.byte_len == op->size, "lane %d: %s, %d of %u bytes, not %d of %u",
	      lane->number, ibv_wc_status_str(wc.status), (int)wc.wr_id,
	      wc.byte_len, i, op->size);
	CHECK(wc.opcode == (is_write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV),
	      "opcode %d", wc.opcode);
	CHECK(!!(wc.wc_flags & IBV_WC_WITH_IMM) == has_imm(op) &&
	      (!has_imm(op) || wc.imm_data == htonl(i)), "immediate data");
	return true;
}

static bool went(const struct lane *lane, int i)
{
	struct ibv_wc wc;

	CHECK(poll_one(lane->from->scq, &wc), "lane %d: %d is not done",
	      lane->number, i);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == (uint64_t)i,
	      "lane %d: %s, of %d and not %d", lane->number,
	      ibv_wc_status_str(wc.status), (int)wc.wr_id, i);
	return true;
}

static bool is_poison(const uint8_t *at, size_t size)
{
	while (size--)
		if (*at++ != POISON)
			return false;
	return true;
}

static bool is_right(const struct lane *lane, int i)
{
	const struct op *op = &lane->ops[i];
	const uint8_t *to = target(lane, i);
	uint64_t now;

	if (is_atomic(op)) {
		memcpy(&now, to, 8);
		CHECK(now == op->before + 7 &&
		      !memcmp(source(lane, i), &op->before, 8), "atomic %d", i);
	} else if (op->opcode != IBV_WR_RDMA_WRITE_WITH_IMM || op->size) {
		CHECK(!memcmp(source(lane, i), to, op->size),
		      "lane %d: %d brought other data", lane->number, i);
	}
	CHECK(is_poison(to + op->size, SLICE - op->size),
	      "lane %d: %d wrote too much", lane->number, i);
	return true;
}

/* All requests are done. The program gets its memory back and overwrites it. */
static void claim(const struct lane *lane)
{
	int i;

	for (i = 0; i < lane->n; i++)
		memset(target(lane, i), POISON, SLICE);
}

static bool is_left_alone(const struct lane *lane)
{
	int i;

	for (i = 0; i < lane->n; i++)
		CHECK(is_poison(target(lane, i), SLICE),
		      "lane %d: %d came again", lane->number, i);
	return true;
}

static bool finish(struct lane *lane)
{
	int i;

	for (i = 0; i < lane->n; i++)
		if (needs_receive(&lane->ops[i]) && !came(lane, i))
			return false;
	for (i = 0; i < lane->n; i++)
		if (!went(lane, i))
			return false;
	for (i = 0; i < lane->n; i++)
		if (!is_right(lane, i))
			return false;
	claim(lane);
	return true;
}

/* Drain the QP and let it go on, or modify an attribute. */
static bool modify_one(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .min_rnr_timer = 1,
	};
	int mask = IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER;

	if (dice_roll(&dice, 2)) {
		attr.qp_state = IBV_QPS_SQD;
		CHECK(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE), "to SQD");
		usleep(dice_roll(&dice, 500));
		attr.qp_state = IBV_QPS_RTS;
		mask = IBV_QP_STATE;
	}
	CHECK(!ibv_modify_qp(end->qp, &attr, mask), "to RTS");
	return true;
}

static bool round_of_all(void)
{
	struct lane *any = &lanes[dice_roll(&dice, LANES)];
	int i;

	for (i = 0; i < LANES; i++)
		if (!begin(&lanes[i]))
			return false;
	if (getenv("MODIFY") && dice_one_in(&dice, 5) && !modify_one(any->from))
		return false;
	for (i = 0; i < LANES; i++)
		if (!finish(&lanes[i]))
			return false;
	if (dice_one_in(&dice, 10))
		usleep(dice_roll(&dice, 20000));
	for (i = 0; i < LANES; i++)
		if (!is_left_alone(&lanes[i]))
			return false;
	return true;
}

static void connect_all(void)
{
	int i;

	for (i = 0; i < PAIRS; i++) {
		pairs[i] = e;
		ends_connect(&pairs[i], &conf);
		lanes[2 * i] = (struct lane) {
			.from = &pairs[i].a, .to = &pairs[i].b, .number = 2 * i,
		};
		lanes[2 * i + 1] = (struct lane) {
			.from = &pairs[i].b, .to = &pairs[i].a,
			.number = 2 * i + 1,
		};
	}
}

static void disconnect_all(void)
{
	int i;

	for (i = 0; i < PAIRS; i++)
		ends_disconnect(&pairs[i]);
}

static int run_stream(void)
{
	bool ok = true;

	connect_all();
	puts("ready");
	fflush(stdout);
	while (ok && !enough)
		ok = round_of_all();
	disconnect_all();
	return !ok;
}

/* ---------------------------------------------------------------- others */

static struct hwstats before;

/* A NIC may take the QP of end a as soon as the QP is in state RTS. */
static void connect_one(void)
{
	hwstats_read(&before, ibv_get_device_name(e.a.ctx->device));
	ends_connect(&e, &conf);
}

static bool is_offloaded(void)
{
	return hwstats_since(&before, ibv_get_device_name(e.a.ctx->device),
			     "rc_offloaded");
}

static bool is_offloaded_soon(void)
{
	int i;

	for (i = 0; i < 200 && !is_offloaded(); i++) {
		CHECK(write_arrives(&e, 3000), "a WRITE");
		usleep(1000);
	}
	CHECK(i < 200, "no NIC has the QP");
	return write_arrives(&e, 3000);
}

static bool is_all(const uint8_t *at, uint8_t value, size_t size)
{
	while (size--)
		CHECK(*at++ == value, "written to, %zu bytes before the end",
		      size + 1);
	return true;
}

/* A peer that has refused a request is in error, and repeats no NAK that was lost. */
static bool is_refusal(enum ibv_wc_status status)
{
	return status == IBV_WC_REM_ACCESS_ERR ||
	       (getenv("LOSSY") && status == IBV_WC_RETRY_EXC_ERR);
}

/* The first WRITEs may succeed before the loss; the last one comes too late. */
static bool gone(struct region *r, int round)
{
	struct ibv_sge sge = end_sge(&e.a, 4000);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	struct ibv_wc wc;
	int i, failed = 0;

	wr.wr.rdma.rkey = r->mr->rkey;
	for (i = 0; i < OPS; i++) {
		wr.wr.rdma.remote_addr = (uintptr_t)r->mem + 4096 * i;
		post(&e.a, &wr);
	}
	usleep(dice_roll(&dice, 300));
	if (round % 2) {
		CHECK(!ibv_dereg_mr(r->mr), "dereg_mr");
		r->mr = NULL;
	} else {
		CHECK(!uverbs_rereg_mr(r->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL,
				       NULL, 0, IBV_ACCESS_LOCAL_WRITE),
		      "rereg_mr");
	}
	memset(r->mem, POISON, r->size);
	post(&e.a, &wr);
	for (i = 0; i <= OPS && poll_one(e.a.scq, &wc); i++) {
		if (!failed && wc.status != IBV_WC_SUCCESS)
			CHECK(is_refusal(wc.status), "%s",
			      ibv_wc_status_str(wc.status));
		failed += wc.status != IBV_WC_SUCCESS;
	}
	CHECK(i == OPS + 1 && failed, "%d completions, %d failed", i, failed);
	return is_all(r->mem, POISON, r->size);
}

static int run_gone(void)
{
	int i, rounds = e.quick ? 10 : 60;
	struct region r;
	bool ok = true;

	for (i = 0; ok && i < rounds; i++) {
		r = region_new(&e.b, 4096 * OPS,
			       IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE);
		connect_one();
		ok = is_offloaded_soon() && gone(&r, i);
		ends_disconnect(&e);
		region_free(&r);
	}
	return !ok;
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

static bool dies(void)
{
	struct ibv_sge sge = end_sge(&e.a, 3000);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	struct ibv_wc wc;

	receive(&e.a, 1, 3000);
	if (!is_offloaded_soon())
		return false;
	async_drain(&e.a);
	turn("va/dead", "1");
	turn("vb/lose", "1");
	CHECK(!post(&e.a, &wr), "post_send");
	turn("va/give_back", "1");
	CHECK(poll_one(e.a.scq, &wc) && wc.status == IBV_WC_WR_FLUSH_ERR,
	      "the WRITE is not flushed");
	CHECK(poll_one(e.a.rcq, &wc) && wc.status == IBV_WC_WR_FLUSH_ERR,
	      "the receive is not flushed");
	CHECK(async_within(&e.a, IBV_EVENT_QP_FATAL, WAIT_MS), "no event");
	return true;
}

/* The peer's QP is in error and silent. Retries run out, by NIC or by software. */
static bool falls_silent(void)
{
	struct ibv_sge sge = end_sge(&e.a, 3000);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	struct ibv_wc wc;

	if (!is_offloaded_soon())
		return false;
	CHECK(!end_to_error(&e.b), "to the error state");
	CHECK(!post(&e.a, &wr), "post_send");
	CHECK(poll_one(e.a.scq, &wc), "nothing completes");
	CHECK(wc.status == IBV_WC_RETRY_EXC_ERR, "%s",
	      ibv_wc_status_str(wc.status));
	return true;
}

static int run_silent(void)
{
	bool ok;

	conf.timeout = HASTE;
	connect_one();
	ok = falls_silent();
	ends_disconnect(&e);
	return !ok;
}

static int run_dead(void)
{
	bool ok;

	connect_one();
	ok = dies();
	turn("va/dead", "0");
	turn("vb/lose", "0");
	ends_disconnect(&e);
	return !ok;
}

static int run_idle(void)
{
	bool ok;

	connect_one();
	ok = is_offloaded_soon();
	if (ok)
		puts("ready");
	fflush(stdout);
	while (ok && !enough)
		usleep(10000);
	ok = ok && write_arrives(&e, 3000);
	ends_disconnect(&e);
	return !ok;
}

static int run_region(void)
{
	struct region r = region_new(&e.a, 4096,
				     IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE);

	region_free(&r);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct named_case cases[] = {
		{ "stream", run_stream },
		{ "gone", run_gone },
		{ "dead", run_dead },
		{ "silent", run_silent },
		{ "idle", run_idle },
		{ "region", run_region },
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
