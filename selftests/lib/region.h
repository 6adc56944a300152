/* SPDX-License-Identifier: GPL-2.0-only */
/* Additional memory regions, and work between them */
#ifndef SELFTESTS_REGION_H
#define SELFTESTS_REGION_H

#include "ends.h"

#define ALL_ACCESS	(IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE)

#define ON_DEMAND	(ALL_ACCESS | IBV_ACCESS_ON_DEMAND)

struct region {
	struct end *end;
	uint8_t *mem;
	size_t size;
	struct ibv_mr *mr;
};

/* Map and register new anonymous memory. Exits on failure. */
struct region region_new(struct end *end, size_t size, int access);
/* Register existing memory. mr is NULL on failure. */
struct region region_over(struct end *end, void *mem, size_t size, int access);
/* Deregister a region and unmap its memory. */
void region_free(struct region *r);

/*
 * Post a message of @size bytes from region @from to region @to. A SEND or WRITE goes
 * from end a to end b. A READ or atomic goes the other way, and reads @from.
 * Return: result of ibv_post_send().
 */
int region_post(const struct ends *e, enum ibv_wr_opcode opcode,
		const struct region *from, const struct region *to,
		uint32_t size);
/* Post a receive into the first @size bytes. */
void region_receive(const struct region *r, uint64_t wr_id, uint32_t size);

/* Return: true if the kernel supports on-demand paging. */
bool pages_on_demand(const struct end *end);

/* Return: kB in a line of /proc/self/status, such as "VmPin". */
long status_kb(const char *name);

#endif
