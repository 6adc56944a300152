/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of devices, and of QPs bound to an rdma_counter
 */
#ifndef VERVE_VERBS_COUNTER_H
#define VERVE_VERBS_COUNTER_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

/* The core of Linux 7.2 allocates objects of this size. */
struct verve_counter_handle {
	struct rdma_counter counter;
};

/* Verbs. Context: process; the core holds the mutex of @counter. */
int verve_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp);
int verve_counter_unbind_qp(struct ib_qp *ibqp);
int verve_counter_update_stats(struct rdma_counter *counter);
/* Verbs. Context: process; @counter has no other users. */
void verve_counter_init(struct rdma_counter *counter);
struct rdma_hw_stats *verve_counter_alloc_stats(struct rdma_counter *counter);
int verve_counter_dealloc(struct rdma_counter *counter);

/* Counters of the device. Context: process. */
struct rdma_hw_stats *verve_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port_num);
int verve_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port_num, int index);

#endif
