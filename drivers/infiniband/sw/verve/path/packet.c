// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets: one PDU in UDP in IP (IBTA vol. 1, Annex A17.3 and A17.4)
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/local_lock.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/route.h>
#include "../device.h"
#include "../wire/icrc.h"
#include "net.h"
#include "pmtu.h"

static bool is_group(const struct verve_av *av)
{
	if (av->is_v6)
		return ipv6_addr_is_multicast(&av->daddr);
	return ipv4_is_multicast(av->daddr.s6_addr32[3]);
}

/* A multicast packet stays within the subnet unless the program set a hop limit. */
static u8 hop_limit(const struct verve_av *av)
{
	if (likely(av->hop_limit))
		return av->hop_limit;
	return is_group(av) ? 1 : IPDEFTTL;
}

/* @len: from the UDP header to the end of the packet */
static void put_v4(struct iphdr *ip, const struct verve_flow *flow, u32 len)
{
	const struct verve_av *av = &flow->av;

	*ip = (struct iphdr) {
		.version = IPVERSION,
		.ihl = sizeof(*ip) / 4,
		.tos = av->traffic_class,
		.tot_len = htons(sizeof(*ip) + len),
		.id = htons(flow->ip_id),
		.frag_off = htons(IP_DF),
		.ttl = hop_limit(av),
		.protocol = IPPROTO_UDP,
		.saddr = av->saddr.s6_addr32[3],
		.daddr = av->daddr.s6_addr32[3],
	};
	/* For members of a train: ip_local_out() sets that of the first packet anew. */
	ip_send_check(ip);
}

static void put_v6(struct ipv6hdr *ip, const struct verve_flow *flow, u32 len)
{
	const struct verve_av *av = &flow->av;

	ip6_flow_hdr(ip, av->traffic_class, htonl(av->flow_label));
	ip->payload_len = htons(len);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = hop_limit(av);
	ip->saddr = av->saddr;
	ip->daddr = av->daddr;
}

static bool is_same_v4(const struct iphdr *ip, const struct verve_av *av)
{
	return ip->saddr == av->saddr.s6_addr32[3] &&
	       ip->daddr == av->daddr.s6_addr32[3] &&
	       ip->tos == av->traffic_class && ip->ttl == hop_limit(av);
}

static bool is_same_v6(const struct ipv6hdr *ip, const struct verve_av *av)
{
	return ipv6_addr_equal(&ip->saddr, &av->saddr) &&
	       ipv6_addr_equal(&ip->daddr, &av->daddr) &&
	       ip6_flowinfo(ip) == ip6_make_flowinfo(av->traffic_class,
						     htonl(av->flow_label)) &&
	       ip->hop_limit == hop_limit(av);
}

bool verve_packet_is_of(const struct sk_buff *skb, const struct verve_flow *flow)
{
	const struct verve_av *av = &flow->av;

	if (skb_dst(skb) != flow->dst ||
	    udp_hdr(skb)->source != htons(av->sport) ||
	    skb->priority != verve_flow_priority(flow))
		return false;
	return av->is_v6 ? is_same_v6(ipv6_hdr(skb), av) :
			   is_same_v4(ip_hdr(skb), av);
}

static void put_udp(struct udphdr *udp, const struct verve_av *av, u32 len)
{
	udp->source = htons(av->sport);
	udp->dest = htons(VERVE_UDP_PORT);
	udp->len = htons(len);
	/* The ICRC covers all that a UDP checksum would, and more (A17.4.3). */
	udp->check = 0;
}

/* Compute the ICRC of a packet that is complete otherwise, and append it. */
static void put_icrc(struct sk_buff *skb, bool is_v6)
{
	const u8 *bth = skb_transport_header(skb) + sizeof(struct udphdr);
	const u8 *rest = bth + sizeof(struct verve_bth_hdr);
	__le32 icrc;
	u32 crc;

	crc = is_v6 ? verve_icrc_start_v6(ipv6_hdr(skb), udp_hdr(skb), bth) :
		      verve_icrc_start_v4(ip_hdr(skb), udp_hdr(skb), bth);
	crc = verve_icrc_update(crc, rest, skb_tail_pointer(skb) - rest);
	icrc = verve_icrc_end(crc);
	skb_put_data(skb, &icrc, sizeof(icrc));
}

/*
 * A per-CPU ring of memory pieces that packets are cut from, at half the cost of
 * kmalloc(). A piece is used again when all its packets are freed. It is not cleared
 * then, as new memory is by default, and may still be in the CPU's cache. The ring is
 * long enough for the packets on their way through the stack. BH is off, and the lock is
 * held as well: with PREEMPT_RT, BH off does not keep other tasks from the CPU.
 */
enum { PIECES = 16 };

struct pieces {
	local_lock_t bh_lock;
	struct page_frag piece[PIECES];
	unsigned int current_piece;
};

static DEFINE_PER_CPU(struct pieces, pieces) = {
	.bh_lock = INIT_LOCAL_LOCK(bh_lock),
};

static bool has_room(const struct page_frag *piece, u32 size, u32 align)
{
	return piece->page && ALIGN(piece->offset, align) + size <= piece->size;
}

static void *cut_fragment(struct pieces *ours, u32 size, u32 align)
{
	struct page_frag *piece = &ours->piece[ours->current_piece];
	void *data;

	if (!has_room(piece, size, align)) {
		ours->current_piece = (ours->current_piece + 1) % PIECES;
		piece = &ours->piece[ours->current_piece];
		/* The refill may fall back to a single page, which may be too small. */
		if (piece->page && piece->size < size + align) {
			put_page(piece->page);
			piece->page = NULL;
		}
		if (!skb_page_frag_refill(size + align, piece,
					  GFP_ATOMIC | __GFP_NOWARN) ||
		    !has_room(piece, size, align))
			return NULL;
	}
	piece->offset = ALIGN(piece->offset, align);
	data = page_address(piece->page) + piece->offset;
	piece->offset += size;
	get_page(piece->page);
	return data;
}

static void *alloc_fragment(u32 size, u32 align)
{
	void *data;

	local_lock_nested_bh(&pieces.bh_lock);
	data = cut_fragment(this_cpu_ptr(&pieces), size, align);
	local_unlock_nested_bh(&pieces.bh_lock);
	return data;
}

void verve_packet_exit(void)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		struct pieces *theirs = per_cpu_ptr(&pieces, cpu);

		for (i = 0; i < PIECES; i++)
			if (theirs->piece[i].page)
				put_page(theirs->piece[i].page);
	}
}

static struct sk_buff *alloc_buffer(u32 len)
{
	u32 size = SKB_DATA_ALIGN(len) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	void *data = alloc_fragment(size, SMP_CACHE_BYTES);
	struct sk_buff *skb;

	if (unlikely(!data))
		return alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);
	skb = napi_build_skb(data, size);
	if (unlikely(!skb))
		skb_free_frag(data);
	return skb;
}

/*
 * Geneve over IPv6 with all options: two Ethernet headers with two VLAN tags each, 40
 * bytes of IPv6, 8 of UDP, and 260
 */
enum { TUNNEL_HEADERS = 352 };

/*
 * Reserve headroom for the headers that the route adds, and a tunnel behind the next hop.
 * A host that cuts a train has room in the first packet only, and relies on the others'.
 * The payload, behind @hdr_len bytes, begins a cache line, which makes copies and ICRCs
 * faster.
 */
static struct sk_buff *alloc_packet(const struct dst_entry *dst, u32 hdr_len,
				    u32 len)
{
	u32 headroom = LL_RESERVED_SPACE(dst->dev) + dst->header_len +
		       TUNNEL_HEADERS;
	struct sk_buff *skb;

	headroom = ALIGN(headroom + hdr_len, SMP_CACHE_BYTES) - hdr_len;
	skb = alloc_buffer(headroom + len);
	if (likely(skb))
		skb_reserve(skb, headroom);
	return skb;
}

/* A packet is lost: skip its payload, so that the packets behind it find theirs. */
static struct sk_buff *lose(struct verve_iter *payload, u32 len, int err)
{
	if (len && verve_iter_skip(payload, len))
		err = -EINVAL;
	return ERR_PTR(err);
}

struct sk_buff *verve_packet_build(const struct verve_flow *flow,
				   const struct verve_pdu *pdu, u32 qpn,
				   struct verve_iter *payload)
{
	const struct verve_av *av = &flow->av;
	u32 pad = verve_wire_pad(pdu->length);
	u32 ip_len = av->is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	u32 udp_len = sizeof(struct udphdr) + pdu->hdr_len + pdu->length + pad +
		      VERVE_ICRC_LEN;
	struct sk_buff *skb;
	int err;

	if (unlikely(!verve_pmtu_allows(flow->dst, ip_len + udp_len)))
		return lose(payload, pdu->length, -EMSGSIZE);
	skb = alloc_packet(flow->dst,
			   ip_len + sizeof(struct udphdr) + pdu->hdr_len,
			   ip_len + udp_len);
	if (unlikely(!skb))
		return lose(payload, pdu->length, -ENOMEM);

	skb_reset_network_header(skb);
	if (av->is_v6)
		put_v6(skb_put(skb, ip_len), flow, udp_len);
	else
		put_v4(skb_put(skb, ip_len), flow, udp_len);
	skb_set_transport_header(skb, ip_len);
	put_udp(skb_put(skb, sizeof(struct udphdr)), av, udp_len);
	verve_wire_build(skb_put(skb, pdu->hdr_len), pdu, qpn);
	if (pdu->length) {
		err = verve_iter_read(payload, skb_put(skb, pdu->length),
				      pdu->length);
		if (unlikely(err)) {
			kfree_skb(skb);
			return ERR_PTR(err);
		}
	}
	if (pad)
		skb_put_zero(skb, pad);
	if (unlikely(flow->icrc_offload))
		skb_put_zero(skb, VERVE_ICRC_LEN);
	else
		put_icrc(skb, av->is_v6);
	skb->priority = verve_flow_priority(flow);
	return skb;
}

/* Begin the ICRC with the headers that the NIC will derive from the first packet's. */
static u32 start_icrc(const struct sk_buff *head, const struct verve_flow *flow,
		      u32 udp_len, const u8 *bth)
{
	struct udphdr udp = *udp_hdr(head);
	struct ipv6hdr v6;
	struct iphdr v4;

	udp.len = htons(udp_len);
	if (flow->av.is_v6) {
		v6 = *ipv6_hdr(head);
		v6.payload_len = htons(udp_len);
		return verve_icrc_start_v6(&v6, &udp, bth);
	}
	v4 = *ip_hdr(head);
	v4.tot_len = htons(sizeof(v4) + udp_len);
	v4.id = htons(flow->ip_id);
	return verve_icrc_start_v4(&v4, &udp, bth);
}

/* @len: from the BTH to the end of the ICRC */
static void put_appended_icrc(const struct sk_buff *head,
			      const struct verve_flow *flow, u8 *bth, u32 len)
{
	const u32 bth_len = sizeof(struct verve_bth_hdr);
	u32 end = len - VERVE_ICRC_LEN;
	__le32 icrc;
	u32 crc;

	crc = start_icrc(head, flow, sizeof(struct udphdr) + len, bth);
	crc = verve_icrc_update(crc, bth + bth_len, end - bth_len);
	icrc = verve_icrc_end(crc);
	memcpy(bth + end, &icrc, sizeof(icrc));
}

/* Consecutive cuts from one piece share a fragment. */
static void add_fragment(struct sk_buff *skb, void *data, u32 len)
{
	struct page *page = virt_to_head_page(data);
	u32 offset = data - page_address(page);
	int i = skb_shinfo(skb)->nr_frags;

	if (skb_can_coalesce(skb, i, page, offset)) {
		skb_coalesce_rx_frag(skb, i - 1, len, len);
		put_page(page);
	} else {
		skb_add_rx_frag(skb, i, page, offset, len, len);
	}
}

int verve_packet_append(struct sk_buff *head, const struct verve_flow *flow,
			const struct verve_pdu *pdu, u32 qpn,
			struct verve_iter *payload)
{
	u32 pad = verve_wire_pad(pdu->length);
	u32 end = pdu->hdr_len + pdu->length + pad;
	u32 len = end + VERVE_ICRC_LEN;
	u8 *data;
	int err = 0;

	if (skb_shinfo(head)->nr_frags == MAX_SKB_FRAGS)
		return -ENOBUFS;
	data = alloc_fragment(len, sizeof(u32));
	if (unlikely(!data))
		return -ENOBUFS;
	verve_wire_build(data, pdu, qpn);
	if (pdu->length)
		err = verve_iter_read(payload, data + pdu->hdr_len,
				      pdu->length);
	if (unlikely(err)) {
		put_page(virt_to_head_page(data));
		return err;
	}
	memset(data + end - pad, 0, pad + VERVE_ICRC_LEN);
	if (likely(!flow->icrc_offload))
		put_appended_icrc(head, flow, data, len);
	add_fragment(head, data, len);
	return 0;
}

enum ib_mtu verve_port_mtu(const struct net_device *ndev)
{
	return ib_mtu_int_to_enum((int)READ_ONCE(ndev->mtu) -
				  VERVE_MAX_OVERHEAD);
}

enum ib_mtu verve_path_mtu(const struct verve_dev *dev)
{
	const struct net_device *ndev;
	enum ib_mtu mtu = IB_MTU_256;

	rcu_read_lock();
	ndev = verve_ndev_rcu(dev);
	if (ndev)
		mtu = verve_port_mtu(ndev);
	rcu_read_unlock();
	return mtu;
}
