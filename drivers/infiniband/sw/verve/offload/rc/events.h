/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Events of an offloaded QP
 *
 * Events tell the engine which requests of the peer the NIC has executed. The driver may
 * hold locks that the owner of the engine waits for. So it cannot take qp->lock, and
 * writes events into a ring. The engine reads them when the driver reports. The current
 * receive is kept here while the QP is offloaded.
 */
#ifndef VERVE_OFFLOAD_RC_EVENTS_H
#define VERVE_OFFLOAD_RC_EVENTS_H

#include <rdma/roce_offload_rc.h>
#include "../../transport/qp.h"

enum {
	/* Events that a NIC may write before it reports */
	VERVE_RC_EVENTS		= 64,
};

/**
 * struct verve_rc_event - a request of the peer that a NIC has executed
 * @is_read: selects @read; else @wr_id and @done
 * @wr_id: work request ID of the receive
 * @done: a receive that is complete
 * @read: a READ of the peer
 */
struct verve_rc_event {
	bool is_read;
	union {
		struct {
			u64 wr_id;
			struct roce_offload_rc_done done;
		};
		struct roce_offload_rc_read read;
	};
};

/* Allocate. Process context. Return: NULL without memory. kfree() frees it. */
struct verve_rc_events *verve_rc_events_alloc(void);

/* Begin an offload: empty the ring, and take the current receive from @resp. BH off. */
void verve_rc_events_open(struct verve_rc_events *events,
			  struct verve_responder *resp);
/* End an offload: move the current receive back to @resp. BH off. */
void verve_rc_events_close(struct verve_rc_events *events,
			   struct verve_responder *resp);

/* Take the oldest event. BH off. Return: false when there is none. */
bool verve_rc_events_next(struct verve_rc_events *events,
			  struct verve_rc_event *event);

/* Implement take_recv, received and read of rdma/roce_offload_rc.h. BH off. */
int verve_rc_events_take_recv(struct verve_rc_events *events,
			      struct verve_qp *qp,
			      struct roce_offload_rc_recv *recv);
void verve_rc_events_received(struct verve_rc_events *events,
			      const struct roce_offload_rc_done *done);
int verve_rc_events_read(struct verve_rc_events *events,
			 const struct roce_offload_rc_read *read);

#endif
