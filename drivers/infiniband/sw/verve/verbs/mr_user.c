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
#include "../path/nic.h"
#include "mr.h"
#include "mr_odp.h"

/* Blocks of any size from a page up. */
#define BLOCK_SIZES	GENMASK_ULL(62, PAGE_SHIFT)

#define MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_MW_BIND | IB_ZERO_BASED | \
			 IB_ACCESS_HUGETLB | IB_ACCESS_FLUSH_GLOBAL | \
			 IB_ACCESS_ON_DEMAND)

/* What decides how a region is made, and not only who may use it. */
#define FIXED_ACCESS	(IB_ZERO_BASED | IB_ACCESS_HUGETLB | IB_ACCESS_ON_DEMAND)

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
static int pin(struct verve_mr *mr)
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

static int attach(struct verve_mr *mr)
{
	return mr->kind == VERVE_MR_ODP ? verve_odp_attach(mr) : pin(mr);
}

static void detach(struct verve_mr *mr)
{
	if (mr->kind == VERVE_MR_ODP) {
		verve_odp_detach(mr);
		return;
	}
	ib_umem_release(mr->umem);
	kvfree(mr->blocks);
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

	mr = verve_mr_alloc(pd, access & IB_ACCESS_ON_DEMAND ? VERVE_MR_ODP :
							      VERVE_MR_USER,
			    access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->start = start;
	mr->iova = access & IB_ZERO_BASED ? 0 : iova;
	mr->length = length;
	err = attach(mr);
	if (err)
		goto free;
	mr->valid = true;
	err = verve_key_insert(dev, mr);
	if (err)
		goto detach;
	verve_nic_add_mr(mr);
	return &mr->ibmr;

detach:
	detach(mr);
free:
	kfree(mr);
	return ERR_PTR(err);
}

/* May the region get these rights as it is? */
static bool can_change(const struct verve_mr *mr, int access)
{
	if ((mr->access ^ access) & FIXED_ACCESS)
		return false;
	if (mr->kind == VERVE_MR_ODP)
		return true;
	return mr->umem->writable || !ib_access_writable(access);
}

/*
 * Nobody may see one of the rights as it was and another as it will be, so
 * there are none in between.
 */
static void change(struct verve_mr *mr, int access, struct ib_pd *pd)
{
	verve_nic_del_mr(mr);
	WRITE_ONCE(mr->valid, false);
	synchronize_rcu();
	mr->access = access;
	mr->ibmr.pd = pd;
	verve_mr_publish(mr);
	verve_nic_add_mr(mr);
}

/*
 * Other memory is another region, with other keys, which the core puts in the
 * place of this one; this one is as it was until then.
 */
static struct ib_mr *renew(struct verve_mr *mr, int flags, u64 start,
			   u64 length, u64 iova, int access, struct ib_pd *pd,
			   struct ib_udata *udata)
{
	int err;

	if (!(flags & IB_MR_REREG_TRANS)) {
		if (can_change(mr, access)) {
			err = ib_no_udata_io(udata);
			if (err)
				return ERR_PTR(err);
			change(mr, access, pd);
			return NULL;
		}
		start = mr->start;
		length = mr->length;
		iova = mr->iova;
	}
	return verve_reg_user_mr(pd, start, length, iova, access, udata);
}

struct ib_mr *verve_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *pd, struct ib_udata *udata)
{
	struct verve_mr *mr = to_vmr(ibmr);
	struct ib_mr *renewed;
	int err;

	if (mr->kind != VERVE_MR_USER && mr->kind != VERVE_MR_ODP)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	if (!(flags & IB_MR_REREG_PD))
		pd = ibmr->pd;
	err = check_access(access);
	if (err)
		return ERR_PTR(err);

	/* As for deregistering: no window now, and none meanwhile */
	if (atomic_cmpxchg(&mr->windows, 0, -1))
		return ERR_PTR(-EBUSY);
	renewed = renew(mr, flags, start, length, iova, access, pd, udata);
	if (IS_ERR_OR_NULL(renewed))
		atomic_set(&mr->windows, 0);
	return renewed;
}
