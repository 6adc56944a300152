// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: The way of a packet that a device segments
 *
 * A packet for UDP segmentation (USO) is longer than the path MTU, and only the egress
 * device may segment it. Like a train, the packet has a socket on its way. Where it
 * leaves the stack, the socket's callback decides. Either the device segments the packet,
 * or the packet becomes a train right there. The ICRCs of the train are due, as for other
 * trains (tx_icrc.c).
 *
 * On its way, the packet has the GSO type SKB_GSO_SCTP, which means nothing with UDP.
 * VLANs and other netdevs in software take this type whole, and no NIC does. So any
 * attempt of the stack to segment the packet fails, and drops it: the packets would lack
 * their ICRCs. The same happens to a copy without a socket at the queue of a NIC. The
 * transport sends what was lost again in single packets. There may be a lasting reason
 * for the loss, so no such packets are sent for a while.
 */
#include <linux/netdevice.h>
#include <net/gso.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/sock.h>
#include "offload.h"

/* If such packets never arrive, one is lost in each pause. */
#define PAUSE	HZ

/* Destructor before a decision: the packet was dropped, or lost its socket on the way. */
static void undecided(struct sk_buff *skb)
{
	struct roce_offload_sender *sender = roce_offload_sender(skb->sk);

	roce_offload_count(skb->sk, unsettled, roce_offload_packets(skb));
	roce_offload_begin_pause(&sender->barred_until, PAUSE);
	roce_offload_let_go(skb);
}

/* Some drivers look at the start of the checksum before they tell their features. */
static void set_csum_start(struct sk_buff *skb)
{
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

void roce_offload_tx_uso(struct roce_offload_sender *sender,
			 struct sk_buff *skb)
{
	set_csum_start(skb);
	skb_shinfo(skb)->gso_type = ROCE_OFFLOAD_WAY_GSO;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	roce_offload_attach_socket(skb, &sender->inet.sk, undecided);
}

bool roce_offload_takes_segmented(struct roce_offload_sender *sender)
{
	return !roce_offload_is_pause(&sender->barred_until);
}

/* UDP segmentation always includes checksums; each begins with that of these fields. */
static void put_pseudo_sum(struct sk_buff *skb)
{
	u32 len = skb->len - skb_transport_offset(skb);
	struct udphdr *udp = udp_hdr(skb);

	if (ip_hdr(skb)->version == 6)
		udp->check = ~csum_ipv6_magic(&ipv6_hdr(skb)->saddr,
					      &ipv6_hdr(skb)->daddr, len,
					      IPPROTO_UDP, 0);
	else
		udp->check = ~csum_tcpudp_magic(ip_hdr(skb)->saddr,
						ip_hdr(skb)->daddr, len,
						IPPROTO_UDP, 0);
}

static bool has_plain_ip(const struct sk_buff *skb)
{
	return skb_network_header_len(skb) == (ip_hdr(skb)->version == 6 ?
					       sizeof(struct ipv6hdr) :
					       sizeof(struct iphdr));
}

/* Make a packet GSO of the kind that any device gets. */
static void become_udp_gso(struct sk_buff *skb)
{
	skb->destructor = roce_offload_due;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	skb->ip_summed = CHECKSUM_PARTIAL;
	set_csum_start(skb);
	put_pseudo_sum(skb);
}

static void be_undecided_again(struct sk_buff *skb)
{
	skb->destructor = undecided;
	skb_shinfo(skb)->gso_type = ROCE_OFFLOAD_WAY_GSO;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	udp_hdr(skb)->check = 0;
}

/*
 * Hand a packet to the device for UDP segmentation. The device must take it whole: the
 * stack would segment it without ICRCs. The stack decides by the features that it has
 * asked for before this callback. Clones on other ways must keep their GSO type.
 */
static bool offload(struct net_device *ndev, struct sk_buff *skb)
{
	const u32 needed = ROCE_OFFLOAD_TX_ICRC |
			   ROCE_OFFLOAD_TX_ICRC_SEGMENTED;
	u32 packets = roce_offload_packets(skb);
	netdev_features_t seen;

	if (!has_plain_ip(skb) || skb_unclone(skb, GFP_ATOMIC))
		return false;
	seen = netif_skb_features(skb);
	become_udp_gso(skb);
	if (netif_needs_gso(skb, seen & netif_skb_features(skb)) ||
	    !roce_offload_may_send(ndev, skb, needed)) {
		be_undecided_again(skb);
		return false;
	}
	roce_offload_count(skb->sk, uso_skbs, 1);
	roce_offload_count(skb->sk, uso_pkts, packets);
	roce_offload_count(skb->sk, device, packets);
	return true;
}

/* Does a packet stay as it is at this netdev? */
static bool stays(struct net_device *ndev, struct sk_buff *skb)
{
	if (roce_offload_passes_on(ndev))
		return !netif_needs_gso(skb, netif_skb_features(skb));
	return offload(ndev, skb);
}

static struct sk_buff *become_train(struct sk_buff *skb)
{
	struct sk_buff *train = roce_offload_segment(skb);

	if (!train) {
		kfree_skb(skb);
		return NULL;
	}
	roce_offload_count(skb->sk, uso_fallback, roce_offload_packets(skb));
	roce_offload_tx_icrc(roce_offload_sender(skb->sk), train);
	/* validate_xmit_skb_list() expects the last packet of the list in @prev. */
	train->prev = train;
	roce_offload_detach_socket(skb);
	consume_skb(skb);
	return train;
}

struct sk_buff *roce_offload_settle_segmented(struct net_device *ndev,
					      struct sk_buff *skb)
{
	if (skb->destructor != undecided || stays(ndev, skb))
		return skb;
	return become_train(skb);
}
