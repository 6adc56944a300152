/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory regions over buffers of other drivers
 */
#ifndef VERVE_VERBS_MR_DMABUF_H
#define VERVE_VERBS_MR_DMABUF_H

#include "mr.h"

#ifdef CONFIG_DMA_SHARED_BUFFER
/* Give the buffer of a region back. Process; nobody uses the region. */
void verve_dmabuf_detach(struct verve_mr *mr);
#else
static inline void verve_dmabuf_detach(struct verve_mr *mr)
{
}
#endif

#endif
