/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that calls verbs in random order, with random attributes, on its own
 * objects and with the numbers of other threads' objects.
 *
 *	caller_begin(&c, &e, end, dice, one_in, ms);	start the thread
 *	caller_end(&c);					wait for its end
 *	caller_destroy(&c);				destroy its objects
 */
#ifndef SELFTESTS_CALLER_H
#define SELFTESTS_CALLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ends.h"
#include "mangle.h"

/* Maximum of objects of a kind in a thread, and of its memberships in groups */
#define KEPT 5
#define GROUPS 8

struct membership {
	struct ibv_qp *qp;
	union ibv_gid group;
};

struct caller {
	struct mangle mangle;
	const struct ends *ends;
	const struct end *end;
	pthread_t thread;
	uint8_t *arena;
	uint64_t until;
	struct ibv_pd *pd[KEPT];
	struct ibv_cq *cq[KEPT];
	struct ibv_srq *srq[KEPT];
	struct ibv_mr *mr[KEPT];
	struct ibv_mw *mw[KEPT];
	struct ibv_ah *ah[KEPT];
	struct ibv_qp *qp[KEPT];
	struct membership in[GROUPS];
};

/*
 * Start a thread that calls verbs on @end for @ms. One of @one_in calls is changed on
 * its way to the kernel, and as many calls are all random (0: none).
 */
void caller_begin(struct caller *c, const struct ends *ends,
		  const struct end *end, struct dice dice, unsigned int one_in,
		  unsigned int ms);
void caller_end(struct caller *c);

/* Return: true if all objects of the thread could be destroyed. */
bool caller_destroy(struct caller *c);

#endif
