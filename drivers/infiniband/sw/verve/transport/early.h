/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Packets before their turn
 *
 * Packets that came before their turn, because one was lost or overtaken, wait
 * for it: then only what is missing has to be sent again, and whoever sends all
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
 *    first one believed, the attacker would only have to be early, for which there is
 *    all the time in the world; were the last one, he could replace what the peer has
 *    sent for as long as something is missing. To forget both costs a packet;
 *  - the packet whose turn it is and that comes just now is executed in its place.
 */
#ifndef VERVE_TRANSPORT_EARLY_H
#define VERVE_TRANSPORT_EARLY_H

#include <linux/types.h>

struct llist_node;
struct verve_arrival;

/**
 * struct verve_early - requests, or responses, that are waiting for their turn
 * @first: the one with the lowest PSN
 * @last: the one with the highest, while there is a first
 * @count: how many
 */
struct verve_early {
	struct llist_node *first;
	struct llist_node *last;
	u32 count;
};

/* pdu.wait of an arrival */
enum verve_early_wait {
	VERVE_WAIT_NONE,	/* it came just now */
	VERVE_WAIT_NEW,		/* it waits, or has waited, for its turn */
	VERVE_WAIT_OLD,		/* likewise, for long */
};

enum verve_early_verdict {
	VERVE_EARLY_KEPT,
	VERVE_EARLY_REFUSED,
	VERVE_EARLY_CONTRADICTED,
};

/**
 * verve_early_keep() - have a packet wait
 * @early: under the QP's lock
 * @arrival: ahead of the PSN that is due, by less than half of the PSNs
 *
 * A peer, or somebody who pretends to be one, decides how much comes early. So there
 * is a limit to what a QP keeps, and one for all of them together. Whoever fills that
 * leaves each other QP a few.
 *
 * Context: BH off.
 * Return: VERVE_EARLY_KEPT: @arrival is @early's now. VERVE_EARLY_REFUSED: it is there
 * already, there is no room, or it is no packet (path/loop.c).
 * VERVE_EARLY_CONTRADICTED: another one had its PSN, and has been given back.
 */
enum verve_early_verdict verve_early_keep(struct verve_early *early,
					  struct verve_arrival *arrival);

/**
 * verve_early_take() - the packet whose turn it is
 * @early: under the QP's lock
 * @due: PSN
 *
 * What is behind @due is given back: it came again meanwhile.
 *
 * Context: BH off.
 * Return: the packet, which is the caller's, or NULL.
 */
struct verve_arrival *verve_early_take(struct verve_early *early, u32 due);

/**
 * verve_early_age() - give back what has waited since the last but one call
 * @early: under the QP's lock
 *
 * Context: BH off.
 * Return: how many.
 */
u32 verve_early_age(struct verve_early *early);

/* Give all of it back. BH off. */
void verve_early_drop(struct verve_early *early);

#endif
