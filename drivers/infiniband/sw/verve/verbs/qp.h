/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs on queue pairs
 */
#ifndef VERVE_VERBS_QP_H
#define VERVE_VERBS_QP_H

#include <rdma/ib_verbs.h>

struct verve_dev;

/**
 * verve_qp_flush_users() - move the QPs of processes to the error state
 * @dev: device that is being unregistered
 *
 * The work items of the QPs continue to flush, and verve_destroy_qp() flushes the rest.
 * NICs get none of these QPs any more.
 *
 * QPs of kernel users are left alone. The remove callback of a client, or the RDMA
 * CM, tells these users to flush their QPs. A kernel user whose QP fails earlier
 * takes this for a lost connection, and connects again by the same device.
 *
 * Context: process. Takes @dev->qp_lock and the engine of each QP in turn.
 */
void verve_qp_flush_users(struct verve_dev *dev);

int verve_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);
int verve_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int verve_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int verve_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int verve_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);
int verve_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);

#endif
