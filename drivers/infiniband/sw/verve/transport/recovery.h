/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Recovery
 *
 * What a requester does about lost packets. A NAK names the first packet that
 * the peer lacks, and no more. A run of one packet is sent again from there, and
 * then the requester goes on where it had been. A peer that keeps what comes
 * before its turn, as Verve does (ooo.h), acknowledges all that the gap had
 * held up, or NAKs the next gap. One that does not, as the IBTA has it (9.7.5.2.8:
 * go back n), lacks what follows the run as well, and says so: by another NAK, or
 * by an ACK that ends with the run. The next run is longer then, until it reaches
 * the packet that had been the newest.
 *
 * So loss costs either kind of peer few packets that it has already. But the second
 * kind waits a round trip for each run, and so it is remembered that a peer is of that
 * kind: one that lacked all that was outstanding, though it had seen some of it, or it
 * could not have sent a NAK. It gets everything at once when it sends the next one.
 * Now and then the run is of one packet all the same, and the peer is taken for the
 * first kind again when its ACK goes beyond a run.
 */
#ifndef VERVE_TRANSPORT_RECOVERY_H
#define VERVE_TRANSPORT_RECOVERY_H

#include <linux/types.h>

struct verve_qp;
struct verve_requester;

/**
 * struct verve_recovery - a run of packets that is sent again
 * @start: PSN of the first
 * @end: one beyond the PSN of the last
 * @stop: one beyond the PSN of the last that is to be sent now: @end, or less where
 *	a run that nobody has answered is probed for
 * @limit: one beyond the newest PSN when the loss was noticed
 * @packets: in the run; 0 when nothing is known to be lost
 * @next: request to go on with afterwards
 * @under_way: req.psn lies before @stop, and what is between is being sent
 * @is_exact: of a READ's responses, no more are lost than the run says
 * @is_trial: a NAK began it, so the peer had seen some of what followed: what it
 *	lacks now tells whether it keeps that
 * @short_runs: of the trial, so many
 * @goes_back: it does not. So many NAKs will be answered by everything
 */
struct verve_recovery {
	u32 start;
	u32 end;
	u32 stop;
	u32 limit;
	u32 packets;
	u32 next;
	bool under_way;
	bool is_exact;
	bool is_trial;
	u8 short_runs;
	u8 goes_back;
};

/* Nothing is known to be lost. */
void verve_recovery_reset(struct verve_requester *req);
/*
 * The peer lacks the oldest packet that is outstanding, and has said so; unless that
 * is being seen to.
 */
void verve_recovery_nak(struct verve_qp *qp)
	__must_hold(&qp->lock);
/**
 * verve_recovery_responses() - responses have been lost
 * @qp: RC; the oldest outstanding PSN is of a response
 * @end: one beyond the PSN of the last that is known to be lost
 */
void verve_recovery_responses(struct verve_qp *qp, u32 end)
	__must_hold(&qp->lock);
/* Nothing has been heard, or was to be sent: one packet, and wait for its ACK. */
void verve_recovery_probe(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Have an ACK asked for, by the oldest packet outstanding, though none is lost. */
void verve_recovery_ask(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Is it being seen to that the oldest packet outstanding was lost? */
bool verve_recovery_is_begun(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Was the oldest packet outstanding so before what is recovered from was noticed? */
bool verve_recovery_covers(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Packets up to req.psn have been sent. */
void verve_recovery_sent(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* req.una has moved, by an ACK or by responses. */
void verve_recovery_acknowledged(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* An ACK has been taken in: all that the peer had from there on, it has told. */
void verve_recovery_ack(struct verve_qp *qp)
	__must_hold(&qp->lock);

#endif
