/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: DDP: payload that a NIC has placed
 *
 * A NIC may write the payload of RDMA WRITEs to its place before the responder sees
 * the packet (rdma/verve_offload.h has the protocol). All the rest is the responder's
 * business, as ever, and it has to see to two things.
 *
 * No packet is placed when it has been executed: the memory may be the program's
 * again. While the NIC places, nothing but what it has placed is executed; for
 * anything else it is stopped first.
 *
 * Data are in memory as if all packets had been executed in their order. The NIC
 * runs ahead: what it has placed may have been overwritten by what the responder has
 * to copy for a packet before it. So a run of placed packets ends with the first
 * packet that is executed in another way, and what is left of the run counts as lost:
 * it is neither executed nor kept until its turn, and the peer sends it again. A new
 * run begins when all that was placed before has been passed.
 */
#ifndef VERVE_OFFLOAD_RC_DDP_H
#define VERVE_OFFLOAD_RC_DDP_H

#include "../../transport/qp.h"

/* Has a NIC placed its payload? Of a packet that may be executed, or kept. */
bool verve_ddp_is_placed(const struct verve_qp *qp,
			 const struct verve_arrival *arrival)
	__must_hold(&qp->lock);

/**
 * verve_ddp_admits() - may a request be executed, whose turn it is?
 * @qp: QP
 * @arrival: request
 *
 * Return: false when its payload may not be in memory any more; then it is lost.
 */
bool verve_ddp_admits(struct verve_qp *qp, const struct verve_arrival *arrival)
	__must_hold(&qp->lock);

/**
 * verve_ddp_skip() - the payload need not be copied
 * @qp: QP, whose resp.dest is where the payload belongs
 * @arrival: request that was admitted
 *
 * Return: true when it is there already, and resp.dest is behind it.
 */
bool verve_ddp_skip(struct verve_qp *qp, const struct verve_arrival *arrival)
	__must_hold(&qp->lock);

/* The NIC places nothing more; what it has placed is lost. */
void verve_ddp_stop(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* All has been taken in: a NIC that wants to may place what comes next. */
void verve_ddp_round_end(struct verve_qp *qp)
	__must_hold(&qp->lock);

#endif
