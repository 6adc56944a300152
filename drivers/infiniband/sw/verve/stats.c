// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters, as /sys/class/infiniband/DEV/ports/1/hw_counters shows them.
 */
#include <rdma/ib_verbs.h>
#include "device.h"
#include "path/late.h"
#include "path/nic.h"

static const struct rdma_stat_desc descs[] = {
#define X(counter) { .name = #counter },
	VERVE_COUNTERS(X)
#undef X
};

struct rdma_hw_stats *verve_stats_alloc(void)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

void verve_stats_sum(const struct verve_stats __percpu *stats, u64 *values)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		const struct verve_stats *part = per_cpu_ptr(stats, cpu);

		for (i = 0; i < VERVE_NUM_COUNTERS; i++)
			values[i] += READ_ONCE(part->counter[i]);
	}
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
	verve_late_stats(to_vdev(ibdev), stats->value);
	stats->value[VERVE_CNT_offload_refused] +=
		verve_nic_refused(to_vdev(ibdev));
	return VERVE_NUM_COUNTERS;
}
