/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Stalls
 *
 * Engines cannot wait for memory, so where a page is absent the part of the
 * engine that needs it stalls: what came in stays, in its order and with all
 * that comes behind it; responses to READs and send requests stay where they
 * are. A work item faults the page in and kicks the engine, which tries again.
 * What was begun of a packet is done again from its start, so all that a stall
 * leaves behind is time.
 *
 * A QP has one page fault under way at most; when it ends, all that has stalled
 * tries again, and who meets an absent page once more stalls once more. So each
 * round of an engine is bounded, however often a page is taken away.
 *
 * A peer who repeats a request while it waits here is told to come later, by an
 * RNR NAK, as often as he asks: a slow page does not cost the connection.
 *
 * A fault that fails is remembered by its address: who stalls there next is
 * told -EACCES, which is the protection error of whatever he was about to do.
 *
 * Page faults may take long, or for ever where another process provides the
 * memory. Nobody waits for them: a fault owns what it needs, and a QP that is
 * destroyed only tells it not to report.
 */
#ifndef VERVE_TRANSPORT_STALL_H
#define VERVE_TRANSPORT_STALL_H

#include <linux/types.h>

struct llist_node;
struct verve_fault;

/* What of an engine waits for a page */
enum verve_stall_part {
	VERVE_STALL_ARRIVALS	= 1 << 0,
	VERVE_STALL_RESPONSES	= 1 << 1,
	VERVE_STALL_REQUESTS	= 1 << 2,
};

/**
 * struct verve_stall - what of a QP waits for a page; under qp->lock
 * @fault: does it; NULL for kernel QPs, which can only name pinned memory
 * @under_way: @fault is queued or runs
 * @parts: enum verve_stall_part
 * @held: arrivals that wait, the oldest first
 * @held_end: where the next one is linked
 * @num_held: of those
 * @due_held: the request that is due is one of them
 * @refused: the last fault that failed is not answered for yet
 * @key: of its region
 * @va: and its address there
 */
struct verve_stall {
	struct verve_fault *fault;
	bool under_way;
	u8 parts;
	struct llist_node *held;
	struct llist_node **held_end;
	u32 num_held;
	bool due_held;
	bool refused;
	u32 key;
	u64 va;
};

#endif
