/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fast registration by the kernel's users
 */
#ifndef VERVE_MEMORY_FAST_H
#define VERVE_MEMORY_FAST_H

#include "region.h"

/**
 * verve_fast_register() - REG_MR: what was mapped last becomes accessible
 * @scope: of the QP that asks
 * @ibmr: region; need not exist any more
 * @key: of it; the low 8 bits may be new
 * @access: IB_ACCESS_* flags
 *
 * Context: softirq, or BH off.
 * Return: 0, or -EINVAL: no such region, other PD, not free, access that does
 * not go together.
 */
int verve_fast_register(const struct verve_mr_scope *scope,
			const struct ib_mr *ibmr, u32 key, int access);
/* As verve_mr_invalidate(); @mr was found by @key, in the QP's PD. RCU. */
int verve_fast_invalidate(struct verve_mr *mr, u32 key, bool is_remote);
/* Where @offset lies; as verve_mr_map(). */
void *verve_fast_map(const struct verve_mr *mr, u64 offset, u32 *len);
void verve_fast_free(struct verve_mr *mr);

/* A free one, without key, for @max pieces. Process. NULL: no memory. */
struct verve_mr *verve_fast_alloc(struct ib_pd *pd, enum ib_mr_type type, u32 max);
/* ib_map_mr_sg(): what the next REG_MR makes accessible. Any context. */
int verve_fast_describe(struct verve_mr *mr, struct scatterlist *sg, int sg_nents,
			unsigned int *sg_offset);

#endif
