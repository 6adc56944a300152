// SPDX-License-Identifier: GPL-2.0-only
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "pair.h"

enum {
	DEPTH = 128,
	WAIT_SECONDS = 20,
	FIRST_PSN = 0xfffff0,	/* PSNs wrap soon */
};

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct op *op = container_of(wc->wr_cqe, struct op, cqe);
	struct side *side = cq->cq_context;

	op->wc = *wc;
	op->order = side->completions++;
	op->done = true;
	complete(&op->event);
}

void op_init(struct op *op)
{
	*op = (struct op) { .cqe.done = op_done };
	init_completion(&op->event);
}

int op_wait(struct op *op)
{
	if (!wait_for_completion_timeout(&op->event, WAIT_SECONDS * HZ))
		return -1;
	/* Allow another op_wait() for the same operation. */
	complete(&op->event);
	return op->wc.status;
}

int side_send(struct side *side, struct ib_send_wr *wr)
{
	return ib_post_send(side->qp, wr, NULL);
}

int side_recv(struct pair *p, struct side *side, struct op *op)
{
	struct ib_sge sge = {
		.addr = side->dma,
		.length = SIDE_BYTES,
		.lkey = p->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &op->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(side->qp, &wr, NULL);
}

static int create(struct pair *p, struct side *side)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 2,
			.max_recv_sge = 1,
		},
	};

	side->cq = ib_alloc_cq(p->dev, side, 2 * DEPTH, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(side->cq))
		return PTR_ERR(side->cq);
	init.send_cq = side->cq;
	init.recv_cq = side->cq;
	side->qp = ib_create_qp(p->pd, &init);
	if (!IS_ERR(side->qp))
		return 0;
	ib_free_cq(side->cq);
	return PTR_ERR(side->qp);
}

static void destroy(struct side *side)
{
	ib_drain_qp(side->qp);
	ib_destroy_qp(side->qp);
	ib_free_cq(side->cq);
}

static int to_init(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_ATOMIC,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			    IB_QP_PORT | IB_QP_ACCESS_FLAGS);
}

static int to_rtr(struct pair *p, struct ib_qp *qp, u32 peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = peer,
		.rq_psn = FIRST_PSN,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 1,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE,
	};
	union ib_gid gid;
	int err;

	err = rdma_query_gid(p->dev, 1, p->gid_index, &gid);
	if (err)
		return err;
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	rdma_ah_set_grh(&attr.ah_attr, &gid, 0, p->gid_index, 64, 0);
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV |
			    IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			    IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
}

static int to_rts(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.sq_psn = FIRST_PSN,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 16,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN |
			    IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC);
}

int pair_bring_up(struct pair *p, struct ib_qp *qp, struct ib_qp *peer)
{
	return to_init(qp) ?: to_rtr(p, qp, peer->qp_num) ?: to_rts(qp);
}

int pair_connect(struct pair *p)
{
	int err;

	err = create(p, &p->a);
	if (err)
		return err;
	err = create(p, &p->b);
	if (err) {
		destroy(&p->a);
		return err;
	}
	err = pair_bring_up(p, p->a.qp, p->b.qp) ?:
	      pair_bring_up(p, p->b.qp, p->a.qp);
	if (err)
		pair_disconnect(p);
	return err;
}

void pair_disconnect(struct pair *p)
{
	destroy(&p->a);
	destroy(&p->b);
}

static int alloc_buffer(struct pair *p, struct side *side)
{
	side->buf = kzalloc(SIDE_BYTES, GFP_KERNEL);
	if (!side->buf)
		return -ENOMEM;
	side->dma = ib_dma_map_single(p->dev, side->buf, SIDE_BYTES,
				      DMA_BIDIRECTIONAL);
	return ib_dma_mapping_error(p->dev, side->dma) ? -EIO : 0;
}

static void free_buffer(struct pair *p, struct side *side)
{
	if (side->dma && !ib_dma_mapping_error(p->dev, side->dma))
		ib_dma_unmap_single(p->dev, side->dma, SIDE_BYTES,
				    DMA_BIDIRECTIONAL);
	kfree(side->buf);
}

static const char *wanted_name;
static struct ib_device *found;

static int take_device(struct ib_device *dev)
{
	if (!found && !strcmp(dev_name(&dev->dev), wanted_name) &&
	    ib_device_try_get(dev))
		found = dev;
	return 0;
}

/* Find a device in the only way that all kernels have. Return: device with a reference */
static struct ib_device *find_device(const char *name)
{
	static struct ib_client client = {
		.name = "verve-selftest",
		.add = take_device,
	};

	wanted_name = name;
	found = NULL;
	if (!ib_register_client(&client))
		ib_unregister_client(&client);
	return found;
}

int pair_open(struct pair *p, const char *device, int gid_index)
{
	int err;

	*p = (struct pair) { .gid_index = gid_index };
	p->dev = find_device(device);
	if (!p->dev)
		return -ENODEV;
	p->pd = ib_alloc_pd(p->dev, 0);
	if (IS_ERR(p->pd)) {
		err = PTR_ERR(p->pd);
		ib_device_put(p->dev);
		return err;
	}
	err = alloc_buffer(p, &p->a) ?: alloc_buffer(p, &p->b);
	if (err)
		pair_close(p);
	return err;
}

void pair_close(struct pair *p)
{
	free_buffer(p, &p->a);
	free_buffer(p, &p->b);
	ib_dealloc_pd(p->pd);
	ib_device_put(p->dev);
}
