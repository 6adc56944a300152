/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Pairs
 *
 * Two RC QPs that are connected with each other run as one, if they are of one
 * device, or of two between which packets need not exist (path/bypass.h). The owner
 * of one engine also owns the other for the round, so that packets of one QP are
 * received at once by the other (path/loop.c).
 *
 * The data path only tries the second lock, too. If that fails, the caller adds
 * its QP to the peer's list of callers, releases the first lock, and is woken
 * when the peer's owner leaves. So no CPU waits for the work of another QP. Two
 * engines that find each other's lock taken would both release their own, perhaps
 * again and again. Their work items, which wake them, therefore take the locks in
 * the order of the QPs' addresses, and the first one waits for the second lock.
 */
#ifndef VERVE_TRANSPORT_PAIR_H
#define VERVE_TRANSPORT_PAIR_H

#include <linux/llist.h>
#include <linux/types.h>

struct verve_qp;

/**
 * struct verve_pair - a QP's state in a pair
 * @peer: QP whose engine is owned together with this one for a round. The caller
 *	that began the round holds a reference. Under qp->lock
 * @had_peer: the last round was that of a pair. Under qp->lock
 * @lost: enum verve_lost of packets that the peer sent while memory was absent.
 *	Under qp->lock
 * @callers: QPs that wait for the lock of this one, each referenced
 * @node: entry in the peer's @callers
 * @calling: bit 0: @node is in use
 */
struct verve_pair {
	struct verve_qp *peer;
	bool had_peer;
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
