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

#endif
