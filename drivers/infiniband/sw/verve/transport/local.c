// SPDX-License-Identifier: GPL-2.0-only
/*
 * Local requests, which change keys and send no packet.
 *
 * An executed local request stays in the queue until all earlier requests have
 * completed. It has no PSNs of its own. Its last PSN is that of the request
 * before it, so that one ACK retires both, and recovery steps over it.
 */
#include "../memory/fast.h"
#include "../memory/window.h"
#include "../wire/psn.h"
#include "transport.h"

static int bind_window(struct verve_qp *qp, const struct verve_swqe *wqe)
{
	const struct verve_binding binding = {
		.addr = wqe->addr,
		.bytes = wqe->bytes,
		.mr_lkey = wqe->mr_lkey,
		.mw_rkey = wqe->mw_rkey,
		.key = wqe->key,
		.access = wqe->access,
	};

	return verve_window_bind(&qp->scope, &binding);
}

/* Return: 0, -EAGAIN if the request must be repeated later, or -EINVAL. */
static int execute(struct verve_qp *qp, const struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	switch (wqe->opcode) {
	case IB_WR_LOCAL_INV:
		return verve_mr_invalidate(&qp->scope, wqe->inv_rkey, false);
	case IB_WR_REG_MR:
		return verve_fast_register(&qp->scope, wqe->mr, wqe->key,
					   wqe->access);
	case IB_WR_BIND_MW:
		return bind_window(qp, wqe);
	default:
		return -EINVAL;
	}
}

static void executed(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock)
{
	struct verve_sq *sq = &qp->sq;
	bool is_oldest = sq->tail == sq->next;

	wqe->first_psn = qp->req.psn;
	wqe->last_psn = verve_psn_add(qp->req.psn, -1);
	wqe->state = VERVE_WQE_STARTED;
	sq->next++;
	if (is_oldest)
		verve_completer_retire(qp, IB_WC_SUCCESS);
}

bool verve_local_run(struct verve_qp *qp, struct verve_swqe *wqe)
{
	lockdep_assert_held(&qp->lock);
	if (wqe->state == VERVE_WQE_STARTED) {
		qp->sq.next++;
		return true;
	}
	switch (execute(qp, wqe)) {
	case 0:
		qp->budget--;
		executed(qp, wqe);
		return true;
	case -EAGAIN:
		verve_engine_again(qp);
		return false;
	default:
		wqe->error = IB_WC_MW_BIND_ERR;
		return true;
	}
}
