// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Trains made by GRO
 *
 * Packets from another machine arrive one by one. Drivers with NAPI offer the packets
 * of one poll to GRO, which calls the functions below. They couple the packets of a
 * flow into a train, in the form that trains have on transmit (train.h): each packet
 * keeps its headers. `ethtool -K DEV gro off` switches this off, as for all protocols.
 *
 * GRO offers every packet to port 4791, also those that will be forwarded to other
 * hosts. Only packets for an address of this namespace are coupled. The stack may still
 * have to uncouple a train: for a sniffer, for connection tracking, or for a redirect.
 * The packets must then be those that arrived, or their ICRCs are wrong.
 *
 * The kernel restores the headers of each packet, with three exceptions. It counts IPv4
 * identifications up from that of the first packet, or leaves all as they are. It
 * copies the checksum state and the extensions of the first packet to all. It drops
 * sockets. So a packet is coupled only if none of this changes it.
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/gro.h>
#include <net/sock.h>
#include "../limits.h"
#include "net.h"
#include "train.h"

static u32 ip_len(const struct sock *sk)
{
	return sk->sk_family == AF_INET6 ? sizeof(struct ipv6hdr) :
					   sizeof(struct iphdr);
}

/* Offset from skb->data. A VLAN tag that is still in the packet comes first. */
static u32 ip_offset(const struct sk_buff *skb)
{
	return eth_type_vlan(skb->protocol) ? VLAN_HLEN : 0;
}

/* The IP header must be linear. */
static void *ip_header(const struct sk_buff *skb)
{
	return skb->data + ip_offset(skb);
}

static struct udphdr *udp_header(const struct sock *sk,
				 const struct sk_buff *skb)
{
	return ip_header(skb) + ip_len(sk);
}

/* Does the packet have a socket, extensions or a clone, which coupling would break? */
static bool is_bound(const struct sk_buff *skb)
{
	return skb->sk || skb_has_extensions((struct sk_buff *)skb) ||
	       skb_cloned(skb);
}

/* Is the BTH right behind IP and UDP headers without options? Makes these linear. */
static bool has_plain_headers(const struct sock *sk, struct sk_buff *skb)
{
	return ip_offset(skb) + ip_len(sk) + sizeof(struct udphdr) ==
		       skb_gro_offset(skb) &&
	       pskb_may_pull(skb, skb_gro_offset(skb));
}

/*
 * Can the packet be part of a train? Makes its headers linear. CHECKSUM_PARTIAL is
 * excluded; otherwise GRO has verified the UDP checksum, or there is none.
 */
static bool may_couple(const struct sock *sk, struct sk_buff *skb)
{
	return !NAPI_GRO_CB(skb)->flush && !skb_is_gso(skb) && !is_bound(skb) &&
	       skb->ip_summed != CHECKSUM_PARTIAL && has_plain_headers(sk, skb) &&
	       ntohs(udp_header(sk, skb)->len) ==
		       skb_gro_len(skb) + sizeof(struct udphdr);
}

/* Is the destination of the packet an address of this namespace? */
static bool is_for_us(const struct sock *sk, const struct sk_buff *skb)
{
	struct net *net = dev_net(skb->dev);
	const struct ipv6hdr *v6 = ip_header(skb);
	const struct iphdr *v4 = ip_header(skb);

	if (sk->sk_family != AF_INET6)
		return __ip_dev_find(net, v4->daddr, false);
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_chk_addr(net, &v6->daddr, NULL, 0);
#else
	return false;
#endif
}

static bool is_full(const struct sk_buff *head, const struct sk_buff *skb)
{
	return NAPI_GRO_CB(head)->count == VERVE_BUDGET_PACKETS ||
	       head->len + skb_gro_len(skb) > U16_MAX;
}

/* Is the packet too long to follow the first? DNAT may forward the train. */
static bool is_longer(const struct sk_buff *head, const struct sk_buff *skb)
{
	return skb_gro_len(skb) > skb_shinfo(head)->gso_size + VERVE_MAX_EXCESS;
}

/* Do all packets of a train have the same identification? False for a single packet. */
static bool is_id_fixed(const struct sk_buff *head)
{
	const struct sk_buff *second = skb_shinfo(head)->frag_list;
	const struct iphdr *ip = ip_header(head);

	return second && ip->id == ip_hdr(second)->id;
}

/* A constant identification is valid only with DF, as the packet is never fragmented. */
static bool is_next_id(const struct sk_buff *head, const struct sk_buff *skb)
{
	const struct iphdr *first = ip_header(head), *ip = ip_header(skb);
	u16 ahead = ntohs(ip->id) - ntohs(first->id);
	u16 count = NAPI_GRO_CB(head)->count;

	if (!ahead)
		return ip->frag_off & htons(IP_DF) &&
		       (count == 1 || is_id_fixed(head));
	return ahead == count && !is_id_fixed(head);
}

static bool is_next_v4(const struct sk_buff *head, const struct sk_buff *skb)
{
	const struct iphdr *first = ip_header(head), *ip = ip_header(skb);

	return ip->tos == first->tos && ip->ttl == first->ttl &&
	       ip->frag_off == first->frag_off && is_next_id(head, skb);
}

/* GRO has compared the rest of the flow label. */
static bool is_next_v6(const struct sk_buff *head, const struct sk_buff *skb)
{
	const struct ipv6hdr *first = ip_header(head), *ip = ip_header(skb);

	return ip->priority == first->priority &&
	       ip->flow_lbl[0] == first->flow_lbl[0] &&
	       ip->hop_limit == first->hop_limit;
}

/*
 * Can @skb continue the train? GRO has found both to be of one flow: MACs, VLAN,
 * addresses, ports, and with or without a checksum.
 */
static bool is_next(const struct sock *sk, const struct sk_buff *head,
		    const struct sk_buff *skb)
{
	if (skb->ip_summed != head->ip_summed ||
	    skb->csum_level != head->csum_level)
		return false;
	return sk->sk_family == AF_INET6 ? is_next_v6(head, skb) :
					   is_next_v4(head, skb);
}

static void couple(const struct sock *sk, struct sk_buff *head,
		   struct sk_buff *skb)
{
	struct napi_gro_cb *train = NAPI_GRO_CB(head);

	/* GRO has not set the network header of a packet behind a VLAN tag. */
	skb_set_network_header(skb, ip_offset(skb));
	if (train->last == head) {
		skb_shinfo(head)->frag_list = skb;
		/* Saved for verve_gro_complete(); GRO has no more use for csum. */
		train->csum = (__force __wsum)udp_header(sk, head)->check;
	} else {
		train->last->next = skb;
	}
	skb_pull(skb, skb_gro_offset(skb));
	train->last = skb;
	train->count++;
	head->len += skb->len;
	head->data_len += skb->len;
	head->truesize += skb->truesize;
	NAPI_GRO_CB(skb)->same_flow = 1;
}

/* The train of the packet's flow, or NULL; GRO has marked it. */
static struct sk_buff *find_train(struct list_head *held)
{
	struct sk_buff *skb;

	list_for_each_entry(skb, held, list) {
		if (NAPI_GRO_CB(skb)->same_flow)
			return skb;
	}
	return NULL;
}

static bool has_path_v4(const struct sk_buff *head, const struct sk_buff *skb)
{
	const struct iphdr *first = ip_header(head), *ip = ip_header(skb);

	return first->version == 4 && first->ihl == 5 && first->protocol == IPPROTO_UDP &&
	       first->saddr == ip->saddr && first->daddr == ip->daddr;
}

static bool has_path_v6(const struct sk_buff *head, const struct sk_buff *skb)
{
	const struct ipv6hdr *first = ip_header(head), *ip = ip_header(skb);

	return first->version == 6 && first->nexthdr == IPPROTO_UDP &&
	       ipv6_addr_equal(&first->saddr, &ip->saddr) &&
	       ipv6_addr_equal(&first->daddr, &ip->daddr);
}

/* Are addresses and ports those of the held packet? GRO has made its headers linear. */
static bool has_path(const struct sock *sk, const struct sk_buff *head,
		     const struct sk_buff *skb)
{
	const struct udphdr *first = udp_header(sk, head), *udp = udp_header(sk, skb);

	if (head->protocol != skb->protocol)
		return false;
	return (sk->sk_family == AF_INET6 ? has_path_v6(head, skb) :
					    has_path_v4(head, skb)) &&
	       first->source == udp->source && first->dest == udp->dest;
}

/*
 * The train that the packet would overtake, or NULL. A sender whose NIC segments for it
 * sends packets of one flow with and without a UDP checksum. GRO takes these for two
 * flows, and may deliver the later packets first.
 */
static struct sk_buff *find_overtaken(const struct sock *sk, struct list_head *held,
				      struct sk_buff *skb)
{
	struct sk_buff *head;

	if (!has_plain_headers(sk, skb))
		return NULL;
	list_for_each_entry(head, held, list) {
		if (has_path(sk, head, skb))
			return head;
	}
	return NULL;
}

struct sk_buff *verve_gro_receive(struct sock *sk, struct list_head *held,
				  struct sk_buff *skb)
{
	struct sk_buff *head = find_train(held);
	struct sk_buff *first = head ?: find_overtaken(sk, held, skb);

	/* A held packet has passed is_for_us() already. */
	if (!may_couple(sk, skb) || (!head && !is_for_us(sk, skb))) {
		NAPI_GRO_CB(skb)->flush = 1;
		return first;
	}
	if (!head || is_full(head, skb) || is_longer(head, skb) || !is_next(sk, head, skb))
		return first;
	couple(sk, head, skb);
	return NULL;
}

int verve_gro_complete(struct sock *sk, struct sk_buff *skb, int offset)
{
	struct udphdr *udp = (void *)(skb->data + offset - sizeof(*udp));
	struct skb_shared_info *shinfo = skb_shinfo(skb);

	/* UDP has replaced the checksum by that of the pseudo header. */
	udp->check = (__force __sum16)NAPI_GRO_CB(skb)->csum;
	/* UDP sets this for tunnels, and Verve is none. */
	skb->encapsulation = 0;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	shinfo->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	/* Despite its name, the flag keeps identifications constant for all protocols. */
	if (sk->sk_family != AF_INET6 && is_id_fixed(skb))
		shinfo->gso_type |= SKB_GSO_TCP_FIXEDID;
	shinfo->gso_segs = NAPI_GRO_CB(skb)->count;
	return 0;
}
