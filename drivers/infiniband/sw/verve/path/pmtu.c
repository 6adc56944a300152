// SPDX-License-Identifier: GPL-2.0-only
/*
 * Learned path MTUs, and how packets ignore them (pmtu.h)
 */
#include <linux/in.h>
#include <linux/ipv6.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/dst.h>
#include <net/gso.h>
#include <net/inet_sock.h>
#include <net/ip.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/route.h>
#include <net/sock.h>
#include "pmtu.h"

/*
 * Socket for packets of all namespaces and both families. It is never bound. It belongs
 * to the initial namespace, so packets may outlive their own.
 */
static struct socket *prober;

bool verve_pmtu_is_learned(const struct dst_entry *dst)
{
	/* A transform needs room in the packet, and lowers the MTU for that. */
	if (dst_xfrm(dst) || dst->lwtstate)
		return false;
	if (dst->ops->family == AF_INET6)
		return container_of(dst, struct rt6_info, dst)->rt6i_flags &
		       RTF_MODIFIED;
	return container_of(dst, struct rtable, dst)->rt_pmtu;
}

u32 verve_pmtu_of(const struct dst_entry *dst)
{
	u32 set = 0;

	if (!verve_pmtu_is_learned(dst))
		return dst_mtu(dst);
	/* The MTU metric of an IPv6 route is the learned value, not a configured one. */
	if (dst->ops->family == AF_INET)
		set = dst_metric_raw(dst, RTAX_MTU);
	return set ?: READ_ONCE(dst->dev->mtu);
}

static bool fits(const struct sk_buff *skb, u32 mtu)
{
	return skb_is_gso(skb) ? skb_gso_validate_network_len(skb, mtu) :
				 skb->len <= mtu;
}

struct sock *verve_pmtu_override(struct sk_buff *skb)
{
	if (likely(fits(skb, dst_mtu(skb_dst(skb)))) || skb->sk)
		return NULL;
	sock_hold(prober->sk);
	skb->sk = prober->sk;
	skb->destructor = sock_efree;
	return skb->sk;
}

int verve_pmtu_init(void)
{
	int err;

	err = sock_create_kern(&init_net, AF_INET6, SOCK_DGRAM, IPPROTO_UDP,
			       &prober);
	if (err)
		err = sock_create_kern(&init_net, AF_INET, SOCK_DGRAM,
				       IPPROTO_UDP, &prober);
	if (err)
		return err;
	inet_sk(prober->sk)->pmtudisc = IP_PMTUDISC_PROBE;
	if (prober->sk->sk_family == AF_INET6)
		inet6_sk(prober->sk)->pmtudisc = IPV6_PMTUDISC_PROBE;
	return 0;
}

void verve_pmtu_exit(void)
{
	sock_release(prober);
}
