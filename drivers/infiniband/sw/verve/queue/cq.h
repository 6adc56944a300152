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
 * @ibcq: what the core knows
 * @lock: what has it as its guard. Kernel CQs: irqsave, as kernel users may poll with
 *	interrupts off. User CQs: _bh. The two kinds are different lock classes.
 * @ring: elements are struct ib_uverbs_wc for user CQs, struct ib_wc else
 * @armed: enum ib_cq_notify_flags asked for, 0 when not armed
 * @notify: a completion met the arm; comp_handler is still to be called
 * @told_from: first entry that the last event told of
 * @told_to: and where those entries ended
 * @overrun: a completion found no room: IB_EVENT_CQ_ERR is due
 * @overrun_reported: it has been raised; there is no second
 * @ignores_overrun: created so: what finds no room is lost, and nobody is told
 * @is_user: decides lock kind and element format
 * @most_held: completions after which an arm is met at the latest; 0 or 1: at
 *	once (moderation)
 * @period: and the time after which, nanoseconds
 * @held: completions that would have met the arm
 * @timer: ends the period; started by the first completion held
 * @telling: a handler of it is being called; whoever does looks again then
 * @later: calls it where the present context must not
 * @settling: one that destroys a QP waits for @later; a sleeping lock
 */
struct verve_cq {
	struct ib_cq ibcq;
	spinlock_t lock; /* what is guarded by it */
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
	struct mutex settling; /* outside of all other locks */
};

static inline struct verve_cq *to_vcq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct verve_cq, ibcq);
}

/**
 * verve_cq_post() - add completions
 * @cq: CQ
 * @wc: @n completions. @wc->qp is set by the caller for kernel CQs; for user
 *	CQs qp_num is taken from @wc->qp->qp_num
 * @n: of them
 * @solicited: one of them is a solicited or a failed one (11.4.2.2)
 *
 * Calls nobody: verve_cq_notify() must follow, without Verve locks.
 *
 * Context: BH off; interrupts too for kernel CQs is fine.
 * Return: true, or false when one was lost that should not have been: the CQ
 * has overrun, and its QP cannot go on (11.6.3.1).
 */
bool verve_cq_post(struct verve_cq *cq, const struct ib_wc *wc, u32 n,
		   bool solicited);

/**
 * verve_cq_notify() - call comp_handler and event_handler where due
 * @cq: CQ
 *
 * One at a time, as the core's users may expect: who comes while another calls them
 * leaves it to that one.
 *
 * Context: BH off, no Verve lock held; not within a call of the core's, whose caller
 * may hold what the handlers want.
 */
void verve_cq_notify(struct verve_cq *cq);
/*
 * The same where that may be so: a softirq does it, as soon as BH are on. Any context;
 * with BH on, only when its thread is run.
 */
void verve_cq_notify_later(struct verve_cq *cq);
/**
 * verve_cq_settle() - wait until no handler is still to be called
 * @cq: CQ of a QP that is being destroyed, whose engine has stopped
 *
 * When its last QP has gone, the core takes down what the handler of a kernel CQ
 * uses before it destroys the CQ. So all that this QP's completions have made due is
 * told when this returns, and what moderation held back, too.
 *
 * Context: process.
 */
void verve_cq_settle(struct verve_cq *cq);

/* Bytes of an entry. */
size_t verve_cq_element_size(bool is_user);
/* New, and all zeros; without a ring. Process. */
void verve_cq_init(struct verve_cq *cq, bool is_user);
/* Nothing is told of it any more. Process. */
void verve_cq_stop(struct verve_cq *cq);

/**
 * verve_cq_moderate() - hold events back
 * @cq: CQ
 * @count: completions of which the last raises the event; 0 as 1
 * @period: microseconds after the first of them when it is raised anyway
 * Context: process.
 */
void verve_cq_moderate(struct verve_cq *cq, u16 count, u16 period);
/* Ask for an event. Any context. Return: whether there are completions to be read. */
bool verve_cq_arm(struct verve_cq *cq, enum ib_cq_notify_flags notify);

#endif
