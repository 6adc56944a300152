// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netfilter hook that takes trains whole
 *
 * UDP splits a train before a tunnel socket sees it. The last LOCAL_IN hook sees the
 * train as it was sent, after the firewall, and saves the socket lookup for each
 * packet. The hook leaves every unusual packet to the socket, which handles them all.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/xfrm.h>
#include "../device.h"
#include "net.h"

/* Length of the IP header if UDP follows it directly, else 0 */
static u32 plain_ip_len(const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);
	u32 len = skb_network_header_len(skb);

	if (ip->version == 6)
		return ipv6_hdr(skb)->nexthdr == IPPROTO_UDP &&
		       len == sizeof(struct ipv6hdr) ? len : 0;
	return ip->protocol == IPPROTO_UDP && len == sizeof(*ip) ? len : 0;
}

/*
 * Is this a packet to port 4791 whose UDP checksum is absent or verified? Otherwise the
 * socket verifies the checksum.
 */
static bool is_roce(struct sk_buff *skb)
{
	u32 ip_len = plain_ip_len(skb);
	const struct udphdr *udp;

	if (!ip_len || !pskb_may_pull(skb, ip_len + sizeof(*udp)))
		return false;
	udp = udp_hdr(skb);
	return udp->dest == htons(VERVE_UDP_PORT) &&
	       (!udp->check || skb_csum_unnecessary(skb)) &&
	       ntohs(udp->len) == skb->len - ip_len;
}

static u32 headers_len(const struct sk_buff *skb)
{
	return skb_network_header_len(skb) + sizeof(struct udphdr);
}

/*
 * A copy of a train has its own head, but shares the packets behind it. A sniffer has
 * such a copy when the headers of the train were changed after it was cloned.
 */
static bool is_list_shared(const struct sk_buff *skb)
{
	const struct sk_buff *member;

	skb_walk_frags(skb, member) {
		if (skb_shared(member))
			return true;
	}
	return false;
}

/*
 * A single packet; or a train that is not shared, and whose first packet is exactly
 * the part outside the list.
 */
static bool is_intact(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);

	if (!skb_is_gso(skb))
		return !skb_has_frag_list(skb);
	return shinfo->gso_type & SKB_GSO_FRAGLIST && skb_has_frag_list(skb) &&
	       !skb_cloned(skb) && !is_list_shared(skb) &&
	       skb_pagelen(skb) == headers_len(skb) + shinfo->gso_size;
}

/* The first packet of a tracked connection must go on to the hook that confirms it. */
static bool is_confirmed(const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
	enum ip_conntrack_info info;
	struct nf_conn *ct = nf_ct_get(skb, &info);

	return !ct || nf_ct_is_confirmed(ct);
#else
	return true;
#endif
}

static bool is_allowed(struct sk_buff *skb)
{
	if (ip_hdr(skb)->version == 6)
		return xfrm6_policy_check(NULL, XFRM_POLICY_IN, skb);
	return xfrm4_policy_check(NULL, XFRM_POLICY_IN, skb);
}

/* Replace the train's length in the headers by that of the first packet. */
static void set_lengths(struct sk_buff *skb)
{
	u32 len = skb->len - skb_network_header_len(skb);

	udp_hdr(skb)->len = htons(len);
	if (ip_hdr(skb)->version == 6) {
		ipv6_hdr(skb)->payload_len = htons(len);
	} else {
		ip_hdr(skb)->tot_len = htons(skb->len);
		ip_send_check(ip_hdr(skb));
	}
}

/* Return: the packets behind the first, linked by skb->next */
static struct sk_buff *uncouple(struct sk_buff *head)
{
	struct sk_buff *rest = skb_shinfo(head)->frag_list;
	u32 behind = head->len - skb_pagelen(head);

	skb_shinfo(head)->frag_list = NULL;
	head->len -= behind;
	head->data_len -= behind;
	skb_gso_reset(head);
	set_lengths(head);
	return rest;
}

/* Do the headers of a packet lie in front of its data, as verve_train_add() left them? */
static bool is_member(const struct sk_buff *skb, u32 ip_len)
{
	int udp_len = sizeof(struct udphdr);

	return skb_transport_offset(skb) == -udp_len &&
	       skb_network_header_len(skb) == ip_len &&
	       skb_headroom(skb) >= ip_len + udp_len;
}

static void take_train(struct verve_batch *batch, struct sk_buff *head)
{
	u32 ip_len = skb_network_header_len(head);
	struct sk_buff *skb, *next, *rest;
	struct net_device *ndev = head->dev;

	rest = uncouple(head);
	__skb_pull(head, ip_len);
	verve_batch_take(batch, head);
	skb_list_walk_safe(rest, skb, next) {
		skb_mark_not_on_list(skb);
		skb->dev = ndev;
		if (likely(is_member(skb, ip_len))) {
			__skb_push(skb, sizeof(struct udphdr));
			verve_batch_take(batch, skb);
		} else {
			kfree_skb(skb);
		}
	}
}

/* ipvlan (l3s) passes packets for other namespaces through that of the lower netdev. */
static bool is_for(const struct sk_buff *skb, const struct net *net)
{
	const struct dst_entry *dst = skb_dst(skb);

	return net_eq(dev_net(skb->dev), net) &&
	       (!dst || net_eq(dev_net(dst->dev), net));
}

static unsigned int take(void *priv, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	struct verve_batch batch = { .vnet = priv };

	/* A verdict from user space resumes a packet with BH on, except at the socket. */
	if (unlikely(!in_softirq()))
		return NF_ACCEPT;
	if (!is_for(skb, state->net) || !is_roce(skb) || !is_intact(skb) ||
	    !is_confirmed(skb) || !is_allowed(skb))
		return NF_ACCEPT;

	if (skb_is_gso(skb)) {
		take_train(&batch, skb);
	} else {
		__skb_pull(skb, skb_network_header_len(skb));
		verve_batch_take(&batch, skb);
	}
	verve_batch_deliver(&batch);
	return NF_STOLEN;
}

int verve_net_hook(struct verve_net *vnet, struct net *net)
{
	vnet->hook = (struct nf_hook_ops) {
		.hook = take,
		.priv = vnet,
		.pf = NFPROTO_INET,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = INT_MAX,
	};
	return nf_register_net_hook(net, &vnet->hook);
}

void verve_net_unhook(struct verve_net *vnet, struct net *net)
{
	nf_unregister_net_hook(net, &vnet->hook);
}
