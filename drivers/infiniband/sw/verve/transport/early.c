// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that came before their turn (see early.h)
 */
#include <linux/atomic.h>
#include <linux/llist.h>
#include "../limits.h"
#include "../path/path.h"
#include "early.h"
#include "psn.h"

static atomic_t kept_by_all;

static struct verve_arrival *to_arrival(struct llist_node *node)
{
	return container_of(node, struct verve_arrival, node);
}

static u32 psn_of(struct llist_node *node)
{
	return to_arrival(node)->pdu.psn;
}

/* Packets mostly come in order, also behind a gap. Return: where it belongs. */
static struct llist_node **find_place(struct verve_early *early, u32 psn)
{
	struct llist_node **place = &early->first;

	if (*place && verve_psn_before(psn_of(early->last), psn))
		return &early->last->next;
	while (*place && verve_psn_before(psn_of(*place), psn))
		place = &(*place)->next;
	return place;
}

static bool have_room(struct verve_early *early)
{
	if (early->count == VERVE_MAX_EARLY)
		return false;
	return atomic_add_unless(&kept_by_all, 1, VERVE_MAX_EARLY_TOTAL);
}

bool verve_early_keep(struct verve_early *early, struct verve_arrival *arrival)
{
	struct llist_node **place;

	if (arrival->pdu.flags & VERVE_PDU_LOOP)
		return false;
	place = find_place(early, arrival->pdu.psn);
	if (*place && psn_of(*place) == arrival->pdu.psn)
		return false;
	if (!have_room(early))
		return false;
	arrival->node.next = *place;
	*place = &arrival->node;
	if (!arrival->node.next)
		early->last = &arrival->node;
	early->count++;
	return true;
}

static struct verve_arrival *take_first(struct verve_early *early)
{
	struct llist_node *node = early->first;

	early->first = node->next;
	early->count--;
	atomic_dec(&kept_by_all);
	return to_arrival(node);
}

struct verve_arrival *verve_early_take(struct verve_early *early, u32 due)
{
	while (early->first && verve_psn_before(psn_of(early->first), due))
		verve_arrival_free(take_first(early));
	if (early->first && psn_of(early->first) == due)
		return take_first(early);
	return NULL;
}

void verve_early_drop(struct verve_early *early)
{
	while (early->first)
		verve_arrival_free(take_first(early));
}
