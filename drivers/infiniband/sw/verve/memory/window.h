/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory windows
 */
#ifndef VERVE_MEMORY_WINDOW_H
#define VERVE_MEMORY_WINDOW_H

#include "region.h"

/**
 * struct verve_binding - operands of BIND_MW
 * @addr: address of the window's first byte
 * @bytes: size of the window
 * @mr_lkey: lkey of the region to bind to
 * @mw_rkey: present rkey of the window
 * @key: new rkey
 * @access: access rights
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
 * verve_window_bind() - execute BIND_MW
 * @scope: scope of the QP
 * @bind: operands
 *
 * Binding a type 1 window removes its old binding. A length of 0 leaves it
 * unbound. A type 2 window must be unbound.
 *
 * Context: softirq, or BH off.
 * Return: 0; -EAGAIN while engines use the old binding, so that the caller tries
 * again; -EINVAL for a binding that 10.6.7.2 or 11.4.3.1 forbid.
 */
int verve_window_bind(struct verve_mr_scope *scope,
		      const struct verve_binding *bind);
/*
 * Implement verve_mr_invalidate() for @mr, which was found by @key and is of the
 * QP's PD. Context: RCU reader.
 */
int verve_window_invalidate(struct verve_mr *mr, struct verve_mr_scope *scope,
			    u32 key, bool is_remote);
/* Return: true if the QP of @scope may use the referenced window. Context: any. */
bool verve_window_admits(const struct verve_mr *mr,
			 const struct verve_mr_scope *scope);
/* Implement verve_mr_map() for windows. */
void *verve_window_map(const struct verve_mr *mr, u64 va, u32 *len, int access);
/* Unbind all windows of a QP that is being destroyed, after its engine has stopped. */
void verve_window_release_all(struct verve_mr_scope *scope);

/* Allocate an unbound window without a key. Context: process. Return: NULL on failure. */
struct verve_mr *verve_window_alloc(struct ib_pd *pd, enum ib_mw_type type);
/* Wait for the users of a window whose key was removed, and free it. Context: process. */
void verve_window_free(struct verve_dev *dev, struct verve_mr *mr);

#endif
