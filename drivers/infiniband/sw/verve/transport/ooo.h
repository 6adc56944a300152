/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Packets out of order
 *
 * A packet that arrives out of order, because an earlier one was lost or
 * overtaken, waits for its turn. Then the peer has to send only the missing
 * packets again. A go-back-N peer learns by the next ACK which packets to skip.
 *
 * An out-of-order packet may be forged. A guessed PSN is the expected one in 1 of
 * 2^24 packets, but it is near enough to be kept in 1 of 2^16. So a packet that
 * has waited is never trusted:
 *
 *  - Packets wait for little more than a second at most: for as long as the repeat of
 *    a missing packet takes behind a long queue. A NAK names one missing packet only, so
 *    while packets get their turn, those behind them wait on, up to 4.5 seconds in all.
 *    A gap of many packets takes several round trips in which none gets its turn.
 *  - A packet that may not be executed when its turn comes is dropped, and the
 *    responder asks the peer for that PSN. The responder then judges the real
 *    packet.
 *  - Two packets that contradict each other are both dropped, and the peer is
 *    asked. If the first one won, an attacker would only have to be first, and
 *    would have ample time. If the last one won, an attacker could replace the
 *    peer's packet until the gap closes. The drop of both costs one packet.
 *  - A packet that arrives with the expected PSN replaces a kept one with that
 *    PSN.
 */
#ifndef VERVE_TRANSPORT_OOO_H
#define VERVE_TRANSPORT_OOO_H

#include <linux/types.h>

struct llist_node;
struct verve_arrival;

/**
 * struct verve_ooo - requests or responses that wait for their turn
 * @first: packet with the lowest PSN
 * @last: packet with the highest PSN; valid while @first is not NULL
 * @count: number of packets
 * @is_moving: a packet has got its turn since the last call of verve_ooo_age()
 * @extensions: consecutive calls of verve_ooo_age() that did not count
 */
struct verve_ooo {
	struct llist_node *first;
	struct llist_node *last;
	u32 count;
	bool is_moving;
	u8 extensions;
};

/* Values of pdu.ooo */
enum verve_ooo_mark {
	VERVE_OOO_NONE,		/* received in order */
	VERVE_OOO_NEW,		/* waits, or has waited, for its turn */
	VERVE_OOO_OLD,		/* has waited for a long time */
};

enum verve_ooo_verdict {
	VERVE_OOO_KEPT,
	VERVE_OOO_REFUSED,
	VERVE_OOO_CONFLICT,
};

/**
 * verve_ooo_keep() - keep a packet until its turn
 * @ooo: packets that wait, under the QP's lock
 * @arrival: packet ahead of the expected PSN, by less than half of the PSN space
 *
 * A peer, or an attacker, decides how many packets arrive out of order. So there
 * is a limit for each QP, and one for all QPs together. A reserve of a few
 * packets for each QP lies beyond the common limit, and no QP may have more of
 * the common limit than it leaves free.
 *
 * Context: BH off.
 * Return: VERVE_OOO_KEPT: @ooo owns @arrival. VERVE_OOO_REFUSED: @arrival is a
 * duplicate, or there is no room, or @arrival has no packet of its own
 * (path/loop.c). VERVE_OOO_CONFLICT: another packet had the PSN, and has been
 * freed.
 */
enum verve_ooo_verdict verve_ooo_keep(struct verve_ooo *ooo,
				      struct verve_arrival *arrival);

/**
 * verve_ooo_take() - take the packet whose turn it is
 * @ooo: packets that wait, under the QP's lock
 * @due: expected PSN
 *
 * Frees packets behind @due, which arrived again meanwhile.
 *
 * Context: BH off.
 * Return: packet, which the caller owns, or NULL.
 */
struct verve_arrival *verve_ooo_take(struct verve_ooo *ooo, u32 due);

/**
 * verve_ooo_age() - free packets that have waited since the last but one call
 * @ooo: packets that wait, under the QP's lock
 *
 * A call does not count if a packet has got its turn since the last call, but only
 * VERVE_MAX_OOO_EXTENSIONS calls in a row.
 *
 * Context: BH off.
 * Return: number of freed packets.
 */
u32 verve_ooo_age(struct verve_ooo *ooo);

/* Free all packets. BH off. */
void verve_ooo_drop(struct verve_ooo *ooo);

#endif
