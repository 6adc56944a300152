// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "region.h"
#include "tap.h"
#include "work.h"

struct region region_over(struct end *end, void *mem, size_t size, int access)
{
	return (struct region){
		.end = end,
		.mem = mem,
		.size = size,
		.mr = ibv_reg_mr(end->pd, mem, size, access),
	};
}

struct region region_new(struct end *end, size_t size, int access)
{
	struct region r;
	void *mem;

	mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	r = region_over(end, mem, size, access);
	if (!r.mr)
		tap_bail("ibv_reg_mr: %s", strerror(errno));
	return r;
}

void region_free(struct region *r)
{
	if (r->mr && ibv_dereg_mr(r->mr))
		tap_bail("ibv_dereg_mr: %s", strerror(errno));
	munmap(r->mem, r->size);
}

static bool is_backward(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_READ ||
	       opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

int region_post(const struct ends *e, enum ibv_wr_opcode opcode,
		const struct region *from, const struct region *to,
		uint32_t size)
{
	const struct region *local = is_backward(opcode) ? to : from;
	const struct region *remote = is_backward(opcode) ? from : to;
	struct ibv_sge sge = {
		.addr = (uintptr_t)local->mem,
		.length = size,
		.lkey = local->mr->lkey,
	};
	struct ibv_send_wr wr = work(e, opcode, &sge);

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)remote->mem;
		wr.wr.atomic.rkey = remote->mr->rkey;
		wr.wr.atomic.compare_add = 1;
	} else if (!e->a.ah) {
		wr.wr.rdma.remote_addr = (uintptr_t)remote->mem;
		wr.wr.rdma.rkey = remote->mr->rkey;
	}
	return post(local->end, &wr);
}

void region_receive(const struct region *r, uint64_t wr_id, uint32_t size)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->mem,
		.length = size,
		.lkey = r->mr->lkey,
	};
	int err = post_recv(r->end, wr_id, &sge, 1);

	if (err)
		tap_bail("post_recv: %s", strerror(err));
}

bool pages_on_demand(const struct end *end)
{
	struct ibv_device_attr_ex attr;

	return !ibv_query_device_ex(end->ctx, NULL, &attr) &&
	       (attr.odp_caps.general_caps & IBV_ODP_SUPPORT);
}

long status_kb(const char *name)
{
	char line[128];
	long kb = -1;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && kb < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), ": %ld", &kb);
	if (f)
		fclose(f);
	return kb;
}
