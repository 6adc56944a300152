// SPDX-License-Identifier: GPL-2.0-only
/* Bound of an inbox (see backlog.h) */
#include <linux/compiler.h>
#include "../offload/rc/qpc.h"
#include "../path/net.h"
#include "backlog.h"
#include "transport.h"

/*
 * Can the packet be one of the peer's? The fields are read without the lock.
 * While a verb changes the QP the answer may be wrong, which costs a packet. The
 * engine checks again.
 */
static bool is_expected(const struct verve_qp *qp,
			const struct verve_arrival *arrival)
	__context_unsafe(/* see above */)
{
	u32 due = verve_opcode_flags(arrival->pdu.opcode) & VERVE_OP_RESPONSE ?
		  READ_ONCE(qp->req.una) : READ_ONCE(qp->resp.epsn);

	/* Datagrams may come from any host. */
	if (!verve_qp_is_connected(qp))
		return true;
	if (!verve_backlog_is_near(arrival->pdu.psn, due))
		return false;
	/* A wrong answer drops a packet, or admits one too many. */
	return data_race(verve_arrival_matches(arrival, &qp->flow.av));
}

static void drop(struct verve_batch *batch, struct verve_arrival *arrival)
{
	batch->memory -= verve_arrival_memory(arrival);
	verve_qp_drop(batch->qp, rx_drop_backlog);
	verve_arrival_free(arrival);
}

/* Drop packets without room. The rest keeps its order. */
static void sift(struct verve_batch *batch, u32 waiting)
{
	struct llist_node **place = &batch->newest, *node;

	batch->oldest = NULL;
	while ((node = *place)) {
		struct verve_arrival *arrival =
			container_of(node, struct verve_arrival, node);

		if (verve_backlog_has_room(waiting,
					   is_expected(batch->qp, arrival))) {
			batch->oldest = node;
			place = &node->next;
		} else {
			*place = node->next;
			drop(batch, arrival);
		}
	}
}

bool verve_backlog_admit(struct verve_batch *batch)
{
	struct verve_qp *qp = batch->qp;
	u32 waiting = atomic_read(&qp->inbox_memory);

	/*
	 * inbox_memory may still count packets that the engine has just taken
	 * out, so an empty inbox takes all packets.
	 */
	if (unlikely(!verve_backlog_has_room(waiting, false)) &&
	    !llist_empty(&qp->inbox))
		sift(batch, waiting);
	if (!batch->newest)
		return false;
	atomic_add(batch->memory, &qp->inbox_memory);
	return true;
}

void verve_batch_receive(struct verve_batch *batch)
{
	struct verve_qp *qp = batch->qp;

	verve_count(qp, rcvd_pkts, batch->packets);
	verve_count(qp, rcvd_bytes, batch->bytes);
	if (batch->verified) {
		verve_count(qp, rx_icrc_offload, batch->verified);
		verve_nic_receives(qp);
	}
	if (unlikely(batch->marked))
		verve_count(qp, np_ecn_marked_roce_packets, batch->marked);
	if (unlikely(batch->hash != READ_ONCE(qp->rx_hash)))
		WRITE_ONCE(qp->rx_hash, batch->hash);
	if (likely(verve_backlog_admit(batch)))
		verve_engine_receive(qp, batch->newest, batch->oldest);
	verve_qp_put(qp);
}
