/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs of the kernel that the provider does not support, by system calls.
 */
#ifndef SELFTESTS_UVERBS_H
#define SELFTESTS_UVERBS_H

#include <infiniband/verbs.h>

/* All return 0 or an errno. */
int uverbs_advise_mr(struct ibv_pd *pd, int advice, uint32_t flags,
		     struct ibv_sge *sge, uint32_t num);

/* Re-register a region. @mr gets the new keys. */
int uverbs_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
		    size_t length, int access);

/* Ring the doorbell of a send queue. */
int uverbs_doorbell(struct ibv_qp *qp);

/* A region over a dma-buf, which has no struct ibv_mr */
struct dmabuf_mr {
	struct ibv_context *ctx;
	uint32_t handle, lkey, rkey;
};

int uverbs_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, uint64_t length,
			 uint64_t iova, int fd, int access,
			 struct dmabuf_mr *mr);
int uverbs_dereg_dmabuf_mr(struct dmabuf_mr *mr);

#endif
