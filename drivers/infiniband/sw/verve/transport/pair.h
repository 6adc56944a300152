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

struct verve_arrival;
struct verve_loop;
struct verve_qp;
struct verve_train;

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

/**
 * verve_pair_join() - own the peer's engine as well, if there is a peer
 * @qp: owned
 * @patient: wait for the peer's lock, where the order of locks allows
 *
 * Context: BH off.
 * Return: true when the engine can be run: qp->pair.peer is owned, or NULL.
 * false: the lock must be let go, and verve_pair_wake() called; somebody will
 * queue the engine's work.
 */
bool verve_pair_join(struct verve_qp *qp, bool patient)
	__must_hold(&qp->lock);

/* Let go of the peer. Return: it, with the reference, or NULL. */
struct verve_qp *verve_pair_part(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Queue the work of those who failed to get the lock of @qp. Not locked. */
void verve_pair_wake(struct verve_qp *qp);

/**
 * verve_pair_begin() - a round begins
 * @qp: owned
 * @train: of the peer, if there is one; to live as long as the round
 * @loop: likewise
 */
void verve_pair_begin(struct verve_qp *qp, struct verve_train *train,
		      struct verve_loop *loop)
	__must_hold(&qp->lock);

/**
 * verve_pair_settle() - have the peer answer what it was sent
 * @qp: owned
 * Return: true when there were answers, and more can perhaps be sent.
 */
bool verve_pair_settle(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Memory is there again: have sent once more what was lost for want of it. */
void verve_pair_resume(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Is the peer in the middle of sending what is taken in? Only ACKs may go out. */
bool verve_pair_is_sent_to(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Has the peer to wait for memory before it can answer? */
bool verve_pair_is_stalled(const struct verve_qp *qp)
	__must_hold(&qp->lock);

#endif
