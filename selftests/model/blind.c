// SPDX-License-Identifier: GPL-2.0-only
/*
 * A blind attacker knows a QPN and sends packets with random PSNs. Packets far from the
 * expected PSN must have no effect. Packets slightly ahead of it are drawn such that they
 * may not be executed. They must neither end a connection nor keep the peer's packets
 * out.
 */
#include "../../drivers/infiniband/sw/verve/wire/psn.h"
#include "model.h"

enum {
	MOST_SHOTS	= 100,
	/* PSNs move by less than this during a run. */
	MARGIN		= 10000,
	HALF		= 1 << 23,
};

static u32 shots;

/* A PSN far from all that is outstanding or expected, now and later in the run */
static u32 far_from(u32 psn)
{
	return verve_psn_add(psn, MARGIN + dice(2 * HALF - 2 * MARGIN));
}

static void shoot_far(struct node *node)
{
	static const u8 opcodes[] = {
		IB_OPCODE_RC_SEND_ONLY, IB_OPCODE_RC_SEND_MIDDLE,
		IB_OPCODE_RC_RDMA_WRITE_ONLY, IB_OPCODE_RC_RDMA_READ_REQUEST,
		IB_OPCODE_RC_FETCH_ADD, IB_OPCODE_RC_ACKNOWLEDGE,
		IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY,
		IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
	};
	struct verve_pdu pdu = { .opcode = opcodes[dice(ARRAY_SIZE(opcodes))] };
	u32 flags = verve_opcode_flags(pdu.opcode);

	pdu.psn = far_from(flags & VERVE_OP_RESPONSE ? node->qp.req.una :
						      node->qp.resp.epsn);
	if (flags & VERVE_OP_AETH)
		pdu.aeth = dice(256) << 24;
	if (flags & VERVE_OP_PAYLOAD)
		pdu.length = model.set.mtu;
	network_inject(node, &pdu);
}

/* Has the QP taken in all that arrived, so that it takes a packet in at once? */
static bool is_open(const struct node *node)
{
	const struct verve_qp *qp = &node->qp;

	return qp->state == IB_QPS_RTS && !qp->lock.held &&
	       !qp->stall.parts && llist_empty(&qp->inbox);
}

/* A WRITE to memory that does not exist */
static void shoot_near(struct node *node)
{
	struct verve_pdu pdu = {
		.opcode = IB_OPCODE_RC_RDMA_WRITE_ONLY,
		.psn = verve_psn_add(node->qp.resp.epsn,
				     between(1, VERVE_MAX_AHEAD - 1)),
		.length = between(1, model.set.mtu),
	};

	if (!is_open(node))
		return;
	pdu.dmalen = pdu.length;
	network_harm();
	network_strike(node, &pdu);
}

static void shoot(void *unused)
{
	struct node *node = &model.node[dice(2)];

	(void)unused;
	if (!shots--)
		return;
	if (one_in(2))
		shoot_near(node);
	else
		shoot_far(node);
	world_after(dice(one_in(4) ? 2 * MS : 50 * US), shoot, NULL);
}

void blind_start(void)
{
	shots = dice(MOST_SHOTS);
	shoot(NULL);
}
