// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of an offloaded QP (see events.h)
 */
#include <linux/slab.h>
#include "../../transport/transport.h"
#include "events.h"

/**
 * struct verve_rc_events - ring from the NIC to the engine, and the current receive
 * @lock: protects all fields; only the lock of a receive queue is taken inside
 * @head: events written, free running
 * @tail: events read, free running
 * @ring: events between @tail and @head
 * @recv_valid: @recv has been taken from the queue and has not completed
 * @recv: current receive
 */
struct verve_rc_events {
	spinlock_t lock; /* all that follows */
	u32 head __guarded_by(&lock);
	u32 tail __guarded_by(&lock);
	struct verve_rc_event ring[VERVE_RC_EVENTS] __guarded_by(&lock);
	bool recv_valid __guarded_by(&lock);
	struct verve_recv recv __guarded_by(&lock);
};

struct verve_rc_events *verve_rc_events_alloc(void)
{
	struct verve_rc_events *events =
		kzalloc_obj(*events, GFP_KERNEL_ACCOUNT);

	if (events)
		spin_lock_init(&events->lock);
	return events;
}

void verve_rc_events_open(struct verve_rc_events *events,
			  struct verve_responder *resp)
{
	spin_lock(&events->lock);
	events->head = 0;
	events->tail = 0;
	events->recv_valid = verve_responder_lend_recv(resp, &events->recv);
	spin_unlock(&events->lock);
}

void verve_rc_events_close(struct verve_rc_events *events,
			   struct verve_responder *resp)
{
	spin_lock(&events->lock);
	if (events->recv_valid)
		verve_responder_return_recv(resp, &events->recv);
	events->recv_valid = false;
	spin_unlock(&events->lock);
}

/* Is there room for @n more events? */
static bool has_room(const struct verve_rc_events *events, u32 n)
	__must_hold(&events->lock)
{
	return events->head - events->tail + n <= VERVE_RC_EVENTS;
}

static void write(struct verve_rc_events *events,
		  const struct verve_rc_event *event)
	__must_hold(&events->lock)
{
	events->ring[events->head++ % VERVE_RC_EVENTS] = *event;
}

bool verve_rc_events_next(struct verve_rc_events *events,
			  struct verve_rc_event *event)
{
	bool found;

	spin_lock(&events->lock);
	found = events->head != events->tail;
	if (found)
		*event = events->ring[events->tail++ % VERVE_RC_EVENTS];
	spin_unlock(&events->lock);
	return found;
}

static int fetch(struct verve_rc_events *events, struct verve_qp *qp)
	__must_hold(&events->lock)
{
	int err;

	if (events->recv_valid)
		return events->recv.is_bad ? -EINVAL : 0;
	if (!has_room(events, 1))
		return -EAGAIN;
	err = qp->srq ? verve_srq_fetch(qp->srq, &events->recv) :
			verve_rq_fetch(&qp->rq, &events->recv);
	events->recv_valid = err != -ENOENT;
	return err;
}

int verve_rc_events_take_recv(struct verve_rc_events *events,
			      struct verve_qp *qp,
			      struct roce_offload_rc_recv *recv)
{
	int err;

	BUILD_BUG_ON(sizeof(struct ib_sge) != sizeof(struct verve_sge));
	spin_lock(&events->lock);
	err = fetch(events, qp);
	if (!err) {
		recv->length = events->recv.length;
		recv->num_sge = events->recv.num_sge;
		recv->sge = (const struct ib_sge *)events->recv.sge;
	}
	spin_unlock(&events->lock);
	return err;
}

/* A receive always finds room: verve_rc_events_read() leaves one event free for it. */
void verve_rc_events_received(struct verve_rc_events *events,
			      const struct roce_offload_rc_done *done)
{
	spin_lock(&events->lock);
	if (events->recv_valid && has_room(events, 1)) {
		write(events, &(struct verve_rc_event) {
			.wr_id = events->recv.wr_id,
			.done = *done,
		});
		events->recv_valid = false;
	}
	spin_unlock(&events->lock);
}

int verve_rc_events_read(struct verve_rc_events *events,
			 const struct roce_offload_rc_read *read)
{
	int err = -EAGAIN;

	spin_lock(&events->lock);
	if (has_room(events, 2)) {
		write(events, &(struct verve_rc_event) {
			.is_read = true,
			.read = *read,
		});
		err = 0;
	}
	spin_unlock(&events->lock);
	return err;
}
