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
 * @dev: device that the memory is mapped for
 * @mr: region
 * @sg: pieces of memory
 * @piece: page-aligned blocks with the pieces
 * @pieces: number of pieces
 * @bytes: total length of the pieces
 */
struct memory {
	struct ib_device *dev;
	struct ib_mr *mr;
	struct scatterlist sg[PIECES];
	u8 *piece[PIECES];
	int pieces;
	u32 bytes;
};

/* Place of piece @i in its block; without gaps, only the ends of the whole are cut. */
void memory_piece(int i, bool gaps, u32 *skip, u32 *bytes);
/* Return: NULL without memory. */
struct memory *memory_alloc(struct pair *p, enum ib_mr_type type);
void memory_free(struct memory *m);
/* Copy to or from a flat buffer. */
void memory_copy(struct memory *m, u8 *flat, bool to_flat);

#endif
