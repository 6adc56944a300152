/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Congestion
 *
 * Switches mark packets when their queues fill up (ECN, RFC 3168). A QP that
 * receives a marked packet sends a CNP to the sender (Annex A17.9.3), at a
 * limited rate. The sending QP then reduces its rate, and raises it again in
 * steps (dcqcn.h). Packets that may not be sent yet wait for a timer of the QP. A
 * QP that has received no CNP has no limit, and no state for one.
 *
 * The limit covers all data of connected QPs: requests, and responses to READs. Where
 * both wait, they take turns, because a peer could otherwise keep a QP from sending.
 */
#ifndef VERVE_TRANSPORT_CONGESTION_H
#define VERVE_TRANSPORT_CONGESTION_H

#include "qp.h"

/* A packet has an ECN mark: send a CNP, unless one has been sent just now. */
void verve_congestion_marked(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Handle a received CNP. */
void verve_congestion_notified(struct verve_qp *qp)
	__must_hold(&qp->lock);
/**
 * verve_congestion_allow_request() - number of packets of requests that may be sent now
 * @qp: connected QP
 *
 * Return: number of packets; 0 if none, and the engine runs again in time.
 */
u32 verve_congestion_allow_request(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* The same for packets of responses. */
u32 verve_congestion_allow_response(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Account for sent packets, with @bytes of payload in all. */
void verve_congestion_sent(struct verve_qp *qp, u32 packets, u32 bytes)
	__must_hold(&qp->lock);
/* Return: rate limit of the QP in kbit/s, or 0 if there is none. */
u32 verve_congestion_rate(const struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Remove the limit of a QP that is reset. */
void verve_congestion_reset(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Stop the timer of a dead QP, which may be running the engine. Process context. */
void verve_congestion_stop(struct verve_qp *qp);
/* Free the state after the engine has stopped. */
void verve_congestion_free(struct verve_qp *qp)
	__must_hold(&qp->lock);

#endif
