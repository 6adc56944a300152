// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions of user space with pinned pages.
 *
 * A flat table has one entry for each block. Blocks are as large as the layout of
 * the memory allows: a page if the memory is scattered, a huge page or more if it
 * is contiguous. 100 GiB of scattered 4 KiB pages need a table of 200 MiB.
 */
#include <linux/slab.h>
#include <rdma/iter.h>
#include "region.h"

/* Any power of two from a page up */
#define BLOCK_SIZES	GENMASK_ULL(62, PAGE_SHIFT)

/*
 * The DMA addresses of an RDMA device without a DMA device are kernel addresses.
 */
static int fill_blocks(struct verve_mr *mr, unsigned long block_size)
{
	struct ib_block_iter iter;
	size_t i = 0;

	mr->num_blocks = ib_umem_num_dma_blocks(mr->umem, block_size);
	mr->blocks = kvmalloc_objs(*mr->blocks, mr->num_blocks,
				   GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!mr->blocks)
		return -ENOMEM;
	rdma_umem_for_each_dma_block(mr->umem, &iter, block_size) {
		dma_addr_t addr = rdma_block_iter_dma_address(&iter);

		mr->blocks[i++] = (void *)(uintptr_t)addr;
		if (!(i & 0xffff))
			cond_resched();
	}
	return 0;
}

/*
 * Blocks are aligned by the address of the memory, so pass mr->start, not mr->iova,
 * to ib_umem_find_best_pgsz().
 */
int verve_mr_pin(struct verve_mr *mr)
{
	unsigned long block_size;
	struct ib_umem *umem;
	int err;

	umem = ib_umem_get_va(mr->ibmr.pd->device, mr->start, mr->length,
			      mr->access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	block_size = ib_umem_find_best_pgsz(umem, BLOCK_SIZES, mr->start);
	if (!block_size) {
		ib_umem_release(umem);
		return -EINVAL;
	}
	mr->umem = umem;
	mr->block_shift = ilog2(block_size);
	mr->block_offset = mr->start & (block_size - 1);
	err = fill_blocks(mr, block_size);
	if (err)
		ib_umem_release(umem);
	return err;
}
