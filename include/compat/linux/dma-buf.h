/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_LINUX_DMA_BUF_H
#define COMPAT_LINUX_DMA_BUF_H

#include_next <linux/dma-buf.h>

/* In older kernels, dma_buf_vmap() takes the locks that it needs. */
#ifndef COMPAT_HAVE_DMA_BUF_VMAP_UNLOCKED
#define dma_buf_vmap_unlocked dma_buf_vmap
#define dma_buf_vunmap_unlocked dma_buf_vunmap
#endif

#endif
