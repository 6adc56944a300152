/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory regions over dma-bufs
 */
#ifndef VERVE_MEMORY_DMABUF_H
#define VERVE_MEMORY_DMABUF_H

#include "region.h"

#ifdef CONFIG_DMA_SHARED_BUFFER
/**
 * verve_dmabuf_attach() - map a part of a dma-buf as the memory of a region
 * @mr: new region; kind and length are set
 * @fd: file descriptor of the dma-buf
 * @offset: offset of the region in the dma-buf
 *
 * Context: process.
 * Return: 0; -EINVAL for a range beyond the dma-buf; -EOPNOTSUPP if the exporter
 * cannot map it for the kernel, or only as I/O memory; -ENOMEM; or the exporter's
 * error.
 */
int verve_dmabuf_attach(struct verve_mr *mr, int fd, u64 offset);
/* Offset of a region in its dma-buf. Any context. */
u64 verve_dmabuf_offset(const struct verve_mr *mr);
/* Unmap and release the dma-buf of a region without users. Context: process. */
void verve_dmabuf_detach(struct verve_mr *mr);
#else
static inline int verve_dmabuf_attach(struct verve_mr *mr, int fd, u64 offset)
{
	return -EOPNOTSUPP;
}

static inline u64 verve_dmabuf_offset(const struct verve_mr *mr)
{
	return 0;
}

static inline void verve_dmabuf_detach(struct verve_mr *mr)
{
}
#endif

#endif
