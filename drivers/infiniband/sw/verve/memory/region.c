// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions: look-up of keys, access rights, translation of addresses.
 */
#include <linux/slab.h>
#include "dmabuf.h"
#include "fast.h"
#include "keys.h"
#include "odp.h"
#include "region.h"
#include "window.h"

static bool is_kernel_pd(const struct ib_pd *pd)
{
	return !pd->uobject;
}

static bool is_allowed(const struct verve_mr *mr, const struct ib_pd *pd,
		       u32 key, int access)
{
	/* Pairs with verve_mr_publish(): all other fields are as published. */
	return smp_load_acquire(&mr->valid) && mr->key == key &&
	       mr->ibmr.pd == pd && (mr->access & access) == access;
}

/*
 * Take the reference first and check the rights afterwards. So either
 * verve_mr_withdraw() sees the reference, or this function sees valid == false.
 */
static struct verve_mr *get_allowed(struct verve_mr *mr, const struct ib_pd *pd,
				    u32 key, int access)
{
	if (!mr || !refcount_inc_not_zero(&mr->ref))
		return NULL;
	/* Pairs with verve_mr_withdraw() */
	smp_mb__after_atomic();
	if (is_allowed(mr, pd, key, access))
		return mr;
	verve_mr_put(mr);
	return NULL;
}

static struct verve_mr *find_allowed(struct verve_dev *dev, struct ib_pd *pd,
				     u32 key, int access)
{
	struct verve_mr *mr;

	rcu_read_lock();
	mr = get_allowed(verve_key_find(dev, key), pd, key, access);
	rcu_read_unlock();
	return mr;
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

	mr = find_allowed(dev, pd, key, access);
	/* A window has no lkey. */
	if (mr && mr->kind == VERVE_MR_WINDOW) {
		verve_mr_put(mr);
		return NULL;
	}
	return mr;
}

struct verve_mr *verve_mr_get_remote(const struct verve_mr_scope *scope,
				     u32 rkey, int access)
{
	struct verve_mr *mr;

	mr = find_allowed(scope->dev, scope->pd, rkey, access);
	if (mr && mr->kind == VERVE_MR_WINDOW &&
	    !verve_window_admits(mr, scope)) {
		verve_mr_put(mr);
		return NULL;
	}
	return mr;
}

/* The local DMA MR lives as long as the device and needs no reference count. */
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

bool verve_mr_withdraw(struct verve_mr *mr)
{
	WRITE_ONCE(mr->valid, false);
	/* Pairs with get_allowed() */
	smp_mb();
	if (refcount_read(&mr->ref) > 1)
		return false;
	/* Pairs with the release in verve_mr_put(): former users are done. */
	smp_acquire__after_ctrl_dep();
	return true;
}

void verve_mr_publish(struct verve_mr *mr)
{
	/* Pairs with is_allowed() and may_be_base() */
	smp_store_release(&mr->valid, true);
}

static int invalidate(struct verve_mr *mr, struct verve_mr_scope *scope, u32 key,
		      bool is_remote)
{
	if (!mr || mr->ibmr.pd != scope->pd)
		return -EINVAL;
	switch (mr->kind) {
	case VERVE_MR_FAST:
		return verve_fast_invalidate(mr, key, is_remote);
	case VERVE_MR_WINDOW:
		return verve_window_invalidate(mr, scope, key, is_remote);
	default:
		return -EINVAL;
	}
}

int verve_mr_invalidate(struct verve_mr_scope *scope, u32 key, bool is_remote)
{
	int err;

	rcu_read_lock();
	err = invalidate(verve_key_find(scope->dev, key), scope, key, is_remote);
	rcu_read_unlock();
	return err;
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

void *verve_mr_map(const struct verve_mr *mr, u64 va, u32 *len, int access)
{
	u64 offset, block_size, inside;

	if (mr->kind == VERVE_MR_DMA)
		return (void *)(uintptr_t)va;
	if (mr->kind == VERVE_MR_WINDOW)
		return verve_window_map(mr, va, len, access);

	if (mr->segments)
		return verve_fast_map(mr, va - mr->iova, len);

	offset = va - mr->iova + mr->block_offset;
	block_size = BIT_ULL(mr->block_shift);
	inside = offset & (block_size - 1);
	*len = min_t(u64, *len, block_size - inside);
	if (mr->kind == VERVE_MR_ODP)
		return verve_odp_map(mr, offset, access);
	return mr->blocks[offset >> mr->block_shift] + inside;
}

void verve_mr_init(struct verve_mr *mr, struct ib_pd *pd,
		   enum verve_mr_kind kind, int access)
{
	mr->ibmr.pd = pd;
	mr->kind = kind;
	mr->access = access;
	refcount_set(&mr->ref, 1);
	init_completion(&mr->idle);
}

struct verve_mr *verve_mr_alloc(struct ib_pd *pd, enum verve_mr_kind kind,
				int access)
{
	struct verve_mr *mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);

	if (mr)
		verve_mr_init(mr, pd, kind, access);
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

void verve_mr_detach(struct verve_mr *mr)
{
	if (mr->kind == VERVE_MR_ODP) {
		verve_odp_detach(mr);
		return;
	}
	if (mr->kind == VERVE_MR_DMABUF)
		verve_dmabuf_detach(mr);
	ib_umem_release(mr->umem);
	kvfree(mr->blocks);
	if (mr->kind == VERVE_MR_FAST)
		verve_fast_free(mr);
}
