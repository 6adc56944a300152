/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory windows
 */
#ifndef VERVE_MEMORY_WINDOW_H
#define VERVE_MEMORY_WINDOW_H

#include "region.h"

/**
 * struct verve_binding - what BIND_MW asks for
 * @addr: of the window's first byte
 * @bytes: of the window
 * @mr_lkey: region that it is on
 * @mw_rkey: present key of the window
 * @key: and that from now on
 * @access: what it allows
 */
struct verve_binding {
	u64 addr;
	u64 bytes;
	u32 mr_lkey;
	u32 mw_rkey;
	u32 key;
	u32 access;
};

/**
 * verve_window_bind() - BIND_MW
 * @scope: of the QP that asks
 * @bind: window, region, range, access and new key
 *
 * A window of type 1 leaves what it was bound to, and is bound to nothing by a
 * length of 0. One of type 2 must be free.
 *
 * Context: softirq, or BH off.
 * Return: 0; -EAGAIN when somebody still uses the old binding: this is to be
 * repeated; -EINVAL: 10.6.7.2, 11.4.3.1 do not allow it.
 */
int verve_window_bind(struct verve_mr_scope *scope,
		      const struct verve_binding *bind);
/* As verve_mr_invalidate(); @mr was found by @key, in the QP's PD. RCU. */
int verve_window_invalidate(struct verve_mr *mr, struct verve_mr_scope *scope,
			    u32 key, bool is_remote);
/* May this QP use the window, which is held? Any context. */
bool verve_window_admits(const struct verve_mr *mr,
			 const struct verve_mr_scope *scope);
/* As verve_mr_map() */
void *verve_window_map(const struct verve_mr *mr, u64 va, u32 *len, int access);
/* The QP goes, and no engine of it runs any more: its windows are free. */
void verve_window_release_all(struct verve_mr_scope *scope);

/* A window without key, bound to nothing. Process. NULL: no memory. */
struct verve_mr *verve_window_alloc(struct ib_pd *pd, enum ib_mw_type type);
/* Its key has gone, and so does it, when nobody uses it any more. Process. */
void verve_window_free(struct verve_dev *dev, struct verve_mr *mr);

#endif
