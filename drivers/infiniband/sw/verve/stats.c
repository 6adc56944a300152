// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters, as /sys/class/infiniband/DEV/ports/1/hw_counters shows them.
 */
#include <rdma/ib_verbs.h>
#include "device.h"

static const struct rdma_stat_desc descs[] = {
#define X(counter) { .name = #counter },
	VERVE_COUNTERS(X)
#undef X
};

struct rdma_hw_stats *verve_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port_num)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int verve_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port_num, int index)
{
	struct verve_dev *dev = to_vdev(ibdev);
	int cpu, i;

	if (port_num != 1)
		return -EINVAL;

	memset(stats->value, 0, VERVE_NUM_COUNTERS * sizeof(*stats->value));
	for_each_possible_cpu(cpu) {
		const struct verve_stats *part = per_cpu_ptr(dev->stats, cpu);

		for (i = 0; i < VERVE_NUM_COUNTERS; i++)
			stats->value[i] += READ_ONCE(part->counter[i]);
	}
	return VERVE_NUM_COUNTERS;
}
