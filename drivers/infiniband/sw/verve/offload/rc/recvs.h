/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Receives of an offloaded QP
 *
 * A ring of the receives that were taken from the queue and are not complete. The oldest
 * of them are posted to the NIC, which completes them in order. When the QP is returned,
 * all stay here, and the responder takes them before those of the queue.
 *
 * The functions take no locks; events.c calls them under its own.
 */
#ifndef VERVE_OFFLOAD_RC_RECVS_H
#define VERVE_OFFLOAD_RC_RECVS_H

#include <linux/types.h>
#include "../../queue/rq.h"

enum {
	/* Receives that a NIC is given at most; a power of two, as indices wrap */
	VERVE_RC_RECVS = 16,
};

/**
 * struct verve_rc_recvs - ring of receives
 * @head: receives taken from the queue, free running
 * @posted: those posted to the NIC, free running
 * @tail: those that are complete, or taken by software, free running
 * @ring: receives between @tail and @head
 */
struct verve_rc_recvs {
	u32 head;
	u32 posted;
	u32 tail;
	struct verve_recv ring[VERVE_RC_RECVS];
};

/* Number of receives, posted or not */
static inline u32 verve_rc_recvs_held(const struct verve_rc_recvs *recvs)
{
	return recvs->head - recvs->tail;
}

/* Number of receives that are posted */
static inline u32 verve_rc_recvs_posted(const struct verve_rc_recvs *recvs)
{
	return recvs->posted - recvs->tail;
}

static inline struct verve_recv *verve_rc_recvs_at(struct verve_rc_recvs *recvs,
						   u32 index)
{
	return &recvs->ring[index % VERVE_RC_RECVS];
}

/* Where verve_rc_recvs_add() expects the newest receive, or NULL: there is no room */
static inline struct verve_recv *
verve_rc_recvs_room(struct verve_rc_recvs *recvs)
{
	return verve_rc_recvs_held(recvs) == VERVE_RC_RECVS ?
		       NULL : verve_rc_recvs_at(recvs, recvs->head);
}

static inline void verve_rc_recvs_add(struct verve_rc_recvs *recvs)
{
	recvs->head++;
}

/* Where verve_rc_recvs_add_first() expects the oldest receive, or NULL */
static inline struct verve_recv *
verve_rc_recvs_room_first(struct verve_rc_recvs *recvs)
{
	return verve_rc_recvs_held(recvs) == VERVE_RC_RECVS ?
		       NULL : verve_rc_recvs_at(recvs, recvs->tail - 1);
}

static inline void verve_rc_recvs_add_first(struct verve_rc_recvs *recvs)
{
	recvs->tail--;
}

/* A NIC begins, and has none yet. */
static inline void verve_rc_recvs_unpost(struct verve_rc_recvs *recvs)
{
	recvs->posted = recvs->tail;
}

/* The next receive to be posted, or NULL */
static inline const struct verve_recv *
verve_rc_recvs_next(struct verve_rc_recvs *recvs)
{
	return recvs->posted == recvs->head ?
		       NULL : verve_rc_recvs_at(recvs, recvs->posted);
}

static inline void verve_rc_recvs_post(struct verve_rc_recvs *recvs)
{
	recvs->posted++;
}

/*
 * The NIC has completed the oldest receive. Return: the receive, valid until others are
 * added; NULL if none was posted.
 */
static inline const struct verve_recv *
verve_rc_recvs_complete(struct verve_rc_recvs *recvs)
{
	return verve_rc_recvs_posted(recvs) ?
		       verve_rc_recvs_at(recvs, recvs->tail++) : NULL;
}

/* The oldest receive, posted or not, or NULL */
static inline const struct verve_recv *
verve_rc_recvs_first(struct verve_rc_recvs *recvs)
{
	return verve_rc_recvs_held(recvs) ?
		       verve_rc_recvs_at(recvs, recvs->tail) : NULL;
}

/* Software takes the oldest receive. No NIC has the QP. */
static inline void verve_rc_recvs_take(struct verve_rc_recvs *recvs)
{
	recvs->tail++;
	recvs->posted = recvs->tail;
}

/* The QP is reset. No NIC has it. */
static inline void verve_rc_recvs_clear(struct verve_rc_recvs *recvs)
{
	recvs->tail = recvs->head;
	recvs->posted = recvs->head;
}

#endif
