/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that calls verbs in no order, with attributes of any value, on objects of
 * its own and with numbers of other threads'.
 *
 *	caller_begin(&c, &e, end, dice, one_in, ms);	for so long
 *	caller_end(&c);					waits for it
 *	caller_destroy(&c);				what it leaves behind
 */
#ifndef SELFTESTS_CALLER_H
#define SELFTESTS_CALLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ends.h"
#include "mangle.h"

/* Objects of a kind that a thread has at most, and groups that its QPs are in */
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
 * Calls on @end for @ms; one of @one_in is changed on its way to the kernel, and as
 * many are made of nothing but chance (0: none).
 */
void caller_begin(struct caller *c, const struct ends *ends,
		  const struct end *end, struct dice dice, unsigned int one_in,
		  unsigned int ms);
void caller_end(struct caller *c);

/* Return: whether all that it made could be destroyed. */
bool caller_destroy(struct caller *c);

#endif
