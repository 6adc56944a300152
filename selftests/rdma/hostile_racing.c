// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread of a process moves the indices of its rings, and another rings the
 * doorbells, in all states and with all opcodes. No round of an engine exceeds its
 * budget, whatever the indices are. A QP can be destroyed while a thread writes to its
 * rings.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/hwstats.h"
#include "../lib/ring.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

enum {
	/* VERVE_BUDGET_PACKETS, also the limit of requests that only fail */
	PER_ROUND	= 64,
	MOST_RINGS	= 16,
	/* log2 of the smallest send request, larger than the elements of other rings */
	SEND_SHIFT	= 8,
	NO_AH		= 0x7ffffe,
	/* Opcodes under test are below OPCODES; NO_OPCODE is illegal. */
	OPCODES		= 16,
	NO_OPCODE	= 200,
};

static struct ends e;
static struct ring rings[MOST_RINGS];
static int num_rings;
static atomic_bool enough;

/* ---------------------------------------------------------------- rings */

static uint32_t get(const struct ring *r, unsigned int at)
{
	return *(volatile uint32_t *)(r->at + at);
}

static void put(const struct ring *r, unsigned int at, uint32_t value)
{
	*(volatile uint32_t *)(r->at + at) = value;
}

static void put_at(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static bool is_send_queue(const struct ring *r)
{
	return get(r, RING_LOG2_SIZE) >= SEND_SHIFT;
}

static uint32_t slots(const struct ring *r)
{
	return get(r, RING_MASK) + 1;
}

/* Set the index of a full ring. */
static void fill_up(const struct ring *r)
{
	put(r, RING_PRODUCER,
	    (get(r, RING_CONSUMER) - 1) & get(r, RING_MASK));
}

/* Write a request with legal address, keys and length; of UD, without a destination. */
static void write_request(uint8_t *wqe, uint32_t opcode, uint32_t flags,
			  enum ibv_qp_type type)
{
	uint64_t from = (uintptr_t)msg(&e.a), to = (uintptr_t)msg(&e.b);

	memset(wqe, 0, WQE_PAYLOAD);
	put_at(wqe + WQE_OPCODE, opcode);
	put_at(wqe + WQE_FLAGS, flags);
	if (type == IBV_QPT_UD) {
		put_at(wqe + WQE_UD_QPN, e.b.qp->qp_num);
		put_at(wqe + WQE_UD_AH, NO_AH);
	} else {
		memcpy(wqe + WQE_ADDR, &to, sizeof(to));
		put_at(wqe + WQE_RDMA_RKEY, e.b.mr->rkey);
	}
	put_at(wqe + WQE_LENGTH, 8);
	put_at(wqe + WQE_NUM_SGE, 1);
	memcpy(wqe + WQE_PAYLOAD, &from, sizeof(from));
	put_at(wqe + WQE_PAYLOAD + 8, 8);
	put_at(wqe + WQE_PAYLOAD + 12, e.a.mr->lkey);
}

static void write_requests(uint32_t opcode, enum ibv_qp_type type)
{
	uint32_t k;
	int i;

	for (i = 0; i < num_rings; i++)
		for (k = 0; is_send_queue(&rings[i]) && k < slots(&rings[i]); k++)
			write_request(rings[i].at + RING_DATA +
				      ((size_t)k << get(&rings[i], RING_LOG2_SIZE)),
				      opcode, k % 7 ? 0 : IBV_SEND_FENCE, type);
}

static void connect_ends(const struct qp_conf *conf)
{
	ends_connect(&e, conf);
	num_rings = ring_list(rings, MOST_RINGS);
}

/* ---------------------------------------------------------------- races */

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/*
 * The user's index is the consumer index of a CQ, and the producer index of other rings.
 * Writing to the kernel's index has no effect.
 */
static void move(const struct ring *r, uint32_t *seed)
{
	switch (next(seed) % 8) {
	case 0:
		put(r, RING_PRODUCER, get(r, RING_CONSUMER));
		break;
	case 1:
		put(r, RING_PRODUCER, get(r, RING_CONSUMER) + 1);
		break;
	case 2:
		put(r, RING_PRODUCER, next(seed) << 8 | next(seed));
		break;
	case 3:
		put(r, RING_CONSUMER, next(seed) << 8 | next(seed));
		break;
	default:
		if (is_send_queue(r))
			fill_up(r);
		else
			put(r, RING_CONSUMER, get(r, RING_PRODUCER));
	}
}

static void *race(void *arg)
{
	uint32_t seed = (uintptr_t)arg;

	while (!enough)
		move(&rings[next(&seed) % num_rings], &seed);
	return NULL;
}

/* Keep the rings full, and the CQs empty. */
static void *feed(void *arg)
{
	int i;

	while (!enough)
		for (i = 0; i < num_rings; i++)
			if (is_send_queue(&rings[i]))
				fill_up(&rings[i]);
			else
				put(&rings[i], RING_CONSUMER,
				    get(&rings[i], RING_PRODUCER));
	return NULL;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/* Ring both doorbells for @ms. Return: us of the longest call. */
static uint64_t ring_for(unsigned int ms)
{
	uint64_t until = now_ms() + ms, longest = 0;

	do {
		uint64_t start = now_us(), took;

		uverbs_doorbell(e.a.qp);
		took = now_us() - start;
		uverbs_doorbell(e.b.qp);
		longest = took > longest ? took : longest;
	} while (now_ms() < until);
	return longest;
}

static uint64_t ring_while(void *(*thread)(void *), unsigned int ms)
{
	uint64_t longest;
	pthread_t id;

	enough = false;
	if (pthread_create(&id, NULL, thread, (void *)(uintptr_t)(ms + num_rings)))
		tap_bail("pthread_create");
	longest = ring_for(ms);
	enough = true;
	pthread_join(id, NULL);
	return longest;
}

/* ---------------------------------------------------------------- tests */

static struct hwstats before, after;

static uint64_t growth(const char *name)
{
	hwstats_read(&after, e.a.name);
	return hwstats_growth(&before, &after, name);
}

static bool all_flushed(struct ibv_cq *cq, uint32_t n)
{
	struct ibv_wc wc;

	for (; n; n--) {
		CHECK(poll_one(cq, &wc), "%u do not complete", n);
		CHECK(wc.status != IBV_WC_SUCCESS, "one succeeds");
	}
	return true;
}

/* No round has executed more requests than its budget allows. */
static bool took_rounds(uint32_t n)
{
	uint64_t rounds = growth("budget_spent");

	CHECK((rounds + 2) * PER_ROUND >= n, "%u requests in %llu rounds", n,
	      (unsigned long long)rounds);
	return true;
}

static const struct ring *send_queue(void)
{
	int i;

	for (i = 0; i < num_rings; i++)
		if (is_send_queue(&rings[i]))
			return &rings[i];
	tap_bail("no send queue");
}

/* A doorbell flushes a full ring behind a request that fails. */
static bool flush_after_failure(void)
{
	struct qp_conf conf = { .type = IBV_QPT_UD, .depth = 16383 };
	uint32_t n = 0;
	uint64_t us;
	int i;

	connect_ends(&conf);
	write_requests(IBV_WR_SEND, conf.type);
	hwstats_read(&before, e.a.name);
	for (i = 0; i < num_rings; i++)
		if (is_send_queue(&rings[i]))
			fill_up(&rings[i]);
	n = slots(send_queue()) - 1;
	us = now_us();
	uverbs_doorbell(e.a.qp);
	tap_diag("the doorbell took %llu us", (unsigned long long)(now_us() - us));
	return all_flushed(e.a.scq, n) && took_rounds(n);
}

/* A QP flushes its receives in the Error state. */
static bool flush_of_receives(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC, .depth = 16383 };
	struct ibv_sge sge;
	uint32_t n = 0;
	uint64_t us;

	connect_ends(&conf);
	sge = end_sge(&e.a, 8);
	while (!post_recv(&e.a, n, &sge, 1))
		n++;
	hwstats_read(&before, e.a.name);
	us = now_us();
	CHECK(!end_to_error(&e.a), "modify_qp");
	tap_diag("modify_qp took %llu us", (unsigned long long)(now_us() - us));
	return all_flushed(e.a.rcq, n) && took_rounds(n);
}

/* Return: ring of end a's send queue, after one request. */
static const struct ring *used_send_queue(void)
{
	int i;

	for (i = 0; i < num_rings; i++)
		if (is_send_queue(&rings[i]) && get(&rings[i], RING_PRODUCER))
			return &rings[i];
	tap_bail("no send queue was used");
}

/* Copy the request to all slots, the next one with an unknown AH. */
static uint32_t repeat_request(const struct ring *r)
{
	uint32_t k, shift = get(r, RING_LOG2_SIZE);
	uint8_t *first = r->at + RING_DATA;

	for (k = 1; k < slots(r); k++)
		memcpy(first + ((size_t)k << shift), first, 1u << shift);
	put_at(first + (1u << shift) + WQE_UD_AH, NO_AH);
	fill_up(r);
	return slots(r) - 1;
}

/* Requests posted before SQE ends are flushed. */
static bool flush_before_going_on(void)
{
	struct qp_conf conf = { .type = IBV_QPT_UD, .depth = 16383 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	uint32_t n;

	connect_ends(&conf);
	sge = end_sge(&e.a, 8);
	wr = work(&e, IBV_WR_SEND, &sge);
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS))
		return false;
	n = repeat_request(used_send_queue());
	uverbs_doorbell(e.a.qp);
	CHECK(!ibv_modify_qp(e.a.qp, &attr, IBV_QP_STATE), "SQE to RTS");
	if (!all_flushed(e.a.scq, n))
		return false;
	CHECK(!post(&e.a, &wr), "post_send");
	return expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS);
}

/* A thread keeps the ring full. After a request has failed, no other one is read. */
static bool one_failure(void)
{
	struct qp_conf conf = { .type = IBV_QPT_UD, .depth = 1023 };
	uint64_t us, failures;
	int tries = 0;

	connect_ends(&conf);
	write_requests(IBV_WR_SEND, conf.type);
	hwstats_read(&before, e.a.name);
	/* On a busy machine, the thread may not run at first. */
	do {
		us = ring_while(feed, e.quick ? 100 : 1000);
		failures = growth("req_cqe_error");
	} while (!failures && ++tries < 20);
	tap_diag("the longest doorbell took %llu us", (unsigned long long)us);
	CHECK(failures && failures <= 2, "%llu failures of two send queues",
	      (unsigned long long)failures);
	return true;
}

static int to_sqd(struct end *end)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };

	return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);
}

static bool to_state(struct end *end, const struct end *peer,
		     const struct qp_conf *conf, enum ibv_qp_state state)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	int err = ibv_modify_qp(end->qp, &reset, IBV_QP_STATE) ?:
		  end_to_init(end, conf);

	if (!err && state >= IBV_QPS_RTR)
		err = end_to_rtr(end, peer, conf);
	if (!err && state >= IBV_QPS_RTS)
		err = end_to_rts(end, conf);
	if (!err && state == IBV_QPS_SQD)
		err = to_sqd(end);
	if (!err && state == IBV_QPS_ERR)
		err = end_to_error(end);
	CHECK(!err, "to state %d: %s", state, strerror(err));
	return true;
}

/* Fill rings with all opcodes in a state. UC and UD may enter SQE. */
static bool race_in_state(const struct qp_conf *conf, enum ibv_qp_state state,
			  uint64_t *longest)
{
	uint32_t opcode;

	for (opcode = 0; opcode <= OPCODES; opcode++) {
		uint64_t us;

		if (!to_state(&e.a, &e.b, conf, state) ||
		    !to_state(&e.b, &e.a, conf, state))
			return false;
		write_requests(opcode < OPCODES ? opcode : NO_OPCODE, conf->type);
		us = ring_while(race, 3);
		*longest = us > *longest ? us : *longest;
	}
	return true;
}

static bool race_in_all_states(enum ibv_qp_type type)
{
	static const enum ibv_qp_state states[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_ERR,
	};
	struct qp_conf conf = { .type = type, .depth = 255 };
	uint64_t longest = 0;
	unsigned int i;

	connect_ends(&conf);
	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (!race_in_state(&conf, states[i], &longest))
			return false;
	tap_diag("the longest doorbell took %llu us",
		 (unsigned long long)longest);
	return true;
}

static bool race_rc(void)
{
	return race_in_all_states(IBV_QPT_RC);
}

static bool race_uc(void)
{
	return race_in_all_states(IBV_QPT_UC);
}

static bool race_ud(void)
{
	return race_in_all_states(IBV_QPT_UD);
}

static pid_t fork_feeder(void)
{
	pid_t pid = fork();

	if (pid < 0)
		tap_bail("fork");
	if (pid)
		return pid;
	enough = false;
	feed(NULL);
	_exit(0);
}

/* Another process has mapped the rings, and writes to them while they are destroyed. */
static bool destroyed_meanwhile(void)
{
	struct qp_conf conf = { .type = IBV_QPT_UD, .depth = 1023 };
	uint64_t start, ms;
	pid_t pid;

	connect_ends(&conf);
	write_requests(IBV_WR_SEND, conf.type);
	pid = fork_feeder();
	ring_for(100);
	start = now_ms();
	ends_disconnect(&e);
	ms = now_ms() - start;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(ms < 3 * WAIT_MS, "it took %llu ms", (unsigned long long)ms);
	return true;
}

static const struct {
	const char *name;
	bool (*test)(void);
} tests[] = {
	{ "requests behind one that fails", flush_after_failure },
	{ "receives of a QP that fails", flush_of_receives },
	{ "requests posted before the QP goes on", flush_before_going_on },
	{ "a ring that is kept full fails once", one_failure },
	{ "RC, moving indices", race_rc },
	{ "UC, moving indices", race_uc },
	{ "UD, moving indices", race_ud },
	{ "destroyed while somebody writes", destroyed_meanwhile },
};

/* The device still works after these tests. */
static bool works(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };
	bool ok;

	ends_connect(&e, &conf);
	ok = write_arrives(&e, 20000);
	ends_disconnect(&e);
	CHECK(ok, "a WRITE does not arrive afterwards");
	return true;
}

int main(int argc, char **argv)
{
	unsigned int i;
	bool ok;

	ends_open(&e, argc, argv);
	tap_plan(ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		ok = tests[i].test();
		if (e.a.qp)
			ends_disconnect(&e);
		tap_result(works() && ok, "%s", tests[i].name);
	}
	ends_close(&e);
	return tap_done();
}
