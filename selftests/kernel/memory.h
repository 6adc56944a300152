/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scattered memory for fast registration
 */
#ifndef SELFTESTS_MEMORY_H
#define SELFTESTS_MEMORY_H

#include <linux/scatterlist.h>

#include "pair.h"

enum {
	PIECES = 12,
	PIECE_BYTES = 4096,
};

/**
 * struct memory - scattered memory, and a region for it
 * @dev: that it is mapped for
 * @mr: region
 * @sg: its pieces
 * @piece: page-aligned blocks that @sg has parts of
 * @pieces: of them
 * @bytes: of all
 */
struct memory {
	struct ib_device *dev;
	struct ib_mr *mr;
	struct scatterlist sg[PIECES];
	u8 *piece[PIECES];
	int pieces;
	u32 bytes;
};

/* Where piece @i lies in its block; without gaps, all but the ends are whole. */
void memory_piece(int i, bool gaps, u32 *skip, u32 *bytes);
/* NULL: no memory. */
struct memory *memory_alloc(struct pair *p, enum ib_mr_type type);
void memory_free(struct memory *m);
/* To or from the same bytes in one piece */
void memory_copy(struct memory *m, u8 *flat, bool to_flat);

#endif
