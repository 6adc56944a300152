/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Events of an offloaded QP
 *
 * Events tell the engine which requests of the peer the NIC has executed. The driver may
 * hold locks that the owner of the engine waits for. So it cannot take qp->lock, and
 * writes events into a ring. The engine reads them when the driver reports. The receives
 * that the engine has posted to the NIC are kept here. Those that are not complete when
 * the QP is returned stay here, and the responder takes them before others.
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

/* Allocate. Process context. Return: NULL without memory. kvfree() frees it. */
struct verve_rc_events *verve_rc_events_alloc(void);

/*
 * Begin an offload to a NIC that holds @most receives: empty the ring, and put the
 * current receive before others. BH off.
 */
void verve_rc_events_open(struct verve_rc_events *events,
			  struct verve_responder *resp, u32 most);
/* Is there a receive that is not complete? BH off. */
bool verve_rc_events_hold_recv(struct verve_rc_events *events);
/*
 * End an offload: make the oldest receive the current one of @resp if a message has begun
 * to fill it, or if it is malformed, which only software reports. BH off.
 */
void verve_rc_events_return_recv(struct verve_rc_events *events,
				 struct verve_responder *resp, bool in_use);
/* Take the oldest receive that was not complete at the return. BH off. */
bool verve_rc_events_take_held(struct verve_rc_events *events,
			       struct verve_recv *recv);
/* Forget these receives. BH off. */
void verve_rc_events_forget_held(struct verve_rc_events *events);

/* Take the oldest event. BH off. Return: false when there is none. */
bool verve_rc_events_next(struct verve_rc_events *events,
			  struct verve_rc_event *event);

/**
 * verve_rc_events_next_recv() - take a receive that is to be posted to the NIC
 * @events: events
 * @qp: QP, without an SRQ
 * @recv: filled; valid until it is complete
 *
 * Context: BH off.
 * Return: 0; -ENOENT if the program has posted none; -EAGAIN if none can be posted before
 * the NIC reports; -EINVAL if the next one is malformed.
 */
int verve_rc_events_next_recv(struct verve_rc_events *events,
			      struct verve_qp *qp,
			      struct roce_offload_rc_recv *recv);
/* Does the NIC wait, and has none? The answer that there is none ends this. BH off. */
bool verve_rc_events_lack_recv(struct verve_rc_events *events);

/*
 * Implement need_recv, received and read of rdma/roce_offload_rc.h. BH off. Return of
 * received: half of the receives are complete.
 */
void verve_rc_events_need_recv(struct verve_rc_events *events);
bool verve_rc_events_received(struct verve_rc_events *events,
			      const struct roce_offload_rc_done *done);
int verve_rc_events_read(struct verve_rc_events *events,
			 const struct roce_offload_rc_read *read);

#endif
