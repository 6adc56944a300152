// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flushing: send requests that will not be executed complete in error (IBTA vol.
 * 1, 10.3.1, 10.8.2.2.1)
 */
#include <linux/minmax.h>
#include "outstanding.h"
#include "transport.h"

/* Is there a request that has not completed, fetched or not? */
static bool has_request(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return qp->sq.tail != verve_sq_head(&qp->sq) ||
	       verve_requester_fetch(qp);
}

/*
 * Flush up to @most requests. A user may fill the ring as fast as it is flushed,
 * so each request costs as much of the budget as a packet.
 * Return: number of requests, out of @most, left to the next round; 0 if there
 * are no more.
 */
static u32 flush(struct verve_qp *qp, u32 most)
	__must_hold(&qp->lock)
{
	for (; most && has_request(qp); most--) {
		if (!qp->budget) {
			verve_engine_again(qp);
			return most;
		}
		qp->budget--;
		verve_completer_retire(qp, IB_WC_WR_FLUSH_ERR);
	}
	return 0;
}

bool verve_completer_flush_doomed(struct verve_qp *qp)
{
	if (unlikely(qp->sq.doomed))
		qp->sq.doomed = flush(qp, qp->sq.doomed);
	return !qp->sq.doomed;
}

void verve_completer_doom(struct verve_qp *qp)
{
	struct verve_sq *sq = &qp->sq;

	lockdep_assert_held(&qp->lock);
	sq->doomed = verve_sq_head(sq) - sq->tail;
	if (qp->is_user)
		sq->doomed = max(sq->doomed, verve_ring_pending(&sq->ring));
}

void verve_completer_flush(struct verve_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	flush(qp, U32_MAX);
	verve_outstanding_forget(&qp->req);
	verve_recovery_reset(&qp->req);
	verve_ooo_drop(&qp->req.ooo);
}
