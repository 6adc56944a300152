// SPDX-License-Identifier: GPL-2.0-only
/* Loss recovery (see recovery.h) */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include "../offload/uso.h"
#include "../wire/psn.h"
#include "outstanding.h"
#include "recovery.h"
#include "transport.h"

enum {
	/* Factor by which the next run is longer, after one that was too short */
	GROWTH = 4,
	/*
	 * Under heavy loss, a gap may by chance begin where a run ends, but
	 * hardly this often in a row.
	 */
	MIN_SHORT_RUNS = 3,
	/* Number of NAKs for which a peer counts as one that goes back N */
	GO_BACK_NAKS = 16,
};

/* The last PSN of a trial of segmentation that begins with the oldest packet */
static u32 trial_end(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return verve_psn_add(qp->req.una, VERVE_USO_TRIAL_SEGS - 1);
}

/* Is the first packet of a trial of segmentation the oldest that lacks an answer? */
static bool begins_trial(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return trial_end(qp) == qp->flow.uso.psn;
}

/* Send outstanding packets again, from the oldest one up to recovery.stop. */
static void go_back(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;

	trace_verve_rewind(qp);
	/*
	 * The request at sq.tail contains the oldest outstanding PSN
	 * (completer.c).
	 */
	if (!req->recovery.under_way)
		req->recovery.next = qp->sq.next;
	req->recovery.under_way = true;
	verve_outstanding_rewind(req);
	qp->sq.next = qp->sq.tail;
	/*
	 * An answer to a repeat of the last packet of a trial would prove nothing, and
	 * one to a packet before the trial would look like the loss of the trial.
	 */
	if (!begins_trial(qp) || req->recovery.stop != qp->flow.uso.psn)
		verve_uso_cancel(qp->dev, &qp->flow);
	verve_trust_repeated(&qp->flow.trust, req->recovery.stop);
	verve_rtt_doubt(&req->rtt, ktime_get_ns());
}

static void begin(struct verve_qp *qp, u32 packets)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;
	struct verve_recovery *recovery = &req->recovery;
	s32 most;

	if (req->una == req->max_psn)
		return;
	if (!recovery->is_trial)
		recovery->limit = req->max_psn;
	most = verve_psn_diff(recovery->limit, req->una);
	/*
	 * Leave out the newest packet. Its ACK then shows that the peer has kept
	 * it.
	 */
	if (recovery->is_trial)
		most--;
	recovery->is_exact = false;
	recovery->packets = min_t(u32, packets, max(most, 1));
	recovery->start = req->una;
	recovery->end = verve_psn_add(req->una, recovery->packets);
	recovery->stop = recovery->end;
	go_back(qp);
}

/*
 * The run has been sent: continue at @next, or behind the run. If a NIC returned
 * the QP within a piece of a READ, the run has requested the whole piece.
 */
static void end(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	u32 next = qp->req.recovery.next;

	qp->req.recovery.under_way = false;
	verve_outstanding_proceed(&qp->req);
	if ((s32)(next - qp->sq.next) > 0)
		qp->sq.next = next;
}

/* Does a gap follow the run, or its probe, directly? Then the run was too short. */
static bool is_short(const struct verve_requester *req)
{
	const struct verve_recovery *recovery = &req->recovery;

	return recovery->packets &&
	       (req->una == recovery->end || req->una == recovery->stop) &&
	       verve_psn_before(req->una, recovery->limit);
}

/* Return: length of the next run, for a peer that still lacks packets. */
static u32 next_run(const struct verve_requester *req)
{
	const struct verve_recovery *recovery = &req->recovery;

	if (recovery->goes_back)
		return VERVE_MAX_UNACKED;
	if (!is_short(req))
		return 1;
	return req->una == recovery->end ? recovery->packets * GROWTH : GROWTH;
}

/*
 * A NAK shows that the peer has seen later packets. Try whether it has kept them.
 */
static void begin_trial(struct verve_requester *req)
{
	struct verve_recovery *recovery = &req->recovery;

	if (recovery->goes_back || verve_psn_diff(req->max_psn, req->una) < 2)
		return;
	recovery->is_trial = true;
	recovery->short_runs = 0;
	recovery->limit = req->max_psn;
}

/* The peer has kept later packets if its ACK goes beyond the run. */
static void judge_peer(struct verve_requester *req)
{
	struct verve_recovery *recovery = &req->recovery;

	if (!recovery->is_trial || verve_psn_before(req->una, recovery->end))
		return;
	recovery->is_trial = false;
	if (req->una != recovery->end)
		return;
	recovery->short_runs++;
	if (verve_psn_add(req->una, 1) != recovery->limit)
		recovery->is_trial = true;
	else if (recovery->short_runs >= MIN_SHORT_RUNS)
		recovery->goes_back = GO_BACK_NAKS;
}

/* Is the oldest outstanding packet older than the trial packets? */
static bool is_before_trial(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return qp->flow.uso.state == VERVE_USO_ON_TRIAL &&
	       verve_psn_before(trial_end(qp), qp->flow.uso.psn);
}

static void doubt_device(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	if (verve_trust_lost(&qp->flow.trust, qp->req.una, jiffies))
		verve_count(qp, offload_distrusted, 1);
}

/* A lost packet may be the fault of a NIC's segmentation. */
static void doubt_segmentation(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	doubt_device(qp);
	if (is_before_trial(qp))
		verve_uso_cancel(qp->dev, &qp->flow);
	else if (verve_uso_lost(qp->dev, &qp->flow))
		verve_count(qp, uso_trial_failed, 1);
}

void verve_recovery_reset(struct verve_requester *req)
{
	req->recovery = (struct verve_recovery) {};
	req->probing = false;
}

bool verve_recovery_is_begun(const struct verve_qp *qp)
{
	return qp->req.recovery.packets &&
	       qp->req.recovery.start == qp->req.una;
}

bool verve_recovery_is_over(const struct verve_qp *qp)
{
	const struct verve_recovery *recovery = &qp->req.recovery;

	return recovery->packets && !verve_psn_before(qp->req.una, recovery->stop);
}

bool verve_recovery_covers(const struct verve_qp *qp)
{
	return qp->req.recovery.packets;
}

void verve_recovery_nak(struct verve_qp *qp)
{
	struct verve_recovery *recovery = &qp->req.recovery;

	lockdep_assert_held(&qp->lock);
	doubt_segmentation(qp);
	if (!recovery->is_trial)
		begin_trial(&qp->req);
	begin(qp, next_run(&qp->req));
	recovery->is_timed = !qp->req.wait_rnr;
	if (recovery->goes_back)
		recovery->goes_back--;
}

void verve_recovery_responses(struct verve_qp *qp, u32 end)
{
	lockdep_assert_held(&qp->lock);
	qp->req.recovery.is_trial = false;
	begin(qp, verve_psn_diff(end, qp->req.una));
	qp->req.recovery.is_exact = true;
	qp->req.recovery.is_timed = !qp->req.wait_rnr;
}

/* Ask without a change to the state of an unanswered run. */
void verve_recovery_ask(struct verve_qp *qp)
{
	struct verve_recovery *recovery = &qp->req.recovery;

	lockdep_assert_held(&qp->lock);
	recovery->is_timed = false;
	if (!verve_recovery_is_begun(qp)) {
		recovery->is_trial = false;
		begin(qp, 1);
		return;
	}
	recovery->is_exact = false;
	recovery->stop = verve_psn_add(recovery->start, 1);
	go_back(qp);
}

void verve_recovery_probe(struct verve_qp *qp)
{
	/* No answer would end the probe. */
	if (qp->req.una == qp->req.max_psn)
		return;
	/* The answer may only be late. If not, verve_recovery_ack() detects the loss. */
	if (qp->flow.uso.state == VERVE_USO_ON_TRIAL && !begins_trial(qp))
		doubt_segmentation(qp);
	/* The last of the packets may be lost. No later packet would show that. */
	else if (verve_trust_is_in_doubt(&qp->flow.trust, qp->req.una))
		doubt_device(qp);
	verve_recovery_ask(qp);
	qp->req.probing = true;
}

void verve_recovery_go_on(struct verve_qp *qp)
{
	const struct verve_requester *req = &qp->req;

	lockdep_assert_held(&qp->lock);
	if (verve_recovery_is_over(qp) && !req->recovery.under_way &&
	    !verve_psn_before(req->una, req->asked))
		begin(qp, next_run(req));
}

void verve_recovery_sent(struct verve_qp *qp)
{
	struct verve_requester *req = &qp->req;
	struct verve_recovery *recovery = &req->recovery;

	if (!recovery->under_way || verve_psn_before(req->psn, recovery->stop))
		return;
	/* READs are requested in pieces with fixed boundaries. */
	recovery->stop = req->psn;
	if (verve_psn_before(recovery->end, req->psn))
		recovery->end = req->psn;
	end(qp);
}

/* The answer to a run that the peer has asked for tells the round-trip time. */
static void sample_rtt(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_recovery *recovery = &qp->req.recovery;

	if (recovery->is_timed && !qp->pair.peer)
		verve_rtt_sample_repeat(&qp->req.rtt, ktime_get_ns());
	recovery->is_timed = false;
}

void verve_recovery_acknowledged(struct verve_qp *qp)
{
	struct verve_requester *req = &qp->req;
	struct verve_recovery *recovery = &req->recovery;

	lockdep_assert_held(&qp->lock);
	req->probing = false;
	if (unlikely(qp->flow.uso.state == VERVE_USO_ON_TRIAL) &&
	    verve_psn_before(qp->flow.uso.psn, req->una))
		verve_uso_arrived(qp->dev, &qp->flow);
	verve_trust_acknowledged(&qp->flow.trust, req->una);
	if (!recovery->packets)
		return;
	sample_rtt(qp);
	judge_peer(req);
	if (recovery->under_way && verve_psn_before(req->psn, req->una)) {
		verve_outstanding_skip(req);
		qp->sq.next = qp->sq.tail;
		if (!verve_psn_before(req->psn, recovery->stop))
			end(qp);
	}
	if (!verve_psn_before(req->una, recovery->limit))
		recovery->packets = 0;
}

void verve_recovery_ack(struct verve_qp *qp)
{
	if (!is_short(&qp->req))
		return;
	doubt_segmentation(qp);
	begin(qp, next_run(&qp->req));
}
