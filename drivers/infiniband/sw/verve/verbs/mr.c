// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions: who may use a key, for what, and where its memory is.
 */
#include <linux/slab.h>
#include "mr.h"

static bool is_kernel_pd(const struct ib_pd *pd)
{
	return !pd->uobject;
}

static bool is_allowed(const struct verve_mr *mr, const struct ib_pd *pd,
		       u32 key, int access)
{
	return READ_ONCE(mr->valid) && mr->key == key && mr->ibmr.pd == pd &&
	       (mr->access & access) == access;
}

struct verve_mr *verve_mr_get(struct verve_dev *dev, struct ib_pd *pd, u32 key,
			      int access)
{
	struct verve_mr *mr;

	if (key == dev->ibdev.local_dma_lkey) {
		if (!is_kernel_pd(pd) || access & ~IB_ACCESS_LOCAL_WRITE)
			return NULL;
		return dev->dma_mr;
	}

	rcu_read_lock();
	mr = verve_key_find(dev, key);
	if (mr && (!is_allowed(mr, pd, key, access) ||
		   !refcount_inc_not_zero(&mr->ref)))
		mr = NULL;
	rcu_read_unlock();
	return mr;
}

/* The device's own DMA MR lives as long as the device: nobody counts. */
static bool is_counted(const struct verve_mr *mr)
{
	return mr->index;
}

void verve_mr_hold(struct verve_mr *mr)
{
	if (is_counted(mr))
		refcount_inc(&mr->ref);
}

void verve_mr_put(struct verve_mr *mr)
{
	if (is_counted(mr) && refcount_dec_and_test(&mr->ref))
		complete(&mr->idle);
}

bool verve_mr_covers(const struct verve_mr *mr, u64 va, u64 len)
{
	if (!len)
		return true;
	if (mr->kind == VERVE_MR_DMA)
		return va + len - 1 >= va;
	return va >= mr->iova && len <= mr->length &&
	       va - mr->iova <= mr->length - len;
}

void *verve_mr_map(const struct verve_mr *mr, u64 va, u32 *len)
{
	u64 offset, block_size, inside;

	if (mr->kind == VERVE_MR_DMA)
		return (void *)(uintptr_t)va;

	offset = va - mr->iova + mr->block_offset;
	block_size = BIT_ULL(mr->block_shift);
	inside = offset & (block_size - 1);
	*len = min_t(u64, *len, block_size - inside);
	return mr->blocks[offset >> mr->block_shift] + inside;
}

struct verve_mr *verve_mr_alloc(struct ib_pd *pd, enum verve_mr_kind kind,
				int access)
{
	struct verve_mr *mr = kzalloc_obj(*mr);

	if (!mr)
		return NULL;
	mr->ibmr.pd = pd;
	mr->kind = kind;
	mr->access = access;
	refcount_set(&mr->ref, 1);
	init_completion(&mr->idle);
	return mr;
}

struct verve_mr *verve_mr_alloc_dma(struct verve_dev *dev, struct ib_pd *pd)
{
	struct verve_mr *mr;

	mr = verve_mr_alloc(pd, VERVE_MR_DMA, IB_ACCESS_LOCAL_WRITE);
	if (!mr)
		return NULL;
	mr->ibmr.device = &dev->ibdev;
	mr->length = U64_MAX;
	mr->valid = true;
	return mr;
}

struct ib_mr *verve_get_dma_mr(struct ib_pd *pd, int access)
{
	struct verve_dev *dev = to_vdev(pd->device);
	struct verve_mr *mr = verve_mr_alloc_dma(dev, pd);
	int err;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->access = access;
	err = verve_key_insert(dev, mr);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

/*
 * Users hold a region for one burst of packets at most, so the wait is short;
 * nobody finds it any more once its key is gone.
 */
int verve_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct verve_mr *mr = to_vmr(ibmr);

	verve_key_remove(to_vdev(ibmr->device), mr);
	verve_mr_put(mr);
	wait_for_completion(&mr->idle);

	ib_umem_release(mr->umem);
	kvfree(mr->blocks);
	kfree_rcu(mr, rcu);
	return 0;
}
