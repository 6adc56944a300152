// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses and the netdevs that have them
 *
 * An address may exist several times within a namespace: a link-local one on each VLAN
 * of a netdev, any other in another VRF. So a lookup searches the netdev of the device
 * first, and then those on top of it (VLANs, bonds, bridges, macvlans), but not the
 * whole namespace. A netdev on top that is in another namespace does not count.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>
#include "../device.h"
#include "net.h"

/* Is @owner the same netdev as @ndev, or on top of it in the same namespace? */
static bool belongs_to(struct net_device *ndev, struct net_device *owner)
{
	return owner == ndev ||
	       (net_eq(dev_net(owner), dev_net(ndev)) &&
		netdev_has_upper_dev_all_rcu(ndev, owner));
}

int verve_owner_of_gid(const struct ib_gid_attr *gid)
{
	struct net_device *ndev, *owner;
	int ifindex = 0;

	rcu_read_lock();
	ndev = verve_ndev_rcu(to_vdev(gid->device));
	owner = rcu_dereference(gid->ndev);
	if (ndev && owner && belongs_to(ndev, owner))
		ifindex = owner->ifindex;
	rcu_read_unlock();
	return ifindex;
}

static bool has_v4(const struct net_device *ndev, __be32 addr)
{
	const struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (ifa->ifa_local == addr)
			return true;
	}
	return false;
}

static bool has_v6(const struct net_device *ndev, const struct in6_addr *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_chk_addr(dev_net(ndev), addr, ndev, 1);
#else
	return false;
#endif
}

static bool has_addr(const struct net_device *ndev, const struct in6_addr *addr)
{
	return ipv6_addr_v4mapped(addr) ? has_v4(ndev, addr->s6_addr32[3]) :
					  has_v6(ndev, addr);
}

/* State of a walk through the netdevs on top of @ndev */
struct search {
	const struct net_device *ndev;
	const struct in6_addr *addr;
	struct net_device *owner;
};

static int look_at(struct net_device *upper, struct netdev_nested_priv *priv)
{
	struct search *search = priv->data;

	if (!net_eq(dev_net(upper), dev_net(search->ndev)) ||
	    !has_addr(upper, search->addr))
		return 0;
	search->owner = upper;
	return 1;
}

struct net_device *verve_owner_find(struct net_device *ndev,
				    const struct in6_addr *addr, int ifindex)
{
	struct search search = { .ndev = ndev, .addr = addr };
	struct netdev_nested_priv priv = { .data = &search };
	struct net_device *first;

	first = dev_get_by_index_rcu(dev_net(ndev), ifindex);
	if (first && belongs_to(ndev, first) && has_addr(first, addr))
		return first;
	if (has_addr(ndev, addr))
		return ndev;
	netdev_walk_all_upper_dev_rcu(ndev, look_at, &priv);
	return search.owner;
}

u16 verve_owner_vlan(struct verve_dev *dev, const struct in6_addr *addr,
		     int ifindex)
{
	struct net_device *ndev, *owner = NULL;
	const struct ib_gid_attr *attr;
	u16 vlan = VERVE_NO_VLAN;
	union ib_gid gid;

	memcpy(gid.raw, addr, sizeof(gid.raw));
	rcu_read_lock();
	ndev = verve_ndev_rcu(dev);
	if (ndev)
		owner = verve_owner_find(ndev, addr, ifindex);
	attr = rdma_find_gid_by_port(&dev->ibdev, &gid,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, owner);
	rcu_read_unlock();
	if (IS_ERR(attr))
		return VERVE_NO_VLAN;
	rdma_read_gid_l2_fields(attr, &vlan, NULL);
	rdma_put_gid_attr(attr);
	return vlan;
}
