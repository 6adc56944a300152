// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of an offloaded QP (see events.h)
 */
#include <linux/slab.h>
#include "../../transport/transport.h"
#include "events.h"
#include "recvs.h"

/**
 * struct verve_rc_events - ring from the NIC to the engine, and receives for the NIC
 * @lock: protects all fields; only the lock of a receive queue is taken inside
 * @head: events written, free running
 * @tail: events read, free running
 * @ring: events between @tail and @head
 * @recvs: receives that are not complete
 * @most: receives that may be posted
 * @needs_recv: the NIC waits for a receive, or for the answer that there is none
 */
struct verve_rc_events {
	spinlock_t lock; /* all that follows */
	u32 head __guarded_by(&lock);
	u32 tail __guarded_by(&lock);
	struct verve_rc_event ring[VERVE_RC_EVENTS] __guarded_by(&lock);
	struct verve_rc_recvs recvs __guarded_by(&lock);
	u32 most __guarded_by(&lock);
	bool needs_recv __guarded_by(&lock);
};

struct verve_rc_events *verve_rc_events_alloc(void)
{
	struct verve_rc_events *events =
		kvzalloc(sizeof(*events), GFP_KERNEL_ACCOUNT);

	/* Their indices wrap. */
	BUILD_BUG_ON_NOT_POWER_OF_2(VERVE_RC_RECVS);
	if (events)
		spin_lock_init(&events->lock);
	return events;
}

void verve_rc_events_open(struct verve_rc_events *events,
			  struct verve_responder *resp, u32 most)
{
	struct verve_recv *room;

	spin_lock(&events->lock);
	events->head = 0;
	events->tail = 0;
	events->most = most;
	events->needs_recv = false;
	room = verve_rc_recvs_room_first(&events->recvs);
	if (room && verve_responder_lend_recv(resp, room))
		verve_rc_recvs_add_first(&events->recvs);
	verve_rc_recvs_unpost(&events->recvs);
	spin_unlock(&events->lock);
}

bool verve_rc_events_hold_recv(struct verve_rc_events *events)
{
	bool hold;

	spin_lock(&events->lock);
	hold = verve_rc_recvs_held(&events->recvs);
	spin_unlock(&events->lock);
	return hold;
}

bool verve_rc_events_take_held(struct verve_rc_events *events,
			       struct verve_recv *recv)
{
	const struct verve_recv *first;

	spin_lock(&events->lock);
	first = verve_rc_recvs_first(&events->recvs);
	if (first) {
		*recv = *first;
		verve_rc_recvs_take(&events->recvs);
	}
	spin_unlock(&events->lock);
	return first;
}

void verve_rc_events_return_recv(struct verve_rc_events *events,
				 struct verve_responder *resp, bool in_use)
{
	const struct verve_recv *first;

	spin_lock(&events->lock);
	first = verve_rc_recvs_first(&events->recvs);
	if (first && (in_use || first->is_bad)) {
		verve_responder_return_recv(resp, first);
		verve_rc_recvs_take(&events->recvs);
	}
	spin_unlock(&events->lock);
}

void verve_rc_events_forget_held(struct verve_rc_events *events)
{
	spin_lock(&events->lock);
	verve_rc_recvs_clear(&events->recvs);
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

/* Take a receive from the queue. Return: as verve_rq_fetch(); -EAGAIN: not now */
static int fetch(struct verve_rc_events *events, struct verve_qp *qp)
	__must_hold(&events->lock)
{
	struct verve_recv *room = verve_rc_recvs_room(&events->recvs);
	int err;

	/* Each receive becomes an event. */
	if (!room || !has_room(events, verve_rc_recvs_held(&events->recvs) + 1))
		return -EAGAIN;
	err = verve_rq_fetch(&qp->rq, room);
	if (err != -ENOENT)
		verve_rc_recvs_add(&events->recvs);
	return err;
}

/* Return: 0 and @recv; or as fetch() */
static int next_recv(struct verve_rc_events *events, struct verve_qp *qp,
		     struct roce_offload_rc_recv *recv)
	__must_hold(&events->lock)
{
	const struct verve_recv *next;
	int err = 0;

	if (verve_rc_recvs_posted(&events->recvs) >= events->most)
		return -EAGAIN;
	if (!verve_rc_recvs_next(&events->recvs))
		err = fetch(events, qp);
	if (err)
		return err;
	next = verve_rc_recvs_next(&events->recvs);
	if (next->is_bad)
		return -EINVAL;
	recv->length = next->length;
	recv->num_sge = next->num_sge;
	recv->sge = (const struct ib_sge *)next->sge;
	verve_rc_recvs_post(&events->recvs);
	return 0;
}

int verve_rc_events_next_recv(struct verve_rc_events *events,
			      struct verve_qp *qp,
			      struct roce_offload_rc_recv *recv)
{
	int err;

	BUILD_BUG_ON(sizeof(struct ib_sge) != sizeof(struct verve_sge));
	spin_lock(&events->lock);
	err = next_recv(events, qp, recv);
	if (!err)
		events->needs_recv = false;
	spin_unlock(&events->lock);
	return err;
}

bool verve_rc_events_lack_recv(struct verve_rc_events *events)
{
	bool lack;

	spin_lock(&events->lock);
	lack = events->needs_recv && !verve_rc_recvs_posted(&events->recvs);
	events->needs_recv = false;
	spin_unlock(&events->lock);
	return lack;
}

void verve_rc_events_need_recv(struct verve_rc_events *events)
{
	spin_lock(&events->lock);
	events->needs_recv = true;
	spin_unlock(&events->lock);
}

/* A posted receive always finds room: fetch() and verve_rc_events_read() leave it. */
bool verve_rc_events_received(struct verve_rc_events *events,
			      const struct roce_offload_rc_done *done)
{
	const struct verve_recv *recv = NULL;
	bool half;

	spin_lock(&events->lock);
	if (has_room(events, 1))
		recv = verve_rc_recvs_complete(&events->recvs);
	if (recv)
		write(events, &(struct verve_rc_event) {
			.wr_id = recv->wr_id,
			.done = *done,
		});
	half = recv && verve_rc_recvs_posted(&events->recvs) == events->most / 2;
	spin_unlock(&events->lock);
	return half;
}

int verve_rc_events_read(struct verve_rc_events *events,
			 const struct roce_offload_rc_read *read)
{
	int err = -EAGAIN;

	spin_lock(&events->lock);
	if (has_room(events, verve_rc_recvs_held(&events->recvs) + 1)) {
		write(events, &(struct verve_rc_event) {
			.is_read = true,
			.read = *read,
		});
		err = 0;
	}
	spin_unlock(&events->lock);
	return err;
}
