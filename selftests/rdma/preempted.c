// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two threads on one CPU, each with its own connection. One posts lists of inline WRITEs
 * without a pause. The other has a higher priority, and wakes up from time to time to
 * post a list. With PREEMPT_RT, it may preempt the engine of the first thread, with BH
 * off or on. All data are compared.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "../lib/ends.h"
#include "../lib/hwstats.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define WORDS	64u	/* words of 4 bytes in a message */
#define BATCH	16u
#define PRIORITY 10

struct poster {
	struct ends e;
	const char *name;
	uint32_t mark;		/* of the thread, in each word */
	uint32_t turn;		/* number of the last list, in each word */
	uint64_t until;		/* end, ms */
	bool ok;
};

static struct poster slow = { .name = "the preempted one", .mark = 0x10000000 };
static struct poster urgent = { .name = "the urgent one", .mark = 0xf0000000 };

/* Return: word that fills message @i. */
static uint32_t word(const struct poster *p, unsigned int i)
{
	return p->mark + p->turn * BATCH + i;
}

static uint32_t *target(const struct poster *p, unsigned int i)
{
	return (uint32_t *)msg(&p->e.b) + i * WORDS;
}

/* Post @n WRITEs in one list, the last one signaled. */
static bool write_list(struct poster *p, unsigned int n)
{
	uint32_t words[BATCH][WORDS];
	struct ibv_send_wr wrs[BATCH];
	struct ibv_sge sges[BATCH];
	unsigned int i, j;

	p->turn++;
	for (i = 0; i < n; i++) {
		for (j = 0; j < WORDS; j++)
			words[i][j] = word(p, i);
		sges[i] = (struct ibv_sge){
			.addr = (uintptr_t)words[i],
			.length = sizeof(words[i]),
		};
		wrs[i] = work(&p->e, IBV_WR_RDMA_WRITE, &sges[i]);
		wrs[i].wr_id = p->turn;
		wrs[i].wr.rdma.remote_addr = (uintptr_t)target(p, i);
		wrs[i].send_flags = IBV_SEND_INLINE;
		wrs[i].next = &wrs[i + 1];
	}
	wrs[n - 1].next = NULL;
	wrs[n - 1].send_flags |= IBV_SEND_SIGNALED;
	CHECK(!post(&p->e.a, wrs), "%s: post_send", p->name);
	return true;
}

static bool are_right(const struct poster *p, unsigned int n)
{
	unsigned int i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < WORDS; j++)
			CHECK(target(p, i)[j] == word(p, i),
			      "%s: turn %u, message %u, word %u is %x, not %x",
			      p->name, p->turn, i, j, target(p, i)[j],
			      word(p, i));
	return true;
}

static bool post_all_along(struct poster *p)
{
	while (now_ms() < p->until)
		if (!write_list(p, BATCH) ||
		    !expect_wc(p->e.a.scq, p->turn, IBV_WC_SUCCESS) ||
		    !are_right(p, BATCH))
			return false;
	return true;
}

/* Sleep between polls, because the sender of the completion may need this CPU. */
static bool sleep_until_done(struct poster *p)
{
	struct deadline end = deadline_in(WAIT_MS);
	uint32_t noise = p->turn;
	struct ibv_wc wc;
	int n;

	do {
		struct timespec pause = { .tv_nsec = 50000 };

		/* Random delays reach all points of the other thread. */
		noise = noise * 1664525 + 1013904223;
		pause.tv_nsec += noise >> 15;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		n = ibv_poll_cq(p->e.a.scq, 1, &wc);
	} while (!n && !is_past(&end));
	CHECK(n == 1, "%s: no completion of turn %u", p->name, p->turn);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == p->turn,
	      "%s: turn %u: %s, of %u", p->name, p->turn,
	      ibv_wc_status_str(wc.status), (unsigned int)wc.wr_id);
	return true;
}

static bool post_at_times(struct poster *p)
{
	while (now_ms() < p->until)
		if (!write_list(p, 1) || !sleep_until_done(p) ||
		    !are_right(p, 1))
			return false;
	return true;
}

static void *run_slow(void *arg)
{
	slow.ok = post_all_along(&slow);
	return NULL;
}

static void *run_urgent(void *arg)
{
	struct sched_param param = { .sched_priority = PRIORITY };

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param))
		tap_bail("no SCHED_FIFO");
	urgent.ok = post_at_times(&urgent);
	return NULL;
}

/* Bind this thread to its CPU. Both threads inherit that. */
static void stay_here(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		tap_bail("sched_setaffinity");
}

static void open_poster(struct poster *p, int argc, char **argv)
{
	struct qp_conf conf = {
		.type = IBV_QPT_RC,
		.inline_data = WORDS * sizeof(uint32_t),
	};

	optind = 1;
	ends_open(&p->e, argc, argv);
	ends_connect(&p->e, &conf);
	p->until = now_ms() + (p->e.quick ? 4000 : 3000);
}

static void close_poster(struct poster *p)
{
	ends_disconnect(&p->e);
	ends_close(&p->e);
}

static bool nothing_was_damaged(const struct hwstats *before)
{
	struct hwstats after;

	hwstats_read(&after, slow.e.b.name);
	if (!hwstats_growth_of(before, &after, "rx_drop_") &&
	    !hwstats_growth(before, &after, "send_err"))
		return true;
	hwstats_diag(before, &after);
	return false;
}

int main(int argc, char **argv)
{
	struct hwstats before;
	pthread_t threads[2];

	open_poster(&slow, argc, argv);
	open_poster(&urgent, argc, argv);
	hwstats_read(&before, slow.e.b.name);
	tap_plan(3);
	stay_here();
	pthread_create(&threads[0], NULL, run_slow, NULL);
	pthread_create(&threads[1], NULL, run_urgent, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	tap_diag("%u lists of %u, %u times one", slow.turn, BATCH, urgent.turn);
	tap_result(slow.ok, "requests of a preempted thread");
	tap_result(urgent.ok, "requests of the thread that preempts it");
	tap_result(nothing_was_damaged(&before), "no packet was damaged");
	close_poster(&slow);
	close_poster(&urgent);
	return tap_done();
}
