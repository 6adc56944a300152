// SPDX-License-Identifier: GPL-2.0-only
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "wc.h"

/* Polls before the poller sleeps */
#define PATIENCE	1000u
/* A program that waits looks at the clock at least as often as this. */
#define STEP_MS		1000u

unsigned int wait_ms(void)
{
	const char *slow = getenv("SLOW");
	int times = slow ? atoi(slow) : 1;

	return 10000 * (times > 1 ? times : 1);
}

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

struct deadline deadline_in(unsigned int ms)
{
	return (struct deadline){ .left = ms, .at = now_ms() };
}

bool is_past(struct deadline *end)
{
	uint64_t now = now_ms(), step = now - end->at;

	end->at = now;
	if (step > 2 * STEP_MS) {
		tap_diag("the machine stood still for %u ms", (unsigned int)step);
		step = STEP_MS;
	}
	if (step > end->left)
		return true;
	end->left -= step;
	return false;
}

bool poll_within(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms)
{
	struct deadline end = deadline_in(ms);
	unsigned int tries = 0;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, wc);
		if (n < 0)
			tap_bail("ibv_poll_cq: %d", n);
		if (n)
			return true;
		/* The sender of the completion may need this CPU. */
		if (++tries < PATIENCE)
			sched_yield();
		else
			usleep(100);
	} while (!is_past(&end));
	return false;
}

bool expect_wc(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	CHECK(poll_one(cq, &wc), "no completion of wr %llu (%s)",
	      (unsigned long long)wr_id, ibv_wc_status_str(status));
	CHECK(wc.wr_id == wr_id && wc.status == status,
	      "wr %llu (%s) completed, not wr %llu (%s)",
	      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status),
	      (unsigned long long)wr_id, ibv_wc_status_str(status));
	return true;
}

bool expect_none(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	CHECK(!poll_within(cq, &wc, QUIET_MS), "unexpected completion, wr %llu (%s)",
	      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
	return true;
}

bool expect_flushed(struct ibv_cq *cq, int from, int to)
{
	for (; from < to; from++)
		if (!expect_wc(cq, from, IBV_WC_WR_FLUSH_ERR))
			return false;
	return expect_none(cq);
}

bool memory_becomes(const void *got, const void *want, size_t size)
{
	struct deadline end = deadline_in(WAIT_MS);

	do {
		if (!memcmp(got, want, size))
			return true;
		sched_yield();
	} while (!is_past(&end));
	return false;
}

static bool is_readable(int fd, struct deadline *end)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	do {
		if (poll(&p, 1, end->left < STEP_MS ? end->left : STEP_MS) == 1)
			return true;
	} while (!is_past(end));
	return false;
}

bool event_within(struct ibv_comp_channel *chan, unsigned int ms)
{
	struct deadline end = deadline_in(ms);
	struct ibv_cq *cq;
	void *context;

	if (!is_readable(chan->fd, &end) ||
	    ibv_get_cq_event(chan, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return true;
}

bool async_within(struct end *end, enum ibv_event_type type, unsigned int ms)
{
	struct deadline until = deadline_in(ms);
	struct ibv_async_event event;

	do {
		if (!is_readable(end->ctx->async_fd, &until))
			return false;
		if (ibv_get_async_event(end->ctx, &event))
			continue;
		ibv_ack_async_event(&event);
		if (event.event_type == type)
			return true;
		tap_diag("event: %s", ibv_event_type_str(event.event_type));
	} while (!is_past(&until));
	return false;
}

void async_drain(struct end *end)
{
	struct ibv_async_event event;

	while (!ibv_get_async_event(end->ctx, &event))
		ibv_ack_async_event(&event);
}
