/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory regions over buffers of other drivers
 */
#ifndef VERVE_MEMORY_DMABUF_H
#define VERVE_MEMORY_DMABUF_H

#include "region.h"

#ifdef CONFIG_DMA_SHARED_BUFFER
/**
 * verve_dmabuf_attach() - have a region be a part of a buffer
 * @mr: new; kind and length are set
 * @fd: of the buffer
 * @offset: of the region in it
 * Context: process.
 * Return: 0, -EINVAL, -EOPNOTSUPP, -ENOMEM or the exporter's error.
 */
int verve_dmabuf_attach(struct verve_mr *mr, int fd, u64 offset);
/* Give the buffer of a region back. Process; nobody uses the region. */
void verve_dmabuf_detach(struct verve_mr *mr);
#else
static inline int verve_dmabuf_attach(struct verve_mr *mr, int fd, u64 offset)
{
	return -EOPNOTSUPP;
}

static inline void verve_dmabuf_detach(struct verve_mr *mr)
{
}
#endif

#endif
