// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rate limit for hosts without a neighbour entry (verve_neigh_limit_admits() in path.h)
 *
 * A host that opens a connection has resolved our address before, which usually created
 * an entry for the host here. It did not if the host used another of its addresses for
 * that, as is common with IPv6. A host that is not admitted repeats its request after
 * some seconds, and has an entry then.
 */
#include <linux/ratelimit.h>
#include <net/arp.h>
#include <net/ip6_route.h>
#include <net/ndisc.h>
#include <net/neighbour.h>
#include <net/route.h>
#include "../device.h"
#include "net.h"

/* One limit for all devices, as they share one connection manager: up to 1 s per host */
static struct ratelimit_state admissions =
	RATELIMIT_STATE_INIT_FLAGS(admissions, VERVE_UNKNOWN_NEIGH_SECONDS * HZ,
				   VERVE_MAX_UNKNOWN_NEIGH,
				   RATELIMIT_MSG_ON_RELEASE);

/* Hosts that are not admitted must not fill the neighbour table. */
static struct ratelimit_state probes =
	RATELIMIT_STATE_INIT_FLAGS(probes, HZ, VERVE_MAX_NEIGH_PROBES,
				   RATELIMIT_MSG_ON_RELEASE);

static struct neighbour *look_up_v6(struct net_device *ndev,
				    const struct in6_addr *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	return __ipv6_neigh_lookup(ndev, addr);
#else
	return NULL;
#endif
}

static struct neighbour *next_hop_v6(struct dst_entry *dst,
				     const struct in6_addr *daddr)
{
	struct rt6_info *rt = container_of(dst, struct rt6_info, dst);

	return look_up_v6(dst->dev, rt6_nexthop(rt, daddr));
}

static struct neighbour *next_hop_v4(struct dst_entry *dst, __be32 daddr)
{
	struct rtable *rt = container_of(dst, struct rtable, dst);

	if (rt->rt_gw_family == AF_INET6)
		return look_up_v6(dst->dev, &rt->rt_gw6);
	return __ipv4_neigh_lookup(dst->dev,
				   (__force u32)rt_nexthop(rt, daddr));
}

/* Return: neighbour with a reference. Creates none, as many hosts may ask. */
static struct neighbour *next_hop(const struct verve_flow *flow)
{
	const struct in6_addr *daddr = &flow->av.daddr;

	if (flow->av.is_v6)
		return next_hop_v6(flow->dst, daddr);
	return next_hop_v4(flow->dst, daddr->s6_addr32[3]);
}

static bool is_known(const struct verve_flow *flow)
{
	struct neighbour *neigh;
	bool is_valid;

	if (flow->dst->dev->flags & (IFF_LOOPBACK | IFF_NOARP))
		return true;
	neigh = next_hop(flow);
	if (!neigh)
		return false;
	is_valid = READ_ONCE(neigh->nud_state) & NUD_VALID;
	neigh_release(neigh);
	return is_valid;
}

static void probe(const struct verve_flow *flow)
{
	struct neighbour *neigh = verve_flow_neighbour(flow);

	if (!neigh)
		return;
	neigh_event_send(neigh, NULL);
	neigh_release(neigh);
}

static bool is_admitted(const struct verve_flow *flow)
{
	if (is_known(flow) || __ratelimit(&admissions))
		return true;
	if (__ratelimit(&probes))
		probe(flow);
	return false;
}

bool verve_neigh_limit_admits(const struct verve_dev *dev,
			      const struct verve_arrival *arrival)
{
	struct verve_flow flow = {};
	bool admitted;

	verve_arrival_origin(arrival, &flow.av);
	rcu_read_lock();
	/* Without a route, the connection manager resolves no neighbour. */
	admitted = !verve_flow_route(&flow, dev) || is_admitted(&flow);
	rcu_read_unlock();
	verve_flow_reset(&flow);
	return admitted;
}
