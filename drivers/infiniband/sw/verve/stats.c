// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names and sums of counters
 */
#include <rdma/ib_verbs.h>
#include "device.h"

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

void verve_stats_total(struct verve_dev *dev, struct verve_stats *total)
{
	struct verve_apart *apart;
	unsigned long id;

	xa_lock(&dev->apart);
	*total = dev->past;
	verve_stats_sum(dev->stats, total->counter);
	xa_for_each(&dev->apart, id, apart)
		verve_stats_sum(apart->stats, total->counter);
	xa_unlock(&dev->apart);
}
