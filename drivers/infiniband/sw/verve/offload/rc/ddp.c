// SPDX-License-Identifier: GPL-2.0-only
/*
 * DDP: payload that a NIC has placed (see ddp.h)
 */
#include "../../transport/transport.h"
#include "../../wire/psn.h"
#include "ddp.h"
#include "qpc.h"

bool verve_ddp_is_placed(const struct verve_qp *qp,
			 const struct verve_arrival *arrival)
{
	return unlikely(arrival->pdu.flags & VERVE_PDU_PLACED) &&
	       verve_nic_has_placed(qp);
}

bool verve_ddp_admits(struct verve_qp *qp, const struct verve_arrival *arrival)
{
	if (likely(!verve_ddp_is_placed(qp, arrival))) {
		if (unlikely(qp->resp.in_ddp))
			verve_ddp_stop(qp);
		return true;
	}
	if (qp->resp.in_ddp)
		return true;
	verve_qp_drop(qp, rx_drop_ddp);
	verve_ack_gap(&qp->resp.ack, qp->resp.epsn);
	return false;
}

bool verve_ddp_skip(struct verve_qp *qp, const struct verve_arrival *arrival)
{
	struct verve_responder *resp = &qp->resp;
	u32 len = arrival->pdu.length;

	if (likely(!verve_ddp_is_placed(qp, arrival)) ||
	    resp->message.op != VERVE_OP_WRITE)
		return false;
	if (!verve_arrival_is_in_place(arrival, &resp->dest, len)) {
		/* The stack has moved the payload. */
		verve_ddp_stop(qp);
		return false;
	}
	verve_iter_skip(&resp->dest, len);
	verve_count(qp, rx_ddp_pkts, 1);
	verve_count(qp, rx_ddp_bytes, len);
	return true;
}

void verve_ddp_stop(struct verve_qp *qp)
{
	if (!qp->resp.in_ddp)
		return;
	qp->resp.in_ddp = false;
	verve_nic_stop(qp);
}

/* A NIC that places WRITEs cannot start in the middle of another message. */
static bool is_ready(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_responder *resp = &qp->resp;

	return qp->state >= IB_QPS_RTR && qp->state <= IB_QPS_SQE &&
	       !resp->ooo.count && !verve_ack_is_fatal(&resp->ack) &&
	       !verve_stall_is_on(qp, VERVE_STALL_ARRIVALS) &&
	       (!resp->message.op || resp->message.op == VERVE_OP_WRITE);
}

void verve_ddp_round_end(struct verve_qp *qp)
{
	struct verve_responder *resp = &qp->resp;

	if (likely(!verve_nic_wants_sync(qp, verve_psn_add(resp->epsn, -1))))
		return;
	if (is_ready(qp) && verve_nic_sync(qp))
		resp->in_ddp = true;
}
