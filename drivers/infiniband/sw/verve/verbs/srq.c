// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creation, resizing and destruction of shared receive queues.
 */
#include <rdma/uverbs_ioctl.h>
#include "../device.h"
#include "../queue/lock.h"
#include "../queue/rq.h"
#include "srq.h"
#include "ucontext.h"

static int assign_number(struct verve_srq *srq, bool is_user)
{
	struct verve_dev *dev = to_vdev(srq->ibsrq.device);
	int num = ida_alloc_range(&dev->srq_nums, 1,
				  verve_quota(VERVE_MAX_SRQ, is_user),
				  GFP_KERNEL);

	if (num < 0)
		return num == -ENOSPC ? -ENOMEM : num;
	srq->srq_num = num;
	return 0;
}

static void free_number(struct verve_srq *srq)
{
	ida_free(&to_vdev(srq->ibsrq.device)->srq_nums, srq->srq_num);
}

static int respond_create(const struct verve_srq *srq, struct ib_udata *udata)
{
	struct rxe_create_srq_resp resp = { .srq_num = srq->srq_num };

	/* No other thread has the SRQ yet. */
	context_unsafe(verve_ring_describe(&srq->rq.ring, &resp.mi));
	return ib_respond_udata(udata, resp);
}

int verve_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	struct verve_srq *srq = to_vsrq(ibsrq);
	struct ib_srq_attr *attr = &init->attr;
	int err;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > VERVE_MAX_SRQ_WR ||
	    attr->max_sge > VERVE_MAX_SGE)
		return -EINVAL;
	err = verve_udata_check(udata, sizeof(struct rxe_create_srq_resp));
	if (err)
		return err;

	err = assign_number(srq, udata);
	if (err)
		return err;
	err = verve_rq_init(&srq->rq, attr->max_wr, attr->max_sge,
			    verve_udata_context(udata));
	if (err)
		goto free_number;
	attr->max_wr = verve_rq_capacity(&srq->rq);
	if (!udata)
		return 0;

	err = respond_create(srq, udata);
	if (!err)
		return 0;
	verve_rq_free(&srq->rq);
free_number:
	free_number(srq);
	return err;
}

/* librxe passes the address to which it wants the new ring's struct mminfo. */
static int respond_resize(const struct verve_ring *ring, u64 user_addr)
{
	struct mminfo mi;

	verve_ring_describe(ring, &mi);
	if (copy_to_user(u64_to_user_ptr(user_addr), &mi, sizeof(mi)))
		return -EFAULT;
	return 0;
}

static int read_resize(struct rxe_modify_srq_cmd *cmd, struct ib_udata *udata)
{
	if (!udata)
		return 0;
	if (udata->inlen < sizeof(*cmd))
		return -EINVAL;
	return ib_copy_from_udata(cmd, udata, sizeof(*cmd));
}

/* Move the entries to @fresh and exchange it with the SRQ's ring. */
static int replace_ring(struct verve_rq *rq, struct verve_ring *fresh)
{
	struct verve_ring_move move = {
		.from = &rq->ring, .to = fresh, .consumes = true,
	};
	unsigned long flags;
	int err;

	do {
		verve_ring_copy(&move);
		flags = verve_lock(&rq->lock, rq->is_user);
		err = verve_ring_move(&move);
		verve_unlock(&rq->lock, rq->is_user, flags);
	} while (err == -EAGAIN);
	return err;
}

static int resize(struct verve_srq *srq, u32 max_wr, struct ib_udata *udata)
{
	struct verve_rq *rq = &srq->rq;
	struct rxe_modify_srq_cmd cmd;
	struct verve_ring fresh;
	int err;

	err = read_resize(&cmd, udata);
	if (err)
		return err;
	err = verve_ring_alloc(&fresh, max_wr,
			       /* The size of an element does not change. */
			       1U << context_unsafe(rq->ring.elem_shift),
			       verve_udata_context(udata));
	if (err)
		return err;
	if (udata) {
		err = respond_resize(&fresh, cmd.mmap_info_addr);
		if (err)
			goto free;
	}

	err = replace_ring(rq, &fresh);
free:
	verve_ring_free(&fresh);
	return err;
}

static void arm_limit(struct verve_srq *srq, u32 limit)
{
	unsigned long flags = verve_lock(&srq->rq.lock, srq->rq.is_user);

	srq->limit = limit;
	verve_unlock(&srq->rq.lock, srq->rq.is_user, flags);
}

int verve_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct verve_srq *srq = to_vsrq(ibsrq);
	u32 max_wr = verve_rq_capacity(&srq->rq);
	int err;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EOPNOTSUPP;
	if (mask & IB_SRQ_MAX_WR) {
		if (!attr->max_wr || attr->max_wr > VERVE_MAX_SRQ_WR)
			return -EINVAL;
		max_wr = attr->max_wr;
	}
	if (mask & IB_SRQ_LIMIT && attr->srq_limit > max_wr)
		return -EINVAL;

	if (mask & IB_SRQ_MAX_WR) {
		err = resize(srq, max_wr, udata);
		if (err)
			return err;
	}
	if (mask & IB_SRQ_LIMIT)
		arm_limit(srq, attr->srq_limit);
	return 0;
}

int verve_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct verve_srq *srq = to_vsrq(ibsrq);

	attr->max_wr = verve_rq_capacity(&srq->rq);
	attr->max_sge = srq->rq.max_sge;
	/* As it was a moment ago */
	attr->srq_limit = context_unsafe(READ_ONCE(srq->limit));
	return 0;
}

int verve_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct verve_srq *srq = to_vsrq(ibsrq);

	verve_rq_free(&srq->rq);
	free_number(srq);
	return 0;
}

int verve_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	return verve_rq_post(&to_vsrq(ibsrq)->rq, wr, bad_wr);
}
