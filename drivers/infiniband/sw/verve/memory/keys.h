/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys of memory regions and windows
 */
#ifndef VERVE_MEMORY_KEYS_H
#define VERVE_MEMORY_KEYS_H

#include <linux/rcupdate.h>
#include <linux/types.h>

struct roce_offload_range;
struct verve_dev;
struct verve_mr;

int verve_keys_init(struct verve_dev *dev);
void verve_keys_exit(struct verve_dev *dev);
/*
 * Draw a random unused key for @mr and add @mr to the device's table. Context:
 * process. Return: 0, or -ENOMEM, also when the table is full.
 */
int verve_key_insert(struct verve_dev *dev, struct verve_mr *mr);
/*
 * The same, with a key whose upper 24 bits are in a range, if a few draws find one free.
 */
int verve_key_insert_within(struct verve_dev *dev, struct verve_mr *mr,
			    struct roce_offload_range range);
/* Remove @mr from the table. Look-ups under way may still find it. */
void verve_key_remove(struct verve_dev *dev, struct verve_mr *mr);
/* Return: the upper 24 bits of a key, which never change. */
u32 verve_key_index(u32 key);
/*
 * Find a region or window by the upper 24 bits of its key. The caller compares
 * the whole key. Context: RCU reader.
 */
struct verve_mr *verve_key_find(struct verve_dev *dev, u32 key)
	__must_hold_shared(RCU);

#endif
