// SPDX-License-Identifier: GPL-2.0-only
/*
 * Driver details of objects in `rdma -dd resource show`.
 *
 * Before Linux 7.2, an object may be destroyed during a dump, which keeps only the
 * memory of the object itself. So these functions follow no pointers from it. A QP
 * is the exception, because it is referenced.
 */
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>
#include "../memory/region.h"
#include "../queue/cq.h"
#include "../queue/lock.h"
#include "../queue/rq.h"
#include "../transport/congestion.h"
#include "../transport/qp.h"
#include "../transport/transport.h"
#include "resource.h"

struct item {
	const char *name;
	u32 value;
};

static int put_items(struct sk_buff *msg, const struct item *items, size_t n)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = rdma_nl_put_driver_u32(msg, items[i].name,
					     items[i].value);
	return err;
}

/* Return: the nest to close with end(), or NULL when the message is full. */
static struct nlattr *begin(struct sk_buff *msg)
{
	return nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
}

static int end(struct sk_buff *msg, struct nlattr *nest, int err)
{
	if (err)
		nla_nest_cancel(msg, nest);
	else
		nla_nest_end(msg, nest);
	return err ? -EMSGSIZE : 0;
}

static int fill(struct sk_buff *msg, const struct item *items, size_t n)
{
	struct nlattr *nest = begin(msg);

	return nest ? end(msg, nest, put_items(msg, items, n)) : -EMSGSIZE;
}

/* State of requester, responder and path */
static int put_progress(struct sk_buff *msg, struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_requester *req = &qp->req;
	const struct verve_responder *resp = &qp->resp;
	const struct item items[] = {
		{ "req_psn", req->psn },
		{ "req_una", req->una },
		{ "req_max_psn", req->max_psn },
		{ "req_rd_atomic", req->rd_atomic },
		{ "req_retries", req->retries },
		{ "req_rnr_retries", req->rnr_retries },
		{ "req_wait_rnr", req->wait_rnr },
		{ "req_probing", req->probing },
		{ "resp_epsn", resp->epsn },
		{ "resp_msn", resp->msn },
		{ "resp_ooo", resp->ooo.count },
		{ "resp_offset", resp->message.op ? resp->message.offset : 0 },
		{ "resp_responses", resp->num_responses },
		{ "rate_kbit", verve_congestion_rate(qp) },
		{ "icrc_offload", qp->flow.icrc_offload },
		{ "nic_distrusted", qp->flow.is_distrusted },
		{ "segmented_by_nic", qp->flow.has_uso || qp->flow.uso.state == VERVE_USO_PROVEN },
		{ "rc_offload", qp->is_offloaded },
		{ "udp_sport", qp->flow.av.sport },
	};

	return put_items(msg, items, ARRAY_SIZE(items));
}

static int put_qp(struct sk_buff *msg, struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	const struct verve_sq *sq = &qp->sq;
	const struct item items[] = {
		{ "mtu", qp->mtu },
		/* This dump holds one of the references. */
		{ "refs", refcount_read(&qp->ref) - 1 },
		{ "sq_size", sq->max_wr },
		{ "sq_head", sq->head },
		{ "sq_next", sq->next },
		{ "sq_tail", sq->tail },
		{ "rq_size", qp->rq.exists ? verve_rq_capacity(&qp->rq) : 0 },
		/* Without the lock of the queue: as it was a moment ago */
		{ "rq_index", context_unsafe(qp->rq.ring.index) },
	};

	return put_items(msg, items, ARRAY_SIZE(items)) ?:
	       put_progress(msg, qp);
}

int verve_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct verve_qp *qp = verve_qp_hold(ibqp);
	struct nlattr *nest;
	int err = -EMSGSIZE;

	if (!qp)
		return 0;
	nest = begin(msg);
	if (nest) {
		verve_engine_lock(qp);
		err = put_qp(msg, qp);
		verve_engine_unlock(qp);
		err = end(msg, nest, err);
	}
	verve_qp_put(qp);
	return err;
}

int verve_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct verve_cq *cq = to_vcq(ibcq);
	unsigned long flags = verve_lock(&cq->lock, cq->is_user);
	const struct item items[] = {
		{ "size", verve_ring_capacity(&cq->ring) },
		{ "producer", cq->ring.index },
		/* The consumer index of a user CQ is that of the last read. */
		{ "consumer", cq->ring.other },
		{ "armed", cq->armed },
		{ "overrun", cq->overrun_reported },
	};

	verve_unlock(&cq->lock, cq->is_user, flags);
	return fill(msg, items, ARRAY_SIZE(items));
}

int verve_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct verve_srq *srq = to_vsrq(ibsrq);
	struct verve_rq *rq = &srq->rq;
	unsigned long flags = verve_lock(&rq->lock, rq->is_user);
	const struct item items[] = {
		{ "size", verve_ring_capacity(&rq->ring) },
		{ "max_sge", rq->max_sge },
		{ "consumer", rq->ring.index },
		{ "producer", rq->ring.other },
		{ "limit", srq->limit },
	};

	verve_unlock(&rq->lock, rq->is_user, flags);
	return fill(msg, items, ARRAY_SIZE(items));
}

static const char *kind_name(const struct verve_mr *mr)
{
	switch (mr->kind) {
	case VERVE_MR_DMA:
		return "dma";
	case VERVE_MR_USER:
		return "user";
	case VERVE_MR_FAST:
		return "fast";
	default:
		return "other";
	}
}

/* Do not show addresses of kernel regions, which are kernel addresses. */
static int put_mr(struct sk_buff *msg, const struct verve_mr *mr)
{
	int err;

	err = rdma_nl_put_driver_string(msg, "kind", kind_name(mr)) ?:
	      rdma_nl_put_driver_u32_hex(msg, "access", mr->access) ?:
	      rdma_nl_put_driver_u32(msg, "valid", READ_ONCE(mr->valid)) ?:
	      rdma_nl_put_driver_u32(msg, "refs", refcount_read(&mr->ref));
	if (err || mr->kind != VERVE_MR_USER)
		return err;
	return rdma_nl_put_driver_u64_hex(msg, "iova", mr->iova) ?:
	       rdma_nl_put_driver_u64(msg, "block_size",
				      BIT_ULL(mr->block_shift)) ?:
	       rdma_nl_put_driver_u32(msg, "blocks", mr->num_blocks);
}

int verve_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct nlattr *nest = begin(msg);

	return nest ? end(msg, nest, put_mr(msg, to_vmr(ibmr))) : -EMSGSIZE;
}
