// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of a device, as /sys/class/infiniband/DEV/ports/1/hw_counters shows them,
 * and of QPs that are counted apart: `rdma statistic qp`.
 *
 * A QP counts into the counters of its device, or of the rdma_counter that it
 * is bound to: into one of them, by a pointer, so that the data path is none
 * the slower. The core shows the sum of all as the port's.
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
	WRITE_ONCE(qp->stats, stats);
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
	/* Packets on their way to a QP that was bound may still be counted. */
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

/* The core adds what QPs have that are counted apart. */

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
