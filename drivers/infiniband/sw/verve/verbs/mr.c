// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registration, change and deregistration of memory regions.
 */
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "../device.h"
#include "../memory/dmabuf.h"
#include "../memory/fast.h"
#include "../memory/keys.h"
#include "../memory/odp.h"
#include "../memory/region.h"
#include "../offload/mpt.h"
#include "mr.h"

#define MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_MW_BIND | IB_ZERO_BASED | \
			 IB_ACCESS_HUGETLB | IB_ACCESS_FLUSH_GLOBAL | \
			 IB_ACCESS_ON_DEMAND)

/* Flags that determine the memory of a region, and so cannot change later */
#define FIXED_ACCESS	(IB_ZERO_BASED | IB_ACCESS_HUGETLB | IB_ACCESS_ON_DEMAND)

static int check_access(int access)
{
	if (access & ~(MR_ACCESS | IB_ACCESS_OPTIONAL))
		return -EOPNOTSUPP;
	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IB_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

#define DMABUF_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_OPTIONAL)

struct ib_mr *verve_get_dma_mr(struct ib_pd *pd, int access)
{
	struct verve_dev *dev = to_vdev(pd->device);
	struct verve_mr *mr = verve_mr_alloc_dma(dev, pd);
	int err;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->access = access;
	err = verve_key_insert(dev, mr);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

static int attach(struct verve_mr *mr)
{
	return mr->kind == VERVE_MR_ODP ? verve_odp_attach(mr) :
					  verve_mr_pin(mr);
}

struct ib_mr *verve_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_udata *udata)
{
	struct verve_dev *dev = to_vdev(pd->device);
	struct verve_mr *mr;
	int err;

	err = ib_no_udata_io(udata) ?: check_access(access);
	if (err)
		return ERR_PTR(err);
	if (!length || iova + length < iova)
		return ERR_PTR(-EINVAL);

	mr = verve_mr_alloc(pd, access & IB_ACCESS_ON_DEMAND ? VERVE_MR_ODP :
							      VERVE_MR_USER,
			    access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->start = start;
	mr->iova = access & IB_ZERO_BASED ? 0 : iova;
	mr->length = length;
	err = attach(mr);
	if (err)
		goto free;
	mr->valid = true;
	err = verve_key_insert_within(dev, mr, verve_nic_keys(mr));
	if (err)
		goto detach;
	verve_nic_add_mr(mr);
	return &mr->ibmr;

detach:
	verve_mr_detach(mr);
free:
	kfree(mr);
	return ERR_PTR(err);
}

/* Return: true if the region can get these rights without new memory. */
static bool can_change(const struct verve_mr *mr, int access)
{
	if ((mr->access ^ access) & FIXED_ACCESS)
		return false;
	if (mr->kind == VERVE_MR_ODP)
		return true;
	return mr->umem->writable || !ib_access_writable(access);
}

/*
 * An engine must not see a mixture of old and new rights and PD. So the region is
 * invalid during the change, and a grace period ends look-ups of the old rights.
 */
static void change(struct verve_mr *mr, int access, struct ib_pd *pd)
{
	verve_nic_del_mr(mr);
	WRITE_ONCE(mr->valid, false);
	synchronize_rcu();
	mr->access = access;
	mr->ibmr.pd = pd;
	verve_mr_publish(mr);
	verve_nic_add_mr(mr);
}

/*
 * Change a region in place (NULL), or register a new one with new keys for new
 * memory. The core puts the new region in the place of the old one, which does not
 * change before.
 */
static struct ib_mr *renew(struct verve_mr *mr, int flags, u64 start,
			   u64 length, u64 iova, int access, struct ib_pd *pd,
			   struct ib_udata *udata)
{
	int err;

	if (!(flags & IB_MR_REREG_TRANS)) {
		if (can_change(mr, access)) {
			err = ib_no_udata_io(udata);
			if (err)
				return ERR_PTR(err);
			change(mr, access, pd);
			return NULL;
		}
		start = mr->start;
		length = mr->length;
		iova = mr->iova;
	}
	return verve_reg_user_mr(pd, start, length, iova, access, udata);
}

struct ib_mr *verve_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *pd, struct ib_udata *udata)
{
	struct verve_mr *mr = to_vmr(ibmr);
	struct ib_mr *renewed;
	int err;

	if (mr->kind != VERVE_MR_USER && mr->kind != VERVE_MR_ODP)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	if (!(flags & IB_MR_REREG_PD))
		pd = ibmr->pd;
	err = check_access(access);
	if (err)
		return ERR_PTR(err);

	/* No window may be bound, neither now nor during the change. */
	if (atomic_cmpxchg(&mr->windows, 0, -1))
		return ERR_PTR(-EBUSY);
	renewed = renew(mr, flags, start, length, iova, access, pd, udata);
	if (IS_ERR_OR_NULL(renewed))
		atomic_set(&mr->windows, 0);
	return renewed;
}

struct ib_mr *verve_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				       u64 iova, int fd, int access,
				       struct ib_udata *udata)
{
	struct verve_mr *mr;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return ERR_PTR(err);
	if (access & ~DMABUF_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);
	if (iova + length < iova)
		return ERR_PTR(-EINVAL);

	mr = verve_mr_alloc(pd, VERVE_MR_DMABUF, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->iova = iova;
	mr->length = length;
	err = verve_dmabuf_attach(mr, fd, offset);
	if (err)
		goto free;
	mr->valid = true;
	err = verve_key_insert_within(to_vdev(pd->device), mr,
				      verve_nic_keys(mr));
	if (err)
		goto detach;
	verve_nic_add_mr(mr);
	return &mr->ibmr;

detach:
	verve_mr_detach(mr);
free:
	kfree(mr);
	return ERR_PTR(err);
}

struct ib_mr *verve_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			     u32 max_num_sg)
{
	struct verve_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG && type != IB_MR_TYPE_SG_GAPS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > VERVE_MAX_FAST_PAGES)
		return ERR_PTR(-EINVAL);
	mr = verve_fast_alloc(pd, type, max_num_sg);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = verve_key_insert(to_vdev(pd->device), mr);
	if (err) {
		verve_mr_detach(mr);
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

int verve_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset)
{
	struct verve_mr *mr = to_vmr(ibmr);

	if (mr->kind != VERVE_MR_FAST)
		return -EINVAL;
	return verve_fast_describe(mr, sg, sg_nents, sg_offset);
}

/*
 * Look-ups fail after the key has been removed. Engines hold a region for one burst
 * of packets at most, so the wait is short.
 */
int verve_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct verve_mr *mr = to_vmr(ibmr);

	/* 10.6.7.2.5. No window can be bound from now on. Pairs with unbind(). */
	if (atomic_cmpxchg(&mr->windows, 0, -1) > 0)
		return -EBUSY;
	/* A NIC has room for the next region of that number when the number is free. */
	verve_nic_del_mr(mr);
	verve_key_remove(to_vdev(ibmr->device), mr);
	if (mr->kind == VERVE_MR_ODP)
		verve_odp_close(mr);
	verve_mr_put(mr);
	wait_for_completion(&mr->idle);

	verve_mr_detach(mr);
	kfree_rcu(mr, rcu);
	return 0;
}
