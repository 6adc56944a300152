// SPDX-License-Identifier: GPL-2.0-only
/*
 * DDP: payload that a NIC has placed (see ddp.h)
 */
#include "../../transport/transport.h"
#include "../../wire/psn.h"
#include "ddp.h"
#include "qpc.h"
#include "rc.h"

enum {
	/* A run is short if it places less than this many times what was copied. */
	WORTH = 4,
	MAX_DOUBLINGS = 6,
};

static bool is_placed(const struct verve_qp *qp,
		      const struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	return unlikely(arrival->pdu.flags & VERVE_PDU_PLACED) &&
	       verve_nic_has_placed(qp);
}

/* Bytes to be copied before the next run */
static u64 run_after(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return (u64)verve_nic_rx_after(qp) << qp->resp.ddp.doublings;
}

static void end_run(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_ddp *ddp = &qp->resp.ddp;

	if (!ddp->in_run)
		return;
	ddp->in_run = false;
	ddp->copied = 0;
	if (ddp->placed >= WORTH * ddp->threshold)
		ddp->doublings = 0;
	else if (ddp->doublings < MAX_DOUBLINGS)
		ddp->doublings++;
}

/* Has the NIC stopped, so that software may execute all packets? */
static bool has_stopped(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_ddp *ddp = &qp->resp.ddp;

	if (unlikely(ddp->is_active) && verve_nic_is_stopped(qp))
		ddp->is_active = false;
	return !ddp->is_active;
}

/* Is the NIC about to begin or to end a run? */
static bool will_answer(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return !has_stopped(qp) && !verve_nic_is_placing(qp);
}

/* Drop a packet. Its repeat is of no use before the NIC has answered. */
static void lose(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock)
{
	struct verve_ddp *ddp = &qp->resp.ddp;

	verve_qp_drop(qp, rx_drop_ddp);
	if (!will_answer(qp)) {
		verve_ack_gap(&qp->resp.ack, psn);
		return;
	}
	if (!ddp->nak_wanted || verve_psn_before(ddp->lost_psn, psn))
		ddp->lost_psn = psn;
	ddp->nak_wanted = true;
}

/*
 * The next request is not placed, while the NIC places. It may have passed the NIC before
 * the run began, so its repeat is placed. The second time, the NIC must stop.
 */
static void doubt(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_ddp *ddp = &qp->resp.ddp;

	if (ddp->is_fresh)
		ddp->is_fresh = false;
	else
		verve_nic_stop(qp);
}

static bool may_execute(struct verve_qp *qp,
			const struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	if (is_placed(qp, arrival))
		return qp->resp.ddp.in_run;
	if (likely(!qp->resp.ddp.is_active && !qp->resp.ddp.in_run))
		return true;
	if (has_stopped(qp)) {
		end_run(qp);
		return true;
	}
	if (verve_nic_is_placing(qp))
		doubt(qp);
	return false;
}

bool verve_ddp_admits(struct verve_qp *qp, const struct verve_arrival *arrival)
{
	if (likely(may_execute(qp, arrival)))
		return true;
	lose(qp, arrival->pdu.psn);
	return false;
}

bool verve_ddp_keeps(struct verve_qp *qp, const struct verve_arrival *arrival)
{
	bool stopped = has_stopped(qp), placed = is_placed(qp, arrival);

	if (likely(stopped && !placed))
		return true;
	/* The NIC has passed the missing packet, which was lost behind it. */
	if (!stopped && placed)
		verve_nic_stop(qp);
	lose(qp, arrival->pdu.psn);
	return false;
}

enum verve_ddp_payload verve_ddp_place(struct verve_qp *qp,
				       const struct verve_arrival *arrival)
{
	struct verve_responder *resp = &qp->resp;
	u32 len = arrival->pdu.length;

	if (likely(!is_placed(qp, arrival)) ||
	    resp->message.op != VERVE_OP_WRITE)
		return VERVE_DDP_NOT_PLACED;
	if (!verve_arrival_is_in_place(arrival, &resp->dest, len)) {
		/* The stack has moved it. A copy might overwrite what the NIC places. */
		verve_ddp_stop(qp);
		lose(qp, arrival->pdu.psn);
		return VERVE_DDP_LOST;
	}
	verve_iter_skip(&resp->dest, len);
	resp->ddp.is_fresh = false;
	resp->ddp.placed += len;
	verve_count(qp, rx_ddp_pkts, 1);
	verve_count(qp, rx_ddp_bytes, len);
	return VERVE_DDP_PLACED;
}

void verve_ddp_copied(struct verve_qp *qp, const struct verve_pdu *pdu)
{
	struct verve_ddp *ddp = &qp->resp.ddp;

	if (qp->resp.message.op == VERVE_OP_WRITE &&
	    !(verve_opcode_flags(pdu->opcode) & VERVE_OP_IMM))
		ddp->copied += pdu->length;
	else
		ddp->copied = 0;
}

void verve_ddp_stop(struct verve_qp *qp)
{
	end_run(qp);
	if (!has_stopped(qp))
		verve_nic_stop(qp);
}

void verve_ddp_reset(struct verve_qp *qp)
{
	struct verve_ddp *ddp = &qp->resp.ddp;

	verve_ddp_stop(qp);
	ddp->nak_wanted = false;
	ddp->copied = 0;
	ddp->doublings = 0;
}

bool verve_ddp_is_over(const struct verve_qp *qp)
{
	return !qp->resp.ddp.nak_wanted &&
	       (!qp->resp.ddp.is_active || verve_nic_is_stopped(qp));
}

/* A QP that sends shows how often its peer repeats. If never, a run may end it. */
static bool bears_repeats(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return qp->state == IB_QPS_RTR || qp->attr.retry_cnt;
}

/* A NIC that places WRITEs cannot start in the middle of another message. */
static bool is_ready(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_responder *resp = &qp->resp;

	return qp->state >= IB_QPS_RTR && qp->state <= IB_QPS_SQE &&
	       !resp->ooo.count && !verve_ack_is_fatal(&resp->ack) &&
	       !verve_stall_is_on(qp, VERVE_STALL_ARRIVALS) &&
	       (!resp->message.op || resp->message.op == VERVE_OP_WRITE) &&
	       bears_repeats(qp) && has_stopped(qp) && !resp->ddp.is_ahead &&
	       !verve_rc_offload_is_due(qp);
}

static void begin_run(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_ddp *ddp = &qp->resp.ddp;

	end_run(qp);
	ddp->copied = 0;
	ddp->threshold = run_after(qp);
	if (!verve_nic_start(qp))
		return;
	ddp->is_active = true;
	ddp->is_fresh = true;
	ddp->is_ahead = true;
	ddp->in_run = true;
	ddp->placed = 0;
}

/* A NAK that was sent for this gap before came too early. An RNR NAK may be due now. */
void verve_ddp_answer(struct verve_qp *qp)
{
	struct verve_responder *resp = &qp->resp;

	if (likely(!resp->ddp.nak_wanted) || will_answer(qp))
		return;
	resp->ddp.nak_wanted = false;
	if (!resp->ack.rnr_due)
		verve_ack_gap_again(&resp->ack, resp->ddp.lost_psn);
}

/* PSN of the last request that was executed */
static u32 last_psn(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return verve_psn_add(qp->resp.epsn, -1);
}

void verve_ddp_round_end(struct verve_qp *qp)
{
	struct verve_ddp *ddp = &qp->resp.ddp;

	if (unlikely(ddp->is_ahead) && has_stopped(qp))
		ddp->is_ahead = !verve_nic_is_passed(qp, last_psn(qp));
	if (likely(!verve_nic_rx_after(qp)) || ddp->copied < run_after(qp))
		return;
	if (is_ready(qp))
		begin_run(qp);
}
