/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shares of a limit that all QPs have in common
 */
#ifndef VERVE_TRANSPORT_SHARE_H
#define VERVE_TRANSPORT_SHARE_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * verve_share_take() - take one of a common limit
 * @total: number that all QPs have taken
 * @limit: most that all QPs may take
 * @own: number that this QP has taken
 *
 * A QP may take as many as it leaves to others, like queues of a switch with shared
 * memory (dynamic thresholds): if n QPs have taken all that they may, one part in n + 1
 * is free. The caller gives back by decrementing @total.
 *
 * Context: any.
 * Return: true if one was taken.
 */
static inline bool verve_share_take(atomic_t *total, u32 limit, u32 own)
{
	u32 left = limit - atomic_read(total);

	return own < left && atomic_add_unless(total, 1, limit);
}

#endif
