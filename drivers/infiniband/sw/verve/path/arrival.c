// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrivals
 *
 * An arrival from the network is in the control block of an skb, whose data begins at
 * the payload; the IP header lies in front of that. An arrival from the other
 * QP of a pair is a struct verve_handover (loop.c).
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>
#include "../limits.h"
#include "loop.h"
#include "net.h"

static struct sk_buff *to_skb(const struct verve_arrival *arrival)
{
	BUILD_BUG_ON(sizeof(*arrival) > sizeof_field(struct sk_buff, cb));
	return container_of((char (*)[48])arrival, struct sk_buff, cb);
}

static bool is_loop(const struct verve_arrival *arrival)
{
	return arrival->pdu.flags & VERVE_PDU_LOOP;
}

u32 verve_arrival_packets(const struct verve_arrival *arrival)
{
	return is_loop(arrival) ? to_handover(arrival)->packets : 1;
}

/* The truesize of the first packet of a train covers the whole train. */
u32 verve_arrival_memory(const struct verve_arrival *arrival)
{
	return clamp_t(u32, to_skb(arrival)->truesize, VERVE_BACKLOG_LEAST,
		       VERVE_BACKLOG_MOST);
}

void verve_arrival_free(struct verve_arrival *arrival)
{
	napi_consume_skb(to_skb(arrival), 1);
}

int verve_arrival_copy(const struct verve_arrival *arrival, u32 offset,
		       struct verve_iter *to, u32 len)
{
	const struct sk_buff *skb = to_skb(arrival);
	void *buf;
	u32 got;

	if (is_loop(arrival))
		return verve_loop_copy(to_handover(arrival), to, len);
	if (likely(offset + len <= skb_headlen(skb)))
		return verve_iter_write(to, skb->data + offset, len);

	for (; len; len -= got, offset += got) {
		buf = verve_iter_next(to, len, &got);
		if (IS_ERR(buf))
			return PTR_ERR(buf);
		if (skb_copy_bits(skb, offset, buf, got))
			return -EINVAL;
	}
	return 0;
}

/* Do @len bytes of the payload, from @offset, lie at @addr? */
static bool lies_at(const struct sk_buff *skb, u32 offset, const void *addr,
		    u32 len)
{
	u32 at = skb_headlen(skb), end = offset + len;
	int i;

	if (offset < at)
		return false;
	for (i = 0; i < skb_shinfo(skb)->nr_frags && offset < end; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];
		u32 size = skb_frag_size(frag);

		if (offset < at + size) {
			if (skb_frag_address(frag) + (offset - at) != addr)
				return false;
			addr += at + size - offset;
			offset = at + size;
		}
		at += size;
	}
	return offset >= end;
}

bool verve_arrival_is_in_place(const struct verve_arrival *arrival,
			       const struct verve_iter *to, u32 len)
{
	/* The caller holds the region, so this copy of the iterator is not put. */
	struct verve_iter place = *to;
	u32 got, offset = 0;
	void *addr;

	for (; len; len -= got, offset += got) {
		addr = verve_iter_next(&place, len, &got);
		if (IS_ERR(addr) || !lies_at(to_skb(arrival), offset, addr, got))
			return false;
	}
	return true;
}

/* Are the first @len bytes of both payloads the same? */
static bool is_same_payload(const struct sk_buff *skb,
			    const struct sk_buff *other, u32 len)
{
	u8 here[64], there[sizeof(here)];
	u32 offset, n;

	for (offset = 0; offset < len; offset += n) {
		n = min_t(u32, len - offset, sizeof(here));
		if (skb_copy_bits(skb, offset, here, n) ||
		    skb_copy_bits(other, offset, there, n) ||
		    memcmp(here, there, n))
			return false;
	}
	return true;
}

bool verve_arrival_repeats(const struct verve_arrival *arrival,
			   const struct verve_arrival *other)
{
	const struct verve_pdu *pdu = &arrival->pdu, *was = &other->pdu;

	return verve_pdu_repeats(pdu, was) &&
	       is_same_payload(to_skb(arrival), to_skb(other), pdu->length);
}

bool verve_arrival_matches(const struct verve_arrival *arrival,
			   const struct verve_av *av)
{
	const struct sk_buff *skb;
	const struct iphdr *ip;
	bool is_v6;

	if (is_loop(arrival))
		return true;
	skb = to_skb(arrival);
	ip = ip_hdr(skb);
	is_v6 = ip->version == 6;
	if (is_v6 != av->is_v6)
		return false;
	if (is_v6)
		return ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &av->daddr) &&
		       ipv6_addr_equal(&ipv6_hdr(skb)->daddr, &av->saddr);
	return ip->saddr == av->daddr.s6_addr32[3] &&
	       ip->daddr == av->saddr.s6_addr32[3];
}

void verve_arrival_origin(const struct verve_arrival *arrival,
			  struct verve_av *av)
{
	const struct sk_buff *skb = to_skb(arrival);
	const struct iphdr *ip = ip_hdr(skb);

	av->ifindex = skb->skb_iif;
	av->is_v6 = ip->version == 6;
	if (av->is_v6) {
		av->saddr = ipv6_hdr(skb)->daddr;
		av->daddr = ipv6_hdr(skb)->saddr;
	} else {
		ipv6_addr_set_v4mapped(ip->daddr, &av->saddr);
		ipv6_addr_set_v4mapped(ip->saddr, &av->daddr);
	}
}

u16 verve_arrival_vlan(struct verve_dev *dev,
		       const struct verve_arrival *arrival)
{
	struct verve_av av;

	verve_arrival_origin(arrival, &av);
	return verve_owner_vlan(dev, &av.saddr, av.ifindex);
}

bool verve_arrival_is_multicast(const struct verve_arrival *arrival)
{
	const struct sk_buff *skb = to_skb(arrival);
	const struct iphdr *ip = ip_hdr(skb);

	if (ip->version == 6)
		return ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr);
	return ipv4_is_multicast(ip->daddr);
}

bool verve_arrival_grh(const struct verve_arrival *arrival, u8 grh[40])
{
	const struct sk_buff *skb = to_skb(arrival);
	const struct iphdr *ip = ip_hdr(skb);

	if (ip->version == 6) {
		memcpy(grh, ip, sizeof(struct ipv6hdr));
		return true;
	}
	memset(grh, 0, 20);
	memcpy(grh + 20, ip, sizeof(*ip));
	return false;
}
