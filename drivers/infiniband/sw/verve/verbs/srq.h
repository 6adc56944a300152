/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs on shared receive queues
 */
#ifndef VERVE_VERBS_SRQ_H
#define VERVE_VERBS_SRQ_H

#include <rdma/ib_verbs.h>

int verve_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr,
		     struct ib_udata *udata);
int verve_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int verve_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int verve_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int verve_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);

#endif
