/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Driver details of objects in `rdma -dd resource show`
 */
#ifndef VERVE_VERBS_RESOURCE_H
#define VERVE_VERBS_RESOURCE_H

#include <rdma/ib_verbs.h>

/* Verbs. Context: process. Return: 0 or -EMSGSIZE. */
int verve_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int verve_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int verve_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);
int verve_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq);

#endif
