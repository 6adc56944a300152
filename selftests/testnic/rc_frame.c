// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of offloaded QPs
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <net/checksum.h>
#include "rc.h"

enum {
	BTH	= 12,
	ICRC	= 4,
	PORT	= 4791,
};

static bool is_v6(const struct rc *rc)
{
	return !ipv6_addr_v4mapped(&rc->qp->local);
}

static void put_eth(const struct rc *rc, struct sk_buff *frame)
{
	__be16 type = htons(is_v6(rc) ? ETH_P_IPV6 : ETH_P_IP);

	skb_put_data(frame, rc->terms.dmac, ETH_ALEN);
	skb_put_data(frame, rc->qp->mac, ETH_ALEN);
	if (rc->qp->vlan != ROCE_OFFLOAD_NO_VLAN) {
		put_unaligned_be16(ETH_P_8021Q, skb_put(frame, 2));
		put_unaligned_be16(rc->terms.vlan_prio << VLAN_PRIO_SHIFT |
				   rc->qp->vlan, skb_put(frame, 2));
	}
	skb_put_data(frame, &type, sizeof(type));
}

static void put_ipv4(const struct rc *rc, struct sk_buff *frame, u16 len)
{
	struct iphdr *ip = skb_put_zero(frame, sizeof(*ip));

	ip->version = 4;
	ip->ihl = 5;
	ip->tos = rc->terms.traffic_class;
	ip->tot_len = htons(sizeof(*ip) + len);
	ip->frag_off = htons(0x4000);
	ip->ttl = rc->terms.hop_limit;
	ip->protocol = IPPROTO_UDP;
	ip->saddr = rc->qp->local.s6_addr32[3];
	ip->daddr = rc->qp->peer.s6_addr32[3];
	ip->check = ip_fast_csum(ip, ip->ihl);
}

static void put_ipv6(const struct rc *rc, struct sk_buff *frame, u16 len)
{
	struct ipv6hdr *ip = skb_put_zero(frame, sizeof(*ip));

	put_unaligned_be32(6u << 28 | rc->terms.traffic_class << 20 |
			   (rc->terms.flow_label & 0xfffff), ip);
	ip->payload_len = htons(len);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = rc->terms.hop_limit;
	ip->saddr = rc->qp->local;
	ip->daddr = rc->qp->peer;
}

static void put_udp(const struct rc *rc, struct sk_buff *frame, u16 len)
{
	struct udphdr *udp = skb_put_zero(frame, sizeof(*udp));

	udp->source = htons(rc->qp->sport);
	udp->dest = htons(PORT);
	udp->len = htons(len);
}

static void put_bth(const struct rc *rc, struct sk_buff *frame, u8 opcode,
		    u32 psn, unsigned int flags, unsigned int pad)
{
	u8 *bth = skb_put(frame, BTH);

	bth[0] = opcode;
	bth[1] = (flags & RC_SOLICITED ? 0x80 : 0) | 0x40 | pad << 4;
	put_unaligned_be16(0xffff, bth + 2);
	put_unaligned_be32(rc->qp->peer_qpn, bth + 4);
	put_unaligned_be32(psn, bth + 8);
	if (flags & RC_ASKS_ACK)
		bth[8] = 0x80;
}

struct sk_buff *rc_frame(struct rc *rc, u8 opcode, u32 psn, unsigned int flags,
			 const u8 *ext, unsigned int ext_len, unsigned int len,
			 u8 **payload)
{
	unsigned int pad = -len & 3;
	u16 udp_len = sizeof(struct udphdr) + BTH + ext_len + len + pad + ICRC;
	struct sk_buff *frame;

	frame = alloc_skb(NET_SKB_PAD + NET_IP_ALIGN + VLAN_ETH_HLEN +
			  sizeof(struct ipv6hdr) + udp_len, GFP_ATOMIC);
	if (!frame)
		return NULL;
	skb_reserve(frame, NET_SKB_PAD + NET_IP_ALIGN);
	put_eth(rc, frame);
	if (is_v6(rc))
		put_ipv6(rc, frame, udp_len);
	else
		put_ipv4(rc, frame, udp_len);
	put_udp(rc, frame, udp_len);
	put_bth(rc, frame, opcode, psn, flags, pad);
	if (ext_len)
		skb_put_data(frame, ext, ext_len);
	*payload = skb_put(frame, len);
	skb_put_zero(frame, pad + ICRC);
	return frame;
}

void rc_send(struct rc *rc, struct sk_buff *frame)
{
	struct net_device *ndev = rc->nic->ndev;
	struct netdev_queue *queue = netdev_get_tx_queue(ndev, 0);
	u8 icrc[ICRC];
	unsigned int at = nic_icrc(frame->data, frame->len, icrc);

	memcpy(frame->data + at, icrc, sizeof(icrc));
	ndev->stats.tx_packets++;
	ndev->stats.tx_bytes += frame->len;
	atomic_inc(&rc->nic->carried);
	__netif_tx_lock(queue, smp_processor_id());
	nic_send_frame(rc->nic, frame);
	__netif_tx_unlock(queue);
}
