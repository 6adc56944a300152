/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Stalls
 *
 * An engine cannot sleep for memory. Where a page is absent, the part of the
 * engine that needs the page stalls. Stalled arrivals, and all arrivals behind
 * them, stay in order. Stalled responses to READs and stalled send requests stay
 * in their queues. A work item faults the page in and kicks the engine, which
 * tries again. A packet that was partly processed is processed again from its
 * start, so a stall costs only time.
 *
 * A QP has at most one page fault under way. When the fault ends, all stalled
 * parts try again, and a part that meets an absent page stalls again. So each
 * round of an engine is bounded, however often pages are reclaimed.
 *
 * A peer that repeats a request during a stall gets an RNR NAK, for each repeat.
 * So a slow page does not cost the connection of a peer that retries these without
 * limit (RNR retry count 7).
 *
 * A failed fault is remembered by its address. The part that next stalls at that
 * address gets -EACCES, which becomes the protection error of its operation.
 *
 * Page faults may take long, or for ever where another process provides the
 * memory. Destroy does not wait for them: a fault owns all that it needs, and a
 * destroyed QP only tells the fault not to report.
 */
#ifndef VERVE_TRANSPORT_STALL_H
#define VERVE_TRANSPORT_STALL_H

#include <linux/types.h>

struct llist_node;
struct verve_fault;

/* Parts of an engine that can wait for a page */
enum verve_stall_part {
	VERVE_STALL_ARRIVALS	= 1 << 0,
	VERVE_STALL_RESPONSES	= 1 << 1,
	VERVE_STALL_REQUESTS	= 1 << 2,
};

/**
 * struct verve_stall - parts of a QP that wait for a page; under qp->lock
 * @fault: page fault
 * @under_way: @fault is queued or runs
 * @parts: enum verve_stall_part
 * @held: stalled arrivals, oldest first
 * @held_end: link for the next arrival
 * @num_held: length of @held
 * @due_held: the request with the expected PSN is in @held
 * @refused: the last failed fault has not been reported yet
 * @key: key of the region of that fault
 * @va: address of that fault
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
