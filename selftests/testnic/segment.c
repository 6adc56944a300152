// SPDX-License-Identifier: GPL-2.0-only
/*
 * UDP segmentation of a NIC (NETIF_F_GSO_UDP_L4), only by the RFCs and without code of
 * the kernel. Packets of a given size get the headers of the first, their own lengths
 * and checksums, and identifications as set by a knob.
 */
#include <linux/etherdevice.h>
#include <linux/random.h>
#include <linux/string.h>
#include "nic.h"

enum {
	ETH		= 14,
	VLAN_TAG	= 4,
	IPV6		= 40,
	UDP		= 8,
	PROTO_UDP	= 17,
};

/* Layout of a frame */
struct layout {
	unsigned int ip;	/* offset */
	unsigned int udp;	/* offset */
	unsigned int headers;	/* bytes */
	bool is_v6;
};

static unsigned int get16(const u8 *at)
{
	return at[0] << 8 | at[1];
}

static void put16(u8 *at, unsigned int value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void find_layout(const u8 *frame, struct layout *layout)
{
	unsigned int ip = ETH;

	while (get16(frame + ip - 2) == 0x8100)
		ip += VLAN_TAG;
	layout->ip = ip;
	layout->is_v6 = frame[ip] >> 4 == 6;
	layout->udp = ip + (layout->is_v6 ? IPV6 : (frame[ip] & 15) * 4);
	layout->headers = layout->udp + UDP;
}

/* One's complement sum, not folded */
static u32 sum(u32 sum, const u8 *data, unsigned int len)
{
	for (; len > 1; data += 2, len -= 2)
		sum += get16(data);
	return len ? sum + (*data << 8) : sum;
}

static unsigned int fold(u32 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum ^ 0xffff;
}

static unsigned int next_id(const struct nic *nic, unsigned int id,
			    unsigned int i)
{
	switch (READ_ONCE(nic->ids)) {
	case 1:
		return id;
	case 2:
		return i ? get_random_u16() : id;
	default:
		return id + i;
	}
}

static void put_ip(const struct nic *nic, u8 *frame, const struct layout *layout,
		   unsigned int len, unsigned int i)
{
	u8 *ip = frame + layout->ip;

	if (layout->is_v6) {
		put16(ip + 4, len - layout->udp);
		return;
	}
	put16(ip + 2, len - layout->ip);
	put16(ip + 4, next_id(nic, get16(ip + 4), i));
	put16(ip + 10, 0);
	put16(ip + 10, fold(sum(0, ip, layout->udp - layout->ip)));
}

/* The checksum covers the ICRC. */
static void put_checksum(u8 *frame, const struct layout *layout, unsigned int len)
{
	unsigned int udp_len = len - layout->udp, check;
	unsigned int addrs = layout->is_v6 ? 32 : 8;
	u8 *udp = frame + layout->udp;

	put16(udp + 6, 0);
	/* Source and destination address are adjacent in both versions of IP. */
	check = fold(sum(PROTO_UDP + udp_len, udp - addrs, addrs + udp_len));
	put16(udp + 6, check ?: 0xffff);
}

/* Return: NULL without memory */
static struct sk_buff *make(const struct nic *nic, const struct sk_buff *whole,
			    const struct layout *layout, unsigned int from,
			    unsigned int len, unsigned int i)
{
	unsigned int headers = layout->headers;
	struct sk_buff *frame;

	frame = alloc_skb(NET_SKB_PAD + NET_IP_ALIGN + headers + len,
			  GFP_ATOMIC);
	if (!frame)
		return NULL;
	skb_reserve(frame, NET_SKB_PAD + NET_IP_ALIGN);
	skb_put_data(frame, whole->data, headers);
	skb_put_data(frame, whole->data + from, len);
	put_ip(nic, frame->data, layout, headers + len, i);
	put16(frame->data + layout->udp + 4, UDP + len);
	return frame;
}

/* @is_bad: the ICRC is to be wrong */
static void finish(struct nic *nic, struct sk_buff *frame,
		   const struct layout *layout, bool is_due, bool is_bad)
{
	if (is_bad)
		atomic_inc(&nic->corrupt);
	if (is_due) {
		atomic_inc(&nic->cut);
		nic_put_icrc(nic, frame);
	}
	put_checksum(frame->data, layout, frame->len);
	nic->ndev->stats.tx_packets++;
	nic->ndev->stats.tx_bytes += frame->len;
	nic_send_frame(nic, frame);
}

void nic_segment(struct nic *nic, const struct sk_buff *skb, bool is_due)
{
	unsigned int size = skb_shinfo(skb)->gso_size, from, i = 0;
	struct sk_buff *whole = nic_read(skb), *frame;
	struct layout layout;
	bool is_bad;

	if (!whole)
		return;
	is_bad = is_due && nic_take_one(&nic->miscut);
	/* USO always includes the checksums. */
	if (skb->ip_summed != CHECKSUM_PARTIAL ||
	    skb_shinfo(skb)->gso_type != SKB_GSO_UDP_L4)
		atomic_inc(&nic->unable);
	atomic_inc(&nic->segmented);
	find_layout(whole->data, &layout);
	for (from = layout.headers; from < whole->len; from += size) {
		unsigned int len = min(size, whole->len - from);

		frame = make(nic, whole, &layout, from, len, i++);
		if (!frame)
			break;
		finish(nic, frame, &layout, is_due, is_bad);
	}
	kfree_skb(whole);
}
