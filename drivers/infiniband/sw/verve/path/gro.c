// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trains made on arrival: GRO
 *
 * What the NIC of another machine sent comes in packet by packet. Drivers with
 * NAPI offer what one poll brought to GRO, and those of a flow are coupled here,
 * in the form that trains have which never were uncoupled (train.h): each packet
 * keeps its headers. Switched off, as for all protocols, by `ethtool -K DEV gro off`.
 *
 * DOC: What may be coupled
 *
 * GRO offers all that goes to port 4791, also what is for other hosts and will be
 * forwarded. Only what is for an address of this namespace is coupled. Of that, too,
 * a train may have to be uncoupled, because somebody sniffs, tracks connections, or
 * redirects it. Then the packets must be those that came in, or their ICRCs are wrong.
 * The kernel gives each packet of a train the headers that it had, with three
 * exceptions: IPv4 identifications are counted up from the first one's, or all left
 * as they are; the state of checksums and the extensions are those of the first; and
 * sockets are gone. So only packets are coupled for which that is no change.
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

static u32 ip_len(const struct sock *sk)
{
	return sk->sk_family == AF_INET6 ? sizeof(struct ipv6hdr) :
					   sizeof(struct iphdr);
}

/* From the data on. The tag of a VLAN may be in the packet; then it comes first. */
static u32 ip_offset(const struct sk_buff *skb)
{
	return eth_type_vlan(skb->protocol) ? VLAN_HLEN : 0;
}

/* Of a packet whose headers are linear */
static void *ip_header(const struct sk_buff *skb)
{
	return skb->data + ip_offset(skb);
}

static struct udphdr *udp_header(const struct sock *sk,
				 const struct sk_buff *skb)
{
	return ip_header(skb) + ip_len(sk);
}

/* Is there something that belongs to it alone, or that others look at? */
static bool is_bound(const struct sk_buff *skb)
{
	return skb->sk || skb_has_extensions((struct sk_buff *)skb) ||
	       skb_cloned(skb);
}

/* Nothing but IP and UDP is in front of the BTH. */
static bool is_plain(const struct sock *sk, const struct sk_buff *skb)
{
	return ip_offset(skb) + ip_len(sk) + sizeof(struct udphdr) ==
	       skb_gro_offset(skb);
}

/*
 * Could the packet be part of a train? Its headers are to be linear. Its UDP checksum
 * has been verified, or there is none; one that is still to be made is not wanted.
 */
static bool may_couple(const struct sock *sk, struct sk_buff *skb)
{
	return !NAPI_GRO_CB(skb)->flush && !skb_is_gso(skb) && !is_bound(skb) &&
	       skb->ip_summed != CHECKSUM_PARTIAL && is_plain(sk, skb) &&
	       pskb_may_pull(skb, skb_gro_offset(skb)) &&
	       ntohs(udp_header(sk, skb)->len) ==
		       skb_gro_len(skb) + sizeof(struct udphdr);
}

/* Is its destination an address of this namespace? */
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

/* Have all packets of a train the same identification? Not of a single one. */
static bool is_id_fixed(const struct sk_buff *head)
{
	const struct sk_buff *second = skb_shinfo(head)->frag_list;
	const struct iphdr *ip = ip_header(head);

	return second && ip->id == ip_hdr(second)->id;
}

/* An identification that stays the same is allowed to those that nobody fragments. */
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

/* Flow labels are compared by GRO. */
static bool is_next_v6(const struct sk_buff *head, const struct sk_buff *skb)
{
	const struct ipv6hdr *first = ip_header(head), *ip = ip_header(skb);

	return ip->priority == first->priority &&
	       ip->flow_lbl[0] == first->flow_lbl[0] &&
	       ip->hop_limit == first->hop_limit;
}

/* Both are of one flow: MACs, VLAN, addresses, ports, and with a checksum or without. */
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

	/* Behind a VLAN's tag, the kernel has not told where IP begins. */
	skb_set_network_header(skb, ip_offset(skb));
	if (train->last == head) {
		skb_shinfo(head)->frag_list = skb;
		/* See verve_gro_complete(); nobody else needs the field any more. */
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

/* The train that is being made of the same flow's packets, or NULL */
static struct sk_buff *find_train(struct list_head *held)
{
	struct sk_buff *skb;

	list_for_each_entry(skb, held, list) {
		if (NAPI_GRO_CB(skb)->same_flow)
			return skb;
	}
	return NULL;
}

struct sk_buff *verve_gro_receive(struct sock *sk, struct list_head *held,
				  struct sk_buff *skb)
{
	struct sk_buff *head = find_train(held);

	/* What is held was found to be for us. */
	if (!may_couple(sk, skb) || (!head && !is_for_us(sk, skb))) {
		NAPI_GRO_CB(skb)->flush = 1;
		return head;
	}
	if (!head || is_full(head, skb) || !is_next(sk, head, skb))
		return head;
	couple(sk, head, skb);
	return NULL;
}

int verve_gro_complete(struct sock *sk, struct sk_buff *skb, int offset)
{
	struct udphdr *udp = (void *)(skb->data + offset - sizeof(*udp));
	struct skb_shared_info *shinfo = skb_shinfo(skb);

	/* UDP has put the checksum of the pseudo header there. */
	udp->check = (__force __sum16)NAPI_GRO_CB(skb)->csum;
	/* No tunnel, as UDP thinks that has called. */
	skb->encapsulation = 0;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	shinfo->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	/* What segmentation is not to count up, it calls so for all protocols. */
	if (sk->sk_family != AF_INET6 && is_id_fixed(skb))
		shinfo->gso_type |= SKB_GSO_TCP_FIXEDID;
	shinfo->gso_segs = NAPI_GRO_CB(skb)->count;
	return 0;
}
