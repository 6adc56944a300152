// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address handles.
 *
 * A work request contains the number of its AH. The engine looks up the address
 * vector under RCU, so an AH may be destroyed before its requests are sent.
 */
#include <linux/slab.h>
#include <rdma/rdma_user_rxe.h>
#include <rdma/uverbs_ioctl.h>
#include "../device.h"
#include "../path/av.h"
#include "ah.h"
#include "ucontext.h"

static struct verve_av *alloc_av(struct ib_pd *pd,
				 const struct rdma_ah_attr *attr, bool is_user,
				 gfp_t gfp)
{
	struct verve_av *av = kzalloc_obj(*av, gfp);
	int err;

	if (!av)
		return ERR_PTR(-ENOMEM);
	av->pd = pd;
	err = verve_av_fill(av, attr, is_user, 0, 0);
	if (err) {
		kfree(av);
		return ERR_PTR(err);
	}
	return av;
}

/*
 * Callers may be in atomic context. Cyclic allocation delays the reuse of numbers,
 * because requests may still contain the number of a destroyed AH.
 */
static int assign_number(struct verve_dev *dev, struct verve_ah *ah, bool is_user)
{
	u32 most = verve_quota(VERVE_MAX_AH, is_user);
	unsigned long flags;
	int err;

	xa_lock_irqsave(&dev->ahs, flags);
	err = __xa_alloc_cyclic(&dev->ahs, &ah->num, ah->av,
				XA_LIMIT(1, most), &dev->next_ah,
				GFP_ATOMIC);
	xa_unlock_irqrestore(&dev->ahs, flags);
	if (err == -EBUSY)
		return -ENOMEM;
	return min(err, 0);
}

static void free_number(struct verve_dev *dev, struct verve_ah *ah)
{
	unsigned long flags;

	xa_lock_irqsave(&dev->ahs, flags);
	__xa_erase(&dev->ahs, ah->num);
	xa_unlock_irqrestore(&dev->ahs, flags);
}

int verve_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata)
{
	bool sleeps = init->flags & RDMA_CREATE_AH_SLEEPABLE;
	struct verve_dev *dev = to_vdev(ibah->device);
	struct rxe_create_ah_resp resp = {};
	struct verve_ah *ah = to_vah(ibah);
	int err;

	err = verve_udata_check(udata, sizeof(resp));
	if (err)
		return err;
	ah->av = alloc_av(ibah->pd, init->ah_attr, udata,
			  sleeps ? GFP_KERNEL_ACCOUNT : GFP_ATOMIC);
	if (IS_ERR(ah->av))
		return PTR_ERR(ah->av);
	err = assign_number(dev, ah, udata);
	if (err) {
		kfree(ah->av);
		return err;
	}
	if (!udata)
		return 0;

	resp.ah_num = ah->num;
	err = ib_respond_udata(udata, resp);
	if (err)
		verve_destroy_ah(ibah, 0);
	return err;
}

int verve_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct verve_dev *dev = to_vdev(ibah->device);
	struct verve_ah *ah = to_vah(ibah);
	struct verve_av *av = alloc_av(ibah->pd, attr, false, GFP_ATOMIC);
	struct verve_av *old;
	unsigned long flags;

	if (IS_ERR(av))
		return PTR_ERR(av);
	xa_lock_irqsave(&dev->ahs, flags);
	old = ah->av;
	/* The slot exists, so the store allocates nothing and cannot fail. */
	__xa_store(&dev->ahs, ah->num, av, GFP_ATOMIC);
	ah->av = av;
	xa_unlock_irqrestore(&dev->ahs, flags);
	kfree_rcu(old, rcu);
	return 0;
}

int verve_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	const struct verve_av *av = to_vah(ibah)->av;
	union ib_gid dgid;

	memset(attr, 0, sizeof(*attr));
	memcpy(dgid.raw, &av->daddr, sizeof(dgid));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, 1);
	rdma_ah_set_sl(attr, av->sl);
	rdma_ah_set_grh(attr, &dgid, av->flow_label, av->sgid_index,
			av->hop_limit, av->traffic_class);
	ether_addr_copy(attr->roce.dmac, av->dmac);
	return 0;
}

int verve_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct verve_ah *ah = to_vah(ibah);

	free_number(to_vdev(ibah->device), ah);
	kfree_rcu(ah->av, rcu);
	return 0;
}
