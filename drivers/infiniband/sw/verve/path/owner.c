// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses and the netdevs that have them
 *
 * An address may exist several times within a namespace: a link-local one on each VLAN
 * of a netdev, any other in another VRF. So a lookup searches the netdev of the device
 * first, and then those on top of it (VLANs, bonds, bridges, macvlans), but not the
 * whole namespace. A netdev that is in another namespace does not count.
 *
 * For a device on a VLAN, the core also lists the GIDs of the netdev below and of those
 * on top of that (verve_get_netdev()), and rdma_cm takes the first device that lists an
 * address. So the device has these GIDs, too.
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>
#include "../device.h"
#include "net.h"

struct net_device *verve_owner_below(struct net_device *ndev)
{
	return is_vlan_dev(ndev) ? vlan_dev_real_dev(ndev) : ndev;
}

bool verve_owner_is(struct net_device *ndev, struct net_device *owner)
{
	struct net_device *below = verve_owner_below(ndev);

	return owner == ndev ||
	       (net_eq(dev_net(owner), dev_net(ndev)) &&
		(owner == below || netdev_has_upper_dev_all_rcu(below, owner)));
}

int verve_owner_of_gid(const struct ib_gid_attr *gid)
{
	struct net_device *ndev, *owner;
	int ifindex = 0;

	rcu_read_lock();
	ndev = verve_ndev_rcu(to_vdev(gid->device));
	owner = rcu_dereference(gid->ndev);
	if (ndev && owner && verve_owner_is(ndev, owner))
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

/* State of a walk through the netdevs on top of another one */
struct search {
	const struct net *net;
	const struct in6_addr *addr;
	struct net_device *owner;
};

static int look_at(struct net_device *upper, struct netdev_nested_priv *priv)
{
	struct search *search = priv->data;

	if (!net_eq(dev_net(upper), search->net) ||
	    !has_addr(upper, search->addr))
		return 0;
	search->owner = upper;
	return 1;
}

/* Return: @ndev or a netdev on top of it, in the namespace, or NULL */
static struct net_device *find_above(struct net_device *ndev, struct net *net,
				     const struct in6_addr *addr)
{
	struct search search = { .net = net, .addr = addr };
	struct netdev_nested_priv priv = { .data = &search };

	if (!look_at(ndev, &priv))
		netdev_walk_all_upper_dev_rcu(ndev, look_at, &priv);
	return search.owner;
}

struct net_device *verve_owner_find(struct net_device *ndev,
				    const struct in6_addr *addr, int ifindex)
{
	struct net_device *first;

	first = dev_get_by_index_rcu(dev_net(ndev), ifindex);
	if (first && verve_owner_is(ndev, first) && has_addr(first, addr))
		return first;
	return find_above(ndev, dev_net(ndev), addr);
}

struct net_device *verve_owner_find_below(struct net_device *ndev,
					  const struct in6_addr *addr)
{
	struct net_device *below = verve_owner_below(ndev);

	return below == ndev ? NULL : find_above(below, dev_net(ndev), addr);
}

const struct ib_gid_attr *verve_owner_gid(struct verve_dev *dev,
					  const struct in6_addr *addr,
					  struct net_device *owner)
{
	union ib_gid gid;

	memcpy(gid.raw, addr, sizeof(gid.raw));
	return rdma_find_gid_by_port(&dev->ibdev, &gid,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, owner);
}

u16 verve_owner_vlan(struct verve_dev *dev, const struct in6_addr *addr,
		     int ifindex)
{
	struct net_device *ndev, *owner = NULL;
	const struct ib_gid_attr *attr;
	u16 vlan = VERVE_NO_VLAN;

	rcu_read_lock();
	ndev = verve_ndev_rcu(dev);
	if (ndev)
		owner = verve_owner_find(ndev, addr, ifindex);
	attr = verve_owner_gid(dev, addr, owner);
	rcu_read_unlock();
	if (IS_ERR(attr))
		return VERVE_NO_VLAN;
	rdma_read_gid_l2_fields(attr, &vlan, NULL);
	rdma_put_gid_attr(attr);
	return vlan;
}
