// SPDX-License-Identifier: GPL-2.0-only
/*
 * The requester's timer of a QP:
 *
 *  - While packets are outstanding at the end of a round, the timer runs for the
 *    retransmission timeout (rtt.h). Progress does not restart it. Instead, an
 *    expiry after progress restarts it, so packets cost no timer operation, and
 *    in a pair it hardly ever expires. An expiry without progress
 *    sends the oldest packet again, and the next timeout is longer. Only then does
 *    progress restart the timer, because the next loss need not wait as long. After the
 *    local ACK timeout in all, or twice the time of an answer up to four of these
 *    timeouts, a retry is used up (9.7.6.1.3). Duplicate responses show that a READ was
 *    repeated too early, and that new responses follow. Then nothing is repeated
 *    for a bounded time. Once the timer has used up a retry, each further one has
 *    several tries, however long answers have taken before, since each may be lost.
 *  - After an RNR NAK, the timer runs for the time in the NAK, and longer after
 *    many NAKs. Nothing is sent before it expires.
 *  - In the error state, the timer polls for receives that a user posted late, at
 *    growing intervals.
 *
 * A second timer runs while packets wait for their turn (ooo.h).
 */
#include <linux/ktime.h>
#include "transport.h"
#include "verdict.h"

enum {
	/* Retry count that means no limit (9.7.5.2.8) */
	INFINITE_RNR_RETRIES	= 7,
	/* Consecutive RNR NAKs before the wait grows */
	RNR_PATIENCE		= 8,
	RNR_BACKOFF_MAX_NS	= 2 * 1000 * 1000,
	ERROR_POLL_MIN_NS	= 1000 * 1000,
	ERROR_POLL_MAX_SHIFT	= 8,
	/* Consecutive waits for the answer behind duplicate responses */
	SPURIOUS_PATIENCE	= 32,
	/* Tries in the time of each retry after the timer's first one */
	TRIES_PER_RETRY		= 4,
	/* A timer may be late by 1/SLACK of its time. */
	SLACK			= 8,
};

static enum hrtimer_restart timer_fired(struct hrtimer *timer)
{
	struct verve_qp *qp = container_of(timer, struct verve_qp, timer);

	verve_engine_kick(qp, VERVE_EV_TIMER);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart ooo_timer_fired(struct hrtimer *timer)
{
	struct verve_qp *qp = container_of(timer, struct verve_qp, ooo_timer);

	verve_engine_kick(qp, VERVE_EV_OOO);
	return HRTIMER_NORESTART;
}

void verve_timer_init(struct verve_qp *qp)
{
	hrtimer_setup(&qp->ooo_timer, ooo_timer_fired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&qp->timer, timer_fired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

void verve_timer_set_retries(struct verve_qp *qp)
{
	qp->req.retries = qp->attr.retry_cnt;
	qp->req.timed_out = false;
}

void verve_timer_set_rnr_retries(struct verve_qp *qp)
{
	qp->req.rnr_retries = qp->attr.rnr_retry;
}

void verve_timer_progress(struct verve_qp *qp)
{
	qp->req.progress = true;
	qp->req.rnr_naks = 0;
	verve_timer_set_retries(qp);
	verve_timer_set_rnr_retries(qp);
}

bool verve_timer_take_retry(struct verve_requester *req)
{
	if (!req->retries)
		return false;
	req->retries--;
	return true;
}

bool verve_timer_take_rnr_retry(struct verve_requester *req)
{
	if (!req->rnr_retries)
		return false;
	if (req->rnr_retries != INFINITE_RNR_RETRIES)
		req->rnr_retries--;
	return true;
}

void verve_timer_dup_response(struct verve_requester *req)
{
	req->dup_response = true;
}

void verve_timer_forget(struct verve_requester *req)
{
	req->timer_armed = false;
}

/* Start the timer with slack, so that the timers of many QPs share an interrupt. */
static void start(struct verve_qp *qp, u64 ns)
	__must_hold(&qp->lock)
{
	if (qp->dead)
		return;
	qp->req.timer_armed = true;
	hrtimer_start_range_ns(&qp->timer, ns_to_ktime(ns), ns / SLACK,
			       HRTIMER_MODE_REL_SOFT);
}

void verve_timer_ooo(struct verve_qp *qp)
{
	u64 ns = VERVE_OOO_MS * NSEC_PER_MSEC;

	if (qp->dead || hrtimer_is_queued(&qp->ooo_timer))
		return;
	hrtimer_start_range_ns(&qp->ooo_timer, ns_to_ktime(ns), ns / SLACK,
			       HRTIMER_MODE_REL_SOFT);
}

/*
 * Return: time after which a retry is used up, or 0: the local ACK timeout, or twice the
 * time of an answer if that is more, up to the four timeouts that the IBTA allows
 * (9.7.6.1.3).
 */
static u64 retry_time(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	u64 ns = verve_ack_timeout_ns(qp->attr.timeout);

	return clamp(2ULL * qp->req.rtt.smooth, ns, 4 * ns);
}

/*
 * Return: retransmission timeout, up to the time of a retry. If a missed answer has just
 * come, the next one need not be waited for as long, though the backoff stays (rtt.h).
 */
static u64 ack_delay(const struct verve_qp *qp, bool has_come)
	__must_hold(&qp->lock)
{
	const struct verve_requester *req = &qp->req;
	u64 most = retry_time(qp);
	u64 ns = has_come ? verve_rtt_first_timeout(&req->rtt) :
			    verve_rtt_timeout(&req->rtt);

	if (!most)
		return ns;
	if (req->timed_out)
		ns = min(ns, most / TRIES_PER_RETRY);
	return most > req->waited ? min(ns, most - req->waited) : 0;
}

/* May the QP send, in its state and without an RNR wait? */
static bool is_sending(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return qp->type == IB_QPT_RC && !qp->req.wait_rnr &&
	       (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD);
}

/*
 * End the longer wait if the answer that was missed has come. Return: true if it came to
 * the repeat, in the usual time. If it took longer, the path may have become longer.
 */
static bool end_long_wait(struct verve_requester *req)
{
	if (!req->timer_long || !req->progress)
		return false;
	req->timer_long = false;
	if (ktime_get_ns() - req->rtt.repeated <=
	    verve_rtt_first_timeout(&req->rtt))
		return true;
	verve_rtt_too_early(&req->rtt);
	return false;
}

void verve_timer_round_end(struct verve_qp *qp)
{
	struct verve_requester *req = &qp->req;
	bool has_come = req->timer_armed && end_long_wait(req);

	lockdep_assert_held(&qp->lock);
	if ((req->timer_armed && !has_come) || req->una == req->max_psn ||
	    !is_sending(qp))
		return;
	if (req->progress) {
		req->waited = 0;
		req->spurious_waits = 0;
	}
	req->progress = false;
	req->dup_response = false;
	req->delay = ack_delay(qp, has_come);
	req->timer_long = req->rtt.has_missed && !has_come;
	start(qp, req->delay);
}

/*
 * The RNR timer code is the minimum wait (9.7.5.2.8). The wait grows, because a
 * retry every 10 us for a slow receiver would keep a CPU busy.
 */
static u64 rnr_delay(u8 naks, u8 code)
{
	u64 ns = verve_rnr_timeout_ns(code);
	u64 most = max_t(u64, ns, RNR_BACKOFF_MAX_NS);

	if (naks <= RNR_PATIENCE)
		return ns;
	return min(ns << min(naks - RNR_PATIENCE, 20), most);
}

void verve_timer_rnr_nak(struct verve_qp *qp, u8 code)
{
	struct verve_requester *req = &qp->req;

	lockdep_assert_held(&qp->lock);
	if (req->rnr_naks < U8_MAX)
		req->rnr_naks++;
	req->waited = 0;
	req->wait_rnr = true;
	start(qp, rnr_delay(req->rnr_naks, code));
}

void verve_timer_qp_error(struct verve_qp *qp)
{
	u8 polls = qp->req.err_polls;

	if (!qp->is_user || qp->srq || !qp->rq.exists)
		return;
	start(qp, (u64)ERROR_POLL_MIN_NS << polls);
	if (polls < ERROR_POLL_MAX_SHIFT)
		qp->req.err_polls++;
}

/* No answer came: use up a retry when its time is over, otherwise only probe. */
static void missed(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;
	u64 most = retry_time(qp);

	req->waited += req->delay;
	/* The answer before has come, which restarted the timer, and only once. */
	if (req->rtt.has_missed && !req->timer_long && !req->rtt.has_late)
		verve_rtt_progress(&req->rtt);
	verve_rtt_missed(&req->rtt);
	if (most && req->waited >= most) {
		req->waited = 0;
		req->timed_out = true;
		verve_rtt_forgive(&req->rtt);
		verve_completer_timeout(qp);
		return;
	}
	verve_count(qp, loss_probes, 1);
	verve_recovery_probe(qp);
}

/* Is the answer likely to follow duplicate responses? Then wait on. */
static bool is_spurious(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;

	if (!req->dup_response || req->spurious_waits == SPURIOUS_PATIENCE)
		return false;
	req->spurious_waits++;
	req->waited = 0;
	verve_timer_set_retries(qp);
	verve_rtt_missed(&req->rtt);
	return true;
}

/*
 * Do the peer's packets, a send request that would ask for an ACK, or a peer in a pair
 * wait for a page? Then nothing is known to be lost.
 */
static bool is_stalled(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return verve_stall_is_on(qp, VERVE_STALL_ARRIVALS) ||
	       verve_stall_is_on(qp, VERVE_STALL_REQUESTS) ||
	       verve_pair_is_stalled(qp);
}

static void ack_timeout(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;

	if (req->una == req->max_psn)
		return;
	if (req->progress) {
		verve_rtt_progress(&req->rtt);
		if (!req->dup_response && !is_stalled(qp))
			verve_recovery_go_on(qp);
	} else if (!is_spurious(qp) && !is_stalled(qp) &&
		   !verve_requester_ask(qp)) {
		verve_hw_roce_suspect(qp->dev);
		missed(qp);
	}
}

void verve_timer_expired(struct verve_qp *qp)
{
	struct verve_requester *req = &qp->req;

	lockdep_assert_held(&qp->lock);
	/*
	 * The timer has been restarted since this expiry, which is therefore
	 * stale.
	 */
	if (hrtimer_is_queued(&qp->timer))
		return;
	req->timer_armed = false;
	if (qp->state == IB_QPS_ERR)
		verve_engine_error(qp);
	else if (req->wait_rnr)
		req->wait_rnr = false;
	else if (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD)
		ack_timeout(qp);
}
