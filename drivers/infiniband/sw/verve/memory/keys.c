// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys of memory regions and windows.
 *
 * Keys are random, so that peers cannot guess the rkeys of others. The upper 24
 * bits are the index of a look-up. The low 8 bits belong to the user, who changes
 * them with each fast registration and each binding of a window.
 */
#include <linux/random.h>
#include "keys.h"
#include "region.h"

enum {
	INDEX_BITS = 24,
	/* With a third of the indices in use, all draws collide once in 3^32 times. */
	MAX_DRAWS = 32,
};

static const struct rhashtable_params table_params = {
	.key_len = sizeof_field(struct verve_mr, index),
	.key_offset = offsetof(struct verve_mr, index),
	.head_offset = offsetof(struct verve_mr, node),
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

int verve_key_insert(struct verve_dev *dev, struct verve_mr *mr)
{
	int draws, err = -ENOMEM;

	if (atomic_read(&dev->mr_table.nelems) >= VERVE_MAX_MR + VERVE_MAX_MW)
		return -ENOMEM;

	for (draws = 0; draws < MAX_DRAWS; draws++) {
		mr->key = get_random_u32();
		mr->index = verve_key_index(mr->key);
		/* Index 0 is reserved for the local DMA lkey. */
		if (!mr->index)
			continue;
		err = rhashtable_lookup_insert_fast(&dev->mr_table, &mr->node,
						    table_params);
		if (err != -EEXIST)
			break;
	}
	if (err)
		return -ENOMEM;
	mr->ibmr.lkey = mr->key;
	mr->ibmr.rkey = mr->key;
	return 0;
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
