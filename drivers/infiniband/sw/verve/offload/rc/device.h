/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the offload of a QP (offload/rc/rc.h) and the registry of NICs
 */
#ifndef VERVE_OFFLOAD_RC_DEVICE_H
#define VERVE_OFFLOAD_RC_DEVICE_H

#include "../../transport/qp.h"

struct verve_offload_rc_terms;

/* Is there a NIC that would have the QP? It has @rc_offload. Any context. */
bool verve_rc_device_is_offered(struct verve_qp *qp);

/**
 * verve_rc_device_terms() - may the QP's packets leave by its netdev, and how?
 * @qp: owned
 * @terms: filled
 * Return: false when they go another way, are changed on it, or nobody knows yet
 * where the next hop is.
 */
bool verve_rc_device_terms(struct verve_qp *qp,
			   struct verve_offload_rc_terms *terms)
	__must_hold(&qp->lock);
/* Is the route still the one for which that was said? */
bool verve_rc_device_is_current(const struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Would the same be said again, of the route and of the next hop? */
bool verve_rc_device_terms_hold(struct verve_qp *qp,
				const struct verve_offload_rc_terms *terms)
	__must_hold(&qp->lock);

/* Lend the QP, if it may be; and have it back. Process, the QP's lock is free. */
void verve_rc_device_offload(struct verve_qp *qp);
void verve_rc_device_return(struct verve_qp *qp);

/**
 * verve_rc_device_post() - a request for the NIC that has the QP
 * @qp: owned
 * @wqe: valid, and it has PSNs
 * Return: 0, or an error: not now.
 */
int verve_rc_device_post(struct verve_qp *qp, const struct verve_swqe *wqe)
	__must_hold(&qp->lock);

#endif
