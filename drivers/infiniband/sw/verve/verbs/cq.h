/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs on completion queues
 */
#ifndef VERVE_VERBS_CQ_H
#define VERVE_VERBS_CQ_H

#include <rdma/ib_verbs.h>

int verve_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata);
int verve_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int verve_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int verve_resize_cq(struct ib_cq *ibcq, unsigned int cqe,
		    struct ib_udata *udata);
int verve_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int verve_peek_cq(struct ib_cq *ibcq, int cnt);
int verve_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif
