// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions over dma-bufs.
 *
 * CPUs copy the data, so the exporter maps the buffer into the kernel instead of
 * giving DMA addresses. An exporter does not move a mapped buffer, so Verve needs
 * no notification of moves. A registered buffer stays between begin and end of
 * CPU access all the time. On machines without coherent DMA, CPU and device
 * therefore must not both write to it while it is registered, and no NIC is told
 * of it: that is a rule for drivers (rdma/roce_offload.h).
 */
#include <linux/dma-buf.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "dmabuf.h"

MODULE_INFO(import_ns, "DMA_BUF");

/* The mapping is contiguous, so one block covers any region. */
enum { BLOCK_SHIFT = 63 };

static bool is_within(const struct dma_buf *dmabuf, u64 offset, u64 length)
{
	return length && offset <= dmabuf->size &&
	       length <= dmabuf->size - offset;
}

static int map_buffer(struct verve_mr *mr)
{
	struct dma_buf *dmabuf = mr->dmabuf;
	int err;

	if (!dmabuf->ops->vmap)
		return -EOPNOTSUPP;
	err = dma_buf_vmap_unlocked(dmabuf, &mr->map);
	if (err)
		return err;
	/* I/O memory needs special accessors; the data path uses memcpy(). */
	err = -EOPNOTSUPP;
	if (!mr->map.is_iomem)
		err = dma_buf_begin_cpu_access(dmabuf, DMA_BIDIRECTIONAL);
	if (err)
		dma_buf_vunmap_unlocked(dmabuf, &mr->map);
	return err;
}

static void unmap_buffer(struct verve_mr *mr)
{
	dma_buf_end_cpu_access(mr->dmabuf, DMA_BIDIRECTIONAL);
	dma_buf_vunmap_unlocked(mr->dmabuf, &mr->map);
}

int verve_dmabuf_attach(struct verve_mr *mr, int fd, u64 offset)
{
	int err;

	mr->blocks = kvmalloc_objs(*mr->blocks, 1, GFP_KERNEL_ACCOUNT);
	if (!mr->blocks)
		return -ENOMEM;
	mr->dmabuf = dma_buf_get(fd);
	if (IS_ERR(mr->dmabuf)) {
		err = PTR_ERR(mr->dmabuf);
		goto free;
	}
	err = -EINVAL;
	if (!is_within(mr->dmabuf, offset, mr->length))
		goto put;
	err = map_buffer(mr);
	if (err)
		goto put;
	mr->blocks[0] = mr->map.vaddr + offset;
	mr->num_blocks = 1;
	mr->block_shift = BLOCK_SHIFT;
	return 0;

put:
	dma_buf_put(mr->dmabuf);
free:
	kvfree(mr->blocks);
	return err;
}

u64 verve_dmabuf_offset(const struct verve_mr *mr)
{
	return mr->blocks[0] - mr->map.vaddr;
}

void verve_dmabuf_detach(struct verve_mr *mr)
{
	unmap_buffer(mr);
	dma_buf_put(mr->dmabuf);
}
