/* SPDX-License-Identifier: GPL-2.0-only */
/* ACKs and NAKs that are due at a responder */
#ifndef VERVE_TRANSPORT_ACK_H
#define VERVE_TRANSPORT_ACK_H

#include <linux/types.h>
#include "../wire/psn.h"

/**
 * struct verve_ack - ACKs and NAKs that are due; written by this file and ack.c
 * @ack_due: an ACK of all requests before the expected PSN
 * @rnr_due: an RNR NAK of the expected PSN
 * @rnr_sent: an RNR NAK has answered a duplicate request in this round
 * @nak_due: a sequence error NAK, unless the responder takes @nak_psn in this
 *	round
 * @nak_sent: that NAK has been sent. The next one waits for the expected PSN
 * @nak_psn: PSN of the newest packet behind a gap
 * @fatal_nak: syndrome that moves the QP to the error state after the pending
 *	responses have been sent, or 0
 */
struct verve_ack {
	bool ack_due;
	bool rnr_due;
	bool rnr_sent;
	bool nak_due;
	bool nak_sent;
	u32 nak_psn;
	u8 fatal_nak;
};

/* No ACK or NAK is due. */
static inline bool verve_ack_is_idle(const struct verve_ack *ack)
{
	return !ack->ack_due && !ack->rnr_due && !ack->nak_due &&
	       !ack->fatal_nak;
}

/* A fatal NAK is due, so the responder accepts no more requests. */
static inline bool verve_ack_is_fatal(const struct verve_ack *ack)
{
	return ack->fatal_nak;
}

/* An ACK is due at the end of the round. */
static inline void verve_ack_owe(struct verve_ack *ack)
{
	ack->ack_due = true;
}

/*
 * The request with the expected PSN has arrived, so the gap of the last NAK is
 * closed.
 */
static inline void verve_ack_advance(struct verve_ack *ack)
{
	ack->nak_sent = false;
	ack->rnr_due = false;
}

/**
 * verve_ack_gap() - note a packet behind a gap
 * @ack: state of an RC QP
 * @psn: PSN of the packet behind the gap
 *
 * A sequence error NAK is due at the end of the round, unless the responder has
 * taken that packet by then (IBTA 9.7.5.2.8).
 */
static inline void verve_ack_gap(struct verve_ack *ack, u32 psn)
{
	if (!ack->nak_due || verve_psn_before(ack->nak_psn, psn))
		ack->nak_psn = psn;
	ack->nak_due = true;
}

/* As verve_ack_gap(), after a NAK for the same gap that was sent too early */
static inline void verve_ack_gap_again(struct verve_ack *ack, u32 psn)
{
	ack->nak_sent = false;
	verve_ack_gap(ack, psn);
}

/* An RNR NAK of the expected PSN is due at the end of the round. */
static inline void verve_ack_rnr(struct verve_ack *ack)
{
	ack->nak_sent = true;
	ack->rnr_due = true;
}

/* Cancel all ACKs and NAKs, because the QP's state does not allow them. */
static inline void verve_ack_reset(struct verve_ack *ack)
{
	*ack = (struct verve_ack) {};
}

#endif
