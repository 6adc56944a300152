// SPDX-License-Identifier: GPL-2.0-only
/*
 * Expected deliveries to the user of a UC or UD QP. They follow from the packets that
 * arrived, each with its message and its place in the message.
 *
 * UC: a message is delivered when all of its packets arrive in order, with no other
 * packet in between; otherwise nothing of it is delivered (9.8.2.2). Messages that the
 * network repeats or reorders count as new ones.
 * UD: each packet is a message.
 */
#include "model.h"

static bool is_welcome(const struct request *request)
{
	bool has_key = request->qkey == GOOD_QKEY || request->qkey & OWN_QKEY;

	if (model.set.type == IB_QPT_UD)
		return has_key && request->to_group == request->names_group;
	return !request->bad_rkey && !request->gone_remote;
}

static void deliver(struct node *node, u32 r)
{
	struct oracle *oracle = &node->oracle;

	if (!plan_takes_receive(&peer_of(node)->plan[r]))
		return;
	expect(oracle->num_due < ARRAY_SIZE(oracle->due), "so many messages");
	oracle->due[oracle->num_due++] = r;
}

/* Apply the part of a WRITE that a packet carries to the expected memory. */
static void write_part(struct node *node, const struct request *request,
		       u32 place, const u8 *payload, u32 len)
{
	if (request->op == IB_WR_RDMA_WRITE ||
	    request->op == IB_WR_RDMA_WRITE_WITH_IMM)
		memcpy(node->region.image + request->remote +
		       place * model.set.mtu, payload, len);
}

void oracle_packet(struct node *node, u32 r, u32 place,
		   const struct verve_pdu *pdu, const u8 *payload)
{
	const struct request *request = &peer_of(node)->plan[r];
	u32 flags = verve_opcode_flags(pdu->opcode);
	struct oracle *oracle = &node->oracle;

	if (flags & VERVE_OP_FIRST)
		oracle->next = 0;
	else if (oracle->under_way != r)
		oracle->next = NO_PLACE;
	oracle->under_way = r;
	if (oracle->next != place || !is_welcome(request)) {
		oracle->next = NO_PLACE;
		return;
	}
	write_part(node, request, place, payload, pdu->length);
	oracle->next++;
	if (!(flags & VERVE_OP_LAST))
		return;
	oracle->next = NO_PLACE;
	deliver(node, r);
}

/* Packets that the QP dropped for lack of a receive, or of room in it */
static u64 dropped(const struct node *node)
{
	return node->stats.counter[VERVE_CNT_rx_drop_no_recv] +
	       node->stats.counter[VERVE_CNT_rx_drop_too_long] +
	       node->stats.counter[VERVE_CNT_rx_drop_stalled];
}

bool oracle_knows(const struct node *node)
{
	return !dropped(node) && node->qp.state != IB_QPS_ERR;
}

u32 oracle_next(struct node *node)
{
	struct oracle *oracle = &node->oracle;

	expect(oracle->num_told < oracle->num_due,
	       "a message that is not there, or not whole");
	return oracle->due[oracle->num_told++];
}

void oracle_rest(const struct node *node)
{
	const struct oracle *oracle = &node->oracle;

	expect(!oracle_knows(node) || oracle->num_told == oracle->num_due,
	       "%u messages of %u were delivered", oracle->num_told,
	       oracle->num_due);
}
