/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory regions
 */
#ifndef VERVE_MEMORY_REGION_H
#define VERVE_MEMORY_REGION_H

#include <linux/completion.h>
#include <linux/iosys-map.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include "../device.h"

struct dma_buf;
struct verve_odp;
struct verve_offload_mr;

enum verve_mr_kind {
	VERVE_MR_DMA,	/* all kernel memory, addressed by its virtual address */
	VERVE_MR_USER,	/* pinned user memory */
	VERVE_MR_DMABUF, /* a buffer that another driver exports */
	VERVE_MR_ODP,	/* user memory that is faulted in on demand */
	VERVE_MR_FAST,	/* fast registration by the kernel's users */
	VERVE_MR_WINDOW, /* a memory window: memory of another region */
};

/* A piece of memory that lies @offset bytes into its region */
struct verve_segment {
	u64 offset;
	void *addr;
};

/**
 * struct verve_mr - a memory region
 * @ibmr: what the core knows
 * @node: in verve_dev.mr_table; absent for the local DMA MR
 * @index: upper 24 bits of the key, what @node is hashed by
 * @key: lkey and rkey; its low 8 bits change with fast registration
 * @ref: 1 for the registration, 1 for each user under way
 * @idle: completed when @ref drops to 0
 * @rcu: memory is freed after a grace period: look-ups are by RCU
 * @kind: enum verve_mr_kind
 * @access: IB_ACCESS_* flags
 * @valid: keys may be used (a fast MR before REG_MR may not); whoever reads
 *	true by acquire sees all else as it was when it was set
 * @start: user address of the first byte
 * @iova: first address as peers and work requests name it
 * @length: bytes
 * @block_shift: log2 of the size of a block
 * @block_offset: of @iova within the first block
 * @num_blocks: of @blocks or @segments
 * @blocks: kernel address of each block; contiguous within a block
 * @segments: in their place for memory with gaps: in the order of offsets
 * @umem: the pinned memory of VERVE_MR_USER
 * @windows: bound to it; -1 when it is being deregistered
 * @dmabuf: the buffer of VERVE_MR_DMABUF
 * @map: where the kernel sees @dmabuf
 * @odp: the memory of VERVE_MR_ODP
 * @known: what NICs are told of it (offload/rc/qpc.h), or NULL
 *
 * Everything but @ref is constant while @valid is set; see verve_mr_withdraw().
 */
struct verve_mr {
	struct ib_mr ibmr;
	struct rhash_head node;
	u32 index;
	u32 key;
	refcount_t ref;
	struct completion idle;
	struct rcu_head rcu;

	enum verve_mr_kind kind;
	int access;
	bool valid;
	u64 start;
	u64 iova;
	u64 length;
	u8 block_shift;
	u64 block_offset;
	u32 num_blocks;
	void **blocks;
	struct verve_segment *segments;
	struct ib_umem *umem;
	atomic_t windows;
	struct dma_buf *dmabuf;
	struct iosys_map map;
	struct verve_odp *odp;
	struct verve_offload_mr *known;
};

/**
 * struct verve_mr_scope - where the keys that a QP and its peer name are good
 * @dev: device
 * @pd: protection domain
 * @windows: type 2 memory windows bound to the QP, under the device's mw_lock
 */
struct verve_mr_scope {
	struct verve_dev *dev;
	struct ib_pd *pd;
	struct list_head windows __guarded_by(&dev->mw_lock);
};

static inline struct verve_mr *to_vmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct verve_mr, ibmr);
}

/**
 * verve_mr_get() - look up a key of this side and check that it allows an access
 * @dev: device
 * @pd: the work request's protection domain
 * @key: lkey; the local DMA lkey (0) only works for kernel PDs
 * @access: IB_ACCESS_* bits that the MR must have; 0 for local read
 *
 * Context: any up to softirq.
 * Return: the MR with a reference, or NULL: no such key, other PD, not valid,
 * not allowed.
 */
struct verve_mr *verve_mr_get(struct verve_dev *dev, struct ib_pd *pd, u32 key,
			      int access);
/* The same for a key that the peer of a QP names: also that of a window. */
struct verve_mr *verve_mr_get_remote(const struct verve_mr_scope *scope,
				     u32 rkey, int access);
/**
 * verve_mr_withdraw() - take a key's validity away
 * @mr: cannot be freed meanwhile: RCU, or a reference
 *
 * Look-ups fail from now on. Who had the region before holds it for one round
 * of a QP's engine at most: that of the caller has let go.
 *
 * Context: any up to softirq. Callers exclude each other.
 * Return: true when nobody uses it any more and it may be changed.
 */
bool verve_mr_withdraw(struct verve_mr *mr);
/* Valid again: what was changed before is seen by whoever looks it up. */
void verve_mr_publish(struct verve_mr *mr);

/**
 * verve_mr_invalidate() - LOCAL_INV, SEND_WITH_INV: a key goes out of use
 * @scope: of the QP that asks: its engine's owner, who holds no region
 * @key: whole key
 * @is_remote: the peer asks
 *
 * Context: softirq, or BH off.
 * Return: 0; -EAGAIN when somebody still uses the region: look-ups fail from
 * now on, and this is to be repeated; -EINVAL when the key may not be
 * invalidated (10.6.5).
 */
int verve_mr_invalidate(struct verve_mr_scope *scope, u32 key, bool is_remote);

/* One more reference on a held MR. */
void verve_mr_hold(struct verve_mr *mr);
void verve_mr_put(struct verve_mr *mr);

/* May @len bytes from @va be addressed? A length of 0 always may. Any context. */
bool verve_mr_covers(const struct verve_mr *mr, u64 va, u64 len);

/**
 * verve_mr_map() - kernel address of an address in the MR
 * @mr: held
 * @va: covered
 * @len: in: bytes wanted; out: bytes that are contiguous there, at least 1
 * @access: IB_ACCESS_LOCAL_WRITE to write there, 0 to read
 *
 * Context: BH off, and the address is good until they are on again.
 * Return: the address, or ERR_PTR(-EAGAIN): the page is not there, or not to
 * be written, and must be faulted in first (transport/stall.h).
 */
void *verve_mr_map(const struct verve_mr *mr, u64 va, u32 *len, int access);

/* A region without key or memory, within a larger object at its beginning. */
void verve_mr_init(struct verve_mr *mr, struct ib_pd *pd,
		   enum verve_mr_kind kind, int access);
/* A region without key or memory; NULL: no memory. Process. */
struct verve_mr *verve_mr_alloc(struct ib_pd *pd, enum verve_mr_kind kind,
				int access);
/* What the local DMA lkey stands for; freed by kfree(). */
struct verve_mr *verve_mr_alloc_dma(struct verve_dev *dev, struct ib_pd *pd);

/* pinned.c: a region's user memory is pinned. Process. Return: 0 or -errno. */
int verve_mr_pin(struct verve_mr *mr);
/* Whatever its kind: its memory is given back. Process; nobody uses the region. */
void verve_mr_detach(struct verve_mr *mr);

#endif
