// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bypass: is there anything between two devices of this machine? (see bypass.h)
 */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/moduleparam.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <net/dst.h>
#include <net/neighbour.h>
#include <net/net_namespace.h>
#include <net/rtnetlink.h>
#include <net/sch_generic.h>
#include <net/xfrm.h>
#include "../device.h"
#include "bypass.h"
#include "net.h"
#include "pmtu.h"

static bool bypass = true;
module_param(bypass, bool, 0644);
MODULE_PARM_DESC(bypass,
		 "Copy between connected RC QPs of two devices of this machine without packets, where lo or a pair of veths is between them and nothing there acts on packets (default: Y)");

static bool is_veth(const struct net_device *ndev)
{
	return ndev->netdev_ops->ndo_get_peer_dev && ndev->rtnl_link_ops &&
	       !strcmp(ndev->rtnl_link_ops->kind, "veth");
}

static bool is_lo(const struct net_device *ndev)
{
	return ndev->flags & IFF_LOOPBACK;
}

bool verve_bypass_is_near(const struct verve_dev *dev, struct verve_flow *flow)
{
	struct dst_entry *dst;
	bool near = false;

	/* A QP that was never in RTR has no addresses. */
	if (!READ_ONCE(bypass) || !flow->av.ifindex)
		return false;
	rcu_read_lock();
	dst = flow->dst ?: verve_flow_route(flow, dev);
	if (dst)
		near = is_lo(dst->dev) || is_veth(dst->dev);
	rcu_read_unlock();
	return near;
}

/* The netdev by which packets sent by @out come in, or NULL. Context: RCU. */
static struct net_device *far_end(struct net_device *out)
{
	if (is_lo(out))
		return out;
	return is_veth(out) ? out->netdev_ops->ndo_get_peer_dev(out) : NULL;
}

/* A root that is no queue itself may have one queue for each CPU. */
static bool has_qdisc(const struct net_device *ndev)
{
	const struct netdev_queue *queue = netdev_get_tx_queue(ndev, 0);

	return !rcu_access_pointer(queue->qdisc) ||
	       rcu_access_pointer(queue->qdisc) !=
		       rcu_access_pointer(ndev->qdisc) ||
	       rcu_dereference(queue->qdisc)->enqueue;
}

/* Hooks of tc, BPF and netfilter at the netdev itself */
static bool has_hooks(const struct net_device *ndev)
{
#ifdef CONFIG_NET_XGRESS
	if (rcu_access_pointer(ndev->tcx_ingress) ||
	    rcu_access_pointer(ndev->tcx_egress))
		return true;
#elif defined(CONFIG_NET_CLS_ACT)
	if (rcu_access_pointer(ndev->miniq_ingress) ||
	    rcu_access_pointer(ndev->miniq_egress))
		return true;
#endif
#ifdef CONFIG_NETFILTER_INGRESS
	if (rcu_access_pointer(ndev->nf_hooks_ingress))
		return true;
#endif
#ifdef CONFIG_NETFILTER_EGRESS
	if (rcu_access_pointer(ndev->nf_hooks_egress))
		return true;
#endif
	return false;
}

/* Packet sockets, such as those of tcpdump, and others that receive frames */
static bool has_taps(const struct net_device *ndev)
{
	return dev_nit_active((struct net_device *)ndev) ||
	       !list_empty(&ndev->ptype_specific) ||
	       compat_net_has_taps(dev_net(ndev));
}

/*
 * Does a netdev take packets only from where a route leads back by it, whichever netdev
 * a flow is bound to? Packets on lo are not asked.
 */
static bool has_strict_filter(const struct net_device *ndev)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);

	return !is_lo(ndev) && in_dev && IN_DEV_RPFILTER(in_dev) == 1;
}

/* Does a netdev pass packets in both directions, and does nothing else with them? */
static bool is_clear(struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) &&
	       !netif_is_l3_slave(ndev) &&
	       !rcu_access_pointer(ndev->rx_handler) &&
	       !dev_xdp_prog_count(ndev) && !has_qdisc(ndev) &&
	       !has_hooks(ndev) && !has_taps(ndev) &&
	       !has_strict_filter(ndev);
}

#ifdef CONFIG_NETFILTER
/*
 * AppArmor has a hook in each namespace, for packets with a secmark. A packet gets one
 * from rules, which have hooks too.
 */
static bool is_for_secmark(const struct nf_hook_ops *ops)
{
	return ops->hook_ops_type == NF_HOOK_OP_UNDEFINED &&
	       ops->hooknum == NF_INET_POST_ROUTING &&
	       ops->priority == NF_IP_PRI_SELINUX_FIRST;
}

static unsigned int count_hooks(const struct nf_hook_entries *entries)
{
	return entries ? entries->num_hook_entries : 0;
}

/* A hook's owner may free what it registered, but seldom is there such a hook alone. */
static bool is_only_secmark(const struct nf_hook_entries *entries)
{
	return count_hooks(entries) == 1 &&
	       is_for_secmark(nf_hook_entries_get_hook_ops(entries)[0]);
}

/* The only hook of a namespace is Verve's own (hook.c). */
static bool is_unfiltered(const struct net *net, bool is_v6)
{
	struct nf_hook_entries __rcu * const *hooks =
		is_v6 ? net->nf.hooks_ipv6 : net->nf.hooks_ipv4;
	const struct nf_hook_entries *post_routing =
		rcu_dereference(hooks[NF_INET_POST_ROUTING]);

	return !rcu_access_pointer(hooks[NF_INET_PRE_ROUTING]) &&
	       count_hooks(rcu_dereference(hooks[NF_INET_LOCAL_IN])) == 1 &&
	       !rcu_access_pointer(hooks[NF_INET_LOCAL_OUT]) &&
	       (!post_routing || is_only_secmark(post_routing));
}
#else
static bool is_unfiltered(const struct net *net, bool is_v6)
{
	return true;
}
#endif

/* Do IPsec policies let all packets in? */
static bool is_open(const struct net *net)
{
#ifdef CONFIG_XFRM
	return !READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_IN]) &&
	       READ_ONCE(net->xfrm.policy_default[XFRM_POLICY_IN]) !=
		       XFRM_USERPOLICY_BLOCK;
#else
	return true;
#endif
}

static bool is_net_clear(const struct net *net, bool is_v6)
{
	return is_unfiltered(net, is_v6) && is_open(net);
}

/*
 * Is the neighbour resolved, and is it the other end? The use is noted, as a packet
 * would: the entry is confirmed or resolved anew. lo has no neighbours.
 */
static bool is_neighbour(const struct verve_flow *flow,
			 const struct net_device *in)
{
	char addr[MAX_ADDR_LEN];
	struct neighbour *neigh;
	bool is_valid;

	if (is_lo(in))
		return true;
	neigh = verve_flow_neighbour(flow);
	if (IS_ERR_OR_NULL(neigh))
		return false;
	is_valid = !neigh_event_send(neigh, NULL);
	neigh_ha_snapshot(addr, neigh, neigh->dev);
	neigh_release(neigh);
	return is_valid && ether_addr_equal_unaligned(addr, in->dev_addr);
}

/* Does @dev, in the namespace of @in, have the address? */
static bool is_owner(const struct verve_dev *dev, const struct net_device *in,
		     const struct in6_addr *addr)
{
	struct net_device *ndev = verve_ndev_rcu(dev);

	return ndev && net_eq(dev_net(ndev), dev_net(in)) &&
	       READ_ONCE(dev->port_active) &&
	       verve_owner_find(ndev, addr, ndev->ifindex);
}

/* Does the longest packet of a QP fit? */
static bool is_wide(const struct dst_entry *dst, const struct net_device *in,
		    u32 mtu)
{
	u32 len = VERVE_MAX_OVERHEAD + mtu;

	return verve_pmtu_allows(dst, len) && len <= READ_ONCE(in->mtu);
}

static bool are_ends_clear(struct net_device *out, struct net_device *in,
			   bool is_v6)
{
	if (!is_clear(out) || !is_net_clear(dev_net(out), is_v6))
		return false;
	return in == out ||
	       (is_clear(in) && is_net_clear(dev_net(in), is_v6));
}

/* Return: the netdev by which packets of the flow come in, or NULL. Context: RCU. */
static struct net_device *follow(const struct verve_dev *dev,
				 struct verve_flow *flow)
{
	struct dst_entry *dst = verve_flow_route(flow, dev);

	return dst && verve_route_is_plain(dst) ? far_end(dst->dev) : NULL;
}

/* Would packets of the flow reach @to by @in? Context: RCU. */
static bool reaches(const struct verve_flow *flow, struct net_device *in,
		    const struct verve_dev *to, u32 mtu)
{
	return is_wide(flow->dst, in, mtu) && is_neighbour(flow, in) &&
	       is_owner(to, in, &flow->av.daddr);
}

bool verve_bypass_leads(const struct verve_dev *dev, struct verve_flow *flow,
			const struct verve_dev *to, u32 mtu)
{
	struct net_device *in;
	bool leads;

	rcu_read_lock();
	in = follow(dev, flow);
	leads = in && are_ends_clear(flow->dst->dev, in, flow->av.is_v6) &&
		reaches(flow, in, to, mtu);
	rcu_read_unlock();
	return leads;
}

bool verve_bypass_returns(const struct verve_flow *flow,
			  const struct verve_dev *dev, struct verve_flow *back,
			  const struct verve_dev *to, u32 mtu)
{
	struct net_device *in;
	bool returns;

	rcu_read_lock();
	in = follow(dev, back);
	returns = in && in == flow->dst->dev &&
		  far_end(in) == back->dst->dev &&
		  reaches(back, in, to, mtu);
	rcu_read_unlock();
	return returns;
}
