// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions over dma-bufs.
 *
 * CPUs copy the data, so the exporter maps the buffer into the kernel instead of
 * giving DMA addresses. Some exporters move or free the pages of a mapped buffer, but
 * none those of a pinned one, so Verve needs no notification of moves. An exporter
 * pins a buffer when a device attaches, or, if it has an operation for that, on request.
 * A registered buffer stays between begin and end of CPU access all the time. On machines
 * without coherent DMA, CPU and device therefore must not both write to it while it is
 * registered, and no NIC is told of it: that is a rule for drivers (rdma/roce_offload.h).
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
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

/* A pinned buffer does not move. */
static void ignore(struct dma_buf_attachment *attachment)
{
}

static const struct dma_buf_attach_ops attach_ops = {
	.invalidate_mappings = ignore,
};

static int pin_buffer(struct verve_mr *mr)
{
	const struct dma_buf_attach_ops *ops =
		dma_buf_is_dynamic(mr->dmabuf) ? &attach_ops : NULL;
	struct dma_buf_attachment *attachment;
	int err = 0;

	attachment = dma_buf_dynamic_attach(mr->dmabuf,
					    &mr->ibmr.pd->device->dev, ops, mr);
	if (IS_ERR(attachment))
		return PTR_ERR(attachment);
	if (ops) {
		dma_resv_lock(mr->dmabuf->resv, NULL);
		err = dma_buf_pin(attachment);
		dma_resv_unlock(mr->dmabuf->resv);
	}
	if (err)
		dma_buf_detach(mr->dmabuf, attachment);
	else
		mr->attachment = attachment;
	return err;
}

static void unpin_buffer(struct verve_mr *mr)
{
	if (dma_buf_is_dynamic(mr->dmabuf)) {
		dma_resv_lock(mr->dmabuf->resv, NULL);
		dma_buf_unpin(mr->attachment);
		dma_resv_unlock(mr->dmabuf->resv);
	}
	dma_buf_detach(mr->dmabuf, mr->attachment);
}

/* dma_buf_vmap() warns if the exporter fails. So ask the exporter itself before. */
static int try_map(struct dma_buf *dmabuf)
{
	struct iosys_map map;
	int err = 0;

	dma_buf_vmap_lock(dmabuf);
	if (!dmabuf->vmapping_counter) {
		err = dmabuf->ops->vmap(dmabuf, &map);
		if (!err && dmabuf->ops->vunmap)
			dmabuf->ops->vunmap(dmabuf, &map);
	}
	dma_buf_vmap_unlock(dmabuf);
	return err;
}

static int map_buffer(struct verve_mr *mr)
{
	struct dma_buf *dmabuf = mr->dmabuf;
	int err;

	err = try_map(dmabuf);
	if (err)
		return err;
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
	err = -EOPNOTSUPP;
	if (!mr->dmabuf->ops->vmap)
		goto put;
	err = pin_buffer(mr);
	if (err)
		goto put;
	err = map_buffer(mr);
	if (err)
		goto unpin;
	mr->blocks[0] = mr->map.vaddr + offset;
	mr->num_blocks = 1;
	mr->block_shift = BLOCK_SHIFT;
	return 0;

unpin:
	unpin_buffer(mr);
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
	unpin_buffer(mr);
	dma_buf_put(mr->dmabuf);
}
