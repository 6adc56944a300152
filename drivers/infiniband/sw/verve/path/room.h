/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a train may be
 */
#ifndef VERVE_PATH_ROOM_H
#define VERVE_PATH_ROOM_H

#include <linux/types.h>

/**
 * verve_train_room() - the most bytes of one skb, from the IP header on
 * @most: what the netdev takes, link headers included: its gso_max_size; any number
 * @reserved: what those headers may need
 *
 * The length of a train has to fit into the IP header, as one packet's has.
 *
 * Return: at most 65535; 0 where there is no room for a train, and each packet goes
 * alone.
 */
static inline u32 verve_train_room(u32 most, u32 reserved)
{
	const u32 longest = 0xffff;
	u32 below = most ? most - 1 : 0;

	if (below > longest)
		below = longest;
	return below > reserved ? below - reserved : 0;
}

#endif
