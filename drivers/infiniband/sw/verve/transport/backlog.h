/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Backlog
 *
 * A QP's engine has one owner, but packets may arrive on several CPUs. The inbox
 * that collects them is bounded like a socket's receive buffer: by the memory of
 * the packets, each of which counts as VERVE_BACKLOG_LEAST at least. A packet
 * beyond the bound is dropped, and the peer sends it again.
 *
 * Any host can send to a QPN and fill the inbox. So on a connected QP only half
 * of the room is for packets that come from another address than the peer's, or
 * whose PSN is far from those under way. An attacker that wants the other half
 * would have to know the peer's PSNs.
 */
#ifndef VERVE_TRANSPORT_BACKLOG_H
#define VERVE_TRANSPORT_BACKLOG_H

#include <linux/types.h>
#include "../limits.h"
#include "../wire/psn.h"

struct verve_batch;

/* Is there room for a packet, with @waiting bytes in the inbox? */
static inline bool verve_backlog_has_room(u32 waiting, bool is_expected)
{
	return waiting < (is_expected ? VERVE_MAX_BACKLOG : VERVE_MAX_BACKLOG / 2);
}

/* Is @psn near enough to the expected PSN @due to be under way? */
static inline bool verve_backlog_is_near(u32 psn, u32 due)
{
	s32 ahead = verve_psn_diff(psn, due);

	return ahead >= -VERVE_NEAR_PSNS && ahead < VERVE_NEAR_PSNS;
}

/**
 * verve_backlog_admit() - admit the packets of a batch to their QP's inbox
 * @batch: batch with packets. Packets without room are dropped and counted
 *
 * Context: BH off.
 * Return: true if any packet is left.
 */
bool verve_backlog_admit(struct verve_batch *batch);

#endif
