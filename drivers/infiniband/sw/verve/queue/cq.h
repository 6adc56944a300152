/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Completion queues
 */
#ifndef VERVE_QUEUE_CQ_H
#define VERVE_QUEUE_CQ_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include "ring.h"

/**
 * struct verve_cq - a completion queue
 * @ibcq: CQ of the RDMA core
 * @lock: guards fields below; irqsave for kernel CQs, whose users may poll
 *	with interrupts off, _bh for user CQs, in two lock classes
 * @ring: elements are struct ib_uverbs_wc for user CQs, struct ib_wc for kernel CQs
 * @armed: requested enum ib_cq_notify_flags, 0 when not armed
 * @notify: a call of comp_handler is due
 * @told_from: consumer index at the last completion event
 * @told_to: producer index at the last completion event
 * @overrun: IB_EVENT_CQ_ERR is due, because a completion found the CQ full
 * @overrun_reported: IB_EVENT_CQ_ERR has been raised, and is raised only once
 * @ignores_overrun: IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN: a full CQ drops completions
 *	silently
 * @is_user: selects the kind of lock and the format of elements
 * @most_held: moderation: number of completions that raises an event; 0 and 1 mean
 *	no moderation
 * @period: moderation: longest delay of an event
 * @held: completions since @timer was started
 * @timer: ends @period; the first held completion starts it
 * @telling: a handler runs; its caller checks for new events afterwards
 * @later: tasklet that calls handlers when the present context must not
 * @settling: mutex of the destroyers of QPs that wait for @later
 */
struct verve_cq {
	struct ib_cq ibcq;
	spinlock_t lock; /* the fields that it guards */
	struct verve_ring ring __guarded_by(&lock);
	u8 armed __guarded_by(&lock);
	u32 told_from __guarded_by(&lock);
	u32 told_to __guarded_by(&lock);
	bool notify __guarded_by(&lock);
	bool overrun __guarded_by(&lock);
	bool overrun_reported __guarded_by(&lock);
	bool ignores_overrun;
	bool is_user;
	u16 most_held __guarded_by(&lock);
	u16 held __guarded_by(&lock);
	ktime_t period __guarded_by(&lock);
	struct hrtimer timer;
	bool telling __guarded_by(&lock);
	struct tasklet_struct later;
	struct mutex settling; /* taken before all other locks */
};

static inline struct verve_cq *to_vcq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct verve_cq, ibcq);
}

/**
 * verve_cq_post() - add completions
 * @cq: CQ
 * @wc: array of completions with @wc->qp set
 * @n: number of completions
 * @solicited: one of the completions is solicited or an error (11.4.2.2)
 *
 * This function calls no handler. The caller calls verve_cq_notify() after it has
 * dropped Verve's locks.
 *
 * Context: BH off; interrupts may be off for kernel CQs.
 * Return: true, or false when the CQ has overrun. The QP of a lost completion
 * must fail (11.6.3.1).
 */
bool verve_cq_post(struct verve_cq *cq, const struct ib_wc *wc, u32 n,
		   bool solicited);

/**
 * verve_cq_notify() - call comp_handler and event_handler if events are due
 * @cq: CQ
 *
 * Users of the core may expect that calls of a CQ's handlers do not overlap. If
 * another CPU calls a handler, that CPU also delivers the new events.
 *
 * Context: BH off, no lock of Verve held, not in a verb, whose caller may hold a lock
 * that a handler takes.
 */
void verve_cq_notify(struct verve_cq *cq);
/*
 * Have a tasklet call verve_cq_notify(). Context: any. With BH off, the tasklet runs
 * when BH are on again; with BH on, ksoftirqd runs it.
 */
void verve_cq_notify_later(struct verve_cq *cq);
/**
 * verve_cq_settle() - deliver the events of a kernel CQ and wait for its handlers
 * @cq: CQ of a QP that is being destroyed and whose engine has stopped
 *
 * After a CQ's last QP, and before the CQ, the core frees memory that the CQ's
 * handler uses. So all events of this QP's completions, moderated ones included,
 * are delivered before this function returns.
 *
 * Context: process.
 */
void verve_cq_settle(struct verve_cq *cq);

/* Return: bytes of an entry. */
size_t verve_cq_element_size(bool is_user);
/* Initialise a zeroed CQ, but for its ring. Context: process. */
void verve_cq_init(struct verve_cq *cq, bool is_user);
/* Stop the timer and the tasklet, before the CQ is freed. Context: process. */
void verve_cq_stop(struct verve_cq *cq);

/**
 * verve_cq_moderate() - set the moderation of completion events
 * @cq: CQ
 * @count: completions that raise an event; 0 sets no number if @period is set, and
 *	else turns moderation off
 * @period: longest delay of an event, in microseconds
 *
 * Context: process.
 */
void verve_cq_moderate(struct verve_cq *cq, u16 count, u16 period);
/* Arm the CQ (ib_req_notify_cq()). Context: any. Return: true if the CQ is not empty. */
bool verve_cq_arm(struct verve_cq *cq, enum ib_cq_notify_flags notify);

#endif
