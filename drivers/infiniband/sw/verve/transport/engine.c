// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: locking
 *
 * The engine of a QP is its requester, completer and responder. qp->lock is the
 * ownership of the engine: the holder does all pending work of the QP. The data
 * path only tries the lock. A CPU adds its arrival to the inbox, or sets its
 * event bit, before it tries. The owner checks both after it has released the
 * lock. So no work is lost, and no CPU waits for the work of another QP. Only
 * verbs that change or read a QP wait for the lock. A round is bounded by
 * VERVE_BUDGET_PACKETS, VERVE_BUDGET_REQUESTS and the packets in the inbox.
 *
 * Order: qp->lock, then one of sq.post_lock, rq.lock (of the QP or its SRQ) and
 * cq.lock, which are leaves. Two qp->locks are held together only if the QPs are
 * connected with each other, as a pair (pair.h).
 *
 * Completion and event handlers run after the locks are dropped, and not in the
 * stack of a verb, whose caller may hold a lock that the handler takes
 * (Documentation/infiniband/core_locking.rst). Entries by a packet or by the work
 * item call the handlers. Other entries leave completion handlers to a tasklet,
 * which runs as soon as BH is on, and the rare event handlers to the work item.
 * Only one handler of a CQ runs at a time (queue/cq.c).
 *
 * The engine runs with BH off in the context that gave it work: the posting task,
 * the receive softirq, or a timer. With interrupts off, a work item runs it. The
 * work item also continues after the budget is used up, and after answers of a NIC.
 */
#include <linux/bitops.h>
#include <linux/bottom_half.h>
#include <linux/irqflags.h>
#include "../offload/rc/ddp.h"
#include "../offload/rc/rc.h"
#include "../path/loop.h"
#include "congestion.h"
#include "dispatch.h"
#include "transport.h"

static struct workqueue_struct *engine_wq;

/* Context of an entry, which decides which handlers and locks are allowed */
enum entry {
	ENTRY_VERB,	/* perhaps under a verb: no handlers */
	ENTRY_PACKET,
	ENTRY_WORK,	/* waits for a pair's second lock, in its order */
};

/*
 * Responses come first. A peer that reads without a pause must not keep the QP's own
 * requests from being sent. Return: true if the budget is used up.
 */
static bool respond_and_request(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	bool spent;

	verve_responder_round_end(qp);
	spent = !qp->budget;
	qp->budget = max_t(u32, qp->budget, VERVE_BUDGET_REQUESTS);
	do
		verve_requester_run(qp);
	while (verve_pair_settle(qp));
	return spent || !qp->budget;
}

/* One round: process arrivals, answer the peer, and send requests. */
static void run_round(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	/* Pairs with verve_engine_kick() */
	unsigned long events = xchg(&qp->events, 0);
	struct verve_train peer_train, train = {
		.dev = qp->dev,
		.qpn = qp->qpn,
		.stats = qp->stats,
	};
	struct verve_loop loop;
	bool spent;

	lockdep_assert_held(&qp->lock);
	qp->budget = VERVE_BUDGET_PACKETS;
	if (events & BIT(VERVE_EV_FAULT))
		verve_stall_end(qp);
	if (unlikely(qp->is_offloaded)) {
		if (events & BIT(VERVE_EV_OOO))
			verve_dispatch_age(qp);
		verve_rc_offload_round(qp, verve_dispatch_drop(qp));
		return;
	}
	qp->train = &train;
	verve_pair_begin(qp, &peer_train, &loop);
	if (events & BIT(VERVE_EV_FAULT))
		verve_pair_resume(qp);
	verve_dispatch_inbox(qp);
	if (events & BIT(VERVE_EV_OOO))
		verve_dispatch_age(qp);
	if (events & BIT(VERVE_EV_TIMER))
		verve_timer_expired(qp);
	spent = respond_and_request(qp);
	verve_pair_end(qp);
	verve_timer_round_end(qp);
	verve_train_flush(&train);
	qp->train = NULL;
	if (spent)
		verve_count(qp, budget_spent, 1);
	verve_rc_offload_round_end(qp);
}

static bool has_work(const struct verve_qp *qp)
{
	return !llist_empty(&qp->inbox) || READ_ONCE(qp->events);
}

static void raise_event(struct verve_qp *qp, enum ib_event_type type)
{
	struct ib_qp *ibqp = qp->ibqp;
	struct ib_event event = {
		.device = &qp->dev->ibdev,
		.element.qp = ibqp,
		.event = type,
	};

	if (ibqp->event_handler)
		ibqp->event_handler(&event, ibqp->qp_context);
}

static void notify_cq(struct verve_cq *cq, enum entry entry)
{
	if (entry == ENTRY_VERB)
		verve_cq_notify_later(cq);
	else
		verve_cq_notify(cq);
}

/* The caller holds a reference to the QP, which keeps its CQs and SRQ. */
static void raise_notices(struct verve_qp *qp, u32 notices, enum entry entry)
{
	unsigned long events = notices >> VERVE_NOTICE_SHIFT;
	unsigned int type;

	if (notices & VERVE_NOTICE_SCQ)
		notify_cq(qp->scq, entry);
	if (notices & VERVE_NOTICE_RCQ)
		notify_cq(qp->rcq, entry);
	if (notices & VERVE_NOTICE_SRQ)
		verve_srq_notify(qp->srq);
	for_each_set_bit(type, &events, 32 - VERVE_NOTICE_SHIFT)
		raise_event(qp, type);
}

/* Return: notices that this entry may raise. The work item raises the others. */
static u32 take_notices(struct verve_qp *qp, enum entry entry)
	__must_hold(&qp->lock)
{
	u32 notices = qp->notices;

	if (entry == ENTRY_VERB)
		notices &= VERVE_NOTICE_SCQ | VERVE_NOTICE_RCQ;
	qp->notices &= ~notices;
	if (unlikely(qp->notices))
		queue_work(engine_wq, &qp->work);
	return notices;
}

/* The lock is free: wake QPs that failed to get it, and look for new work. */
static bool is_wanted(struct verve_qp *qp)
{
	/*
	 * Pairs with the full barrier of llist_add() and of set_bit() before a
	 * trylock, and with that of a QP that calls its peer
	 */
	smp_mb();
	verve_pair_wake(qp);
	return has_work(qp);
}

void verve_engine_nudge(struct verve_qp *qp)
{
	if (is_wanted(qp))
		queue_work(engine_wq, &qp->work);
}

/*
 * Release the engine, raise notices, and check for new work.
 * @peer is set to the peer, with a reference, if the peer has new work, or to
 * NULL.
 */
static bool leave(struct verve_qp *qp, struct verve_qp **peer,
		  enum entry entry)
	__releases(&qp->lock)
{
	u32 notices = take_notices(qp, entry), peer_notices = 0;

	if (qp->pair.peer) {
		lockdep_assert_held(&qp->pair.peer->lock);
		peer_notices = take_notices(qp->pair.peer, entry);
	}
	*peer = verve_pair_part(qp);
	spin_unlock(&qp->lock);
	if (notices)
		raise_notices(qp, notices, entry);
	if (*peer) {
		if (peer_notices)
			raise_notices(*peer, peer_notices, entry);
		if (!is_wanted(*peer)) {
			verve_qp_put(*peer);
			*peer = NULL;
		}
	}
	return is_wanted(qp);
}

/* Leave the work of a peer to its work item. */
static void leave_to_work(struct verve_qp *peer)
{
	if (!peer)
		return;
	queue_work(engine_wq, &peer->work);
	verve_qp_put(peer);
}

/*
 * Run at most two rounds. A QP that cannot get its peer's engine is woken when
 * that is free. Return: a peer with work and a reference, or NULL.
 */
static struct verve_qp *run_rounds(struct verve_qp *qp, enum entry entry,
				   bool patient)
{
	struct verve_qp *peer = NULL;
	unsigned int rounds = 0;

	while (spin_trylock(&qp->lock)) {
		leave_to_work(peer);
		if (!verve_pair_join(qp, patient)) {
			spin_unlock(&qp->lock);
			is_wanted(qp);
			return NULL;
		}
		run_round(qp);
		if (!leave(qp, &peer, entry))
			return peer;
		if (++rounds == 2) {
			queue_work(engine_wq, &qp->work);
			return peer;
		}
	}
	return peer;
}

/* Run the peer once, too: its entry failed while this one held both locks. */
static void enter(struct verve_qp *qp, enum entry entry)
{
	struct verve_qp *peer = run_rounds(qp, entry, entry == ENTRY_WORK);

	if (!peer)
		return;
	leave_to_work(run_rounds(peer, entry, false));
	verve_qp_put(peer);
}

void verve_engine_receive(struct verve_qp *qp, struct llist_node *newest,
			  struct llist_node *oldest)
{
	llist_add_batch(newest, oldest, &qp->inbox);
	enter(qp, ENTRY_PACKET);
}

void verve_engine_kick(struct verve_qp *qp, enum verve_qp_event event)
{
	/*
	 * Pairs with the xchg() in run_round(): the round that takes the event sees
	 * the work, such as the index of a ring.
	 */
	smp_mb__before_atomic();
	set_bit(event, &qp->events);
	/* Set the event before the attempt to get the lock: see is_wanted() */
	smp_mb__after_atomic();
	if (irqs_disabled() || in_hardirq()) {
		queue_work(engine_wq, &qp->work);
		return;
	}
	local_bh_disable();
	enter(qp, ENTRY_VERB);
	local_bh_enable();
}

void verve_engine_defer(struct verve_qp *qp, enum verve_qp_event event)
{
	set_bit(event, &qp->events);
	queue_work(engine_wq, &qp->work);
}

void verve_engine_again(struct verve_qp *qp)
{
	verve_engine_defer(qp, VERVE_EV_CONTINUE);
}

static void engine_work(struct work_struct *work)
{
	struct verve_qp *qp = container_of(work, struct verve_qp, work);

	local_bh_disable();
	enter(qp, ENTRY_WORK);
	local_bh_enable();
}

void verve_engine_lock(struct verve_qp *qp)
	__acquires(&qp->lock)
{
	local_bh_disable();
	spin_lock(&qp->lock);
}

void verve_engine_unlock(struct verve_qp *qp)
	__releases(&qp->lock)
{
	struct verve_qp *peer;

	if (verve_pair_join(qp, false))
		run_round(qp);
	else
		verve_engine_again(qp);
	if (leave(qp, &peer, ENTRY_VERB))
		queue_work(engine_wq, &qp->work);
	leave_to_work(peer);
	local_bh_enable();
}

void verve_engine_release(struct verve_qp *qp)
	__releases(&qp->lock)
{
	spin_unlock(&qp->lock);
	verve_engine_again(qp);
	local_bh_enable();
}

void verve_engine_event(struct verve_qp *qp, enum ib_event_type event)
{
	lockdep_assert_held(&qp->lock);
	qp->notices |= BIT(VERVE_NOTICE_SHIFT + event);
}

void verve_engine_state(struct verve_qp *qp, enum ib_qp_state state)
{
	lockdep_assert_held(&qp->lock);
	if (qp->state != state)
		trace_verve_qp_state(qp, state);
	/* DDP is to end. Only the withdrawal of the QP waits for that. */
	if (state == IB_QPS_ERR || state == IB_QPS_RESET)
		verve_ddp_stop(qp);
	qp->state = state;
}

void verve_engine_error(struct verve_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	verve_engine_state(qp, IB_QPS_ERR);
	verve_completer_flush(qp);
	verve_responder_flush(qp);
	verve_timer_qp_error(qp);
}

bool verve_engine_flush(struct verve_qp *qp)
{
	bool spent;

	qp->budget = VERVE_BUDGET_PACKETS;
	verve_engine_error(qp);
	spent = !qp->budget;
	qp->budget = VERVE_BUDGET_PACKETS;
	verve_responder_flush(qp);
	return spent || !qp->budget;
}

void verve_engine_overrun(struct verve_qp *qp)
{
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_RESET)
		return;
	verve_engine_state(qp, IB_QPS_ERR);
	verve_engine_event(qp, IB_EVENT_QP_FATAL);
	verve_timer_qp_error(qp);
	verve_engine_again(qp);
}

void verve_engine_kill(struct verve_qp *qp)
{
	verve_engine_state(qp, IB_QPS_RESET);
	qp->dead = true;
	/* Pending responses would keep the engine or a timer running. */
	verve_rd_atomic_drop(&qp->resp);
	verve_ack_reset(&qp->resp.ack);
}

void verve_engine_setup(struct verve_qp *qp)
{
	spin_lock_init(&qp->lock);
	init_llist_head(&qp->inbox);
	init_llist_head(&qp->pair.callers);
	INIT_WORK(&qp->work, engine_work);
	verve_timer_init(qp);
}

/*
 * Timers hold no reference, and they run the engine, which may queue the work. So
 * cancel the timers first. A dead QP starts no timer.
 */
void verve_engine_stop(struct verve_qp *qp)
{
	hrtimer_cancel(&qp->timer);
	hrtimer_cancel(&qp->ooo_timer);
	verve_congestion_stop(qp);
	cancel_work_sync(&qp->work);
	spin_lock_bh(&qp->lock);
	verve_congestion_free(qp);
	verve_dispatch_free(qp);
	spin_unlock_bh(&qp->lock);
}

int verve_engine_init(void)
{
	engine_wq = alloc_workqueue("verve", WQ_HIGHPRI | WQ_MEM_RECLAIM |
				    WQ_PERCPU, 0);
	return engine_wq ? 0 : -ENOMEM;
}

void verve_engine_exit(void)
{
	destroy_workqueue(engine_wq);
}
