// SPDX-License-Identifier: GPL-2.0-only
/*
 * QPs that devices run (rdma/verve_offload_rc.h)
 *
 * A QP is offloaded and returned under the lock of the device. So a driver gets one call
 * at a time, and is registered. The object of an offloaded QP always names the device,
 * so posting needs no lock of the registry.
 */
#include <rdma/verve_offload_rc.h>
#include "offload.h"

bool verve_offload_has_rc(const struct verve_offload_ops *ops)
{
	return ops->rc && ops->rc->start && ops->rc->stop && ops->rc->post;
}

static void offload(struct verve_offload_qp *qp)
{
	struct verve_offload *offload = qp->object.offload;
	struct verve_offload_rc_terms terms = {};
	struct verve_offload_rc_state state = {};

	lockdep_assert_held(&offload->lock);
	if (!qp->user->offload(qp, &terms, &state))
		return;
	if (offload->ops->rc->start(offload->ndev, qp->object.context, &terms,
				    &state)) {
		qp->user->returned(qp, &state);
		return;
	}
	qp->is_offloaded = true;
	qp->user->offloaded(qp);
}

void verve_offload_rc_offload(struct verve_offload_qp *qp)
{
	verve_offload_lock_object(&qp->object);
	if (qp->is_offered && !qp->is_offloaded)
		offload(qp);
	verve_offload_unlock_object(&qp->object);
}

void verve_offload_rc_stop(struct verve_offload_qp *qp)
{
	struct verve_offload *offload = qp->object.offload;
	struct verve_offload_rc_state state = {};
	int err;

	if (!qp->is_offloaded)
		return;
	lockdep_assert_held(&offload->lock);
	qp->is_offloaded = false;
	err = offload->ops->rc->stop(offload->ndev, qp->object.context, &state);
	qp->user->returned(qp, err ? NULL : &state);
}

void verve_offload_rc_return(struct verve_offload_qp *qp)
{
	verve_offload_lock_object(&qp->object);
	verve_offload_rc_stop(qp);
	verve_offload_unlock_object(&qp->object);
}

int verve_offload_rc_post(struct verve_offload_qp *qp,
			  const struct verve_offload_rc_wr *wr)
{
	struct verve_offload *offload = qp->object.offload;

	return offload->ops->rc->post(offload->ndev, qp->object.context, wr);
}
