/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: DDP: payload that a NIC has placed
 *
 * A NIC may write the payload of RDMA WRITEs to memory before the responder sees the
 * packet (rdma/roce_offload.h has the protocol). The responder does all the rest as for
 * other packets, and ensures two things.
 *
 * No packet is placed after it was executed, since the memory may belong to the program
 * again. From the request that the NIC begins until its answer that it has stopped, the
 * responder executes only packets that the NIC has placed. It drops all others, and has
 * the peer send them again when the NIC has answered. So a run costs one repeat at its
 * beginning if the peer does not pause. A loss on the wire does not end it, but a loss
 * behind the NIC does, and costs another.
 *
 * Memory ends up as if all packets had been executed in order. But the NIC runs ahead:
 * the responder may overwrite placed payload when it copies the payload of an earlier
 * packet. So the first packet that is executed by a copy ends a run of placed packets.
 * The rest of the run counts as lost: the responder neither executes nor keeps it, and
 * the peer sends it again. A new run begins when the responder is beyond all that was
 * placed before.
 *
 * A run pays if it is long. So it begins after a number of bytes that the driver chose
 * were copied, and after twice that for each earlier run that was not four times as long.
 */
#ifndef VERVE_OFFLOAD_RC_DDP_H
#define VERVE_OFFLOAD_RC_DDP_H

#include "../../transport/qp.h"

/**
 * verve_ddp_admits() - may the next request in order be executed?
 * @qp: QP
 * @arrival: request
 *
 * Return: false when the placed payload may have been overwritten, or the NIC might place
 * this packet later. The packet counts as lost then, and a NAK is or will be due.
 */
bool verve_ddp_admits(struct verve_qp *qp, const struct verve_arrival *arrival)
	__must_hold(&qp->lock);

/**
 * verve_ddp_keeps() - may a request that is not yet the next be kept?
 * @qp: QP
 * @arrival: request
 *
 * Return: false if the packet counts as lost; a NAK is or will be due.
 */
bool verve_ddp_keeps(struct verve_qp *qp, const struct verve_arrival *arrival)
	__must_hold(&qp->lock);

enum verve_ddp_payload {
	VERVE_DDP_NOT_PLACED,	/* it must be copied */
	VERVE_DDP_PLACED,	/* it is in place, and resp.dest is advanced */
	VERVE_DDP_LOST,		/* the packet counts as lost */
};

/**
 * verve_ddp_place() - skip the copy of payload that a NIC has placed
 * @qp: QP; resp.dest is the destination of the payload
 * @arrival: request that was admitted
 *
 * Return: what the caller does with the payload.
 */
enum verve_ddp_payload verve_ddp_place(struct verve_qp *qp,
				       const struct verve_arrival *arrival)
	__must_hold(&qp->lock);

/* Payload that was not placed has been copied. */
void verve_ddp_copied(struct verve_qp *qp, const struct verve_pdu *pdu)
	__must_hold(&qp->lock);

/* Ask the NIC to stop. Packets that it has placed and that are not executed are lost. */
void verve_ddp_stop(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Stop the NIC, and forget the past of the QP. */
void verve_ddp_reset(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* May a NIC run the QP? No NIC places for it, and no NAK waits for a NIC. */
bool verve_ddp_is_over(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Have the peer repeat what was dropped, if the NIC has answered. Before ACKs are sent */
void verve_ddp_answer(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Begin a run that is worth it, at the end of a round. */
void verve_ddp_round_end(struct verve_qp *qp)
	__must_hold(&qp->lock);

#endif
