/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Backlog
 *
 * A QP's engine has one owner, and packets may come on several CPUs. What waits in
 * the inbox meanwhile is bounded, as a socket's receive buffer is: by the memory that
 * packets take, and each counts as VERVE_BACKLOG_LEAST at least. What does not fit is
 * lost, and the peer sends it again.
 *
 * Whoever sends to a QPN can fill it. So of a connected QP, packets that are not from
 * the peer's address, or whose PSN is far from those under way, have half of the room
 * only: to take the peer's, one would have to know its PSNs.
 */
#ifndef VERVE_TRANSPORT_BACKLOG_H
#define VERVE_TRANSPORT_BACKLOG_H

#include <linux/types.h>
#include "../limits.h"
#include "../wire/psn.h"

struct verve_batch;

/* Is a packet taken, where so many bytes wait already? */
static inline bool verve_backlog_has_room(u32 waiting, bool is_expected)
{
	return waiting < (is_expected ? VERVE_MAX_BACKLOG : VERVE_MAX_BACKLOG / 2);
}

/* Might a packet with @psn be under way, where @due is waited for? */
static inline bool verve_backlog_is_near(u32 psn, u32 due)
{
	s32 ahead = verve_psn_diff(psn, due);

	return ahead >= -VERVE_NEAR_PSNS && ahead < VERVE_NEAR_PSNS;
}

/**
 * verve_backlog_admit() - a batch is about to get into its QP's inbox
 * @batch: with packets; those for which there is no room are dropped, and counted
 *
 * Context: BH off.
 * Return: whether any is left.
 */
bool verve_backlog_admit(struct verve_batch *batch);

#endif
