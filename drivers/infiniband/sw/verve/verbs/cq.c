// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creation, moderation, resizing and destruction of completion queues, and polling
 * of kernel CQs.
 */
#include <rdma/uverbs_ioctl.h>
#include "../device.h"
#include "../queue/cq.h"
#include "../queue/lock.h"
#include "cq.h"
#include "ucontext.h"

static int make_ring(struct verve_cq *cq, u32 entries, struct ib_udata *udata)
	__context_unsafe(/* nobody else has the CQ yet */)
{
	struct rxe_create_cq_resp resp = {};
	int err;

	err = verve_ring_alloc(&cq->ring, entries,
			       verve_cq_element_size(cq->is_user),
			       verve_udata_context(udata));
	if (err)
		return err;
	cq->ibcq.cqe = verve_ring_capacity(&cq->ring);
	if (!udata)
		return 0;

	verve_ring_describe(&cq->ring, &resp.mi);
	err = ib_respond_udata(udata, resp);
	if (err)
		verve_ring_free(&cq->ring);
	return err;
}

int verve_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata)
{
	struct verve_dev *dev = to_vdev(ibcq->device);
	struct verve_cq *cq = to_vcq(ibcq);
	int err;

	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > VERVE_MAX_CQE ||
	    attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	err = verve_udata_check(udata, sizeof(struct rxe_create_cq_resp));
	if (err)
		return err;

	err = verve_quota_take(&dev->num_cqs, verve_quota(VERVE_MAX_CQ, udata));
	if (err)
		return err;
	verve_cq_init(cq, udata);
	cq->ignores_overrun = attr->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	err = make_ring(cq, attr->cqe, udata);
	if (err)
		verve_quota_give(&dev->num_cqs);
	return err;
}

/**
 * verve_modify_cq() - set the moderation of completion events
 * @ibcq: CQ
 * @count: completions that raise an event; 0 sets no number if @period is set, and
 *	else turns moderation off
 * @period: longest delay of an event, in microseconds
 *
 * Context: process.
 * Return: 0, or -EINVAL for a count without a period, which could delay an event
 * for ever.
 */
int verve_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	if (count > 1 && !period)
		return -EINVAL;
	verve_cq_moderate(to_vcq(ibcq), count, period);
	return 0;
}

int verve_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct verve_cq *cq = to_vcq(ibcq);

	verve_cq_stop(cq);
	/* No other thread has the CQ any more. */
	context_unsafe(verve_ring_free(&cq->ring));
	verve_quota_give(&to_vdev(ibcq->device)->num_cqs);
	return 0;
}

/* Move the entries to @fresh and exchange it with the CQ's ring. */
static int replace_ring(struct verve_cq *cq, struct verve_ring *fresh)
{
	struct verve_ring_move move = { .from = &cq->ring, .to = fresh };
	unsigned long flags;
	int err;

	do {
		verve_ring_copy(&move);
		flags = verve_lock(&cq->lock, cq->is_user);
		err = verve_ring_move(&move);
		if (!err) {
			cq->ibcq.cqe = verve_ring_capacity(&cq->ring);
			/* This index does not occur, so is_news() returns true. */
			cq->told_to = U32_MAX;
		}
		verve_unlock(&cq->lock, cq->is_user, flags);
	} while (err == -EAGAIN);
	return err;
}

int verve_resize_cq(struct ib_cq *ibcq, unsigned int cqe,
		    struct ib_udata *udata)
{
	struct verve_cq *cq = to_vcq(ibcq);
	struct rxe_resize_cq_resp resp = {};
	struct verve_ring fresh;
	int err;

	if (!cqe || cqe > VERVE_MAX_CQE)
		return -EINVAL;
	err = verve_udata_check(udata, sizeof(resp));
	if (err)
		return err;
	err = verve_ring_alloc(&fresh, cqe, verve_cq_element_size(cq->is_user),
			       verve_udata_context(udata));
	if (err)
		return err;
	if (udata) {
		verve_ring_describe(&fresh, &resp.mi);
		err = ib_respond_udata(udata, resp);
		if (err)
			goto free;
	}
	err = replace_ring(cq, &fresh);
free:
	verve_ring_free(&fresh);
	return err;
}

int verve_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct verve_cq *cq = to_vcq(ibcq);
	unsigned long flags;
	int n;

	/* Entries of user CQs are not struct ib_wc. */
	if (cq->is_user)
		return -EOPNOTSUPP;

	flags = verve_lock(&cq->lock, false);
	for (n = 0; n < num; n++) {
		void *slot = verve_ring_peer_next(&cq->ring);

		if (!slot)
			break;
		memcpy(&wc[n], slot, sizeof(*wc));
		verve_ring_peer_consume(&cq->ring);
	}
	verve_unlock(&cq->lock, false, flags);
	return n;
}

int verve_peek_cq(struct ib_cq *ibcq, int cnt)
{
	struct verve_cq *cq = to_vcq(ibcq);
	unsigned long flags = verve_lock(&cq->lock, cq->is_user);
	u32 unread = verve_ring_unread(&cq->ring);

	verve_unlock(&cq->lock, cq->is_user, flags);
	return min_t(u32, unread, cnt);
}

int verve_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags notify)
{
	bool unread = verve_cq_arm(to_vcq(ibcq), notify);

	return notify & IB_CQ_REPORT_MISSED_EVENTS && unread;
}
