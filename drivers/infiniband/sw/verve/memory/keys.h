/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys of memory regions and windows
 */
#ifndef VERVE_MEMORY_KEYS_H
#define VERVE_MEMORY_KEYS_H

#include <linux/rcupdate.h>
#include <linux/types.h>

struct verve_dev;
struct verve_mr;

int verve_keys_init(struct verve_dev *dev);
void verve_keys_exit(struct verve_dev *dev);
/* Gives @mr an unguessable unused key and makes it findable. */
int verve_key_insert(struct verve_dev *dev, struct verve_mr *mr);
/* No look-up that starts after this finds it. */
void verve_key_remove(struct verve_dev *dev, struct verve_mr *mr);
/* The upper 24 bits, which are constant */
u32 verve_key_index(u32 key);
/* By the upper 24 bits; the caller compares the rest. */
struct verve_mr *verve_key_find(struct verve_dev *dev, u32 key)
	__must_hold_shared(RCU);

#endif
