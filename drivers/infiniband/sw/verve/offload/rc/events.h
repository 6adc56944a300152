/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Events of an offloaded QP
 *
 * What the NIC has executed of the peer's requests, from the NIC to the engine: the
 * driver may hold locks that the engine's owner waits for, so it cannot have qp->lock,
 * and writes here. The engine reads when the driver reports. The receive at hand is
 * here, too, for as long as the QP is offloaded.
 */
#ifndef VERVE_OFFLOAD_RC_EVENTS_H
#define VERVE_OFFLOAD_RC_EVENTS_H

#include <rdma/verve_offload_rc.h>
#include "../../transport/qp.h"

enum {
	/* What a NIC may have done without reporting it */
	VERVE_RC_EVENTS		= 64,
};

/**
 * struct verve_rc_event - something that a NIC has done
 * @is_read: @read, or else @done
 * @wr_id: of the receive
 * @done: a receive is done
 * @read: a READ of the peer's
 */
struct verve_rc_event {
	bool is_read;
	union {
		struct {
			u64 wr_id;
			struct verve_offload_rc_done done;
		};
		struct verve_offload_rc_read read;
	};
};

/* Process. NULL: no memory. Freed by kfree(). */
struct verve_rc_events *verve_rc_events_alloc(void);

/* The QP is offloaded: the receive at hand goes here, and there are no events. */
void verve_rc_events_open(struct verve_rc_events *events,
			  struct verve_responder *resp);
/* It is back, and so is that receive. BH off, both. */
void verve_rc_events_close(struct verve_rc_events *events,
			   struct verve_responder *resp);

/* The oldest event that has not been taken. BH off. Return: false: none. */
bool verve_rc_events_next(struct verve_rc_events *events,
			  struct verve_rc_event *event);

/* rdma/verve_offload_rc.h: take_recv, received and read. BH off. */
int verve_rc_events_take_recv(struct verve_rc_events *events,
			      struct verve_qp *qp,
			      struct verve_offload_rc_recv *recv);
void verve_rc_events_received(struct verve_rc_events *events,
			      const struct verve_offload_rc_done *done);
int verve_rc_events_read(struct verve_rc_events *events,
			 const struct verve_offload_rc_read *read);

#endif
