// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segmentation in software (see segment.h)
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>
#include "../limits.h"
#include "../path/train.h"
#include "segment.h"

/* Are the headers from IP to BTH as they were built? */
static bool is_intact(const struct sk_buff *skb)
{
	u32 ip_len = ip_hdr(skb)->version == 6 ? sizeof(struct ipv6hdr) :
						 sizeof(struct iphdr);
	u32 udp = skb_transport_offset(skb);

	return skb_network_offset(skb) >= 0 &&
	       skb_network_header_len(skb) == ip_len &&
	       udp + sizeof(struct udphdr) <= skb_headlen(skb) &&
	       udp_hdr(skb)->dest == htons(VERVE_UDP_PORT) &&
	       ntohs(udp_hdr(skb)->len) == skb->len - udp;
}

static u32 bth_offset(const struct sk_buff *skb)
{
	return skb_transport_offset(skb) + sizeof(struct udphdr);
}

/* Set the lengths in the headers of a packet, or of a train's first packet. */
static void set_lengths(struct sk_buff *skb, u32 len)
{
	u32 udp_len = len - skb_network_header_len(skb);
	struct iphdr *ip = ip_hdr(skb);

	udp_hdr(skb)->len = htons(udp_len);
	if (ip->version == 6) {
		ipv6_hdr(skb)->payload_len = htons(udp_len);
	} else {
		ip->tot_len = htons(len);
		ip_send_check(ip);
	}
}

/* Begin packet @i with a copy of all headers in front of the BTH. */
static struct sk_buff *begin_packet(const struct sk_buff *whole, u32 i, u32 room)
{
	u32 headroom = skb_headroom(whole), bth = bth_offset(whole);
	struct sk_buff *skb;

	skb = alloc_skb(headroom + bth + room, GFP_ATOMIC | __GFP_NOWARN);
	if (unlikely(!skb))
		return NULL;
	skb_reserve(skb, headroom);
	skb_put_data(skb, whole->data, bth);
	if (!i) {
		skb_copy_header(skb, whole);
		skb_gso_reset(skb);
	}
	skb_set_network_header(skb, skb_network_offset(whole));
	skb_set_transport_header(skb, skb_transport_offset(whole));
	if (ip_hdr(skb)->version == 4)
		ip_hdr(skb)->id = htons(ntohs(ip_hdr(skb)->id) + i);
	return skb;
}

/* Add a packet that is complete but for its lengths. */
static void add_packet(struct verve_train *train, struct sk_buff *skb)
{
	__skb_pull(skb, skb_network_offset(skb));
	set_lengths(skb, skb->len);
	verve_train_couple(train, skb);
}

static struct sk_buff *finish_train(struct verve_train *train,
				    const struct sk_buff *whole)
{
	verve_train_seal(train);
	set_lengths(train->head, train->head->len);
	__skb_push(train->head, skb_network_offset(whole));
	return train->head;
}

/* Return: packet @i, whose bytes begin at @from; NULL without memory */
static struct sk_buff *cut(const struct sk_buff *whole, u32 from, u32 i)
{
	u32 len = min_t(u32, whole->len - from, skb_shinfo(whole)->gso_size);
	struct sk_buff *skb = begin_packet(whole, i, len);

	if (unlikely(!skb))
		return NULL;
	if (skb_copy_bits(whole, from, skb_put(skb, len), len)) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

struct sk_buff *verve_segment(struct sk_buff *whole)
{
	u32 from, i = 0, size = skb_shinfo(whole)->gso_size;
	struct verve_train train = {};
	struct sk_buff *skb;

	if (!is_intact(whole) || !size)
		return NULL;
	for (from = bth_offset(whole); from < whole->len; from += size) {
		skb = cut(whole, from, i++);
		if (unlikely(!skb)) {
			kfree_skb(train.head);
			return NULL;
		}
		add_packet(&train, skb);
	}
	return finish_train(&train, whole);
}
