/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Packets out of order
 *
 * Packets that come out of order, because one was lost or overtaken, wait for
 * their turn: then only what is missing has to be sent again, and whoever sends all
 * of it again learns by the next ACK that the rest can be skipped.
 *
 * Such a packet need not be the peer's. Whoever pretends to be the peer, and guesses a
 * PSN, is right for the one that is due in one of 2^24 packets, and in one of 2^16 for
 * one that would be kept. So nothing rests on a packet that has waited:
 *
 *  - it waits for as long as it takes to send again what is missing, not longer;
 *  - when its turn comes and it may not be executed, it is forgotten, and the peer is
 *    asked for that PSN. What the peer really says is judged then;
 *  - two that contradict each other are both forgotten, and the peer is asked. Were the
 *    first one believed, the attacker would only have to be first, for which there is
 *    all the time in the world; were the last one, he could replace what the peer has
 *    sent for as long as something is missing. To forget both costs a packet;
 *  - the packet whose turn it is and that comes just now is executed in its place.
 */
#ifndef VERVE_TRANSPORT_OOO_H
#define VERVE_TRANSPORT_OOO_H

#include <linux/types.h>

struct llist_node;
struct verve_arrival;

/**
 * struct verve_ooo - requests, or responses, that are waiting for their turn
 * @first: the one with the lowest PSN
 * @last: the one with the highest, while there is a first
 * @count: how many
 */
struct verve_ooo {
	struct llist_node *first;
	struct llist_node *last;
	u32 count;
};

/* pdu.ooo of an arrival */
enum verve_ooo_mark {
	VERVE_OOO_NONE,		/* it came just now */
	VERVE_OOO_NEW,		/* it waits, or has waited, for its turn */
	VERVE_OOO_OLD,		/* likewise, for long */
};

enum verve_ooo_verdict {
	VERVE_OOO_KEPT,
	VERVE_OOO_REFUSED,
	VERVE_OOO_CONFLICT,
};

/**
 * verve_ooo_keep() - have a packet wait
 * @ooo: under the QP's lock
 * @arrival: ahead of the PSN that is due, by less than half of the PSNs
 *
 * A peer, or somebody who pretends to be one, decides how much comes out of order. So
 * there is a limit to what a QP keeps, and one for all of them together. Whoever
 * fills that leaves each other QP a few.
 *
 * Context: BH off.
 * Return: VERVE_OOO_KEPT: @arrival is @ooo's now. VERVE_OOO_REFUSED: it is there
 * already, there is no room, or it is no packet (path/loop.c).
 * VERVE_OOO_CONFLICT: another one had its PSN, and has been given back.
 */
enum verve_ooo_verdict verve_ooo_keep(struct verve_ooo *ooo,
				      struct verve_arrival *arrival);

/**
 * verve_ooo_take() - the packet whose turn it is
 * @ooo: under the QP's lock
 * @due: PSN
 *
 * What is behind @due is given back: it came again meanwhile.
 *
 * Context: BH off.
 * Return: the packet, which is the caller's, or NULL.
 */
struct verve_arrival *verve_ooo_take(struct verve_ooo *ooo, u32 due);

/**
 * verve_ooo_age() - give back what has waited since the last but one call
 * @ooo: under the QP's lock
 *
 * Context: BH off.
 * Return: how many.
 */
u32 verve_ooo_age(struct verve_ooo *ooo);

/* Give all of it back. BH off. */
void verve_ooo_drop(struct verve_ooo *ooo);

#endif
