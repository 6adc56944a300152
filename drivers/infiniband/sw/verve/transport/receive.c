// SPDX-License-Identifier: GPL-2.0-only
/* Receives of a responder: fetch, completion and failure */
#include "../offload/rc/rc.h"
#include "transport.h"

int verve_responder_take_recv(struct verve_qp *qp)
{
	struct verve_responder *resp = &qp->resp;
	int err;

	lockdep_assert_held(&qp->lock);
	if (!resp->recv_valid)
		resp->recv_valid = verve_rc_offload_take_held(qp, &resp->recv);
	if (resp->recv_valid)
		return resp->recv.is_bad ? -EINVAL : 0;
	if (qp->srq) {
		err = verve_srq_fetch(qp->srq, &resp->recv);
		if (verve_srq_is_due(qp->srq))
			qp->notices |= VERVE_NOTICE_SRQ;
	} else {
		err = verve_rq_fetch(&qp->rq, &resp->recv);
	}
	resp->recv_valid = err != -ENOENT;
	return err;
}

bool verve_responder_lend_recv(struct verve_responder *resp,
			       struct verve_recv *recv)
{
	if (!resp->recv_valid)
		return false;
	*recv = resp->recv;
	resp->recv_valid = false;
	return true;
}

void verve_responder_return_recv(struct verve_responder *resp,
				 const struct verve_recv *recv)
{
	resp->recv = *recv;
	resp->recv_valid = true;
}

void verve_responder_forget_recv(struct verve_responder *resp)
{
	resp->recv_valid = false;
}

void verve_responder_deliver(struct verve_qp *qp, struct ib_wc *wc,
			     bool solicited)
{
	bool failed = wc->status != IB_WC_SUCCESS;

	lockdep_assert_held(&qp->lock);
	wc->qp = qp->ibqp;
	wc->port_num = 1;
	if (failed && wc->status != IB_WC_WR_FLUSH_ERR)
		verve_count(qp, resp_cqe_error, 1);
	if (!verve_cq_post(qp->rcq, wc, 1, solicited || failed))
		verve_engine_overrun(qp);
	qp->notices |= VERVE_NOTICE_RCQ;
}

void verve_responder_complete(struct verve_qp *qp, struct ib_wc *wc,
			      bool solicited)
{
	wc->wr_id = qp->resp.recv.wr_id;
	qp->resp.recv_valid = false;
	verve_responder_deliver(qp, wc, solicited);
}

void verve_responder_fail_recv(struct verve_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc = { .status = status, .opcode = IB_WC_RECV };

	verve_responder_complete(qp, &wc, false);
}
