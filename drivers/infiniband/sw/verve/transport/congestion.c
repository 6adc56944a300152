// SPDX-License-Identifier: GPL-2.0-only
/* Congestion notification, and limits of the rate (see congestion.h) */
#include <linux/hrtimer.h>
#include <linux/slab.h>
#include <linux/ktime.h>
#include <linux/pkt_sched.h>
#include "../device.h"
#include "../wire/psn.h"
#include "congestion.h"
#include "dcqcn.h"
#include "transport.h"

enum {
	/* Rate before the first CNP, if the flow's own rate is not known */
	FIRST_KBIT	= 10 * 1000 * 1000,
	/* Duration of a burst at the flow's rate */
	QUANTUM_NS	= 100 * 1000,
	/* The rate does not rise while one packet in this number is marked. */
	REACTION_PACKETS = 8,
	REACTION_MAX_NS	= 10 * 1000 * 1000,
	/* Ethernet, IPv6, UDP, BTH, ICRC, and preamble, FCS and gap of a frame */
	OVERHEAD	= 14 + 40 + 8 + 12 + 4 + 24,
};

/**
 * struct verve_congestion - rate limit of a QP
 * @timer: runs while the QP may not send yet
 * @qp: limited QP
 * @flow: present rate
 * @next: time in ns from which the QP may send again
 * @unheeded: bytes sent since @flow was last advanced
 * @is_held: the limit is in effect
 * @request_waits: a request has been told to wait, and none has been sent since
 * @has_responded: a response was the last to be allowed
 */
struct verve_congestion {
	struct hrtimer timer;
	struct verve_qp *qp;
	struct verve_dcqcn flow;
	u64 next;
	u32 unheeded;
	bool is_held;
	bool request_waits;
	bool has_responded;
};

static const struct verve_cc_params *params_of(const struct verve_qp *qp)
{
	return &qp->dev->cc;
}

/*
 * A CNP does not join the train, because it has its own traffic class and
 * priority.
 */
static void send_cnp(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_av *av = &qp->flow.av;
	const struct verve_av own = *av;
	struct verve_burst burst = {
		.kind = VERVE_SEQ_CNP,
		.qpn = qp->attr.dest_qp_num,
		.packets = 1,
		.starts = true,
		.ends = true,
		.pdu.flags = VERVE_PDU_BECN,
	};

	verve_train_flush(qp->train);
	av->traffic_class = verve_cc(params_of(qp), NP_CNP_DSCP) << 2;
	av->sl = verve_cc(params_of(qp), NP_CNP_PRIO);
	av->max_priority = TC_PRIO_MAX;
	verve_train_add(qp->train, &qp->flow, &burst);
	verve_train_flush(qp->train);
	*av = own;
	verve_count(qp, np_cnp_sent, 1);
}

void verve_congestion_marked(struct verve_qp *qp)
{
	const struct verve_cc_params *params = params_of(qp);
	u64 pause = verve_cc(params, NP_MIN_TIME_BETWEEN_CNPS) *
		    (u64)NSEC_PER_USEC;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->lock);
	/* Copies from memory to memory pass no queue that could be congested. */
	if (!verve_cc(params, NP_ENABLE) || qp->pair.peer)
		return;
	if (qp->cnp_sent && now - qp->cnp_sent < pause)
		return;
	qp->cnp_sent = now;
	send_cnp(qp);
}

static enum hrtimer_restart timer_fired(struct hrtimer *timer)
{
	struct verve_congestion *congestion =
		container_of(timer, struct verve_congestion, timer);

	verve_engine_kick(congestion->qp, VERVE_EV_CONTINUE);
	return HRTIMER_NORESTART;
}

static struct verve_congestion *get(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_congestion *congestion = qp->congestion;

	if (congestion || qp->dead)
		return congestion;
	congestion = kzalloc_obj(*congestion, GFP_ATOMIC | __GFP_NOWARN);
	if (!congestion)
		return NULL;
	congestion->qp = qp;
	hrtimer_setup(&congestion->timer, timer_fired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	qp->congestion = congestion;
	return congestion;
}

/* Return: present rate. The outstanding packets were sent within a round trip. */
static u32 present_rate(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_requester *req = &qp->req;
	u32 packets = verve_psn_diff(req->max_psn, req->una);
	u64 bits = (u64)packets * qp->mtu * 8;

	if (!bits || !req->rtt.latest)
		return FIRST_KBIT;
	return min_t(u64, div_u64(bits * NSEC_PER_MSEC, req->rtt.latest),
		     FIRST_KBIT);
}

/*
 * Return: ns until the effect of a rate shows: one round trip, and the time of a
 * few packets, which may be marked. On fast links the times of the parameters are
 * longer than both.
 */
static u32 reaction_time(const struct verve_qp *qp,
			 const struct verve_dcqcn *flow)
	__must_hold(&qp->lock)
{
	u64 packets = min_t(u64, REACTION_MAX_NS,
			    verve_dcqcn_delay(flow, REACTION_PACKETS * qp->mtu));

	return min_t(u64, max_t(u64, packets, qp->req.rtt.latest), U32_MAX);
}

/*
 * Return: bytes that show the effect of a rate: those few packets, or fewer if
 * they take too long.
 */
static u32 evidence(const struct verve_qp *qp, const struct verve_dcqcn *flow)
	__must_hold(&qp->lock)
{
	u64 bytes = div_u64((u64)flow->rate * REACTION_MAX_NS, 8 * NSEC_PER_MSEC);

	return clamp_t(u64, bytes, qp->mtu, REACTION_PACKETS * qp->mtu);
}

void verve_congestion_notified(struct verve_qp *qp)
{
	const struct verve_cc_params *params = params_of(qp);
	struct verve_congestion *congestion;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->lock);
	congestion = verve_cc(params, RP_ENABLE) ? get(qp) : NULL;
	if (!congestion) {
		verve_count(qp, rp_cnp_ignored, 1);
		return;
	}
	verve_count(qp, rp_cnp_handled, 1);
	if (!congestion->is_held) {
		verve_dcqcn_begin(&congestion->flow, params, present_rate(qp),
				  now);
		congestion->is_held = true;
		congestion->next = now;
		congestion->unheeded = 0;
	}
	verve_dcqcn_cut(&congestion->flow, params,
			reaction_time(qp, &congestion->flow), now);
}

/* Start the timer, which requester and responder share. */
static void wait(struct verve_qp *qp, u64 ns)
	__must_hold(&qp->lock)
{
	struct hrtimer *timer = &qp->congestion->timer;

	if (!qp->dead && !hrtimer_is_queued(timer))
		hrtimer_start(timer, ns_to_ktime(ns),
			      HRTIMER_MODE_REL_SOFT);
}

/* Return: packets of a burst, at least one. */
static u32 quantum(const struct verve_qp *qp, const struct verve_dcqcn *flow)
	__must_hold(&qp->lock)
{
	u64 bytes = div_u64((u64)flow->rate * QUANTUM_NS, 8 * NSEC_PER_MSEC);

	return max_t(u32, div_u64(bytes, qp->mtu), 1);
}

static u32 allowance(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_congestion *congestion = qp->congestion;
	u64 now;

	if (likely(!congestion) || !congestion->is_held || qp->pair.peer)
		return U32_MAX;
	now = ktime_get_ns();
	if (now < congestion->next) {
		wait(qp, congestion->next - now);
		return 0;
	}
	congestion->is_held = verve_dcqcn_advance(&congestion->flow,
						  params_of(qp),
						  congestion->unheeded,
						  reaction_time(qp, &congestion->flow),
						  evidence(qp, &congestion->flow),
						  now);
	congestion->unheeded = 0;
	return quantum(qp, &congestion->flow);
}

u32 verve_congestion_allow_request(struct verve_qp *qp)
{
	u32 most = allowance(qp);

	lockdep_assert_held(&qp->lock);
	if (unlikely(qp->congestion)) {
		qp->congestion->request_waits = !most;
		if (most)
			qp->congestion->has_responded = false;
	}
	return most;
}

u32 verve_congestion_allow_response(struct verve_qp *qp)
{
	struct verve_congestion *congestion = qp->congestion;
	u32 most = allowance(qp);

	lockdep_assert_held(&qp->lock);
	if (likely(!congestion) || !most)
		return most;
	if (!congestion->request_waits || !congestion->has_responded) {
		congestion->has_responded = true;
		return most;
	}
	/* The request may be gone. So the next round serves responses in any case. */
	congestion->request_waits = false;
	verve_engine_again(qp);
	return 0;
}

void verve_congestion_sent(struct verve_qp *qp, u32 packets, u32 bytes)
{
	struct verve_congestion *congestion = qp->congestion;

	if (likely(!congestion) || !congestion->is_held)
		return;
	bytes += packets * OVERHEAD;
	congestion->unheeded += bytes;
	/* Unused time gives no credit. */
	congestion->next = max(congestion->next, ktime_get_ns()) +
			   verve_dcqcn_delay(&congestion->flow, bytes);
}

u32 verve_congestion_rate(const struct verve_qp *qp)
{
	const struct verve_congestion *congestion = qp->congestion;

	return congestion && congestion->is_held ? congestion->flow.rate : 0;
}

void verve_congestion_reset(struct verve_qp *qp)
{
	if (qp->congestion)
		qp->congestion->is_held = false;
	qp->cnp_sent = 0;
}

void verve_congestion_stop(struct verve_qp *qp)
{
	/* The QP is dead, so no CPU sets the pointer any more. */
	struct verve_congestion *congestion = context_unsafe(qp->congestion);

	if (congestion)
		hrtimer_cancel(&congestion->timer);
}

void verve_congestion_free(struct verve_qp *qp)
{
	kfree(qp->congestion);
	qp->congestion = NULL;
}
