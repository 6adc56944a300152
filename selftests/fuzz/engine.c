// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile peer: two engines at work get packets that neither has sent. The input
 * chooses times and fields of the packets, close enough to what the engines expect to be
 * accepted. QPs may fail, but no memory may leak, and no engine may hang.
 */
#include "../../drivers/infiniband/sw/verve/wire/psn.h"
#include "../model/model.h"
#include "fuzz.h"

enum {
	MOST_STEPS = 2000,
};

struct model model;

/* Rest of the input */
static const u8 *bytes;
static size_t left;

static u32 next(void)
{
	if (!left)
		return 0;
	left--;
	return *bytes++;
}

bool verve_cq_post(struct verve_cq *cq, const struct ib_wc *wc, u32 n,
		   bool solicited)
{
	struct node *node = container_of(wc->qp, struct node, ibqp);

	(void)solicited;
	must(n == 1);
	if (cq == &node->scq)
		must(wc->wr_id < node->posted && wc->wr_id >= node->done);
	else
		must(wc->wr_id == node->recv_done++);
	if (cq == &node->scq)
		node->done = wc->wr_id + 1;
	if (wc->status == IB_WC_SUCCESS)
		must(node->qp.state != IB_QPS_ERR || !node->failed);
	else
		node->failed = wc->status;
	return true;
}

void verve_cq_notify(struct verve_cq *cq)
{
	(void)cq;
}

void verve_cq_notify_later(struct verve_cq *cq)
{
	(void)cq;
}

void verve_srq_notify(struct verve_srq *srq)
{
	(void)srq;
}

struct verve_av *verve_av_find(struct verve_dev *dev, struct ib_pd *pd, u32 num)
{
	static struct verve_av av;

	(void)dev;
	(void)pd;
	return num == GOOD_AH ? &av : NULL;
}

void check_event(struct ib_event *event, void *context)
{
	(void)event;
	(void)context;
}

int check_key(struct node *node, u32 key, bool is_remote)
{
	(void)node;
	(void)is_remote;
	return key & 1 ? 0 : -EINVAL;
}

static u32 near(u32 psn)
{
	return verve_psn_add(psn, (s32)next() - 128);
}

/* A PSN at or around the next one for a request or an answer */
static u32 draw_psn(const struct node *node, bool is_response)
{
	const struct verve_requester *req = &node->qp.req;

	switch (next() % 6) {
	case 0:
		return near(is_response ? req->una : node->qp.resp.epsn);
	case 1:
		return is_response ? req->psn : node->qp.resp.epsn;
	case 2:
		return is_response ? verve_psn_add(req->max_psn, -1) :
				     node->qp.resp.response_psn;
	case 3:
		return verve_psn_add(req->una, 1U << 23);
	default:
		return is_response ? req->una : node->qp.resp.epsn;
	}
}

static u32 draw_amount(void)
{
	u32 mtu = model.set.mtu;

	switch (next() % 8) {
	case 0:
		return 0;
	case 1:
		return 8;
	case 2:
		return next();
	case 3:
		return mtu * (next() % 5);
	case 4:
		return next() << 24 | next() << 12;
	case 5:
		return mtu + next() % 3;
	default:
		return mtu;
	}
}

static void draw_operands(const struct node *node, struct verve_pdu *pdu,
			  u32 flags)
{
	const struct region *region = &node->region;

	if (flags & (VERVE_OP_RETH | VERVE_OP_ATOMICETH)) {
		pdu->va = region->mr.iova + (next() % 3 ? next() * 8 :
					     region->size - next());
		pdu->rkey = region->mr.key + !(next() % 16);
	}
	if (flags & VERVE_OP_RETH)
		pdu->dmalen = next() % 2 ? pdu->length : draw_amount();
	if (flags & VERVE_OP_AETH)
		pdu->aeth = next() << 24 | next();
	if (flags & (VERVE_OP_IMM | VERVE_OP_IETH))
		pdu->imm = next();
	if (flags & VERVE_OP_DETH)
		pdu->qkey = GOOD_QKEY + !(next() % 8);
	if (flags & VERVE_OP_FETH)
		pdu->feth = next() & (VERVE_FETH_PLACEMENT |
				      VERVE_FETH_SELECTIVITY);
}

/* Mostly opcodes of the QPs' service */
static u8 draw_opcode(void)
{
	u8 opcode = next();

	if (next() % 32 == 0)
		return opcode;
	switch (model.set.type) {
	case IB_QPT_UC:
		return IB_OPCODE_UC_SEND_FIRST + opcode % 12;
	case IB_QPT_UD:
		return IB_OPCODE_UD_SEND_ONLY + opcode % 2;
	default:
		return opcode & 0x1f;
	}
}

static void inject(struct node *node)
{
	struct verve_pdu pdu = { .opcode = draw_opcode() };
	u32 flags;

	flags = verve_opcode_flags(pdu.opcode);
	if (!flags)
		return;
	pdu.psn = draw_psn(node, flags & VERVE_OP_RESPONSE);
	pdu.flags = next() & (VERVE_PDU_SOLICITED | VERVE_PDU_ACKREQ);
	if (flags & VERVE_OP_PAYLOAD)
		pdu.length = draw_amount() % 8192;
	draw_operands(node, &pdu, flags);
	network_inject(node, &pdu);
}

static void step(u32 n)
{
	while (n-- && world_step()) {
		u32 i;

		for (i = 0; i < 2; i++) {
			const struct verve_qp *qp = &model.node[i].qp;

			must(!model.node[i].region.held);
			must(qp->req.rd_atomic <= qp->attr.max_rd_atomic);
			must(qp->resp.num_responses <= 2 * qp->resp.room);
			must(qp->req.ooo.count <= VERVE_MAX_OOO);
			must(qp->resp.ooo.count <= VERVE_MAX_OOO);
		}
	}
}

static void set_up(void)
{
	u32 i, how;

	memset(&model, 0, sizeof(model));
	world_begin(next());
	plan_setting();
	how = next();
	/* Small runs, so that there is time for many */
	model.set.mtu = 256 << how % 2;
	model.set.requests = 8;
	model.set.longest = 2048;
	plan_make();
	model.disturbances = dice(10);
	for (i = 0; i < 2; i++) {
		region_build(&model.node[i]);
		node_set_up(&model.node[i]);
		/* QP 1 accepts management datagrams only. */
		if (how & 0x80 && model.set.type == IB_QPT_UD)
			model.node[i].qp.type = IB_QPT_GSI;
	}
	node_start(&model.node[0]);
	node_start(&model.node[1]);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static bool is_ready;

	if (!is_ready)
		verve_engine_init();
	is_ready = true;
	bytes = data;
	left = min_t(size_t, size, 2048);
	set_up();
	while (left) {
		u32 what = next();

		if (what & 0x80)
			inject(&model.node[what & 1]);
		else
			step(what);
	}
	step(MOST_STEPS);
	node_tear_down(&model.node[0]);
	node_tear_down(&model.node[1]);
	must(!model.arrivals);
	world_end();
	return 0;
}
