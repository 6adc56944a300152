// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory protection table: the regions that NICs know
 */
#include <linux/slab.h>
#include <rdma/roce_offload_registry.h>
#include "../device.h"
#include "../memory/dmabuf.h"
#include "icrc.h"
#include "mpt.h"

/* Memory of other regions is not there all the time, or of no program, or a window's. */
static bool is_of_use(const struct verve_mr *mr)
{
	return mr->kind == VERVE_MR_USER || mr->kind == VERVE_MR_DMABUF;
}

static void describe(struct roce_offload_mr *known, const struct verve_mr *mr)
{
	*known = (struct roce_offload_mr) {
		.rkey = mr->key,
		.pd = mr->ibmr.pd,
		.iova = mr->iova,
		.length = mr->length,
		.access = mr->access,
	};
	if (mr->kind == VERVE_MR_DMABUF) {
		known->dmabuf = mr->dmabuf;
		known->offset = verve_dmabuf_offset(mr);
		return;
	}
	known->sgt = &mr->umem->sgt_append.sgt;
	known->offset = ib_umem_offset(mr->umem);
}

struct roce_offload_range verve_nic_keys(const struct verve_mr *mr)
{
	struct verve_dev *dev = to_vdev(mr->ibmr.pd->device);
	struct roce_offload_mr known;

	if (!dev->offload || !is_of_use(mr))
		return (struct roce_offload_range) {};
	describe(&known, mr);
	return verve_registry->range(dev->offload, ROCE_OFFLOAD_MR,
				     &known.object);
}

void verve_nic_add_mr(struct verve_mr *mr)
{
	struct verve_dev *dev = to_vdev(mr->ibmr.pd->device);
	struct roce_offload_mr *known;

	if (!dev->offload || !is_of_use(mr))
		return;
	known = kzalloc_obj(*known, GFP_KERNEL_ACCOUNT);
	if (!known)
		return;
	describe(known, mr);
	mr->known = known;
	verve_registry->publish(dev->offload, ROCE_OFFLOAD_MR, &known->object);
}

void verve_nic_del_mr(struct verve_mr *mr)
{
	if (!mr->known)
		return;
	verve_registry->withdraw(ROCE_OFFLOAD_MR, &mr->known->object);
	kfree(mr->known);
	mr->known = NULL;
}
