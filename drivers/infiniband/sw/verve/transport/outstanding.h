/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Outstanding packets and requests. Only this file writes the PSNs of struct
 * verve_requester.
 *
 *	una          acked         psn            max_psn
 *	 | outstanding             | sent once      |
 *
 * psn lies before max_psn while packets are sent again (recovery.h).
 */
#ifndef VERVE_TRANSPORT_OUTSTANDING_H
#define VERVE_TRANSPORT_OUTSTANDING_H

#include <linux/minmax.h>
#include "../wire/psn.h"
#include "qp.h"

/*
 * Initialise with no outstanding packet. The next packet has @psn, cut to 24
 * bits.
 */
static inline void verve_outstanding_init(struct verve_requester *req, u32 psn)
{
	req->psn = psn & VERVE_PSN_MASK;
	req->una = req->psn;
	req->max_psn = req->psn;
	req->asked = req->psn;
	req->acked = req->psn;
}

/* Packets have been sent, for the first time or again. */
static inline void verve_outstanding_sent(struct verve_requester *req,
					  u32 packets)
{
	req->psn = verve_psn_add(req->psn, packets);
	if (verve_psn_before(req->max_psn, req->psn))
		req->max_psn = req->psn;
}

/* Packets are about to be sent. The last one may request an ACK. */
static inline void verve_outstanding_add(struct verve_requester *req,
					 u32 packets)
{
	req->unasked += packets;
}

/* The next @packets PSNs have an answer: an ACK of the last one, or responses. */
static inline void verve_outstanding_ask(struct verve_requester *req,
					 u32 packets)
{
	req->unasked = 0;
	req->asked = verve_psn_add(req->psn, packets);
}

/* Every packet before @psn has been answered. */
static inline void verve_outstanding_answered(struct verve_requester *req,
					      u32 psn)
{
	req->una = psn;
}

/* The peer has received @psn, though responses before it are missing. */
static inline void verve_outstanding_acked(struct verve_requester *req, u32 psn)
{
	if (!verve_psn_before(psn, req->acked))
		req->acked = verve_psn_add(psn, 1);
}

/* Repeat packets from the oldest outstanding one on. */
static inline void verve_outstanding_rewind(struct verve_requester *req)
{
	req->psn = req->una;
	req->unasked = 0;
	req->asked = req->una;
}

/* An answer has overtaken the repeated packets. */
static inline void verve_outstanding_skip(struct verve_requester *req)
{
	req->psn = req->una;
}

/* The repeat ends, and new packets follow. */
static inline void verve_outstanding_proceed(struct verve_requester *req)
{
	req->psn = req->max_psn;
}

/* Outstanding packets will have no answer. */
static inline void verve_outstanding_forget(struct verve_requester *req)
{
	req->psn = req->una;
	req->max_psn = req->una;
}

/* A request that ends before @psn has been posted to a NIC for sending. */
static inline void verve_outstanding_post(struct verve_requester *req, u32 psn)
{
	if (verve_psn_before(req->psn, psn))
		req->psn = psn;
}

/* A NIC returns the QP, and has sent the packets before @psn. */
static inline void verve_outstanding_resume(struct verve_requester *req,
					    u32 psn)
{
	req->psn = psn;
	req->max_psn = psn;
	req->asked = req->una;
	req->acked = req->una;
	req->unasked = 0;
}

/* Add @n to the number of outstanding READs, atomics and so on. */
static inline void verve_outstanding_add_rd_atomic(struct verve_requester *req,
						   u32 n)
{
	req->rd_atomic += n;
}

static inline void verve_outstanding_sub_rd_atomic(struct verve_requester *req,
						   u32 n)
{
	req->rd_atomic -= min(n, req->rd_atomic);
}

static inline void verve_outstanding_no_rd_atomic(struct verve_requester *req)
{
	req->rd_atomic = 0;
}

#endif
