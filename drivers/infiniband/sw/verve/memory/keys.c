// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys of memory regions and windows.
 *
 * Keys are random, so that peers cannot guess the rkeys of others. The upper 24
 * bits are the index of a look-up. The low 8 bits belong to the user, who changes
 * them with each fast registration and each binding of a window.
 */
#include <linux/random.h>
#include <rdma/roce_offload_registry.h>
#include "keys.h"
#include "number_hash.h"
#include "region.h"

enum {
	INDEX_BITS = 24,
	/* With a third of all indices in use, all draws collide once in 3^32 times. */
	MAX_DRAWS = 32,
};

static int compare(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct verve_mr *mr = obj;

	return mr->index != *(const u32 *)arg->key;
}

static const struct rhashtable_params table_params = {
	.key_len = sizeof_field(struct verve_mr, index),
	.key_offset = offsetof(struct verve_mr, index),
	.head_offset = offsetof(struct verve_mr, node),
	.hashfn = verve_number_hash,
	.obj_cmpfn = compare,
	.automatic_shrinking = true,
};

u32 verve_key_index(u32 key)
{
	return key >> (32 - INDEX_BITS);
}

int verve_keys_init(struct verve_dev *dev)
{
	return rhashtable_init(&dev->mr_table, &table_params);
}

void verve_keys_exit(struct verve_dev *dev)
{
	rhashtable_destroy(&dev->mr_table);
}

static u32 draw(struct roce_offload_range range)
{
	return roce_offload_draw(range) << (32 - INDEX_BITS) | get_random_u8();
}

/* Return: -EEXIST after the last draw */
static int draw_key(struct verve_dev *dev, struct verve_mr *mr,
		    struct roce_offload_range range)
{
	int draws, err = -EEXIST;

	for (draws = 0; draws < MAX_DRAWS; draws++) {
		mr->key = draw(range);
		mr->index = verve_key_index(mr->key);
		/* Index 0 is reserved for the local DMA lkey. */
		if (!mr->index)
			continue;
		err = rhashtable_lookup_insert_fast(&dev->mr_table, &mr->node,
						    table_params);
		if (err != -EEXIST)
			break;
	}
	return err;
}

int verve_key_insert_within(struct verve_dev *dev, struct verve_mr *mr,
			    struct roce_offload_range range)
{
	int err;

	if (atomic_read(&dev->mr_table.nelems) >= VERVE_MAX_MR + VERVE_MAX_MW)
		return -ENOMEM;

	err = draw_key(dev, mr, range);
	if (err == -EEXIST && range.count)
		err = draw_key(dev, mr, (struct roce_offload_range) {});
	if (err)
		return -ENOMEM;
	mr->ibmr.lkey = mr->key;
	mr->ibmr.rkey = mr->key;
	return 0;
}

int verve_key_insert(struct verve_dev *dev, struct verve_mr *mr)
{
	return verve_key_insert_within(dev, mr, (struct roce_offload_range) {});
}

void verve_key_remove(struct verve_dev *dev, struct verve_mr *mr)
{
	rhashtable_remove_fast(&dev->mr_table, &mr->node, table_params);
}

struct verve_mr *verve_key_find(struct verve_dev *dev, u32 key)
{
	u32 index = verve_key_index(key);

	return rhashtable_lookup(&dev->mr_table, &index, table_params);
}
