// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrivals on their way to the responder and the completer: from the inbox, from the
 * stall that held them, and from the packets kept out of order
 */
#include "congestion.h"
#include "dispatch.h"
#include "transport.h"

/* Does the QP take packets of this kind in its present state? */
static bool is_receiving(const struct verve_qp *qp, u32 flags)
	__must_hold(&qp->lock)
{
	if (flags & VERVE_OP_RESPONSE)
		return qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD;
	return qp->state == IB_QPS_RTR || qp->state == IB_QPS_RTS ||
	       qp->state == IB_QPS_SQD || qp->state == IB_QPS_SQE;
}

static bool is_service(const struct verve_qp *qp, u32 flags)
{
	switch (qp->type) {
	case IB_QPT_RC:
		return flags & VERVE_OP_RC;
	case IB_QPT_UC:
		return flags & VERVE_OP_UC;
	default:
		return flags & VERVE_OP_UD;
	}
}

static bool receive_connected(struct verve_qp *qp,
			      struct verve_arrival *arrival, u32 flags)
	__must_hold(&qp->lock)
{
	if (unlikely(arrival->pdu.flags & VERVE_PDU_CE) && arrival->pdu.length)
		verve_congestion_marked(qp);
	/*
	 * The packet may be kept, and dispatched again. Count its mark only once.
	 */
	arrival->pdu.flags &= ~VERVE_PDU_CE;
	if (flags & VERVE_OP_RESPONSE)
		return verve_completer_receive(qp, arrival);
	return verve_responder_receive(qp, arrival);
}

/* CNPs apply to connected QPs only, because datagrams have no rate limit. */
static void receive_cnp(struct verve_qp *qp,
			const struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	if (!verve_qp_is_connected(qp))
		verve_count(qp, rp_cnp_ignored, 1);
	else if (!is_receiving(qp, 0))
		verve_qp_drop(qp, rx_drop_qp_state);
	else if (!verve_arrival_matches(arrival, &qp->flow.av))
		verve_qp_drop(qp, rx_drop_address);
	else
		verve_congestion_notified(qp);
}

bool verve_dispatch(struct verve_qp *qp, struct verve_arrival *arrival)
{
	u32 flags = verve_opcode_flags(arrival->pdu.opcode);

	lockdep_assert_held(&qp->lock);
	trace_verve_arrival(qp, &arrival->pdu);
	if (unlikely(flags & VERVE_OP_CNP)) {
		receive_cnp(qp, arrival);
		return false;
	}
	if (!is_service(qp, flags))
		verve_qp_drop(qp, rx_drop_opcode);
	else if (!is_receiving(qp, flags))
		verve_qp_drop(qp, rx_drop_qp_state);
	else if (!verve_qp_is_connected(qp))
		verve_datagram_receive(qp, arrival);
	else if (!verve_arrival_matches(arrival, &qp->flow.av))
		verve_qp_drop(qp, rx_drop_address);
	else
		return receive_connected(qp, arrival, flags);
	return false;
}

/* Hold an arrival that cannot be copied now, and all arrivals behind it. */
static void receive_or_hold(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	if (!verve_stall_is_on(qp, VERVE_STALL_ARRIVALS) &&
	    verve_dispatch(qp, arrival))
		return;
	if (!verve_stall_is_on(qp, VERVE_STALL_ARRIVALS) ||
	    verve_responder_rnr(qp, arrival))
		verve_arrival_free(arrival);
	else
		verve_stall_hold(qp, arrival);
}

/* Return: a kept packet whose turn has come, or NULL. */
static struct verve_arrival *next_ooo(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_arrival *arrival = NULL;

	if (verve_stall_is_on(qp, VERVE_STALL_ARRIVALS))
		return NULL;
	if (unlikely(qp->resp.ooo.count))
		arrival = verve_ooo_take(&qp->resp.ooo, qp->resp.epsn);
	if (unlikely(qp->req.ooo.count) && !arrival)
		arrival = verve_ooo_take(&qp->req.ooo, qp->req.una);
	return arrival;
}

void verve_dispatch_ooo(struct verve_qp *qp)
{
	struct verve_arrival *arrival;

	while ((arrival = next_ooo(qp)))
		receive_or_hold(qp, arrival);
}

bool verve_dispatch_keep(struct verve_qp *qp, struct verve_ooo *ooo,
			 struct verve_arrival *arrival)
{
	switch (verve_ooo_keep(ooo, arrival)) {
	case VERVE_OOO_KEPT:
		verve_count(qp, rx_ooo_kept, 1);
		verve_timer_ooo(qp);
		return true;
	case VERVE_OOO_CONFLICT:
		verve_count(qp, rx_drop_ooo, 2);
		return false;
	default:
		return false;
	}
}

/* Has the new arrival the PSN that is due? */
static bool is_due(const struct verve_qp *qp, struct llist_node *node)
	__must_hold(&qp->lock)
{
	const struct verve_pdu *pdu;

	if (!node)
		return false;
	pdu = &container_of(node, struct verve_arrival, node)->pdu;
	if (verve_opcode_flags(pdu->opcode) & VERVE_OP_RESPONSE)
		return pdu->psn == qp->req.una;
	return pdu->psn == qp->resp.epsn;
}

static void receive_list(struct verve_qp *qp, struct llist_node *list)
	__must_hold(&qp->lock)
{
	struct llist_node *next;

	for (; list; list = next) {
		next = list->next;
		receive_or_hold(qp,
				container_of(list, struct verve_arrival, node));
		if (!is_due(qp, next))
			verve_dispatch_ooo(qp);
	}
}

/*
 * Return: all arrivals, oldest first. @inbox_memory may be wrong by those that
 * other CPUs add now, until the next round.
 */
static struct llist_node *empty_inbox(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	atomic_set(&qp->inbox_memory, 0);
	return llist_reverse_order(llist_del_all(&qp->inbox));
}

void verve_dispatch_inbox(struct verve_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	receive_list(qp, verve_stall_release(qp));
	receive_list(qp, empty_inbox(qp));
}

void verve_dispatch_age(struct verve_qp *qp)
{
	struct verve_ooo *requests = &qp->resp.ooo;
	struct verve_ooo *responses = &qp->req.ooo;

	verve_count(qp, rx_drop_ooo, verve_ooo_age(requests) +
				     verve_ooo_age(responses));
	if (requests->count || responses->count)
		verve_timer_ooo(qp);
}

bool verve_dispatch_drop(struct verve_qp *qp)
{
	struct verve_arrival *arrival, *next;
	bool any = false;

	llist_for_each_entry_safe(arrival, next, empty_inbox(qp), node) {
		any |= verve_arrival_matches(arrival, &qp->flow.av);
		verve_qp_drop(qp, rx_drop_offloaded);
		verve_arrival_free(arrival);
	}
	return any;
}

static void free_arrivals(struct llist_node *list)
{
	struct verve_arrival *arrival, *next;

	llist_for_each_entry_safe(arrival, next, list, node)
		verve_arrival_free(arrival);
}

void verve_dispatch_free(struct verve_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	free_arrivals(llist_del_all(&qp->inbox));
	free_arrivals(verve_stall_release(qp));
	verve_ooo_drop(&qp->req.ooo);
	verve_ooo_drop(&qp->resp.ooo);
}
