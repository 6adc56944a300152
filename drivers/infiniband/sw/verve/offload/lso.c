// SPDX-License-Identifier: GPL-2.0-only
/*
 * LSO: the device segments messages (see lso.h)
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include "../limits.h"
#include "../path/net.h"
#include "../path/train.h"
#include "../wire/icrc.h"
#include "lso.h"

enum {
	/* BTH, RETH, immediate data: the most that an RC or UC packet with payload has */
	MAX_HDR_LEN = sizeof(struct verve_bth_hdr) +
		      sizeof(struct verve_reth_hdr) +
		      sizeof(struct verve_immdt_hdr),
};

/* -------------------------------------------------- build an LSO packet */

static u32 headers_len(const struct verve_flow *flow)
{
	return (flow->av.is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr)) +
	       sizeof(struct udphdr);
}

u32 verve_lso_packets(const struct verve_flow *flow,
		      const struct verve_burst *burst, u32 max_len)
{
	u32 headers = headers_len(flow) + MAX_HDR_LEN + VERVE_ICRC_LEN;
	u32 each = sizeof(struct verve_bth_hdr) + burst->mtu + VERVE_ICRC_LEN;

	if (headers + burst->mtu > dst_mtu(flow->dst) || max_len < headers)
		return 0;
	return (max_len - headers) / each;
}

/* Payload of @packets packets from @first on; the last of the message may be shorter */
static u32 payload_len(const struct verve_burst *burst, u32 first, u32 packets)
{
	return min(burst->length - first * burst->mtu, packets * burst->mtu);
}

/* Bytes of extended headers in packet @i */
static u32 extended_len(const struct verve_burst *burst, u32 i)
{
	struct verve_pdu pdu;

	verve_burst_pdu(burst, i, 1, 0, &pdu);
	return pdu.hdr_len - sizeof(struct verve_bth_hdr);
}

u32 verve_lso_bytes(const struct verve_burst *burst, u32 first, u32 packets)
{
	u32 each = sizeof(struct verve_bth_hdr) + VERVE_ICRC_LEN;
	u32 length = payload_len(burst, first, packets);
	u32 bytes = length + verve_wire_pad(length) + packets * each;

	/* Packets in between have no extended headers. */
	bytes += extended_len(burst, first);
	if (packets > 1)
		bytes += extended_len(burst, first + packets - 1);
	return bytes;
}

/* @packets: filled with the number attached. Return: 0 also when fragments run out */
static int attach_payload(struct sk_buff *skb, const struct verve_burst *burst,
			  u32 first, u32 *packets)
{
	u32 i, most = *packets;
	int err = 0;

	for (i = 0; i < most; i++) {
		u32 len = payload_len(burst, first + i, 1);

		/* The ICRC needs the last fragment. */
		if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS - 1)
			break;
		err = verve_packet_attach(skb, burst->payload, len,
					  verve_wire_pad(len));
		if (unlikely(err))
			break;
	}
	*packets = i;
	return err;
}

/* Add the headers in front of the payload, and room for the ICRC behind it. */
static int finish(struct sk_buff *skb, const struct verve_flow *flow,
		  const struct verve_burst *burst, u32 first, u32 packets)
{
	struct verve_pdu pdu;

	if (verve_packet_attach(skb, NULL, 0, VERVE_ICRC_LEN))
		return -ENOMEM;
	verve_burst_pdu(burst, first, packets,
			payload_len(burst, first, packets), &pdu);
	verve_wire_build(skb_push(skb, pdu.hdr_len), &pdu, burst->qpn);
	verve_packet_end(skb, flow);
	skb_shinfo(skb)->gso_size = burst->mtu;
	skb_shinfo(skb)->gso_segs = packets;
	return 0;
}

struct sk_buff *verve_lso_build(const struct verve_flow *flow,
				struct verve_burst *burst, u32 first,
				u32 *packets)
{
	struct sk_buff *skb;
	int err, failed;

	skb = verve_packet_begin(flow, headers_len(flow) + MAX_HDR_LEN);
	if (unlikely(!skb)) {
		*packets = 0;
		return ERR_PTR(-ENOMEM);
	}
	err = attach_payload(skb, burst, first, packets);
	if (unlikely(err && (!*packets || (err != -EAGAIN && err != -ENOBUFS))))
		goto free;
	failed = finish(skb, flow, burst, first, *packets);
	/* Memory of the packets behind these is absent. */
	if (unlikely(err == -EAGAIN))
		verve_burst_truncate(burst, first + *packets);
	if (likely(!failed))
		return skb;
	err = failed;
free:
	kfree_skb(skb);
	return ERR_PTR(err == -ENOBUFS ? -ENOMEM : err);
}

/* -------------------------------------------------- segment it in software */

/**
 * struct whole - an LSO packet and its parsed headers
 * @skb: the LSO packet
 * @burst: the burst that it stands for
 * @ip_len: bytes of the IP header
 * @bth: offset of the BTH
 */
struct whole {
	struct sk_buff *skb;
	struct verve_burst burst;
	u32 ip_len;
	u32 bth;
};

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

/* Parse an LSO packet. Return: false if the stack has reshaped it. */
static bool read_whole(struct sk_buff *skb, struct whole *whole)
{
	struct verve_burst *burst = &whole->burst;
	u32 flags, end;

	if (!is_intact(skb))
		return false;
	end = skb->len - VERVE_ICRC_LEN;
	*whole = (struct whole) {
		.skb = skb,
		.ip_len = skb_network_header_len(skb),
		.bth = skb_transport_offset(skb) + sizeof(struct udphdr),
		.burst.mtu = skb_shinfo(skb)->gso_size,
		.burst.packets = skb_shinfo(skb)->gso_segs,
	};
	if (end < whole->bth ||
	    verve_wire_parse(skb->data + whole->bth,
			     skb_headlen(skb) - whole->bth, end - whole->bth,
			     &burst->pdu, &burst->qpn) ||
	    !verve_opcode_kind(burst->pdu.opcode, &burst->kind))
		return false;
	flags = verve_opcode_flags(burst->pdu.opcode);
	burst->starts = flags & VERVE_OP_FIRST;
	burst->ends = flags & VERVE_OP_LAST;
	burst->length = burst->pdu.length;
	return burst->mtu && burst->length &&
	       DIV_ROUND_UP(burst->length, burst->mtu) == burst->packets;
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
static struct sk_buff *begin_packet(const struct whole *whole, u32 i, u32 room)
{
	u32 headroom = skb_headroom(whole->skb);
	struct sk_buff *skb;

	skb = alloc_skb(headroom + whole->bth + room, GFP_ATOMIC | __GFP_NOWARN);
	if (unlikely(!skb))
		return NULL;
	skb_reserve(skb, headroom);
	skb_put_data(skb, whole->skb->data, whole->bth);
	if (!i) {
		skb_copy_header(skb, whole->skb);
		skb_gso_reset(skb);
	}
	skb_set_network_header(skb, skb_network_offset(whole->skb));
	skb_set_transport_header(skb, skb_transport_offset(whole->skb));
	if (ip_hdr(skb)->version == 4)
		ip_hdr(skb)->id = htons(ntohs(ip_hdr(skb)->id) + i);
	return skb;
}

/* Return: packet @i, data at the IP header, zeros for the ICRC; NULL without memory */
static struct sk_buff *cut(const struct whole *whole, u32 i)
{
	const struct verve_burst *burst = &whole->burst;
	u32 len = payload_len(burst, i, 1), pad = verve_wire_pad(len);
	u32 from = whole->bth + burst->pdu.hdr_len + i * burst->mtu;
	struct verve_pdu pdu;
	struct sk_buff *skb;

	verve_burst_pdu(burst, i, 1, len, &pdu);
	skb = begin_packet(whole, i, pdu.hdr_len + len + pad + VERVE_ICRC_LEN);
	if (unlikely(!skb))
		return NULL;
	verve_wire_build(skb_put(skb, pdu.hdr_len), &pdu, burst->qpn);
	if (skb_copy_bits(whole->skb, from, skb_put(skb, len), len)) {
		kfree_skb(skb);
		return NULL;
	}
	skb_put_zero(skb, pad + VERVE_ICRC_LEN);
	__skb_pull(skb, skb_network_offset(skb));
	set_lengths(skb, skb->len);
	return skb;
}

struct sk_buff *verve_lso_segment(struct sk_buff *lso)
{
	struct verve_train train = {};
	struct whole whole;
	struct sk_buff *skb;
	u32 i;

	if (!read_whole(lso, &whole))
		return NULL;
	for (i = 0; i < whole.burst.packets; i++) {
		skb = cut(&whole, i);
		if (unlikely(!skb)) {
			kfree_skb(train.head);
			return NULL;
		}
		verve_train_couple(&train, skb);
	}
	verve_train_seal(&train);
	set_lengths(train.head, train.head->len);
	__skb_push(train.head, skb_network_offset(lso));
	return train.head;
}
