/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface between the offload of a QP (offload/rc/rc.h) and the registry of NICs
 */
#ifndef VERVE_OFFLOAD_RC_DEVICE_H
#define VERVE_OFFLOAD_RC_DEVICE_H

#include "../../transport/qp.h"

struct roce_offload_rc_terms;

/* Does a NIC offer to run the QP, which has @rc_offload? Any context. */
bool verve_rc_device_is_offered(const struct verve_qp *qp);

/**
 * verve_rc_device_terms() - get the terms for the offload of a QP
 * @qp: QP whose engine the caller owns
 * @terms: filled
 *
 * Return: false when packets leave by another netdev or are transformed, or the address
 * of the next hop is not known yet.
 */
bool verve_rc_device_terms(struct verve_qp *qp,
			   struct roce_offload_rc_terms *terms)
	__must_hold(&qp->lock);
/* Is the route of the last verve_rc_device_terms() still valid? */
bool verve_rc_device_is_current(const struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Would verve_rc_device_terms() return the same route and next hop now? */
bool verve_rc_device_terms_hold(struct verve_qp *qp,
				const struct roce_offload_rc_terms *terms)
	__must_hold(&qp->lock);

/*
 * Offload a QP if the transport and the NIC agree, and return it. Process context; the
 * caller does not hold the QP's lock.
 */
void verve_rc_device_offload(struct verve_qp *qp);
void verve_rc_device_return(struct verve_qp *qp);

/**
 * verve_rc_device_post() - post a request to the NIC that runs the QP
 * @qp: QP whose engine the caller owns
 * @wqe: valid request with PSNs
 *
 * Return: 0, or an error when the NIC cannot take the request now.
 */
int verve_rc_device_post(struct verve_qp *qp, const struct verve_swqe *wqe)
	__must_hold(&qp->lock);
/* Post a receive likewise, or NULL: none is posted. */
void verve_rc_device_post_recv(struct verve_qp *qp,
			       const struct roce_offload_rc_recv *recv)
	__must_hold(&qp->lock);

#endif
