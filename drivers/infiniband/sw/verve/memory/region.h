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
struct dma_buf_attachment;
struct verve_odp;
struct roce_offload_mr;

enum verve_mr_kind {
	VERVE_MR_DMA,	/* all kernel memory, by virtual address */
	VERVE_MR_USER,	/* pinned user memory */
	VERVE_MR_DMABUF, /* dma-buf of another driver */
	VERVE_MR_ODP,	/* user memory, faulted in on demand */
	VERVE_MR_FAST,	/* fast registration by kernel users */
	VERVE_MR_WINDOW, /* memory window: a part of another region */
};

/* A segment of a region with gaps, @offset bytes from the region's beginning */
struct verve_segment {
	u64 offset;
	void *addr;
};

/**
 * struct verve_mr - a memory region
 * @ibmr: MR of the RDMA core
 * @node: entry in verve_dev.mr_table; unused for the local DMA MR
 * @index: upper 24 bits of the key, by which @node is hashed
 * @key: lkey and rkey; fast registration changes the low 8 bits
 * @ref: 1 for the registration, 1 for each user
 * @idle: completed when @ref drops to 0
 * @rcu: frees the MR a grace period after its removal from the table
 * @kind: enum verve_mr_kind
 * @access: IB_ACCESS_* flags
 * @valid: the key may be used; clear in a fast MR before REG_MR. A look-up that
 *	load-acquires true sees all other fields as they were when it was set
 * @start: user address of the first byte
 * @iova: first address in work requests and packets
 * @length: bytes
 * @block_shift: log2 of the size of a block
 * @block_offset: offset of @iova within the first block
 * @num_blocks: entries of @blocks or @segments
 * @blocks: kernel address of each block, which is contiguous
 * @segments: segments of a region with gaps, by offset, in place of @blocks
 * @umem: pinned memory of VERVE_MR_USER
 * @windows: number of windows bound to the MR; -1 during deregistration or change
 * @dmabuf: dma-buf of VERVE_MR_DMABUF
 * @attachment: of @dmabuf, which is pinned
 * @map: kernel mapping of @dmabuf
 * @odp: pages of VERVE_MR_ODP
 * @known: state shared with NICs (offload/mpt.h), or NULL
 *
 * All fields that engines read, but for @ref, are constant while @valid is set; see
 * verve_mr_withdraw().
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
	struct dma_buf_attachment *attachment;
	struct iosys_map map;
	struct verve_odp *odp;
	struct roce_offload_mr *known;
};

/**
 * struct verve_mr_scope - scope of the keys that a QP and its peer may use
 * @dev: device
 * @pd: protection domain
 * @windows: type 2 memory windows bound to the QP; protected by @dev->mw_lock
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
 * verve_mr_get() - look up an lkey and check its access rights
 * @dev: device
 * @pd: protection domain of the work request
 * @key: lkey; the local DMA lkey (0) is for kernel PDs only
 * @access: IB_ACCESS_* bits that the MR must have; 0 for local read
 *
 * Context: any up to softirq.
 * Return: the MR with a reference, or NULL if the key does not exist, is of
 * another PD, is not valid or lacks a right.
 */
struct verve_mr *verve_mr_get(struct verve_dev *dev, struct ib_pd *pd, u32 key,
			      int access);
/* Like verve_mr_get(), for the rkey of a region or window in a peer's request. */
struct verve_mr *verve_mr_get_remote(const struct verve_mr_scope *scope,
				     u32 rkey, int access);
/**
 * verve_mr_withdraw() - make a key invalid
 * @mr: MR, kept by RCU or by a reference
 *
 * Look-ups fail from now on. Engines that hold a reference drop it after one
 * round at most. The caller's own engine must hold none.
 *
 * Context: any up to softirq. A lock excludes other callers.
 * Return: true if the MR has no users and may be changed.
 */
bool verve_mr_withdraw(struct verve_mr *mr);
/* Make a key valid. A look-up sees all changes made before this call (release). */
void verve_mr_publish(struct verve_mr *mr);

/**
 * verve_mr_invalidate() - execute LOCAL_INV or the Invalidate of a SEND
 * @scope: scope of the QP
 * @key: whole key
 * @is_remote: the request is the peer's SEND with Invalidate
 *
 * Context: softirq, or BH off. The QP's engine holds no reference on the region.
 * Return: 0; -EAGAIN while other engines use the region: look-ups fail from now
 * on, and the caller tries again; -EINVAL when the key must not be invalidated
 * (10.6.5).
 */
int verve_mr_invalidate(struct verve_mr_scope *scope, u32 key, bool is_remote);

/* Take another reference on a referenced MR. */
void verve_mr_hold(struct verve_mr *mr);
void verve_mr_put(struct verve_mr *mr);

/* Return: true if @mr covers @len bytes from @va, or if @len is 0. Context: any. */
bool verve_mr_covers(const struct verve_mr *mr, u64 va, u64 len);
/* Like verve_mr_get_remote(), for a range: NULL if the region does not cover it. */
static inline struct verve_mr *
verve_mr_get_range(const struct verve_mr_scope *scope, u32 rkey, u64 va,
		   u32 len, int access)
{
	struct verve_mr *mr = verve_mr_get_remote(scope, rkey, access);

	if (!mr || verve_mr_covers(mr, va, len))
		return mr;
	verve_mr_put(mr);
	return NULL;
}

/**
 * verve_mr_map() - translate an address of an MR to a kernel address
 * @mr: referenced MR
 * @va: address that the MR covers
 * @len: in: bytes wanted; out: contiguous bytes at the address, at least 1
 * @access: IB_ACCESS_LOCAL_WRITE to write, 0 to read
 *
 * Context: BH off. The kernel address is valid until BH are on again.
 * Return: the kernel address, or ERR_PTR(-EAGAIN) if the page is absent, or is not
 * writable, and must be faulted in (transport/stall.h).
 */
void *verve_mr_map(const struct verve_mr *mr, u64 va, u32 *len, int access);

/* Initialise a region without key and memory, the first member of a zeroed object. */
void verve_mr_init(struct verve_mr *mr, struct ib_pd *pd,
		   enum verve_mr_kind kind, int access);
/* Allocate a region without key and memory. Context: process. Return: NULL on failure. */
struct verve_mr *verve_mr_alloc(struct ib_pd *pd, enum verve_mr_kind kind,
				int access);
/* Allocate the region of the local DMA lkey, which the caller frees with kfree(). */
struct verve_mr *verve_mr_alloc_dma(struct verve_dev *dev, struct ib_pd *pd);

/* pinned.c: pin a region's user memory. Context: process. Return: 0 or -errno. */
int verve_mr_pin(struct verve_mr *mr);
/* Release the memory of a region without users. Context: process. */
void verve_mr_detach(struct verve_mr *mr);

#endif
