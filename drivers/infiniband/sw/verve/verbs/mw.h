/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory windows
 */
#ifndef VERVE_VERBS_MW_H
#define VERVE_VERBS_MW_H

#include "mr.h"
#include "wqe.h"

struct verve_window;

/**
 * struct verve_mw - a memory window
 * @ibmw: what the core knows, and frees without a grace period
 * @window: what look-ups find
 */
struct verve_mw {
	struct ib_mw ibmw;
	struct verve_window *window;
};

static inline struct verve_mw *to_vmw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct verve_mw, ibmw);
}

/**
 * verve_window_bind() - BIND_MW
 * @qp: who asks
 * @wqe: window, region, range, access and new key
 *
 * A window of type 1 leaves what it was bound to, and is bound to nothing by a
 * length of 0. One of type 2 must be free.
 *
 * Context: softirq, or BH off.
 * Return: 0; -EAGAIN when somebody still uses the old binding: this is to be
 * repeated; -EINVAL: 10.6.7.2, 11.4.3.1 do not allow it.
 */
int verve_window_bind(struct verve_qp *qp, const struct verve_swqe *wqe);
/* As verve_mr_invalidate(); @mr was found by @key, in the QP's PD. RCU. */
int verve_window_invalidate(struct verve_mr *mr, struct verve_qp *qp, u32 key,
			    bool is_remote);
/* May this QP use the window, which is held? Any context. */
bool verve_window_admits(const struct verve_mr *mr, const struct verve_qp *qp);
/* As verve_mr_map() */
void *verve_window_map(const struct verve_mr *mr, u64 va, u32 *len, int access);
/* The QP goes, and no engine of it runs any more: its windows are free. */
void verve_window_release_all(struct verve_qp *qp);

/* verbs */
int verve_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int verve_dealloc_mw(struct ib_mw *ibmw);

#endif
