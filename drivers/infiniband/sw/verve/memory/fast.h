/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fast registration (IB_MR_TYPE_MEM_REG) by kernel users
 */
#ifndef VERVE_MEMORY_FAST_H
#define VERVE_MEMORY_FAST_H

#include "region.h"

/**
 * verve_fast_register() - execute REG_MR
 * @scope: scope of the QP
 * @ibmr: region, which may have been freed
 * @key: key of the region, with new low 8 bits
 * @access: IB_ACCESS_* flags
 *
 * The region gets the memory of the last ib_map_mr_sg().
 *
 * Context: softirq, or BH off.
 * Return: 0, or -EINVAL if the region does not exist, is of another PD or is not
 * free, or for an illegal combination of access flags.
 */
int verve_fast_register(const struct verve_mr_scope *scope,
			const struct ib_mr *ibmr, u32 key, int access);
/*
 * Implement verve_mr_invalidate() for @mr, which was found by @key and is of the
 * QP's PD. Context: RCU reader.
 */
int verve_fast_invalidate(struct verve_mr *mr, u32 key, bool is_remote);
/* Implement verve_mr_map() for a region with gaps, at @offset bytes into the region. */
void *verve_fast_map(const struct verve_mr *mr, u64 offset, u32 *len);
/* Free the tables of @mr. */
void verve_fast_free(struct verve_mr *mr);

/*
 * Allocate a region for @max pages or segments, in the free state and without a
 * key. Context: process. Return: NULL without memory.
 */
struct verve_mr *verve_fast_alloc(struct ib_pd *pd, enum ib_mr_type type, u32 max);
/* Set the memory of the next REG_MR (ib_map_mr_sg()). Context: any. */
int verve_fast_describe(struct verve_mr *mr, struct scatterlist *sg, int sg_nents,
			unsigned int *sg_offset);

#endif
