// SPDX-License-Identifier: GPL-2.0-only
/*
 * Offload of QPs to a NIC, and their return (see rc.h)
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <rdma/roce_offload_rc.h>
#include "../../transport/congestion.h"
#include "../../transport/outstanding.h"
#include "../../transport/transport.h"
#include "../../wire/psn.h"
#include "ddp.h"
#include "device.h"
#include "events.h"
#include "qpc.h"
#include "rc.h"

enum {
	/* ms that a returned QP stays in software: first, and at most */
	MIN_BACKOFF	= 20,
	MAX_BACKOFF	= 1000,
	/* ms of offload that reset the backoff */
	GOOD_TIME	= 1000,
};

/* ---------------------------------------------------------------- offload */

/* Can a NIC execute all outstanding requests? */
static bool are_supported(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_sq *sq = &qp->sq;
	u32 head = verve_sq_head(sq), i;

	for (i = sq->tail; i != head; i++) {
		const struct verve_swqe *wqe = verve_sq_at(sq, i);

		if (wqe->state != VERVE_WQE_STARTED)
			break;
		if (!verve_rc_offload_supports(qp, wqe))
			return false;
	}
	return true;
}

static bool is_sending_freely(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return !qp->req.wait_rnr && !qp->req.ooo.count &&
	       !verve_stall_is_on(qp, VERVE_STALL_REQUESTS) &&
	       !verve_congestion_rate(qp);
}

static bool is_receiving_freely(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_responder *resp = &qp->resp;

	return !resp->num_responses && verve_ack_is_idle(&resp->ack) &&
	       !resp->ooo.count &&
	       !(resp->recv_valid && resp->recv.is_bad) &&
	       !verve_stall_is_on(qp, VERVE_STALL_ARRIVALS) &&
	       !verve_stall_is_on(qp, VERVE_STALL_RESPONSES);
}

/*
 * The peer has acknowledged nothing since the last return. A new offload would begin to
 * count retries anew, so that those for a silent peer would never run out.
 */
static bool is_unanswered(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_requester *req = &qp->req;

	return req->una != req->max_psn &&
	       req->una == qp->rc_offload->return_una;
}

static bool may_be_offloaded(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return qp->state == IB_QPS_RTS && !qp->rc_offload->barred &&
	       !qp->is_offloaded &&
	       time_after_eq(jiffies, qp->rc_offload->not_before) &&
	       !is_unanswered(qp) && is_sending_freely(qp) &&
	       is_receiving_freely(qp);
}

static u32 message_of(u32 op)
{
	switch (op) {
	case VERVE_OP_SEND:
		return ROCE_OFFLOAD_RC_SEND;
	case VERVE_OP_WRITE:
		return ROCE_OFFLOAD_RC_WRITE;
	default:
		return ROCE_OFFLOAD_RC_NONE;
	}
}

static struct roce_offload_rc_state state_of(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_responder *resp = &qp->resp;

	return (struct roce_offload_rc_state) {
		.una = qp->req.una,
		.psn = qp->req.max_psn,
		.epsn = resp->epsn,
		.msn = resp->msn,
		.message = message_of(resp->message.op),
		.offset = resp->message.offset,
		.va = resp->message.va,
		.rkey = resp->message.rkey,
		.left = resp->message.left,
	};
}

/* Post outstanding requests to the NIC again. New requests continue their PSNs. */
static void begin_posting(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;
	struct verve_sq *sq = &qp->sq;
	u32 head = verve_sq_head(sq), i;

	verve_outstanding_proceed(req);
	for (i = sq->tail; i != head; i++) {
		struct verve_swqe *wqe = verve_sq_at(sq, i);

		if (wqe->state != VERVE_WQE_STARTED)
			break;
		wqe->rd_atomic = 0;
		verve_outstanding_post(req, verve_psn_add(wqe->last_psn, 1));
	}
	sq->next = sq->tail;
	verve_outstanding_no_rd_atomic(req);
	verve_timer_forget(req);
	verve_recovery_reset(req);
	verve_rtt_cancel(&req->rtt);
	verve_uso_cancel(qp->dev, &qp->flow);
}

static void begin_offload(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_rc_offload *rc = qp->rc_offload;

	begin_posting(qp);
	verve_nic_forget(qp);
	verve_rc_events_open(rc->events, &qp->resp, verve_nic_known(qp)->rc_recvs);
	rc->acked = qp->req.una;
	rc->since = jiffies;
	clear_bit(0, &rc->return_asked);
	qp->is_offloaded = true;
	verve_count(qp, rc_offloaded, 1);
}

/* Delay the next offload, and double the delay for the one after. */
static void back_off(struct verve_rc_offload *rc)
{
	rc->not_before = jiffies + msecs_to_jiffies(rc->backoff);
	rc->backoff = min_t(unsigned int, rc->backoff * 2, MAX_BACKOFF);
}

static bool offload(struct roce_offload_qp *known,
		    struct roce_offload_rc_terms *terms,
		    struct roce_offload_rc_state *state)
{
	struct verve_qp *qp = known->owner;
	struct verve_rc_offload *rc = qp->rc_offload;
	struct verve_rc_events *events =
		rc->events ?: verve_rc_events_alloc();
	bool done;

	verve_engine_lock(qp);
	rc->events = events;
	verve_ddp_stop(qp);
	done = events && may_be_offloaded(qp) && verve_ddp_is_over(qp) &&
	       are_supported(qp) &&
	       verve_rc_device_terms(qp, terms);
	if (done) {
		*state = state_of(qp);
		*rc->terms = *terms;
		begin_offload(qp);
	} else if (verve_ddp_is_over(qp)) {
		back_off(rc);
	}
	verve_engine_release(qp);
	return done;
}

static void offloaded(struct roce_offload_qp *known)
{
	struct verve_qp *qp = known->owner;

	verve_engine_lock(qp);
	qp->rc_offload->may_post = true;
	verve_engine_release(qp);
	/* The NIC gets requests and receives. */
	verve_engine_kick(qp, VERVE_EV_REPORT);
}

static bool may_stay(struct roce_offload_qp *known)
{
	struct verve_qp *qp = known->owner;
	bool holds;

	verve_engine_lock(qp);
	holds = verve_rc_device_terms_hold(qp, qp->rc_offload->terms);
	verve_engine_release(qp);
	return holds;
}

/* ---------------------------------------------------------------- return */

/*
 * The PSNs of the NIC must not go back, nor beyond what was posted. A SEND under way has
 * a receive.
 */
static bool is_sane(const struct verve_qp *qp,
		    const struct roce_offload_rc_state *state)
	__must_hold(&qp->lock)
{
	return (state->message != ROCE_OFFLOAD_RC_SEND ||
		verve_rc_events_hold_recv(qp->rc_offload->events)) &&
	       !verve_psn_before(state->una, qp->req.una) &&
	       !verve_psn_before(state->psn, state->una) &&
	       !verve_psn_before(qp->req.psn, state->psn);
}

static void resume_responder(struct verve_qp *qp,
			     const struct roce_offload_rc_state *state)
	__must_hold(&qp->lock)
{
	static const u32 ops[] = {
		[ROCE_OFFLOAD_RC_NONE] = 0,
		[ROCE_OFFLOAD_RC_SEND] = VERVE_OP_SEND,
		[ROCE_OFFLOAD_RC_WRITE] = VERVE_OP_WRITE,
	};
	const struct verve_message message = {
		.op = state->message < ARRAY_SIZE(ops) ? ops[state->message] : 0,
		.offset = state->offset,
		.va = state->va,
		.rkey = state->rkey,
		.left = state->left,
	};

	verve_responder_resume(&qp->resp, state->epsn, state->msn, &message);
}

/* Without a state from the NIC, the QP cannot continue, and fails. */
static void resume(struct verve_qp *qp,
		   const struct roce_offload_rc_state *state)
	__must_hold(&qp->lock)
{
	if (!state) {
		verve_count(qp, rc_offload_lost, 1);
		verve_engine_event(qp, IB_EVENT_QP_FATAL);
		verve_engine_error(qp);
		return;
	}
	resume_responder(qp, state);
	verve_rc_events_return_recv(qp->rc_offload->events, &qp->resp,
				    state->message == ROCE_OFFLOAD_RC_SEND);
	if (qp->state == IB_QPS_ERR) {
		verve_engine_error(qp);
		return;
	}
	verve_completer_resume(qp, state->psn);
	if (state->has_ack)
		verve_completer_ack(qp, state->ack_psn, state->syndrome);
}

/*
 * Back off only after a return that the engine or the NIC asked for. A modify or a reset
 * of the NIC says nothing about the next offload.
 */
static void count_return(struct verve_rc_offload *rc)
{
	bool by_itself =
		test_and_clear_bit(0, &rc->return_asked) || !rc->may_post;
	unsigned int lasted = jiffies_to_msecs(jiffies - rc->since);

	if (!by_itself || lasted >= GOOD_TIME)
		rc->backoff = MIN_BACKOFF;
	if (by_itself)
		back_off(rc);
	rc->may_post = false;
}

static void returned(struct roce_offload_qp *known,
		     const struct roce_offload_rc_state *state)
{
	struct verve_qp *qp = known->owner;
	struct verve_rc_offload *rc = qp->rc_offload;

	verve_engine_lock(qp);
	if (state && !is_sane(qp, state))
		state = NULL;
	verve_rc_offload_settle(qp, state ? state->una : qp->req.una);
	qp->is_offloaded = false;
	rc->return_una = qp->req.una;
	count_return(rc);
	verve_count(qp, rc_offload_returned, 1);
	resume(qp, state);
	verve_engine_release(qp);
}

/* ---------------------------------------------------------------- reports of the NIC */

static struct verve_rc_events *events_of(const struct roce_offload_qp *known)
{
	const struct verve_qp *qp = known->owner;

	return qp->rc_offload->events;
}

static void need_recv(struct roce_offload_qp *known)
{
	verve_rc_events_need_recv(events_of(known));
	/* The driver may hold a lock that its post_recv() takes. */
	verve_engine_defer(known->owner, VERVE_EV_REPORT);
}

static void received(struct roce_offload_qp *known,
		     const struct roce_offload_rc_done *done)
{
	/* Before the NIC runs out of them, it gets more. */
	if (verve_rc_events_received(events_of(known), done))
		verve_engine_defer(known->owner, VERVE_EV_REPORT);
}

static int take_read(struct roce_offload_qp *known,
		     const struct roce_offload_rc_read *read)
{
	return verve_rc_events_read(events_of(known), read);
}

static void acked(struct roce_offload_qp *known, u32 una)
{
	const struct verve_qp *qp = known->owner;

	/* Pairs with verve_rc_offload_round(): data of READs before @una are written. */
	smp_store_release(&qp->rc_offload->acked, una);
}

static void report(struct roce_offload_qp *known)
{
	verve_engine_kick(known->owner, VERVE_EV_REPORT);
}

static void ask_return(struct roce_offload_qp *known)
{
	const struct verve_qp *qp = known->owner;

	verve_rc_offload_ask_return(qp->rc_offload);
}

const struct roce_offload_rc_user verve_rc_offload_user = {
	.offload = offload,
	.offloaded = offloaded,
	.returned = returned,
	.need_recv = need_recv,
	.received = received,
	.read = take_read,
	.acked = acked,
	.report = report,
	.ask_return = ask_return,
	.may_stay = may_stay,
};

/* ---------------------------------------------------------------- triggers */

static void rc_offload_work(struct work_struct *work)
{
	struct verve_rc_offload *rc =
		container_of(work, struct verve_rc_offload, work);

	if (test_bit(0, &rc->return_asked))
		verve_rc_device_return(rc->qp);
	else
		verve_rc_device_offload(rc->qp);
}

void verve_rc_offload_round_end(struct verve_qp *qp)
{
	struct verve_rc_offload *rc = qp->rc_offload;

	lockdep_assert_held(&qp->lock);
	if (likely(!verve_rc_offload_is_due(qp)))
		return;
	if (verve_ddp_is_over(qp))
		queue_work(qp->dev->nic_wq, &rc->work);
	else
		verve_ddp_stop(qp);
}

bool verve_rc_offload_is_due(const struct verve_qp *qp)
{
	return qp->rc_offload && verve_rc_device_is_offered(qp) &&
	       may_be_offloaded(qp);
}

void verve_rc_offload_forbid(struct verve_qp *qp)
{
	bool is_away;

	if (!qp->rc_offload)
		return;
	verve_engine_lock(qp);
	qp->rc_offload->barred++;
	is_away = qp->is_offloaded;
	verve_engine_unlock(qp);
	if (is_away)
		verve_rc_device_return(qp);
}

void verve_rc_offload_end(struct verve_qp *qp)
{
	verve_rc_offload_forbid(qp);
	if (qp->rc_offload)
		cancel_work_sync(&qp->rc_offload->work);
}

void verve_rc_offload_permit(struct verve_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	if (qp->rc_offload)
		qp->rc_offload->barred--;
}

bool verve_rc_offload_take_held(struct verve_qp *qp, struct verve_recv *recv)
{
	struct verve_rc_offload *rc = qp->rc_offload;

	return rc && rc->events && verve_rc_events_take_held(rc->events, recv);
}

void verve_rc_offload_reset(struct verve_qp *qp)
{
	struct verve_rc_offload *rc = qp->rc_offload;

	if (rc && rc->events)
		verve_rc_events_forget_held(rc->events);
}

struct verve_rc_offload *verve_rc_offload_alloc(struct verve_qp *qp)
{
	struct verve_rc_offload *rc = kzalloc_obj(*rc, GFP_KERNEL_ACCOUNT);

	if (!rc)
		return NULL;
	rc->terms = kzalloc_obj(*rc->terms, GFP_KERNEL_ACCOUNT);
	if (!rc->terms) {
		kfree(rc);
		return NULL;
	}
	rc->qp = qp;
	rc->backoff = MIN_BACKOFF;
	rc->not_before = jiffies;
	INIT_WORK(&rc->work, rc_offload_work);
	return rc;
}

void verve_rc_offload_free(struct verve_rc_offload *rc)
{
	if (!rc)
		return;
	kvfree(rc->events);
	kfree(rc->terms);
	kfree(rc);
}
