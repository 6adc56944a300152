/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clock, timers and work items. The program that links the transport implements them.
 */
#ifndef SHIM_CLOCK_H
#define SHIM_CLOCK_H

#include "kernel.h"

typedef long long ktime_t;

#define ns_to_ktime(ns)		((ktime_t)(ns))

enum hrtimer_restart { HRTIMER_NORESTART };
enum hrtimer_mode { HRTIMER_MODE_REL_SOFT };

#define CLOCK_MONOTONIC		1

/* No file linked here schedules a tasklet. */
struct tasklet_struct {
	bool is_scheduled;
};

/**
 * struct hrtimer - a one-shot timer
 * @function: called on expiry
 * @starts: number of starts and cancellations, which identifies a start
 * @queued: the timer is running
 */
struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	u32 starts;
	bool queued;
};

static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *timer),
	      int clock, enum hrtimer_mode mode)
{
	(void)clock;
	(void)mode;
	*timer = (struct hrtimer) { .function = function };
}

static inline bool hrtimer_is_queued(struct hrtimer *timer)
{
	return timer->queued;
}

void hrtimer_start_range_ns(struct hrtimer *timer, ktime_t ns, u64 range,
			    enum hrtimer_mode mode);

static inline void hrtimer_start(struct hrtimer *timer, ktime_t ns,
				 enum hrtimer_mode mode)
{
	hrtimer_start_range_ns(timer, ns, 0, mode);
}

static inline void hrtimer_cancel(struct hrtimer *timer)
{
	timer->queued = false;
	timer->starts++;
}

u64 ktime_get_ns(void);

#define HZ		1000
#define jiffies		((unsigned long)(ktime_get_ns() / NSEC_PER_MSEC))
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)

struct work_struct {
	void (*function)(struct work_struct *work);
	bool pending;
	bool cancelled;
};

struct delayed_work {
	struct work_struct work;
};

struct workqueue_struct { int unused; };

#define WQ_HIGHPRI	0
#define WQ_MEM_RECLAIM	0
#define WQ_PERCPU	0
#define WQ_UNBOUND	0

static inline void
shim_init_work(struct work_struct *work,
	       void (*function)(struct work_struct *work))
{
	*work = (struct work_struct) { .function = function };
}

#define INIT_WORK(work, function)	shim_init_work(work, function)

bool queue_work(struct workqueue_struct *wq, struct work_struct *work);

/* The program's queue finds @cancelled set and does not run the work item. */
static inline void cancel_work_sync(struct work_struct *work)
{
	work->cancelled = work->pending;
}

static inline struct workqueue_struct *alloc_workqueue(const char *name, ...)
{
	(void)name;
	return calloc(1, sizeof(struct workqueue_struct));
}

static inline void destroy_workqueue(struct workqueue_struct *wq)
{
	free(wq);
}

#endif
