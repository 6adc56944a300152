// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovery from loss (see recovery.h)
 */
#include "psn.h"
#include "recovery.h"
#include "transport.h"

enum {
	/* A run after one that was not long enough is longer by so much. */
	GROWTH = 4,
};

/* Where the oldest PSN outstanding is, the oldest request is (completer.c). */
static void begin(struct verve_qp *qp, u32 packets)
	__must_hold(&qp->lock)
{
	struct verve_requester *req = &qp->req;
	struct verve_recovery *recovery = &req->recovery;
	u32 outstanding = verve_psn_diff(req->max_psn, req->una);

	if (!outstanding)
		return;
	trace_verve_rewind(qp);
	if (!recovery->under_way)
		recovery->next = qp->sq.next;
	recovery->under_way = true;
	recovery->is_exact = false;
	recovery->packets = min(packets, outstanding);
	recovery->start = req->una;
	recovery->end = verve_psn_add(req->una, recovery->packets);
	recovery->limit = req->max_psn;
	req->psn = req->una;
	req->unasked = 0;
	req->asked = req->una;
	qp->sq.next = qp->sq.tail;
	/* What is sent again proves nothing. */
	verve_uso_cancel(qp->dev, &qp->flow);
	verve_rtt_doubt(&req->rtt);
}

/* The run has been sent: go on where we had been. */
static void end(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	qp->req.recovery.under_way = false;
	qp->req.psn = qp->req.max_psn;
	qp->sq.next = qp->req.recovery.next;
}

/* Is a gap right behind the run? Then the run was too short. */
static bool is_short(const struct verve_requester *req)
{
	const struct verve_recovery *recovery = &req->recovery;

	return recovery->packets && req->una == recovery->end &&
	       verve_psn_before(req->una, recovery->limit);
}

/* Is the oldest packet outstanding older than those of the trial? */
static bool is_before_trial(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	u32 last = verve_psn_add(qp->req.una, VERVE_USO_TRIAL_RUN - 1);

	return qp->flow.uso.state == VERVE_USO_ON_TRIAL &&
	       verve_psn_before(last, qp->flow.uso.psn);
}

/* A NIC may have had a part in that a packet did not arrive. */
static void doubt_segmentation(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	if (verve_message_lost(&qp->flow))
		verve_count(qp, offload_distrusted, 1);
	if (is_before_trial(qp))
		verve_uso_cancel(qp->dev, &qp->flow);
	else if (verve_uso_lost(qp->dev, &qp->flow))
		verve_count(qp, uso_trial_failed, 1);
}

bool verve_recovery_is_begun(const struct verve_qp *qp)
{
	return qp->req.recovery.packets &&
	       qp->req.recovery.start == qp->req.una;
}

bool verve_recovery_covers(const struct verve_qp *qp)
{
	return qp->req.recovery.packets;
}

void verve_recovery_nak(struct verve_qp *qp)
{
	doubt_segmentation(qp);
	begin(qp, is_short(&qp->req) ? qp->req.recovery.packets * GROWTH : 1);
}

void verve_recovery_responses(struct verve_qp *qp, u32 end)
{
	begin(qp, verve_psn_diff(end, qp->req.una));
	qp->req.recovery.is_exact = true;
}

void verve_recovery_probe(struct verve_qp *qp)
{
	/* Perhaps the answer is only late; if not, verve_recovery_ack() sees it. */
	if (qp->flow.uso.state == VERVE_USO_ON_TRIAL)
		doubt_segmentation(qp);
	begin(qp, 1);
	qp->req.probing = true;
}

void verve_recovery_ask(struct verve_qp *qp)
{
	begin(qp, 1);
}

void verve_recovery_sent(struct verve_qp *qp)
{
	struct verve_requester *req = &qp->req;
	struct verve_recovery *recovery = &req->recovery;

	if (!recovery->under_way || verve_psn_before(req->psn, recovery->end))
		return;
	/* A READ is asked for in pieces that have their borders. */
	recovery->end = req->psn;
	end(qp);
}

void verve_recovery_acknowledged(struct verve_qp *qp)
{
	struct verve_requester *req = &qp->req;
	struct verve_recovery *recovery = &req->recovery;

	if (unlikely(qp->flow.uso.state == VERVE_USO_ON_TRIAL) &&
	    verve_psn_before(qp->flow.uso.psn, req->una))
		verve_uso_arrived(qp->dev, &qp->flow);
	if (qp->flow.message.is_out &&
	    verve_psn_before(qp->flow.message.psn, req->una))
		verve_message_arrived(&qp->flow);
	if (!recovery->packets)
		return;
	if (recovery->under_way && verve_psn_before(req->psn, req->una)) {
		req->psn = req->una;
		qp->sq.next = qp->sq.tail;
		if (!verve_psn_before(req->psn, recovery->end))
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
	begin(qp, qp->req.recovery.packets * GROWTH);
}
