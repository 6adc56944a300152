/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: DDP: payload that a NIC has placed
 *
 * A NIC may write the payload of RDMA WRITEs to memory before the responder sees the
 * packet (rdma/verve_offload.h has the protocol). The responder does all the rest as for
 * other packets, and ensures two things.
 *
 * No packet is placed after it was executed, since the memory may belong to the program
 * again. While the NIC places, the responder executes only packets that the NIC has
 * placed. Before it executes any other packet, it stops the NIC.
 *
 * Memory ends up as if all packets had been executed in order. But the NIC runs ahead:
 * the responder may overwrite placed payload when it copies the payload of an earlier
 * packet. So the first packet that is executed by a copy ends a run of placed packets.
 * The rest of the run counts as lost: the responder neither executes nor keeps it, and
 * the peer sends it again. A new run begins when the responder is beyond all that was
 * placed before.
 */
#ifndef VERVE_OFFLOAD_RC_DDP_H
#define VERVE_OFFLOAD_RC_DDP_H

#include "../../transport/qp.h"

/* Has a NIC placed the payload? For packets that are about to be executed or kept. */
bool verve_ddp_is_placed(const struct verve_qp *qp,
			 const struct verve_arrival *arrival)
	__must_hold(&qp->lock);

/**
 * verve_ddp_admits() - may the next request in order be executed?
 * @qp: QP
 * @arrival: request
 *
 * Return: false when the placed payload may have been overwritten. The packet counts as
 * lost then, and a NAK is due.
 */
bool verve_ddp_admits(struct verve_qp *qp, const struct verve_arrival *arrival)
	__must_hold(&qp->lock);

/**
 * verve_ddp_skip() - skip the copy of payload that a NIC has placed
 * @qp: QP; resp.dest is the destination of the payload
 * @arrival: request that was admitted
 *
 * Return: true if the payload is in place, and resp.dest is advanced.
 */
bool verve_ddp_skip(struct verve_qp *qp, const struct verve_arrival *arrival)
	__must_hold(&qp->lock);

/* Stop the NIC. Packets that it has placed and that are not executed yet are lost. */
void verve_ddp_stop(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Let a NIC that waits for it place the next packets. Called at the end of a round. */
void verve_ddp_round_end(struct verve_qp *qp)
	__must_hold(&qp->lock);

#endif
