// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulated time: a heap of events, with the timers and work items of the transport
 */
#include <clock.h>
#include "world.h"

struct event {
	u64 when;
	u64 order;
	void (*call)(void *arg);
	void *arg;
	bool owns_arg;
};

struct expiry {
	struct hrtimer *timer;
	u32 start;
};

static struct {
	u64 now;
	u64 order;
	u64 chance;
	struct event *heap;
	u32 num, room;
} world;

bool shim_irqs_off;

/* splitmix64's mixer, over a counter */
static u64 random64(void)
{
	u64 x = world.chance += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

void world_begin(u64 seed)
{
	world.now = 1;
	world.order = 0;
	/* Seeds that follow each other must not have similar sequences. */
	world.chance = seed;
	world.chance = random64();
	world.num = 0;
	shim_irqs_off = false;
}

u64 world_now(void)
{
	return world.now;
}

u64 ktime_get_ns(void)
{
	return world.now;
}

u32 dice(u32 n)
{
	return n ? random64() % n : 0;
}

u32 between(u32 lo, u32 hi)
{
	return lo + dice(hi - lo + 1);
}

static bool is_before(const struct event *a, const struct event *b)
{
	return a->when != b->when ? a->when < b->when : a->order < b->order;
}

static void rise(u32 i)
{
	struct event *heap = world.heap;

	for (; i && is_before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(heap[i], heap[(i - 1) / 2]);
}

static void sink(u32 i)
{
	struct event *heap = world.heap;
	u32 child;

	while ((child = 2 * i + 1) < world.num) {
		if (child + 1 < world.num &&
		    is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &heap[i]))
			return;
		swap(heap[i], heap[child]);
		i = child;
	}
}

static void add(u64 ns, void (*call)(void *arg), void *arg, bool owns_arg)
{
	if (world.num == world.room) {
		world.room = 2 * world.room + 64;
		world.heap = realloc(world.heap,
				     world.room * sizeof(*world.heap));
	}
	world.heap[world.num] = (struct event) {
		.when = world.now + ns,
		.order = world.order++,
		.call = call,
		.arg = arg,
		.owns_arg = owns_arg,
	};
	rise(world.num++);
}

void world_after(u64 ns, void (*call)(void *arg), void *arg)
{
	add(ns, call, arg, false);
}

void world_after_owned(u64 ns, void (*call)(void *arg), void *arg)
{
	add(ns, call, arg, true);
}

bool world_step(void)
{
	struct event event;

	if (!world.num)
		return false;
	event = world.heap[0];
	world.heap[0] = world.heap[--world.num];
	sink(0);
	world.now = event.when;
	event.call(event.arg);
	return true;
}

void world_end(void)
{
	while (world.num--)
		if (world.heap[world.num].owns_arg)
			free(world.heap[world.num].arg);
	free(world.heap);
	world.heap = NULL;
	world.num = 0;
	world.room = 0;
}

/* Only the last start of a timer counts. */
static void expire(void *arg)
{
	struct expiry *expiry = arg;
	struct hrtimer *timer = expiry->timer;
	bool is_due = timer->queued && timer->starts == expiry->start;

	free(expiry);
	if (!is_due)
		return;
	timer->queued = false;
	timer->function(timer);
}

void hrtimer_start_range_ns(struct hrtimer *timer, ktime_t ns, u64 range,
			    enum hrtimer_mode mode)
{
	struct expiry *expiry = malloc(sizeof(*expiry));

	(void)mode;
	timer->queued = true;
	*expiry = (struct expiry) { timer, ++timer->starts };
	world_after_owned(ns + dice(range + 1), expire, expiry);
}

static void work(void *arg)
{
	struct work_struct *work = arg;

	work->pending = false;
	if (!work->cancelled)
		work->function(work);
	work->cancelled = false;
}

/* Another CPU holds the lock: events run until it is released. */
void shim_spin(spinlock_t *lock)
{
	while (lock->held)
		expect(world_step(), "nobody lets go of a lock");
	lock->held = true;
}

/* A work item runs after some time, in another context. */
bool queue_work(struct workqueue_struct *wq, struct work_struct *item)
{
	(void)wq;
	if (item->pending)
		return false;
	item->pending = true;
	world_after(between(1, 20 * US), work, item);
	return true;
}
