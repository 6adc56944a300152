/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_LINUX_DMA_BUF_H
#define COMPAT_LINUX_DMA_BUF_H

#include_next <linux/dma-buf.h>

/* Where there are no others, these take what locks they need themselves. */
#ifndef COMPAT_HAVE_DMA_BUF_VMAP_UNLOCKED
#define dma_buf_vmap_unlocked dma_buf_vmap
#define dma_buf_vunmap_unlocked dma_buf_vunmap
#endif

#endif
