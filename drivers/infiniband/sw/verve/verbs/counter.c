// SPDX-License-Identifier: GPL-2.0-only
/*
 * QPs that are counted apart: `rdma statistic qp`.
 *
 * A QP counts into the counters of its device, or of the rdma_counter that it
 * is bound to: into one of them, by a pointer, so that the data path is none
 * the slower. The core shows the sum of all as the port's.
 */
#include <linux/slab.h>
#include "../device.h"
#include "../transport/transport.h"
#include "counter.h"
#include "qp.h"

/**
 * struct apart - what QPs bound to one rdma_counter count into
 * @stats: per CPU
 */
struct apart {
	struct verve_stats __percpu *stats;
};

static struct apart *find(const struct rdma_counter *counter)
{
	return xa_load(&to_vdev(counter->device)->apart, counter->id);
}

static struct apart *create(struct rdma_counter *counter)
{
	struct verve_dev *dev = to_vdev(counter->device);
	struct apart *apart = kzalloc_obj(*apart);
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
	struct apart *apart;

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
	const struct apart *apart = find(counter);
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
	struct apart *apart = find(counter);

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

void verve_stats_total(struct verve_dev *dev, struct verve_stats *total)
{
	struct apart *apart;
	unsigned long id;

	xa_lock(&dev->apart);
	*total = dev->past;
	verve_stats_sum(dev->stats, total->counter);
	xa_for_each(&dev->apart, id, apart)
		verve_stats_sum(apart->stats, total->counter);
	xa_unlock(&dev->apart);
}
