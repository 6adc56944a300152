/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Congestion
 *
 * Queues that fill up mark packets that may be marked (ECN, RFC 3168). The QP
 * that gets a marked packet tells the one that sent it by a CNP (Annex A17.9.3),
 * now and then; that one sends slower, and faster again little by little
 * (dcqcn.h). What it may not send yet waits for a timer of the QP's. A flow that
 * nobody complained about is not held back, and has none of this.
 *
 * Here that is all data of connected QPs: requests, and responses to READs.
 */
#ifndef VERVE_TRANSPORT_CONGESTION_H
#define VERVE_TRANSPORT_CONGESTION_H

#include "qp.h"

/* A packet came with a mark: tell its sender, unless that was done just now. */
void verve_congestion_marked(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* A CNP came. */
void verve_congestion_notified(struct verve_qp *qp)
	__must_hold(&qp->lock);
/**
 * verve_congestion_allowance() - how much may be sent now
 * @qp: connected
 *
 * Return: packets; 0: none, and the engine is run again when it is time.
 */
u32 verve_congestion_allowance(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* So many packets were sent, with so many bytes of payload. */
void verve_congestion_sent(struct verve_qp *qp, u32 packets, u32 bytes)
	__must_hold(&qp->lock);
/* kbit/s that the QP is held to, or 0. */
u32 verve_congestion_rate(const struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Forget it: the QP is reset. */
void verve_congestion_reset(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* The QP is dead: end its timer, which may be running the engine. Process. */
void verve_congestion_stop(struct verve_qp *qp);
/* Nothing of the engine runs any more. */
void verve_congestion_free(struct verve_qp *qp)
	__must_hold(&qp->lock);

#endif
