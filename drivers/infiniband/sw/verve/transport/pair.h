/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Pairs
 *
 * Two RC QPs of one device that are connected with each other are run as one:
 * whoever owns the one engine for a round owns the other with it, so that what
 * the one sends the other takes in at once (path/loop.c).
 *
 * The second lock is only tried, too. Who does not get it lets go of the first,
 * leaves a note with the peer, and is woken when its owner leaves; so the rule
 * of the data path holds, that nobody waits for another's work. Two that find
 * each other's lock taken would both let go, again and again if chance wills:
 * their work items, which are what wakes them, take the locks in the order of
 * the QPs' addresses, and the first waits for the second.
 */
#ifndef VERVE_TRANSPORT_PAIR_H
#define VERVE_TRANSPORT_PAIR_H

#include <linux/llist.h>
#include <linux/types.h>

struct verve_qp;

/**
 * struct verve_pair - a QP's part in a pair
 * @peer: engine that is owned with this one, for this round; referenced by
 *	whoever began the round. Under qp->lock
 * @lost: what came from the peer while memory was absent: enum verve_lost.
 *	Under qp->lock
 * @callers: QPs that wait until this one's lock is free, each referenced
 * @node: in the peer's @callers
 * @calling: bit 0: @node is in use
 */
struct verve_pair {
	struct verve_qp *peer;
	u8 lost;
	struct llist_head callers;
	struct llist_node node;
	unsigned long calling;
};

enum verve_lost {
	VERVE_LOST_REQUEST	= 1 << 0,
	VERVE_LOST_RESPONSE	= 1 << 1,
};

#endif
