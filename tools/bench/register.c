// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: register DEVICE BYTES TIMES
 *
 * Prints the microseconds that it takes to register a region of memory that has been
 * used, and to deregister it.
 */
#include <sys/mman.h>

#include "bench.h"

int main(int argc, char **argv)
{
	size_t size = argc == 4 ? strtoull(argv[2], NULL, 0) : 0;
	int i, times = argc == 4 ? atoi(argv[3]) : 0;
	struct ibv_pd *pd;
	double begin;
	char *memory;

	check(size && times > 0, "usage: register DEVICE BYTES TIMES");
	pd = open_device(argv[1]);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(memory != MAP_FAILED, "mmap");
	memset(memory, 1, size);
	begin = now_us();
	for (i = 0; i < times; i++) {
		struct ibv_mr *mr = ibv_reg_mr(pd, memory, size,
					       IBV_ACCESS_LOCAL_WRITE |
					       IBV_ACCESS_REMOTE_WRITE);

		check(mr && !ibv_dereg_mr(mr), "MR");
	}
	printf("%.1f\n", (now_us() - begin) / times);
	return 0;
}
