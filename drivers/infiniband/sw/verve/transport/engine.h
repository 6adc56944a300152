/* SPDX-License-Identifier: GPL-2.0-only */
/* The engine of a QP, which has one owner at a time */
#ifndef VERVE_TRANSPORT_ENGINE_H
#define VERVE_TRANSPORT_ENGINE_H

#include "qp.h"

/**
 * verve_engine_receive() - hand packets to their QP
 * @qp: QP referenced by the caller
 * @newest: node of the newest arrival, linked to older ones; consumed
 * @oldest: node of the oldest arrival
 *
 * Context: BH off, no Verve lock held.
 */
void verve_engine_receive(struct verve_qp *qp, struct llist_node *newest,
			  struct llist_node *oldest);

/**
 * verve_engine_kick() - notify the engine of an event
 * @qp: QP referenced by the caller, or protected by its verbs object
 * @event: event
 *
 * Runs the engine directly if the context allows it, otherwise by a work item.
 *
 * Context: any; interrupts may be off.
 */
void verve_engine_kick(struct verve_qp *qp, enum verve_qp_event event);

int verve_engine_init(void);	/* module load */
void verve_engine_exit(void);

#endif
