// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of a device (/sys/class/infiniband/DEV/ports/1/hw_counters), and of QPs
 * bound to an rdma_counter (`rdma statistic qp`).
 *
 * qp->stats points to the counters of the device, or to those of the rdma_counter.
 * The data path increments one set of counters in both cases. The core adds up all
 * sets for the counters of the port.
 */
#include <linux/slab.h>
#include "../device.h"
#include "../offload/icrc.h"
#include "../offload/rc/qpc.h"
#include "../transport/qp.h"
#include "../transport/transport.h"
#include "counter.h"

static struct verve_apart *find(const struct rdma_counter *counter)
{
	return xa_load(&to_vdev(counter->device)->apart, counter->id);
}

static struct verve_apart *create(struct rdma_counter *counter)
{
	struct verve_dev *dev = to_vdev(counter->device);
	struct verve_apart *apart = kzalloc_obj(*apart);
	u32 id;

	if (!apart)
		return NULL;
	apart->stats = alloc_percpu(struct verve_stats);
	if (!apart->stats)
		goto free;
	if (xa_alloc(&dev->apart, &id, apart, xa_limit_31b, GFP_KERNEL))
		goto free_stats;
	counter->id = id;
	return apart;

free_stats:
	free_percpu(apart->stats);
free:
	kfree(apart);
	return NULL;
}

static void count_into(struct verve_qp *qp, struct verve_stats __percpu *stats)
{
	verve_engine_lock(qp);
	/* The counters are zeroed before receivers find them: see verve_count(). */
	smp_store_release(&qp->stats, stats);
	verve_engine_unlock(qp);
}

int verve_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	struct verve_qp *qp = verve_qp_hold(ibqp);
	struct verve_apart *apart;

	if (!qp)
		return -EINVAL;
	apart = counter->id ? find(counter) : create(counter);
	if (apart) {
		count_into(qp, apart->stats);
		ibqp->counter = counter;
	}
	verve_qp_put(qp);
	return apart ? 0 : -ENOMEM;
}

int verve_counter_unbind_qp(struct ib_qp *ibqp)
{
	struct verve_qp *qp = verve_qp_hold(ibqp);

	if (!qp)
		return -EINVAL;
	count_into(qp, qp->dev->stats);
	ibqp->counter = NULL;
	verve_qp_put(qp);
	return 0;
}

void verve_counter_init(struct rdma_counter *counter)
{
}

struct rdma_hw_stats *verve_counter_alloc_stats(struct rdma_counter *counter)
{
	return verve_stats_alloc();
}

int verve_counter_update_stats(struct rdma_counter *counter)
{
	const struct verve_apart *apart = find(counter);
	u64 *values = counter->stats->value;

	if (!apart)
		return -EINVAL;
	memset(values, 0, VERVE_NUM_COUNTERS * sizeof(*values));
	verve_stats_sum(apart->stats, values);
	return 0;
}

int verve_counter_dealloc(struct rdma_counter *counter)
{
	struct verve_dev *dev = to_vdev(counter->device);
	struct verve_apart *apart = find(counter);

	if (!apart)
		return 0;
	/* Packets to a QP that was bound may still increment these counters. */
	synchronize_rcu();
	xa_lock(&dev->apart);
	__xa_erase(&dev->apart, counter->id);
	verve_stats_sum(apart->stats, dev->past.counter);
	xa_unlock(&dev->apart);
	free_percpu(apart->stats);
	kfree(apart);
	return 0;
}

struct rdma_hw_stats *verve_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port_num)
{
	return verve_stats_alloc();
}

/* The core adds the counters of each rdma_counter. */

int verve_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port_num, int index)
{
	if (port_num != 1)
		return -EINVAL;

	memset(stats->value, 0, VERVE_NUM_COUNTERS * sizeof(*stats->value));
	verve_stats_sum(to_vdev(ibdev)->stats, stats->value);
	verve_icrc_offload_stats(to_vdev(ibdev), stats->value);
	stats->value[VERVE_CNT_offload_refused] +=
		verve_nic_refused(to_vdev(ibdev));
	return VERVE_NUM_COUNTERS;
}
