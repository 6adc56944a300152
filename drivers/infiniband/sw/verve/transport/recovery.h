/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Recovery
 *
 * Loss recovery of a requester. A NAK names only the first packet that the peer
 * lacks. The requester sends a run of one packet again, and then continues where
 * it had stopped. A peer that keeps packets received out of order, as Verve does
 * (ooo.h), acknowledges all packets behind the gap, or NAKs the next gap. A
 * go-back-N peer, as the IBTA describes it (9.7.5.2.8), lacks the packets behind
 * the run as well. Such a peer sends another NAK, or an ACK that ends with the
 * run. Then the next run is longer, until a run reaches the packet that was the
 * newest.
 *
 * So either kind of peer gets few packets twice. But a go-back-N peer costs a
 * round trip for each run, so the requester remembers the kind of its peer. A
 * peer goes back if it lacked all outstanding packets although it had seen some
 * of them, for otherwise it could not have sent a NAK. The next NAK of such a
 * peer is answered with all packets at once. Now and then the requester tries a
 * run of one packet again. If the ACK goes beyond the run, the peer counts as one
 * that keeps packets.
 */
#ifndef VERVE_TRANSPORT_RECOVERY_H
#define VERVE_TRANSPORT_RECOVERY_H

#include <linux/types.h>

/**
 * struct verve_recovery - a run of packets that is sent again
 * @start: PSN of the first packet
 * @end: one beyond the PSN of the last packet
 * @stop: one beyond the PSN of the last packet to be sent now: @end, or less
 *	while an unanswered run is probed
 * @limit: one beyond the newest PSN at the time of the loss
 * @packets: length of the run; 0 if no loss is known
 * @next: request to continue with afterwards
 * @under_way: req.psn lies before @stop, and the packets between are being sent
 * @is_exact: the run is the exact range of lost READ responses
 * @is_trial: a NAK began the run, so the peer had seen some of the packets behind
 *	it. Their loss now tells whether the peer keeps packets
 * @is_timed: the peer has asked for the run, which has not been sent again since
 * @short_runs: number of short runs in the trial
 * @goes_back: number of NAKs that will be answered with all packets, because the
 *	peer goes back; 0 if the peer keeps packets
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
	bool is_timed;
	u8 short_runs;
	u8 goes_back;
};

#endif
