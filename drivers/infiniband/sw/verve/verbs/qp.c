// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creation and destruction of queue pairs.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/roce_offload.h>
#include "../memory/window.h"
#include "../offload/rc/qpc.h"
#include "../offload/rc/rc.h"
#include "../transport/transport.h"
#include "qp.h"
#include "ucontext.h"

static int check_init(const struct ib_qp_init_attr *init, bool is_user)
{
	const struct ib_qp_cap *cap = &init->cap;

	switch (init->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
		break;
	case IB_QPT_GSI:
		if (!is_user)
			break;
		fallthrough;
	default:
		return -EOPNOTSUPP;
	}
	if (init->create_flags)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq ||
	    cap->max_send_wr > VERVE_MAX_QP_WR ||
	    cap->max_send_sge > VERVE_MAX_SGE ||
	    cap->max_inline_data > VERVE_MAX_INLINE)
		return -EINVAL;
	if (!init->srq && (cap->max_recv_wr > VERVE_MAX_QP_WR ||
			   cap->max_recv_sge > VERVE_MAX_SGE))
		return -EINVAL;
	return 0;
}

/* Segments and inline data share their memory, whose size is that of the larger. */
static int init_sq(struct verve_qp *qp, struct ib_qp_init_attr *init,
		   struct ib_ucontext *uctx)
{
	struct verve_sq *sq = &qp->sq;
	struct ib_qp_cap *cap = &init->cap;
	u32 room = max_t(u32, cap->max_send_sge * sizeof(struct verve_sge),
			 cap->max_inline_data);
	size_t elem;
	int err;

	cap->max_inline_data = room;
	sq->limits = (struct verve_wqe_limits){
		.qp_type = qp->type,
		.max_sge = cap->max_send_sge,
		.max_inline = room,
		/* No other thread has the object yet. */
		.mtu = context_unsafe(qp->mtu),
	};
	sq->max_wr = max(cap->max_send_wr, 1U);
	sq->slots = roundup_pow_of_two(sq->max_wr + 1);
	sq->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	sq->wqe_size = verve_swqe_size(cap->max_send_sge, room);
	spin_lock_init(&sq->post_lock);
	elem = verve_send_wqe_size(cap->max_send_sge, room);
	if (uctx) {
		err = verve_ring_alloc(&sq->ring, sq->max_wr, elem, uctx);
		if (err)
			return err;
		sq->slots = verve_ring_capacity(&sq->ring) + 1;
		sq->max_wr = verve_ring_capacity(&sq->ring);
	}
	sq->wqes = kvcalloc(sq->slots, sq->wqe_size, GFP_KERNEL_ACCOUNT);
	if (!sq->wqes)
		return -ENOMEM;
	cap->max_send_wr = sq->max_wr;
	return 0;
}

static void free_sq(struct verve_sq *sq)
{
	kvfree(sq->wqes);
	if (sq->ring.buf)
		verve_ring_free(&sq->ring);
}

static int init_rq(struct verve_qp *qp, struct ib_qp_init_attr *init,
		   struct ib_ucontext *uctx)
{
	struct ib_qp_cap *cap = &init->cap;
	int err;

	if (init->srq) {
		qp->srq = to_vsrq(init->srq);
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		return 0;
	}
	err = verve_rq_init(&qp->rq, max(cap->max_recv_wr, 1U),
			    cap->max_recv_sge, uctx);
	if (err)
		return err;
	qp->rq.exists = true;
	cap->max_recv_wr = verve_rq_capacity(&qp->rq);
	cap->max_recv_sge = qp->rq.max_sge;
	return 0;
}

static void free_qp(struct verve_qp *qp)
	__context_unsafe(/* nobody else has it any more */)
{
	free_sq(&qp->sq);
	if (qp->rq.exists)
		verve_rq_free(&qp->rq);
	kfree(qp->resp.resources);
	verve_flow_reset(&qp->flow);
	verve_quota_give(&qp->dev->num_qps);
	verve_stall_free(qp);
	verve_rc_offload_free(qp->rc_offload);
	verve_nic_exit_qp(qp);
	verve_qp_free(qp);
}

static int respond(const struct verve_qp *qp, struct ib_udata *udata)
	__context_unsafe(/* nobody else has it yet */)
{
	struct rxe_create_qp_resp resp = {};

	if (!udata)
		return 0;
	if (qp->rq.exists)
		verve_ring_describe(&qp->rq.ring, &resp.rq_mi);
	verve_ring_describe(&qp->sq.ring, &resp.sq_mi);
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static struct verve_qp *alloc_qp(struct ib_qp *ibqp,
				 const struct ib_qp_init_attr *init,
				 bool is_user)
	__context_unsafe(/* nobody else has it yet */)
{
	struct verve_dev *dev = to_vdev(ibqp->device);
	struct verve_qp *qp;

	if (verve_quota_take(&dev->num_qps, verve_quota(VERVE_MAX_QP, is_user)))
		return NULL;
	qp = verve_qp_alloc();
	if (!qp) {
		verve_quota_give(&dev->num_qps);
		return NULL;
	}
	qp->ibqp = ibqp;
	qp->dev = dev;
	qp->type = init->qp_type;
	qp->is_user = is_user;
	qp->stats = qp->dev->stats;
	qp->scq = to_vcq(init->send_cq);
	qp->rcq = to_vcq(init->recv_cq);
	qp->state = IB_QPS_RESET;
	qp->mtu = ib_mtu_enum_to_int(verve_path_mtu(qp->dev));
	qp->scope.dev = dev;
	qp->scope.pd = ibqp->pd;
	INIT_LIST_HEAD(&qp->scope.windows);
	refcount_set(&qp->ref, 1);
	init_completion(&qp->idle);
	verve_engine_setup(qp);
	verve_nic_init_qp(qp, init->srq);
	return qp;
}

int verve_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	struct ib_ucontext *uctx = verve_udata_context(udata);
	struct verve_qp *qp;
	int err;

	err = check_init(init, udata);
	if (err)
		return err;
	err = verve_udata_check(udata, sizeof(struct rxe_create_qp_resp));
	if (err)
		return err;
	qp = alloc_qp(ibqp, init, udata);
	if (!qp)
		return -ENOMEM;
	err = verve_stall_init(qp);
	if (!err)
		err = init_sq(qp, init, uctx);
	if (!err)
		err = init_rq(qp, init, uctx);
	if (!err)
		err = respond(qp, udata);
	if (!err)
		err = verve_qp_publish(qp, verve_nic_qpns(qp));
	if (err) {
		free_qp(qp);
		return err;
	}
	to_handle(ibqp)->qp = qp;
	ibqp->qp_num = qp->qpn;
	mutex_lock(&qp->dev->qp_lock);
	list_add_tail(&qp->entry, &qp->dev->qps);
	mutex_unlock(&qp->dev->qp_lock);
	return 0;
}

/*
 * The core may destroy QP 1 while its handler of management datagrams runs, which
 * then posts a receive to a freed QP. So wait for the handler. The core starts no
 * further one.
 */
static void await_handler(struct ib_qp *gsi)
{
	struct ib_cq *cq = gsi->recv_cq;

	if (cq->poll_ctx == IB_POLL_WORKQUEUE ||
	    cq->poll_ctx == IB_POLL_UNBOUND_WORKQUEUE)
		flush_work(&cq->work);
}

static bool flush_once(struct verve_qp *qp)
{
	bool spent = false;

	verve_engine_lock(qp);
	if (qp->state != IB_QPS_RESET)
		spent = verve_engine_flush(qp);
	verve_engine_unlock(qp);
	return spent;
}

/*
 * The process still reads its completions after the removal of the device, and may wait
 * for those of all requests. It may also post as fast as this flushes, so the rounds are
 * no more than full queues need.
 */
static void flush(struct verve_qp *qp)
{
	u32 most = max(2 * qp->sq.max_wr, qp->rq.exists ? verve_rq_capacity(&qp->rq) : 0);
	unsigned int rounds = most / VERVE_BUDGET_PACKETS + 2;

	while (flush_once(qp) && --rounds)
		cond_resched();
}

int verve_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct verve_qp *qp = to_vqp(ibqp);

	if (qp->type == IB_QPT_GSI)
		await_handler(ibqp);
	mutex_lock(&qp->dev->qp_lock);
	list_del(&qp->entry);
	mutex_unlock(&qp->dev->qp_lock);
	verve_rc_offload_end(qp);
	if (qp->is_user && READ_ONCE(qp->dev->is_going))
		flush(qp);
	verve_engine_lock(qp);
	verve_engine_kill(qp);
	/* Its namespace may end when the QP is not in the table any more. */
	verve_flow_reset(&qp->flow);
	verve_engine_unlock(qp);

	/* A NIC has room for the next QP of that number when the number is free. */
	verve_nic_withdraw_qp(qp);
	verve_qp_withdraw(qp);
	verve_stall_detach(qp);
	WRITE_ONCE(to_handle(ibqp)->qp, NULL);
	/* Other holders drop their reference after one round of the engine. */
	verve_qp_put(qp);
	wait_for_completion(&qp->idle);
	verve_engine_stop(qp);
	verve_cq_settle(qp->scq);
	verve_cq_settle(qp->rcq);
	verve_window_release_all(&qp->scope);
	free_qp(qp);
	return 0;
}

void verve_qp_flush_users(struct verve_dev *dev)
{
	struct verve_qp *qp;

	mutex_lock(&dev->qp_lock);
	list_for_each_entry(qp, &dev->qps, entry) {
		if (!qp->is_user)
			continue;
		verve_rc_offload_forbid(qp);
		flush_once(qp);
		cond_resched();
	}
	mutex_unlock(&dev->qp_lock);
}
