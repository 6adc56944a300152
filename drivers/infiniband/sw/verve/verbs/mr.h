/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs on memory regions
 */
#ifndef VERVE_VERBS_MR_H
#define VERVE_VERBS_MR_H

#include <rdma/ib_verbs.h>

struct ib_mr *verve_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *verve_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_udata *udata);
struct ib_mr *verve_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *pd, struct ib_udata *udata);
struct ib_mr *verve_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				       u64 iova, int fd, int access,
				       struct ib_udata *udata);
int verve_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
struct ib_mr *verve_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			     u32 max_num_sg);
int verve_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset);
int verve_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sge, u32 num_sge,
		    struct uverbs_attr_bundle *attrs);

#endif
