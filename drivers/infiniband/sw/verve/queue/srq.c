// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limit event of shared receive queues.
 */
#include "lock.h"
#include "rq.h"

void verve_srq_notify(struct verve_srq *srq)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};
	unsigned long flags;
	bool due;

	if (!verve_srq_is_due(srq))
		return;
	flags = verve_lock(&srq->rq.lock, srq->rq.is_user);
	due = srq->limit_event;
	srq->limit_event = false;
	verve_unlock(&srq->rq.lock, srq->rq.is_user, flags);

	if (due && srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}
