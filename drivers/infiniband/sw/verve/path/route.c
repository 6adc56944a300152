// SPDX-License-Identifier: GPL-2.0-only
/*
 * Routes of flows
 *
 * The source address of a flow comes from a GID. It is an address of the device's
 * netdev, or of a VLAN, bond or bridge on top of it. Packets leave by that netdev, and
 * not by the one that the routing table prefers. Packets to an address of this
 * namespace are the exception: they never leave it.
 */
#include <linux/netdevice.h>
#include <linux/random.h>
#include <net/addrconf.h>
#include <net/flow.h>
#include <net/inet_dscp.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/neighbour.h>
#include <net/route.h>
#include "../device.h"
#include "net.h"
#include "pmtu.h"

void verve_flow_reset(struct verve_flow *flow)
{
	dst_release(flow->dst);
	flow->dst = NULL;
	flow->icrc_offload = false;
	flow->is_distrusted = false;
	flow->has_uso = false;
	flow->trust = (struct verve_trust) {};
	flow->uso = (struct verve_uso_flow) {};
}

bool verve_flow_distrust(struct verve_flow *flow)
{
	bool icrc_offload = flow->icrc_offload;

	flow->icrc_offload = false;
	flow->has_uso = false;
	flow->is_distrusted |= icrc_offload;
	if (flow->uso.state == VERVE_USO_PROVEN)
		flow->uso.state = VERVE_USO_UNPROVEN;
	return icrc_offload;
}

static struct dst_entry *find_v4(const struct verve_av *av, struct net *net,
				 struct net_device *ndev)
{
	__be32 daddr = av->daddr.s6_addr32[3];
	struct flowi4 fl4 = {
		.flowi4_proto = IPPROTO_UDP,
		.flowi4_dscp = inet_dsfield_to_dscp(av->traffic_class),
		.saddr = av->saddr.s6_addr32[3],
		.daddr = daddr,
		.fl4_sport = htons(av->sport),
		.fl4_dport = htons(VERVE_UDP_PORT),
	};
	struct rtable *rt;

	if (inet_addr_type_dev_table(net, ndev, daddr) == RTN_LOCAL)
		fl4.flowi4_oif = l3mdev_master_ifindex_rcu(ndev);
	else
		fl4.flowi4_oif = ndev->ifindex;
	rt = ip_route_output_key(net, &fl4);
	return IS_ERR(rt) ? NULL : &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *find_v6(const struct verve_av *av, struct net *net,
				 struct net_device *ndev, u32 *cookie)
{
	struct flowi6 fl6 = {
		.flowi6_proto = IPPROTO_UDP,
		.flowlabel = ip6_make_flowinfo(av->traffic_class,
					       htonl(av->flow_label)),
		.saddr = av->saddr,
		.daddr = av->daddr,
		.fl6_sport = htons(av->sport),
		.fl6_dport = htons(VERVE_UDP_PORT),
	};
	struct dst_entry *dst;

	if (ipv6_addr_type(&av->daddr) & IPV6_ADDR_LINKLOCAL ||
	    !(ipv6_addr_loopback(&av->daddr) ||
	      ipv6_chk_addr(net, &av->daddr, ndev, 0)))
		fl6.flowi6_oif = ndev->ifindex;
	else
		fl6.flowi6_oif = l3mdev_master_ifindex_rcu(ndev);
	dst = ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return NULL;
	*cookie = rt6_get_cookie((struct rt6_info *)dst);
	return dst;
}
#else
static struct dst_entry *find_v6(const struct verve_av *av, struct net *net,
				 struct net_device *ndev, u32 *cookie)
{
	return NULL;
}
#endif

struct neighbour *verve_flow_neighbour(const struct verve_flow *flow)
{
	const struct in6_addr *daddr = &flow->av.daddr;

	if (flow->av.is_v6)
		return dst_neigh_lookup(flow->dst, daddr);
	return dst_neigh_lookup(flow->dst, &daddr->s6_addr32[3]);
}

struct dst_entry *verve_flow_route(struct verve_flow *flow,
				   const struct verve_dev *dev)
{
	const struct verve_av *av = &flow->av;
	struct net_device *ndev, *owner;

	if (likely(flow->dst && dst_check(flow->dst, flow->cookie)))
		return flow->dst;

	verve_flow_reset(flow);
	ndev = verve_ndev_rcu(dev);
	if (!ndev)
		return NULL;
	flow->ip_id = get_random_u16();
	owner = verve_owner_find(ndev, &av->saddr, av->ifindex);
	if (owner)
		ndev = owner;
	if (!av->is_v6)
		flow->dst = find_v4(av, dev_net(ndev), ndev);
	else if (READ_ONCE(dev->net->sk6))
		flow->dst = find_v6(av, dev_net(ndev), ndev, &flow->cookie);
	return flow->dst;
}

bool verve_route_is_plain(const struct dst_entry *dst)
{
	return !dst_xfrm(dst) && !dst->lwtstate && !verve_pmtu_is_learned(dst);
}
