/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ACKs and NAKs that a responder owes
 */
#ifndef VERVE_TRANSPORT_ACK_H
#define VERVE_TRANSPORT_ACK_H

#include <linux/types.h>
#include "../wire/psn.h"

/**
 * struct verve_ack - what a responder owes its peer; this file and ack.c write it
 * @ack_due: an ACK of every request before the expected PSN
 * @rnr_due: an RNR NAK of the expected PSN
 * @rnr_sent: in this round, an RNR NAK has answered a repeated request
 * @nak_due: a sequence error NAK, unless @nak_psn is taken before the round ends
 * @nak_sent: that NAK is out; the next one waits until the expected PSN arrives
 * @nak_psn: of the newest packet that showed a gap before it
 * @fatal_nak: syndrome that moves the QP to the error state; it waits until the
 *	responses before it are sent; 0: none
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

/* The responder owes its peer nothing. */
static inline bool verve_ack_is_idle(const struct verve_ack *ack)
{
	return !ack->ack_due && !ack->rnr_due && !ack->nak_due &&
	       !ack->fatal_nak;
}

/* A fatal NAK is due: the responder takes no more requests. */
static inline bool verve_ack_is_fatal(const struct verve_ack *ack)
{
	return ack->fatal_nak;
}

/* An ACK is due at the end of the round. */
static inline void verve_ack_owe(struct verve_ack *ack)
{
	ack->ack_due = true;
}

/* The request with the expected PSN has arrived: the gap that a NAK named is closed. */
static inline void verve_ack_advance(struct verve_ack *ack)
{
	ack->nak_sent = false;
	ack->rnr_due = false;
}

/**
 * verve_ack_gap() - a packet shows that another is missing
 * @ack: of an RC QP
 * @psn: of that packet
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

/* An RNR NAK of the expected PSN is due at the end of the round. */
static inline void verve_ack_rnr(struct verve_ack *ack)
{
	ack->nak_sent = true;
	ack->rnr_due = true;
}

/* The responder owes nothing any more: its QP is in no state to acknowledge. */
static inline void verve_ack_reset(struct verve_ack *ack)
{
	*ack = (struct verve_ack) {};
}

#endif
