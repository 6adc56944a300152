/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Room for packets in a train
 */
#ifndef VERVE_PATH_ROOM_H
#define VERVE_PATH_ROOM_H

#include <linux/types.h>

/**
 * verve_train_room() - largest size of a train, from its IP header on
 * @most: gso_max_size of the netdev, which includes link headers; any value is valid
 * @reserved: room for link headers
 *
 * The length of a train must fit into its IP header.
 *
 * Return: bytes, at most 65535; 0 when there is no room for a train and each packet is
 * sent alone.
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
