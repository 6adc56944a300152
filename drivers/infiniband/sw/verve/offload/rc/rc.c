// SPDX-License-Identifier: GPL-2.0-only
/*
 * QPs that are lent to a NIC (see rc.h): how they go, and come back
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <rdma/verve_offload_rc.h>
#include "../../transport/congestion.h"
#include "../../transport/transport.h"
#include "../../wire/psn.h"
#include "ddp.h"
#include "device.h"
#include "events.h"
#include "qpc.h"
#include "rc.h"

enum {
	/* ms that a QP stays when it has come back, and at most */
	MIN_STAY	= 20,
	MAX_STAY	= 1000,
	/* ms: after a loan that lasted so long, the least again */
	GOOD_LOAN	= 1000,
};

/* ---------------------------------------------------------------- to the NIC */

/* Is everything that is outstanding carried? */
static bool are_carried(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_sq *sq = &qp->sq;
	u32 head = verve_sq_head(sq), i;

	for (i = sq->tail; i != head; i++) {
		const struct verve_swqe *wqe = verve_sq_at(sq, i);

		if (wqe->state != VERVE_WQE_STARTED)
			break;
		if (!verve_loan_carries(qp, wqe))
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

	return !resp->num_responses && !resp->fatal_nak && !resp->ack_due &&
	       !resp->nak_due && !resp->rnr_due && !resp->ooo.count &&
	       !(resp->recv_valid && resp->recv.is_bad) &&
	       !verve_stall_is_on(qp, VERVE_STALL_ARRIVALS) &&
	       !verve_stall_is_on(qp, VERVE_STALL_RESPONSES);
}

/*
 * Nothing of what was outstanding when it came back has been acknowledged. Its new
 * holder would begin to count retries anew, and so for ever, while the peer is silent.
 */
static bool is_unanswered(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_requester *req = &qp->req;

	return req->una != req->max_psn && req->una == qp->loan->home_una;
}

static bool may_be_lent(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return qp->state == IB_QPS_RTS && !qp->loan->barred && !qp->lent &&
	       time_after_eq(jiffies, qp->loan->next) && !is_unanswered(qp) &&
	       is_sending_freely(qp) && is_receiving_freely(qp);
}

static u32 message_of(u32 op)
{
	switch (op) {
	case VERVE_OP_SEND:
		return VERVE_OFFLOAD_RC_SEND;
	case VERVE_OP_WRITE:
		return VERVE_OFFLOAD_RC_WRITE;
	default:
		return VERVE_OFFLOAD_RC_NONE;
	}
}

static struct verve_offload_rc_state state_of(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_responder *resp = &qp->resp;

	return (struct verve_offload_rc_state) {
		.una = qp->req.una,
		.psn = qp->req.max_psn,
		.epsn = resp->epsn,
		.msn = resp->msn,
		.message = message_of(resp->op),
		.offset = resp->offset,
		.va = resp->va,
		.rkey = resp->rkey,
		.left = resp->left,
	};
}

/* What is outstanding is posted anew; after it, PSNs go on. */
static void begin_posting(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;
	struct verve_sq *sq = &qp->sq;
	u32 head = verve_sq_head(sq), i;

	req->psn = req->max_psn;
	for (i = sq->tail; i != head; i++) {
		struct verve_swqe *wqe = verve_sq_at(sq, i);

		if (wqe->state != VERVE_WQE_STARTED)
			break;
		wqe->rd_atomic = 0;
		req->psn = verve_psn_add(wqe->last_psn, 1);
	}
	sq->next = sq->tail;
	req->rd_atomic = 0;
	req->timer_armed = false;
	req->probing = false;
	req->recovery = (struct verve_recovery) {};
	req->rtt.since = 0;
	verve_uso_cancel(qp->dev, &qp->flow);
}

static void hand_over(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_loan *loan = qp->loan;

	begin_posting(qp);
	verve_ddp_stop(qp);
	verve_nic_forget(qp);
	verve_book_open(loan->book, &qp->resp);
	loan->acked = qp->req.una;
	loan->since = jiffies;
	clear_bit(0, &loan->asked);
	qp->lent = true;
	verve_count(qp, offload_lent, 1);
}

/* It would only come back again: each time it is left alone for longer. */
static void stay_a_while(struct verve_loan *loan)
{
	loan->next = jiffies + msecs_to_jiffies(loan->stay);
	loan->stay = min_t(unsigned int, loan->stay * 2, MAX_STAY);
}

static bool has_book(struct verve_loan *loan)
{
	if (!loan->book)
		loan->book = verve_book_alloc();
	return loan->book;
}

static bool lend(struct verve_offload_qp *known,
		 struct verve_offload_rc_terms *terms,
		 struct verve_offload_rc_state *state)
{
	struct verve_qp *qp = known->owner;
	struct verve_loan *loan = qp->loan;
	bool done;

	if (!has_book(loan))
		return false;
	verve_engine_lock(qp);
	done = may_be_lent(qp) && are_carried(qp) &&
	       verve_carry_terms(qp, terms);
	if (done) {
		*state = state_of(qp);
		*loan->terms = *terms;
		hand_over(qp);
	} else {
		stay_a_while(loan);
	}
	verve_engine_release(qp);
	return done;
}

static void lent(struct verve_offload_qp *known)
{
	struct verve_qp *qp = known->owner;

	verve_engine_lock(qp);
	qp->loan->may_post = true;
	verve_engine_release(qp);
}

static bool may_stay(struct verve_offload_qp *known)
{
	struct verve_qp *qp = known->owner;
	bool holds;

	verve_engine_lock(qp);
	holds = verve_carry_holds(qp, qp->loan->terms);
	verve_engine_release(qp);
	return holds;
}

/* ---------------------------------------------------------------- and back */

/* Can it be? Nobody goes back, nor beyond what was posted. */
static bool is_sane(const struct verve_qp *qp,
		    const struct verve_offload_rc_state *state)
	__must_hold(&qp->lock)
{
	return !verve_psn_before(state->una, qp->req.una) &&
	       !verve_psn_before(state->psn, state->una) &&
	       !verve_psn_before(qp->req.psn, state->psn);
}

static void resume_responder(struct verve_qp *qp,
			     const struct verve_offload_rc_state *state)
	__must_hold(&qp->lock)
{
	static const u32 ops[] = {
		[VERVE_OFFLOAD_RC_NONE] = 0,
		[VERVE_OFFLOAD_RC_SEND] = VERVE_OP_SEND,
		[VERVE_OFFLOAD_RC_WRITE] = VERVE_OP_WRITE,
	};
	struct verve_responder *resp = &qp->resp;

	resp->epsn = state->epsn;
	resp->msn = state->msn;
	resp->op = state->message < ARRAY_SIZE(ops) ? ops[state->message] : 0;
	resp->offset = state->offset;
	resp->va = state->va;
	resp->rkey = state->rkey;
	resp->left = state->left;
	resp->nak_sent = false;
}

/* Without a state, nobody knows what has been done: the QP cannot go on. */
static void resume(struct verve_qp *qp,
		   const struct verve_offload_rc_state *state)
	__must_hold(&qp->lock)
{
	if (!state) {
		verve_count(qp, offload_lost, 1);
		verve_engine_event(qp, IB_EVENT_QP_FATAL);
		verve_engine_error(qp);
		return;
	}
	resume_responder(qp, state);
	if (qp->state == IB_QPS_ERR) {
		verve_engine_error(qp);
		return;
	}
	verve_completer_resume(qp, state->psn);
	if (state->has_ack)
		verve_completer_ack(qp, state->ack_psn, state->syndrome);
}

/* Who changes the QP, or resets the NIC, says nothing of what will be. */
static void come_home(struct verve_loan *loan)
{
	bool by_itself = test_and_clear_bit(0, &loan->asked) || !loan->may_post;
	unsigned int lasted = jiffies_to_msecs(jiffies - loan->since);

	if (!by_itself || lasted >= GOOD_LOAN)
		loan->stay = MIN_STAY;
	if (by_itself)
		stay_a_while(loan);
	loan->may_post = false;
}

static void returned(struct verve_offload_qp *known,
		     const struct verve_offload_rc_state *state)
{
	struct verve_qp *qp = known->owner;
	struct verve_loan *loan = qp->loan;

	verve_engine_lock(qp);
	if (state && !is_sane(qp, state))
		state = NULL;
	verve_loan_settle(qp, state ? state->una : qp->req.una);
	verve_book_close(loan->book, &qp->resp);
	qp->lent = false;
	loan->home_una = qp->req.una;
	come_home(loan);
	verve_count(qp, offload_returned, 1);
	resume(qp, state);
	verve_engine_release(qp);
}

/* ---------------------------------------------------------------- what the NIC tells */

static struct verve_book *book_of(const struct verve_offload_qp *known)
{
	const struct verve_qp *qp = known->owner;

	return qp->loan->book;
}

static int take_recv(struct verve_offload_qp *known,
		     struct verve_offload_rc_recv *recv)
{
	return verve_book_take_recv(book_of(known), known->owner, recv);
}

static void received(struct verve_offload_qp *known,
		     const struct verve_offload_rc_done *done)
{
	verve_book_received(book_of(known), done);
}

static int take_read(struct verve_offload_qp *known,
		     const struct verve_offload_rc_read *read)
{
	return verve_book_read(book_of(known), read);
}

static void acked(struct verve_offload_qp *known, u32 una)
{
	const struct verve_qp *qp = known->owner;

	/* The data of READs before the PSN: see verve_loan_run() */
	smp_store_release(&qp->loan->acked, una);
}

static void report(struct verve_offload_qp *known)
{
	verve_engine_kick(known->owner, VERVE_EV_REPORT);
}

static void give_back(struct verve_offload_qp *known)
{
	const struct verve_qp *qp = known->owner;

	verve_loan_ask_back(qp->loan);
}

const struct verve_offload_rc_user verve_loan_user = {
	.lend = lend,
	.lent = lent,
	.returned = returned,
	.take_recv = take_recv,
	.received = received,
	.read = take_read,
	.acked = acked,
	.report = report,
	.give_back = give_back,
	.may_stay = may_stay,
};

/* ---------------------------------------------------------------- when */

static void loan_work(struct work_struct *work)
{
	struct verve_loan *loan = container_of(work, struct verve_loan, work);

	if (test_bit(0, &loan->asked))
		verve_carry_take_back(loan->qp);
	else
		verve_carry_lend(loan->qp);
}

void verve_loan_round_end(struct verve_qp *qp)
{
	struct verve_loan *loan = qp->loan;

	if (likely(!loan || !verve_carry_is_offered(qp)))
		return;
	if (may_be_lent(qp))
		queue_work(qp->dev->nic_wq, &loan->work);
}

void verve_loan_forbid(struct verve_qp *qp)
{
	bool is_away;

	if (!qp->loan)
		return;
	verve_engine_lock(qp);
	qp->loan->barred++;
	is_away = qp->lent;
	verve_engine_unlock(qp);
	if (is_away)
		verve_carry_take_back(qp);
}

void verve_loan_end(struct verve_qp *qp)
{
	verve_loan_forbid(qp);
	if (qp->loan)
		cancel_work_sync(&qp->loan->work);
}

void verve_loan_permit(struct verve_qp *qp)
{
	if (qp->loan)
		qp->loan->barred--;
}

struct verve_loan *verve_loan_alloc(struct verve_qp *qp)
{
	struct verve_loan *loan = kzalloc_obj(*loan, GFP_KERNEL_ACCOUNT);

	if (!loan)
		return NULL;
	loan->terms = kzalloc_obj(*loan->terms, GFP_KERNEL_ACCOUNT);
	if (!loan->terms) {
		kfree(loan);
		return NULL;
	}
	loan->qp = qp;
	loan->stay = MIN_STAY;
	loan->next = jiffies;
	INIT_WORK(&loan->work, loan_work);
	return loan;
}

void verve_loan_free(struct verve_loan *loan)
{
	if (!loan)
		return;
	kfree(loan->book);
	kfree(loan->terms);
	kfree(loan);
}
