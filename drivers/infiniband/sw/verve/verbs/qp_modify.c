// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pairs: states and attributes (IBTA vol. 1, 10.3, 11.2.5)
 */
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include "../offload/rc/ddp.h"
#include "../offload/rc/qpc.h"
#include "../offload/rc/rc.h"
#include "../transport/congestion.h"
#include "../transport/outstanding.h"
#include "../transport/transport.h"
#include "../wire/psn.h"
#include "qp.h"
#include "qp_state.h"

/* Return to the state of a new QP, and drop all posted requests and receives. */
static void reset(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_sq *sq = &qp->sq;

	/* Posters may use the slots again. Pairs with post_one(). */
	smp_store_release(&sq->tail, sq->head);
	sq->next = sq->head;
	sq->doomed = 0;
	if (qp->is_user)
		verve_ring_discard(&sq->ring);
	if (qp->rq.exists)
		verve_rq_discard(&qp->rq);
	verve_ooo_drop(&qp->req.ooo);
	memset(&qp->req, 0, sizeof(qp->req));
	verve_ddp_reset(qp);
	verve_responder_reset(&qp->resp);
	verve_rc_offload_reset(qp);
	qp->pair.lost = 0;
	verve_congestion_reset(qp);
	qp->last_wqe_reported = false;
	qp->comm_est = false;
	qp->drained = false;
	verve_flow_reset(&qp->flow);
}

/* Set ECT, so that queues mark packets (ECN) instead of dropping them. */
static void mark_capable(const struct verve_qp *qp, struct verve_av *av)
{
	if (verve_cc(&qp->dev->cc, RP_ENABLE) &&
	    INET_ECN_is_not_ect(av->traffic_class))
		av->traffic_class |= INET_ECN_ECT_0;
}

static int set_path(struct verve_qp *qp, const struct ib_qp_attr *attr,
		    int mask)
	__must_hold(&qp->lock)
{
	u32 rqpn = mask & IB_QP_DEST_QPN ? attr->dest_qp_num :
					   qp->attr.dest_qp_num;
	struct verve_av av;
	int err;

	if (!(mask & IB_QP_AV))
		return 0;
	err = verve_av_fill(&av, &attr->ah_attr, qp->is_user, qp->qpn, rqpn);
	if (err)
		return err;
	if (verve_qp_is_connected(qp))
		mark_capable(qp, &av);
	verve_flow_reset(&qp->flow);
	qp->flow.av = av;
	qp->attr.ah_attr = attr->ah_attr;
	qp->attr.ah_attr.grh.flow_label = av.flow_label;
	/* The reference is the core's. */
	qp->attr.ah_attr.grh.sgid_attr = NULL;
	return 0;
}

static void set_psns(struct verve_qp *qp, const struct ib_qp_attr *attr,
		     int mask)
	__must_hold(&qp->lock)
{
	if (mask & IB_QP_SQ_PSN) {
		verve_outstanding_init(&qp->req, attr->sq_psn);
		qp->attr.sq_psn = qp->req.psn;
	}
	if (mask & IB_QP_RQ_PSN) {
		verve_responder_set_psn(&qp->resp, attr->rq_psn);
		qp->attr.rq_psn = qp->resp.epsn;
	}
}

static void set_values(struct verve_qp *qp, const struct ib_qp_attr *attr,
		       int mask)
	__must_hold(&qp->lock)
{
	struct ib_qp_attr *own = &qp->attr;

	if (mask & IB_QP_DEST_QPN)
		own->dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_PKEY_INDEX)
		own->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		own->port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		own->qkey = attr->qkey;
	if (mask & IB_QP_ACCESS_FLAGS)
		own->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		own->en_sqd_async_notify = attr->en_sqd_async_notify;
	if (mask & IB_QP_PATH_MIG_STATE)
		own->path_mig_state = attr->path_mig_state;
	if (mask & IB_QP_TIMEOUT)
		own->timeout = attr->timeout;
	if (mask & IB_QP_MIN_RNR_TIMER)
		own->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		own->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		own->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_RETRY_CNT) {
		own->retry_cnt = attr->retry_cnt;
		verve_timer_set_retries(qp);
	}
	if (mask & IB_QP_RNR_RETRY) {
		own->rnr_retry = attr->rnr_retry;
		verve_timer_set_rnr_retries(qp);
	}
	if (mask & IB_QP_PATH_MTU) {
		own->path_mtu = attr->path_mtu;
		qp->mtu = ib_mtu_enum_to_int(attr->path_mtu);
		qp->sq.limits.mtu = qp->mtu;
	}
}

static void enter_state(struct verve_qp *qp, enum ib_qp_state state)
	__must_hold(&qp->lock)
{
	switch (state) {
	case IB_QPS_RESET:
		reset(qp);
		break;
	case IB_QPS_ERR:
		verve_engine_error(qp);
		break;
	case IB_QPS_SQD:
		qp->drained = false;
		break;
	case IB_QPS_RTS:
		if (qp->state == IB_QPS_SQE)
			verve_completer_doom(qp);
		break;
	default:
		break;
	}
	verve_engine_state(qp, state);
}

static int apply(struct verve_qp *qp, const struct ib_qp_attr *attr, int mask,
		 struct verve_rd_atomic **res)
	__must_hold(&qp->lock)
{
	int err;

	err = verve_qp_attr_check(qp->type, qp->state, verve_path_mtu(qp->dev),
				  attr, mask);
	if (err)
		return err;
	err = set_path(qp, attr, mask);
	if (err)
		return err;
	set_values(qp, attr, mask);
	set_psns(qp, attr, mask);
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		*res = verve_rd_atomic_resize(&qp->resp, *res,
					      attr->max_dest_rd_atomic);
	if (mask & IB_QP_STATE)
		enter_state(qp, attr->qp_state);
	return 0;
}

/**
 * verve_modify_qp() - change state and attributes of a QP
 * @ibqp: QP
 * @attr: attributes
 * @mask: enum ib_qp_attr_mask of the attributes to set
 * @udata: not used
 *
 * Context: process.
 * Return: 0; -EINVAL, -EOPNOTSUPP or -ENOMEM, which leave the QP unchanged.
 */
int verve_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct verve_qp *qp = to_vqp(ibqp);
	struct verve_rd_atomic *res = NULL;
	int err;

	if ((mask & IB_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic) {
		if (attr->max_dest_rd_atomic > VERVE_MAX_RD_ATOMIC)
			return -EINVAL;
		res = verve_rd_atomic_alloc(attr->max_dest_rd_atomic);
		if (!res)
			return -ENOMEM;
	}
	verve_rc_offload_forbid(qp);
	verve_engine_lock(qp);
	err = apply(qp, attr, mask, &res);
	verve_rc_offload_permit(qp);
	verve_engine_unlock(qp);
	kfree(res);
	if (!err)
		verve_nic_update_qp(qp);
	return err;
}

int verve_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct verve_qp *qp = verve_qp_hold(ibqp);

	/* The QP is being destroyed. A dump of QPs skips it on -EAGAIN. */
	if (!qp)
		return -EAGAIN;
	verve_engine_lock(qp);
	*attr = qp->attr;
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->sq_psn = qp->req.psn;
	attr->rq_psn = qp->resp.epsn;
	attr->sq_draining = qp->state == IB_QPS_SQD && !qp->drained;
	attr->cap = (struct ib_qp_cap){
		.max_send_wr = qp->sq.max_wr,
		.max_send_sge = qp->sq.limits.max_sge,
		.max_inline_data = qp->sq.limits.max_inline,
	};
	if (qp->rq.exists) {
		attr->cap.max_recv_wr = verve_rq_capacity(&qp->rq);
		attr->cap.max_recv_sge = qp->rq.max_sge;
	}
	verve_engine_unlock(qp);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = attr->cap;
	init->qp_type = ibqp->qp_type;
	init->sq_sig_type = qp->sq.sig_all ? IB_SIGNAL_ALL_WR :
					     IB_SIGNAL_REQ_WR;
	verve_qp_put(qp);
	return 0;
}
