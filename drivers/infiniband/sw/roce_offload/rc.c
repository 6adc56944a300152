// SPDX-License-Identifier: GPL-2.0-only
/*
 * QPs that devices run (rdma/roce_offload_rc.h)
 *
 * A QP is offloaded and returned under the lock of the device. So a driver gets one call
 * at a time, and is registered. The object of an offloaded QP always names the device,
 * so posting needs no lock of the registry.
 */
#include <rdma/roce_offload_rc.h>
#include "offload.h"

bool roce_offload_has_rc(const struct roce_offload_ops *ops)
{
	return ops->rc && ops->rc->start && ops->rc->stop && ops->rc->post &&
	       ops->rc->post_recv;
}

static void offload(struct roce_offload_qp *qp)
{
	struct roce_offload *offload = qp->object.offload;
	struct roce_offload_rc_terms terms = {};
	struct roce_offload_rc_state state = {};

	lockdep_assert_held(&offload->lock);
	if (!qp->user->offload(qp, &terms, &state))
		return;
	if (offload->ops->rc->start(qp->object.context, &terms, &state)) {
		qp->user->returned(qp, &state);
		return;
	}
	qp->is_offloaded = true;
	qp->user->offloaded(qp);
}

void roce_offload_rc_offload(struct roce_offload_qp *qp)
{
	roce_offload_lock_object(&qp->object);
	if (qp->is_offered && !qp->is_offloaded)
		offload(qp);
	roce_offload_unlock_object(&qp->object);
}

void roce_offload_rc_stop(struct roce_offload_qp *qp)
{
	struct roce_offload *offload = qp->object.offload;
	struct roce_offload_rc_state state = {};
	int err;

	if (!qp->is_offloaded)
		return;
	lockdep_assert_held(&offload->lock);
	qp->is_offloaded = false;
	err = offload->ops->rc->stop(qp->object.context, &state);
	qp->user->returned(qp, err ? NULL : &state);
}

void roce_offload_rc_return(struct roce_offload_qp *qp)
{
	roce_offload_lock_object(&qp->object);
	roce_offload_rc_stop(qp);
	roce_offload_unlock_object(&qp->object);
}

int roce_offload_rc_post(struct roce_offload_qp *qp,
			 const struct roce_offload_rc_wr *wr)
{
	struct roce_offload *offload = qp->object.offload;

	return offload->ops->rc->post(qp->object.context, wr);
}

void roce_offload_rc_post_recv(struct roce_offload_qp *qp,
			       const struct roce_offload_rc_recv *recv)
{
	struct roce_offload *offload = qp->object.offload;

	offload->ops->rc->post_recv(qp->object.context, recv);
}
