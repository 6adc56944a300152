// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fast registration: kernel users change memory and key of a region with work
 * requests (IBTA vol. 1, 10.6.3.2.3, 10.6.5).
 *
 * A region is free or in use, and has two tables. ib_map_mr_sg() fills one table.
 * Engines read the other. REG_MR exchanges the tables of a free region, to which
 * no engine has a reference. So users may call ib_map_mr_sg() before the previous
 * key has been invalidated, and some do.
 */
#include <linux/slab.h>
#include "fast.h"
#include "keys.h"

#define FAST_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)
#define REMOTE_ACCESS	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC)

/**
 * struct verve_fast - a region for fast registration
 * @mr: region in the table of keys; first member
 * @lock: serialises REG_MR and invalidation by different QPs of the PD; a leaf
 * @is_free: @mr is invalid and without users, and may be registered
 * @has_gaps: IB_MR_TYPE_SG_GAPS
 * @max: entries of each table
 * @num: entries in use of @blocks or @segments
 * @blocks: pages of the next registration
 * @segments: segments of the next registration, if @has_gaps
 */
struct verve_fast {
	struct verve_mr mr;
	spinlock_t lock; /* is_free, and mr while is_free is set */
	bool is_free __guarded_by(&lock);
	bool has_gaps;
	u32 max;
	u32 num;
	void **blocks;
	struct verve_segment *segments;
};

static struct verve_fast *to_fast(struct verve_mr *mr)
{
	return container_of(mr, struct verve_fast, mr);
}

static void free_tables(struct verve_fast *fast)
{
	kvfree(fast->mr.blocks);
	kvfree(fast->mr.segments);
	kvfree(fast->blocks);
	kvfree(fast->segments);
}

static int alloc_tables(struct verve_fast *fast)
{
	struct verve_mr *mr = &fast->mr;

	if (fast->has_gaps) {
		mr->segments = kvcalloc(fast->max, sizeof(*mr->segments),
					GFP_KERNEL);
		fast->segments = kvcalloc(fast->max, sizeof(*fast->segments),
					  GFP_KERNEL);
		return mr->segments && fast->segments ? 0 : -ENOMEM;
	}
	mr->blocks = kvcalloc(fast->max, sizeof(*mr->blocks), GFP_KERNEL);
	fast->blocks = kvcalloc(fast->max, sizeof(*fast->blocks), GFP_KERNEL);
	return mr->blocks && fast->blocks ? 0 : -ENOMEM;
}

static struct verve_fast *alloc_fast(struct ib_pd *pd, enum ib_mr_type type,
				     u32 max)
{
	struct verve_fast *fast = kzalloc_obj(*fast);

	if (!fast)
		return NULL;
	verve_mr_init(&fast->mr, pd, VERVE_MR_FAST, 0);
	spin_lock_init(&fast->lock);
	/* No other thread has the object yet. */
	context_unsafe(fast->is_free = true);
	fast->has_gaps = type == IB_MR_TYPE_SG_GAPS;
	fast->max = max;
	return fast;
}

struct verve_mr *verve_fast_alloc(struct ib_pd *pd, enum ib_mr_type type, u32 max)
{
	struct verve_fast *fast = alloc_fast(pd, type, max);

	if (!fast)
		return NULL;
	if (!alloc_tables(fast))
		return &fast->mr;
	free_tables(fast);
	kfree(fast);
	return NULL;
}

void verve_fast_free(struct verve_mr *mr)
{
	struct verve_fast *fast = to_fast(mr);

	/* The caller has freed mr->blocks. */
	mr->blocks = NULL;
	free_tables(fast);
}

static int add_block(struct ib_mr *ibmr, u64 addr)
{
	struct verve_fast *fast = to_fast(to_vmr(ibmr));

	if (fast->num == fast->max)
		return -ENOMEM;
	fast->blocks[fast->num++] = (void *)(uintptr_t)addr;
	return 0;
}

/* Fill the table of a region with gaps. Return: number of segments that fit. */
static int add_segments(struct verve_fast *fast, struct scatterlist *sgl,
			int nents, unsigned int *offset)
{
	struct ib_mr *ibmr = &fast->mr.ibmr;
	unsigned int skip = offset ? *offset : 0;
	struct scatterlist *sg;
	int i;

	if (nents <= 0 || skip > sg_dma_len(sgl))
		return -EINVAL;
	ibmr->iova = sg_dma_address(sgl) + skip;
	ibmr->length = 0;
	for_each_sg(sgl, sg, min_t(u32, nents, fast->max), i) {
		fast->segments[i] = (struct verve_segment) {
			.offset = ibmr->length,
			.addr = (void *)(uintptr_t)(sg_dma_address(sg) + skip),
		};
		ibmr->length += sg_dma_len(sg) - skip;
		skip = 0;
	}
	fast->num = i;
	if (offset)
		*offset = 0;
	return i;
}

/*
 * The DMA addresses of an RDMA device without a DMA device are kernel addresses.
 */
int verve_fast_describe(struct verve_mr *mr, struct scatterlist *sg, int sg_nents,
			unsigned int *sg_offset)
{
	struct verve_fast *fast = to_fast(mr);
	struct ib_mr *ibmr = &mr->ibmr;

	fast->num = 0;
	if (fast->has_gaps)
		return add_segments(fast, sg, sg_nents, sg_offset);
	if (!is_power_of_2(ibmr->page_size))
		return -EINVAL;
	return ib_sg_to_pages(ibmr, sg, sg_nents, sg_offset, add_block);
}

static bool access_is_legal(int access)
{
	if (access & ~(FAST_ACCESS | IB_ACCESS_OPTIONAL))
		return false;
	return access & IB_ACCESS_LOCAL_WRITE ||
	       !(access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC));
}

/*
 * Put the table of the last ib_map_mr_sg() in use. Without a call since the last
 * REG_MR, the old memory is registered again.
 */
static void exchange_tables(struct verve_fast *fast)
	__must_hold(&fast->lock)
{
	struct verve_mr *mr = &fast->mr;

	if (!fast->num)
		return;
	swap(mr->blocks, fast->blocks);
	swap(mr->segments, fast->segments);
	mr->num_blocks = fast->num;
	fast->num = 0;
	mr->iova = mr->ibmr.iova;
	mr->length = mr->ibmr.length;
	if (fast->has_gaps)
		return;
	mr->block_shift = ilog2(mr->ibmr.page_size);
	mr->block_offset = mr->iova & (mr->ibmr.page_size - 1);
}

static int make_valid(struct verve_fast *fast, u32 key, int access)
{
	struct verve_mr *mr = &fast->mr;
	int err = -EINVAL;

	spin_lock(&fast->lock);
	if (fast->is_free && (fast->num || mr->num_blocks)) {
		fast->is_free = false;
		exchange_tables(fast);
		mr->key = key;
		mr->access = access;
		verve_mr_publish(mr);
		err = 0;
	}
	spin_unlock(&fast->lock);
	return err;
}

int verve_fast_register(const struct verve_mr_scope *scope,
			const struct ib_mr *ibmr, u32 key, int access)
{
	struct verve_mr *mr;
	int err = -EINVAL;

	rcu_read_lock();
	mr = verve_key_find(scope->dev, key);
	if (mr && &mr->ibmr == ibmr && mr->kind == VERVE_MR_FAST &&
	    ibmr->pd == scope->pd && access_is_legal(access))
		err = make_valid(to_fast(mr), key, access);
	rcu_read_unlock();
	return err;
}

/*
 * LOCAL_INV of a free region has no effect. A peer must not invalidate a free
 * region, nor one without remote access.
 */
int verve_fast_invalidate(struct verve_mr *mr, u32 key, bool is_remote)
{
	struct verve_fast *fast = to_fast(mr);
	int err = 0;

	spin_lock(&fast->lock);
	if (mr->key != key)
		err = -EINVAL;
	else if (is_remote && (fast->is_free || !(mr->access & REMOTE_ACCESS)))
		err = -EINVAL;
	else if (!fast->is_free && !verve_mr_withdraw(mr))
		err = -EAGAIN;
	else
		fast->is_free = true;
	spin_unlock(&fast->lock);
	return err;
}

void *verve_fast_map(const struct verve_mr *mr, u64 offset, u32 *len)
{
	const struct verve_segment *segments = mr->segments;
	u32 low = 0, high = mr->num_blocks;
	u64 end;

	/* Search the last segment that begins at or before @offset. */
	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (segments[middle].offset > offset)
			high = middle;
		else
			low = middle;
	}
	end = high < mr->num_blocks ? segments[high].offset : mr->length;
	*len = min_t(u64, *len, end - offset);
	return segments[low].addr + (offset - segments[low].offset);
}
