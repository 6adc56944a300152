/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets that came before their turn, because one was lost or overtaken, wait
 * for it: then only what is missing has to be sent again, and whoever sends all
 * of it again learns by the next ACK that he can skip the rest.
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

/**
 * verve_early_keep() - have a packet wait
 * @early: under the QP's lock
 * @arrival: ahead of the PSN that is due, by less than half of the PSNs
 *
 * A peer decides how much comes early, so there is a limit to what a QP keeps,
 * and one for all of them together.
 *
 * Return: true when @arrival is @early's now; false when it is not: it is there
 * already, there is no room, or it is no packet (path/loop.c).
 */
bool verve_early_keep(struct verve_early *early, struct verve_arrival *arrival);

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

/* Give all of it back. BH off. */
void verve_early_drop(struct verve_early *early);

#endif
