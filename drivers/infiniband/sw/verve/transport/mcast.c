// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast (IBTA vol. 1, 10.5; Annex A17.8).
 *
 * In RoCEv2 a group's GID is its IP address. The first QP that attaches to a
 * group joins the group on the device's netdev, as a socket would. The join sets
 * the netdev's filter, makes routers and switches forward the group by IGMP or
 * MLD, and makes the IP stack loop local packets back. The last QP that detaches
 * leaves the group. rdma_cm may also join; IP counts the memberships.
 *
 * Order: the lock of struct verve_mcast, then RTNL.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include "../device.h"
#include "../path/net.h"
#include "mcast.h"
#include "transport.h"

static const struct rhashtable_params group_params = {
	.key_len = sizeof_field(struct verve_group, addr),
	.key_offset = offsetof(struct verve_group, addr),
	.head_offset = offsetof(struct verve_group, node),
	.automatic_shrinking = true,
};

int verve_mcast_init(struct verve_dev *dev)
{
	mutex_init(&dev->mcast.lock);
	return rhashtable_init(&dev->mcast.groups, &group_params);
}

void verve_mcast_exit(struct verve_dev *dev)
{
	rhashtable_destroy(&dev->mcast.groups);
}

static struct verve_group *find_group(struct verve_dev *dev,
				      const struct in6_addr *addr)
	__must_hold(&dev->mcast.lock)
{
	lockdep_assert_held(&dev->mcast.lock);
	return rhashtable_lookup_fast(&dev->mcast.groups, addr, group_params);
}

static int join_v4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -EADDRNOTAVAIL;
	ip_mc_inc_group(in_dev, addr);
	return 0;
}

static void leave_v4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (in_dev)
		ip_mc_dec_group(in_dev, addr);
}

#if IS_ENABLED(CONFIG_IPV6)
static int join_v6(struct net_device *ndev, const struct in6_addr *addr)
{
	if (!__in6_dev_get(ndev))
		return -EADDRNOTAVAIL;
	return ipv6_dev_mc_inc(ndev, addr);
}

static void leave_v6(struct net_device *ndev, const struct in6_addr *addr)
{
	if (__in6_dev_get(ndev))
		ipv6_dev_mc_dec(ndev, addr);
}
#else
static int join_v6(struct net_device *ndev, const struct in6_addr *addr)
{
	return -EADDRNOTAVAIL;
}

static void leave_v6(struct net_device *ndev, const struct in6_addr *addr)
{
}
#endif

/* RTNL keeps the netdev, if any, registered. */
static int join(struct verve_dev *dev, const struct in6_addr *addr)
{
	struct net_device *ndev;
	int err;

	rtnl_lock();
	ndev = rtnl_dereference(dev->ndev);
	if (!ndev)
		err = -ENODEV;
	else if (ipv6_addr_v4mapped(addr))
		err = join_v4(ndev, addr->s6_addr32[3]);
	else
		err = join_v6(ndev, addr);
	rtnl_unlock();
	return err;
}

/* A netdev that has been unregistered has left its groups. */
static void leave(struct verve_dev *dev, const struct in6_addr *addr)
{
	struct net_device *ndev;

	rtnl_lock();
	ndev = rtnl_dereference(dev->ndev);
	if (ndev && ipv6_addr_v4mapped(addr))
		leave_v4(ndev, addr->s6_addr32[3]);
	else if (ndev)
		leave_v6(ndev, addr);
	rtnl_unlock();
}

static struct verve_group *create_group(struct verve_dev *dev,
					const struct in6_addr *addr)
	__must_hold(&dev->mcast.lock)
{
	struct verve_group *group;
	int err;

	if (atomic_read(&dev->mcast.groups.nelems) >= VERVE_MAX_MCAST_GRP)
		return ERR_PTR(-ENOMEM);
	group = kzalloc_obj(*group, GFP_KERNEL_ACCOUNT);
	if (!group)
		return ERR_PTR(-ENOMEM);
	group->addr = *addr;
	INIT_LIST_HEAD(&group->members);
	err = join(dev, addr);
	if (err)
		goto free;
	err = rhashtable_lookup_insert_fast(&dev->mcast.groups, &group->node,
					    group_params);
	if (!err)
		return group;

	leave(dev, addr);
free:
	kfree(group);
	return ERR_PTR(err);
}

static void put_group(struct verve_dev *dev, struct verve_group *group)
	__must_hold(&dev->mcast.lock)
{
	if (group->num_members)
		return;
	rhashtable_remove_fast(&dev->mcast.groups, &group->node, group_params);
	leave(dev, &group->addr);
	kfree_rcu(group, rcu);
}

static struct verve_group_member *find_member(const struct verve_group *group,
					      const struct verve_qp *qp)
{
	struct verve_group_member *member;

	list_for_each_entry(member, &group->members, entry) {
		if (member->qp == qp)
			return member;
	}
	return NULL;
}

static int add_member(struct verve_dev *dev, struct verve_group *group,
		      struct verve_qp *qp)
	__must_hold(&dev->mcast.lock)
{
	struct verve_group_member *member = find_member(group, qp);

	if (member) {
		member->times++;
		return 0;
	}
	if (group->num_members >= VERVE_MAX_MCAST_QP_ATTACH ||
	    dev->mcast.attached >= VERVE_MAX_TOTAL_MCAST_QP_ATTACH)
		return -ENOMEM;
	member = kzalloc_obj(*member, GFP_KERNEL_ACCOUNT);
	if (!member)
		return -ENOMEM;
	member->qp = qp;
	member->times = 1;
	list_add_tail_rcu(&member->entry, &group->members);
	group->num_members++;
	dev->mcast.attached++;
	return 0;
}

static void remove_member(struct verve_dev *dev, struct verve_group *group,
			  struct verve_group_member *member)
	__must_hold(&dev->mcast.lock)
{
	if (--member->times)
		return;
	list_del_rcu(&member->entry);
	group->num_members--;
	dev->mcast.attached--;
	kfree_rcu(member, rcu);
}

static struct in6_addr group_address(const union ib_gid *gid)
{
	struct in6_addr addr;

	memcpy(&addr, gid->raw, sizeof(addr));
	return addr;
}

/**
 * verve_attach_mcast() - attach a QP to a multicast group
 * @ibqp: UD QP, as the core has checked
 * @gid: IPv6 multicast address, or an IPv4 one as v4-mapped, as the core has
 *	checked
 * @lid: has no meaning in RoCE
 *
 * Context: process.
 * Return: 0; -ENOMEM, also beyond a limit; -EADDRNOTAVAIL if the netdev does not
 * have this version of IP; -ENODEV if the netdev is being unregistered.
 */
int verve_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct verve_dev *dev = to_vdev(ibqp->device);
	struct in6_addr addr = group_address(gid);
	struct verve_group *group;
	int err;

	mutex_lock(&dev->mcast.lock);
	group = find_group(dev, &addr) ?: create_group(dev, &addr);
	err = PTR_ERR_OR_ZERO(group);
	if (!err) {
		err = add_member(dev, group, to_vqp(ibqp));
		put_group(dev, group);
	}
	mutex_unlock(&dev->mcast.lock);
	return err;
}

/**
 * verve_detach_mcast() - detach a QP from a multicast group
 * @ibqp: QP
 * @gid: group
 * @lid: has no meaning in RoCE
 *
 * Context: process.
 * Return: 0, or -EINVAL if the QP is not attached.
 */
int verve_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct verve_dev *dev = to_vdev(ibqp->device);
	struct in6_addr addr = group_address(gid);
	struct verve_group_member *member = NULL;
	struct verve_group *group;

	mutex_lock(&dev->mcast.lock);
	group = find_group(dev, &addr);
	if (group)
		member = find_member(group, to_vqp(ibqp));
	if (member) {
		remove_member(dev, group, member);
		put_group(dev, group);
	}
	mutex_unlock(&dev->mcast.lock);
	return member ? 0 : -EINVAL;
}

static void give(struct verve_net *vnet, struct verve_qp *qp,
		 const struct verve_arrival *arrival)
{
	struct verve_batch batch = { .vnet = vnet, .qp = qp };

	if (unlikely(!verve_batch_copy(&batch, arrival))) {
		verve_qp_drop(qp, rx_drop_memory);
		verve_qp_put(qp);
		return;
	}
	verve_count(qp, rcvd_mcast_pkts, 1);
	verve_batch_receive(&batch);
}

/* Deliver to all attached QPs (IBTA vol. 1, 10.5.2.2). */
bool verve_mcast_receive(struct verve_net *vnet, struct verve_dev *dev,
			 const struct in6_addr *addr,
			 const struct verve_arrival *arrival)
{
	struct verve_group_member *member;
	struct verve_group *group;

	lockdep_assert_in_rcu_reader();
	group = rhashtable_lookup(&dev->mcast.groups, addr, group_params);
	if (!group)
		return false;
	list_for_each_entry_rcu(member, &group->members, entry) {
		if (verve_qp_get(member->qp))
			give(vnet, member->qp, arrival);
	}
	return true;
}
