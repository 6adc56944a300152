// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions of user space: pinned pages, found by a flat table.
 *
 * The table has one entry per block, and blocks are as large as the memory's
 * layout allows: one page when it is scattered, a huge page or more when it is
 * not. 100 GiB of scattered 4 KiB pages need 200 MiB of table.
 */
#include <linux/slab.h>
#include <rdma/iter.h>
#include <rdma/uverbs_ioctl.h>
#include "mr.h"

/* Blocks of any size from a page up. */
#define BLOCK_SIZES	GENMASK_ULL(62, PAGE_SHIFT)

#define MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_MW_BIND | IB_ZERO_BASED | \
			 IB_ACCESS_HUGETLB | IB_ACCESS_FLUSH_GLOBAL)

static int check_access(int access)
{
	if (access & ~(MR_ACCESS | IB_ACCESS_OPTIONAL))
		return -EOPNOTSUPP;
	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IB_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

/*
 * A device without DMA of its own has kernel addresses where others have those
 * of their bus.
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
 * Where blocks begin depends on where memory is, not on what the region calls
 * its addresses.
 */
static int pin(struct verve_mr *mr, u64 start, u64 length, int access)
{
	unsigned long block_size;
	struct ib_umem *umem;
	int err;

	umem = ib_umem_get_va(mr->ibmr.pd->device, start, length, access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	block_size = ib_umem_find_best_pgsz(umem, BLOCK_SIZES, start);
	if (!block_size) {
		ib_umem_release(umem);
		return -EINVAL;
	}
	mr->umem = umem;
	mr->block_shift = ilog2(block_size);
	mr->block_offset = start & (block_size - 1);
	err = fill_blocks(mr, block_size);
	if (err)
		ib_umem_release(umem);
	return err;
}

struct ib_mr *verve_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_udata *udata)
{
	struct verve_dev *dev = to_vdev(pd->device);
	struct verve_mr *mr;
	int err;

	err = ib_no_udata_io(udata) ?: check_access(access);
	if (err)
		return ERR_PTR(err);
	if (!length || iova + length < iova)
		return ERR_PTR(-EINVAL);

	mr = verve_mr_alloc(pd, VERVE_MR_USER, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = pin(mr, start, length, access);
	if (err)
		goto free;
	mr->iova = access & IB_ZERO_BASED ? 0 : iova;
	mr->length = length;
	mr->valid = true;
	err = verve_key_insert(dev, mr);
	if (err)
		goto unpin;
	return &mr->ibmr;

unpin:
	ib_umem_release(mr->umem);
	kvfree(mr->blocks);
free:
	kfree(mr);
	return ERR_PTR(err);
}
