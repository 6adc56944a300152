// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that came before their turn (see early.h)
 */
#include <linux/atomic.h>
#include <linux/llist.h>
#include "../limits.h"
#include "../path/path.h"
#include "../wire/psn.h"
#include "early.h"

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

/* A few are a QP's own; more are of what all have together. */
static bool have_room(const struct verve_early *early)
{
	if (early->count == VERVE_MAX_EARLY)
		return false;
	return early->count < VERVE_EARLY_OWN ||
	       atomic_add_unless(&kept_by_all, 1, VERVE_MAX_EARLY_TOTAL);
}

/* It is not the last one, or the caller sees to @early->last. */
static struct verve_arrival *take_at(struct verve_early *early,
				     struct llist_node **place)
{
	struct llist_node *node = *place;

	*place = node->next;
	if (early->count-- > VERVE_EARLY_OWN)
		atomic_dec(&kept_by_all);
	return to_arrival(node);
}

static struct llist_node *node_before(struct verve_early *early,
				      struct llist_node **place)
{
	return place == &early->first ?
	       NULL : container_of(place, struct llist_node, next);
}

/* One that is there has the PSN of one that has come. */
static enum verve_early_verdict compare(struct verve_early *early,
					struct llist_node **place,
					const struct verve_arrival *arrival)
{
	if (verve_arrival_repeats(arrival, to_arrival(*place)))
		return VERVE_EARLY_REFUSED;
	if (!(*place)->next)
		early->last = node_before(early, place);
	verve_arrival_free(take_at(early, place));
	return VERVE_EARLY_CONTRADICTED;
}

enum verve_early_verdict verve_early_keep(struct verve_early *early,
					  struct verve_arrival *arrival)
{
	struct llist_node **place;

	if (arrival->pdu.flags & VERVE_PDU_LOOP)
		return VERVE_EARLY_REFUSED;
	place = find_place(early, arrival->pdu.psn);
	if (*place && psn_of(*place) == arrival->pdu.psn)
		return compare(early, place, arrival);
	if (!have_room(early))
		return VERVE_EARLY_REFUSED;
	arrival->pdu.wait = VERVE_WAIT_NEW;
	arrival->node.next = *place;
	*place = &arrival->node;
	if (!arrival->node.next)
		early->last = &arrival->node;
	early->count++;
	return VERVE_EARLY_KEPT;
}

static struct verve_arrival *take_first(struct verve_early *early)
{
	return take_at(early, &early->first);
}

struct verve_arrival *verve_early_take(struct verve_early *early, u32 due)
{
	while (early->first && verve_psn_before(psn_of(early->first), due))
		verve_arrival_free(take_first(early));
	if (early->first && psn_of(early->first) == due)
		return take_first(early);
	return NULL;
}

u32 verve_early_age(struct verve_early *early)
{
	struct llist_node **place = &early->first;
	u32 n = 0;

	while (*place) {
		struct verve_arrival *arrival = to_arrival(*place);

		if (arrival->pdu.wait == VERVE_WAIT_OLD) {
			verve_arrival_free(take_at(early, place));
			n++;
			continue;
		}
		arrival->pdu.wait = VERVE_WAIT_OLD;
		place = &(*place)->next;
	}
	early->last = node_before(early, place);
	return n;
}

void verve_early_drop(struct verve_early *early)
{
	while (early->first)
		verve_arrival_free(take_first(early));
}
