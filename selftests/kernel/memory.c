// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scattered memory for fast registration
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "memory.h"

void memory_free(struct memory *m)
{
	int i;

	if (m->bytes)
		ib_dma_unmap_sg(m->dev, m->sg, m->pieces, DMA_BIDIRECTIONAL);
	for (i = 0; i < PIECES; i++)
		kfree(m->piece[i]);
	if (!IS_ERR_OR_NULL(m->mr))
		ib_dereg_mr(m->mr);
	kfree(m);
}

/* With gaps, pieces begin and end anywhere; without, only the two ends of all do. */
void memory_piece(int i, bool gaps, u32 *skip, u32 *bytes)
{
	*skip = 0;
	*bytes = PIECE_BYTES;
	if (gaps) {
		*skip = 1 + 7 * i;
		*bytes = 1 + 331 * i;
	} else if (!i) {
		*skip = 1000;
		*bytes -= *skip;
	} else if (i == PIECES - 1) {
		*bytes = 777;
	}
}

struct memory *memory_alloc(struct pair *p, enum ib_mr_type type)
{
	bool gaps = type == IB_MR_TYPE_SG_GAPS;
	struct memory *m = kzalloc(sizeof(*m), GFP_KERNEL);
	u32 skip, bytes, sum = 0;
	int i;

	if (!m)
		return NULL;
	m->dev = p->dev;
	sg_init_table(m->sg, PIECES);
	m->mr = ib_alloc_mr(p->pd, type, PIECES);
	if (IS_ERR(m->mr))
		goto free;
	for (i = 0; i < PIECES; i++) {
		m->piece[i] = kmalloc(PIECE_BYTES, GFP_KERNEL);
		if (!m->piece[i])
			goto free;
		memory_piece(i, gaps, &skip, &bytes);
		sg_set_buf(&m->sg[i], m->piece[i] + skip, bytes);
		sum += bytes;
	}
	m->pieces = PIECES;
	if (ib_dma_map_sg(m->dev, m->sg, PIECES, DMA_BIDIRECTIONAL) != PIECES)
		goto free;
	m->bytes = sum;
	return m;
free:
	memory_free(m);
	return NULL;
}

void memory_copy(struct memory *m, u8 *flat, bool to_flat)
{
	if (to_flat)
		sg_copy_to_buffer(m->sg, m->pieces, flat, m->bytes);
	else
		sg_copy_from_buffer(m->sg, m->pieces, flat, m->bytes);
}
