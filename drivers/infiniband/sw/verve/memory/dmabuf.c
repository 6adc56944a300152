// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions over dma-bufs: buffers that another driver exports.
 *
 * Data is copied by CPUs, so what is needed is not a DMA address but one of the
 * kernel's, and the exporter maps the buffer for us. As long as a buffer is
 * mapped its exporter does not move it, so nobody has to be told of moves. It
 * is between begin and end of CPU access for as long as it is registered:
 * where devices and CPUs do not see each other's writes by themselves, a user
 * who lets both at it must do without that.
 */
#include <linux/dma-buf.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "dmabuf.h"

MODULE_INFO(import_ns, "DMA_BUF");

/* All of it is contiguous for us: one block, larger than any region. */
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
	/* Memory of a device needs accessors that a plain copy is not. */
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

void verve_dmabuf_detach(struct verve_mr *mr)
{
	unmap_buffer(mr);
	dma_buf_put(mr->dmabuf);
}
