// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues.
 *
 * One lock covers adding a completion and testing whether the CQ is armed. So a
 * program that arms the CQ and then polls it either finds the completion or gets
 * an event.
 *
 * With moderation, a number of completions raises the event, or a timer that the
 * first of them has started.
 */
#include <linux/bottom_half.h>
#include "../device.h"
#include "cq.h"
#include "lock.h"

size_t verve_cq_element_size(bool is_user)
{
	return is_user ? sizeof(struct ib_uverbs_wc) : sizeof(struct ib_wc);
}

/* Values of wc_flags in libibverbs, which differ from the kernel's */
enum {
	USER_WC_GRH		= 1 << 0,
	USER_WC_WITH_IMM	= 1 << 1,
	USER_WC_WITH_INV	= 1 << 3,
};

static u32 user_flags(int flags)
{
	u32 user = 0;

	if (flags & IB_WC_GRH)
		user |= USER_WC_GRH;
	if (flags & IB_WC_WITH_IMM)
		user |= USER_WC_WITH_IMM;
	if (flags & IB_WC_WITH_INVALIDATE)
		user |= USER_WC_WITH_INV;
	return user;
}

static void write_user(struct ib_uverbs_wc *to, const struct ib_wc *wc)
{
	*to = (struct ib_uverbs_wc) {
		.wr_id = wc->wr_id,
		.status = wc->status,
		.opcode = wc->opcode,
		.vendor_err = wc->vendor_err,
		.byte_len = wc->byte_len,
		.ex.imm_data = wc->ex.imm_data,
		.qp_num = wc->qp->qp_num,
		.src_qp = wc->src_qp,
		.wc_flags = user_flags(wc->wc_flags),
		.pkey_index = wc->pkey_index,
		.slid = wc->slid,
		.sl = wc->sl,
		.dlid_path_bits = wc->dlid_path_bits,
		.port_num = wc->port_num,
	};
}

static void write_entries(struct verve_cq *cq, const struct ib_wc *wc, u32 n)
	__must_hold(&cq->lock)
{
	u32 i;

	for (i = 0; i < n; i++, wc++) {
		void *slot = verve_ring_slot(&cq->ring, i);

		if (cq->is_user)
			write_user(slot, wc);
		else
			memcpy(slot, wc, sizeof(*wc));
	}
	verve_ring_produce(&cq->ring, n);
}

static void meet_arm(struct verve_cq *cq)
	__must_hold(&cq->lock)
{
	cq->armed = 0;
	cq->held = 0;
	cq->notify = true;
	cq->told_from = cq->ring.other;
	cq->told_to = cq->ring.index;
}

/* Return: true unless the last event reported exactly the entries now unread. */
static bool is_news(const struct verve_cq *cq)
	__must_hold(&cq->lock)
{
	return cq->ring.other != cq->told_from || cq->ring.index != cq->told_to;
}

/* Raise the event that @n completions have triggered, or hold it back for more. */
static void moderate(struct verve_cq *cq, u32 n)
	__must_hold(&cq->lock)
{
	bool first = !cq->held;

	if (cq->held + n >= cq->most_held) {
		meet_arm(cq);
		return;
	}
	cq->held += n;
	if (first)
		hrtimer_start(&cq->timer, cq->period, HRTIMER_MODE_REL_SOFT);
}

bool verve_cq_post(struct verve_cq *cq, const struct ib_wc *wc, u32 n,
		   bool solicited)
{
	unsigned long flags = verve_lock(&cq->lock, cq->is_user);
	u32 fit = min(n, verve_ring_room(&cq->ring));
	bool lost = fit < n && !cq->ignores_overrun;

	write_entries(cq, wc, fit);
	if (fit < n)
		verve_count(to_vdev(cq->ibcq.device), cq_overrun, n - fit);
	cq->overrun |= lost && !cq->overrun_reported;
	if (cq->armed & IB_CQ_NEXT_COMP ||
	    (cq->armed & IB_CQ_SOLICITED && solicited))
		moderate(cq, n);
	verve_unlock(&cq->lock, cq->is_user, flags);
	return !lost;
}

static void raise_overrun(struct verve_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

static bool is_due(const struct verve_cq *cq)
	__must_hold(&cq->lock)
{
	return cq->notify || cq->overrun;
}

/* Return: false when no event is due, or when a handler runs already. */
static bool begin_telling(struct verve_cq *cq, bool *notify, bool *overrun)
{
	unsigned long flags = verve_lock(&cq->lock, cq->is_user);
	bool begins = is_due(cq) && !cq->telling;

	if (begins) {
		*notify = cq->notify;
		*overrun = cq->overrun;
		cq->notify = false;
		cq->overrun = false;
		cq->overrun_reported |= *overrun;
		cq->telling = true;
	}
	verve_unlock(&cq->lock, cq->is_user, flags);
	return begins;
}

/* Return: true if an event has become due meanwhile. */
static bool end_telling(struct verve_cq *cq)
{
	unsigned long flags = verve_lock(&cq->lock, cq->is_user);
	bool again = is_due(cq);

	cq->telling = false;
	verve_unlock(&cq->lock, cq->is_user, flags);
	return again;
}

/* The same without the lock: set by this CPU's own posts, or left to those who set it. */
static bool may_be_due(const struct verve_cq *cq)
	__context_unsafe(/* begin_telling() looks again */)
{
	return READ_ONCE(cq->notify) || READ_ONCE(cq->overrun);
}

void verve_cq_notify(struct verve_cq *cq)
{
	bool notify, overrun;

	if (!may_be_due(cq))
		return;
	if (!begin_telling(cq, &notify, &overrun))
		return;
	if (overrun)
		raise_overrun(cq);
	if (notify && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	/* No loop: other CPUs may raise events without end. */
	if (end_telling(cq))
		tasklet_schedule(&cq->later);
}

void verve_cq_notify_later(struct verve_cq *cq)
{
	if (may_be_due(cq))
		tasklet_schedule(&cq->later);
}

static void notify_now(struct tasklet_struct *later)
{
	verve_cq_notify(container_of(later, struct verve_cq, later));
}

/* Raise the event that moderation holds back, if there is one. */
static void end_period(struct verve_cq *cq)
{
	unsigned long flags = verve_lock(&cq->lock, cq->is_user);

	if (cq->held)
		meet_arm(cq);
	verve_unlock(&cq->lock, cq->is_user, flags);
}

/* A timer that fires after the event was raised finds no completion held. */
static enum hrtimer_restart period_over(struct hrtimer *timer)
{
	struct verve_cq *cq = container_of(timer, struct verve_cq, timer);

	end_period(cq);
	verve_cq_notify(cq);
	return HRTIMER_NORESTART;
}

static void notify_soon(struct verve_cq *cq)
{
	local_bh_disable();
	verve_cq_notify_later(cq);
	local_bh_enable();
}

void verve_cq_settle(struct verve_cq *cq)
{
	if (cq->is_user)
		return;
	mutex_lock(&cq->settling);
	hrtimer_cancel(&cq->timer);
	end_period(cq);
	/*
	 * tasklet_kill() waits until a scheduled tasklet has run. Without the mutex,
	 * another tasklet_kill() could keep it from being scheduled.
	 */
	notify_soon(cq);
	tasklet_kill(&cq->later);
	/* During tasklet_kill(), other QPs could not schedule the tasklet. */
	notify_soon(cq);
	mutex_unlock(&cq->settling);
}

void verve_cq_moderate(struct verve_cq *cq, u16 count, u16 period)
{
	unsigned long flags = verve_lock(&cq->lock, cq->is_user);

	cq->most_held = period && !count ? VERVE_MAX_CQ_COUNT : count;
	cq->period = ns_to_ktime(period * NSEC_PER_USEC);
	if (cq->held)
		meet_arm(cq);
	verve_unlock(&cq->lock, cq->is_user, flags);
	notify_soon(cq);
}

void verve_cq_init(struct verve_cq *cq, bool is_user)
{
	cq->is_user = is_user;
	verve_lock_init(&cq->lock, is_user);
	hrtimer_setup(&cq->timer, period_over, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	tasklet_setup(&cq->later, notify_now);
	mutex_init(&cq->settling);
}

void verve_cq_stop(struct verve_cq *cq)
{
	hrtimer_cancel(&cq->timer);
	tasklet_kill(&cq->later);
}

/*
 * Arming a user CQ for any completion raises an event at once if the CQ holds
 * unread completions. Programs that poll a few completions and wait for the next
 * event depend on it. Other programs arm the CQ right after an event and poll
 * afterwards, and expect a new completion for each event. So completions that
 * the last event reported do not raise another, until one of them has been read.
 * Kernel users ask for IB_CQ_REPORT_MISSED_EVENTS instead.
 */
bool verve_cq_arm(struct verve_cq *cq, enum ib_cq_notify_flags notify)
{
	unsigned long flags = verve_lock(&cq->lock, cq->is_user);
	u32 unread = verve_ring_unread(&cq->ring);
	bool met;

	/* A CQ armed for any completion stays so when it is armed for solicited ones. */
	cq->armed |= notify & IB_CQ_SOLICITED_MASK;
	met = cq->is_user && cq->armed & IB_CQ_NEXT_COMP && unread &&
	      is_news(cq);
	if (met)
		meet_arm(cq);
	verve_unlock(&cq->lock, cq->is_user, flags);

	if (met)
		notify_soon(cq);
	return unread;
}
