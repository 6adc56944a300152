/* SPDX-License-Identifier: GPL-2.0-only */
/* Dispatch of a QP's arrivals to its responder and its completer */
#ifndef VERVE_TRANSPORT_DISPATCH_H
#define VERVE_TRANSPORT_DISPATCH_H

#include "ooo.h"
#include "qp.h"

/**
 * verve_dispatch() - pass one arrival to the responder or the completer, or drop it
 * @qp: QP
 * @arrival: packet with this QP's number
 *
 * A packet of another service, of another peer, or that the state of the QP does not
 * allow (10.3.1), is counted and dropped.
 *
 * Context: softirq or BH off.
 * Return: true if the arrival is kept, and must not be freed
 */
bool verve_dispatch(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock);

/**
 * verve_dispatch_ooo() - process kept packets that are due after the last arrival
 * @qp: QP
 *
 * Frees those behind it.
 */
void verve_dispatch_ooo(struct verve_qp *qp)
	__must_hold(&qp->lock);

/**
 * verve_dispatch_keep() - keep a packet until its turn
 * @qp: QP
 * @ooo: packets out of order of the responder or of the completer
 * @arrival: packet
 *
 * Return: true if @ooo now owns @arrival
 */
bool verve_dispatch_keep(struct verve_qp *qp, struct verve_ooo *ooo,
			 struct verve_arrival *arrival)
	__must_hold(&qp->lock);

/* Process the arrivals that a stall has held, and those in the inbox. */
void verve_dispatch_inbox(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* VERVE_EV_OOO: drop packets that have waited for too long. */
void verve_dispatch_age(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Drop arrivals while a NIC runs the QP. Return: true if one is from the peer. */
bool verve_dispatch_drop(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Free all arrivals of a QP that ends. */
void verve_dispatch_free(struct verve_qp *qp)
	__must_hold(&qp->lock);

#endif
