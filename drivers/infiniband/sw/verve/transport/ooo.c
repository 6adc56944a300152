// SPDX-License-Identifier: GPL-2.0-only
/* Packets received out of order (see ooo.h) */
#include <linux/atomic.h>
#include <linux/llist.h>
#include "../limits.h"
#include "../path/path.h"
#include "../wire/psn.h"
#include "ooo.h"
#include "share.h"

static atomic_t kept_total;

static struct verve_arrival *to_arrival(struct llist_node *node)
{
	return container_of(node, struct verve_arrival, node);
}

static u32 psn_of(struct llist_node *node)
{
	return to_arrival(node)->pdu.psn;
}

/*
 * Return: slot for @psn. The search starts at the end, because packets behind a
 * gap mostly arrive in order.
 */
static struct llist_node **find_slot(struct verve_ooo *ooo, u32 psn)
{
	struct llist_node **slot = &ooo->first;

	if (*slot && verve_psn_before(psn_of(ooo->last), psn))
		return &ooo->last->next;
	while (*slot && verve_psn_before(psn_of(*slot), psn))
		slot = &(*slot)->next;
	return slot;
}

/*
 * Each QP has a reserve of VERVE_MIN_OOO packets. The rest counts towards the
 * common limit.
 */
static bool have_room(const struct verve_ooo *ooo)
{
	if (ooo->count < VERVE_MIN_OOO)
		return true;
	return ooo->count != VERVE_MAX_OOO &&
	       verve_share_take(&kept_total, VERVE_MAX_OOO_TOTAL,
				ooo->count - VERVE_MIN_OOO);
}

/* Unlink a packet. The caller updates @ooo->last if the packet is the last one. */
static struct verve_arrival *take_at(struct verve_ooo *ooo,
				     struct llist_node **slot)
{
	struct llist_node *node = *slot;

	*slot = node->next;
	if (ooo->count-- > VERVE_MIN_OOO)
		atomic_dec(&kept_total);
	return to_arrival(node);
}

static struct llist_node *node_before(struct verve_ooo *ooo,
				      struct llist_node **slot)
{
	return slot == &ooo->first ?
	       NULL : container_of(slot, struct llist_node, next);
}

/*
 * A kept packet has the PSN of a new one: ignore a duplicate, drop a conflicting
 * packet.
 */
static enum verve_ooo_verdict compare(struct verve_ooo *ooo,
				      struct llist_node **slot,
				      const struct verve_arrival *arrival)
{
	if (verve_arrival_repeats(arrival, to_arrival(*slot)))
		return VERVE_OOO_REFUSED;
	if (!(*slot)->next)
		ooo->last = node_before(ooo, slot);
	verve_arrival_free(take_at(ooo, slot));
	return VERVE_OOO_CONFLICT;
}

enum verve_ooo_verdict verve_ooo_keep(struct verve_ooo *ooo,
				      struct verve_arrival *arrival)
{
	struct llist_node **slot;

	if (arrival->pdu.flags & VERVE_PDU_LOOP)
		return VERVE_OOO_REFUSED;
	slot = find_slot(ooo, arrival->pdu.psn);
	if (*slot && psn_of(*slot) == arrival->pdu.psn)
		return compare(ooo, slot, arrival);
	if (!have_room(ooo))
		return VERVE_OOO_REFUSED;
	arrival->pdu.ooo = VERVE_OOO_NEW;
	arrival->node.next = *slot;
	*slot = &arrival->node;
	if (!arrival->node.next)
		ooo->last = &arrival->node;
	ooo->count++;
	return VERVE_OOO_KEPT;
}

static struct verve_arrival *take_first(struct verve_ooo *ooo)
{
	return take_at(ooo, &ooo->first);
}

struct verve_arrival *verve_ooo_take(struct verve_ooo *ooo, u32 due)
{
	while (ooo->first && verve_psn_before(psn_of(ooo->first), due))
		verve_arrival_free(take_first(ooo));
	if (!ooo->first || psn_of(ooo->first) != due)
		return NULL;
	ooo->is_moving = true;
	return take_first(ooo);
}

/*
 * Gaps are closed one by one, each in a round trip. Packets behind them may wait on, but
 * not for ever: somebody may close a gap now and then to fill the common limit.
 */
static bool may_wait_on(struct verve_ooo *ooo)
{
	bool may = ooo->is_moving && ooo->extensions < VERVE_MAX_OOO_EXTENSIONS;

	ooo->is_moving = false;
	ooo->extensions = may && ooo->count ? ooo->extensions + 1 : 0;
	return may;
}

u32 verve_ooo_age(struct verve_ooo *ooo)
{
	struct llist_node **slot = &ooo->first;
	u32 n = 0;

	if (may_wait_on(ooo))
		return 0;
	while (*slot) {
		struct verve_arrival *arrival = to_arrival(*slot);

		if (arrival->pdu.ooo == VERVE_OOO_OLD) {
			verve_arrival_free(take_at(ooo, slot));
			n++;
			continue;
		}
		arrival->pdu.ooo = VERVE_OOO_OLD;
		slot = &(*slot)->next;
	}
	ooo->last = node_before(ooo, slot);
	return n;
}

void verve_ooo_drop(struct verve_ooo *ooo)
{
	while (ooo->first)
		verve_arrival_free(take_first(ooo));
	*ooo = (struct verve_ooo) {};
}
