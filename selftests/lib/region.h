/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory regions beside the one that each end has, and work between them. */
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

/* Anonymous memory that nobody has touched, registered; ends on failure. */
struct region region_new(struct end *end, size_t size, int access);
/* Memory that is there, registered; mr is NULL on failure. */
struct region region_over(struct end *end, void *mem, size_t size, int access);
/* Deregisters, and unmaps what is mapped there. */
void region_free(struct region *r);

/*
 * One message of @size bytes from region @from to @to, of end a and b. For a
 * READ or atomic, which go the other way, @from is the one that is read.
 * Return: 0, or what ibv_post_send() said.
 */
int region_post(const struct ends *e, enum ibv_wr_opcode opcode,
		const struct region *from, const struct region *to,
		uint32_t size);
/* A receive into the first @size bytes. */
void region_receive(const struct region *r, uint64_t wr_id, uint32_t size);

/* May regions be ON_DEMAND? Not where the kernel was built without it. */
bool pages_on_demand(const struct end *end);

/* kB of the process: a line of /proc/self/status, such as "VmPin". */
long status_kb(const char *name);

#endif
