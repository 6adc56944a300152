/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_LINUX_DMA_BUF_H
#define COMPAT_LINUX_DMA_BUF_H

#include_next <linux/dma-buf.h>

#include <linux/dma-resv.h>

/* In older kernels, dma_buf_vmap() takes the lock that it needs, another one. */
#ifndef COMPAT_HAVE_DMA_BUF_VMAP_UNLOCKED
#define dma_buf_vmap_unlocked dma_buf_vmap
#define dma_buf_vunmap_unlocked dma_buf_vunmap

static inline void dma_buf_vmap_lock(struct dma_buf *dmabuf)
{
	mutex_lock(&dmabuf->lock);
}

static inline void dma_buf_vmap_unlock(struct dma_buf *dmabuf)
{
	mutex_unlock(&dmabuf->lock);
}
#else
static inline void dma_buf_vmap_lock(struct dma_buf *dmabuf)
{
	dma_resv_lock(dmabuf->resv, NULL);
}

static inline void dma_buf_vmap_unlock(struct dma_buf *dmabuf)
{
	dma_resv_unlock(dmabuf->resv);
}
#endif

#ifndef COMPAT_HAVE_DMA_BUF_INVALIDATE_MAPPINGS
#define invalidate_mappings move_notify
#endif

#endif
