// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets to arrivals
 *
 * Each length is checked before the bytes that it measures are read. The ICRC is checked
 * before any field that it covers is used. A packet without a QP is dropped and counted
 * by the reason.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/sock.h>
#include <rdma/ib_cache.h>
#include "../device.h"
#include "../offload/icrc.h"
#include "../trace.h"
#include "../wire/icrc.h"
#include "net.h"
#include "receiver.h"

/* fitness() of a device whose own netdev received the packet and has its address */
#define BEST_FIT 4

/* A packet is dropped for a reason, which is a counter, or kept. */
#define KEEP VERVE_NUM_COUNTERS

/* Lengths from the UDP header to the ICRC */
#define MIN_LEN (sizeof(struct udphdr) + sizeof(struct verve_bth_hdr) + \
		 VERVE_ICRC_LEN)
#define MAX_LEN (sizeof(struct udphdr) + VERVE_MAX_HDR_LEN + 4096 + \
		 VERVE_ICRC_LEN)

static struct verve_arrival *to_arrival(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct verve_arrival) > sizeof(skb->cb));
	return (struct verve_arrival *)skb->cb;
}

/* The ICRC is defined for UDP right behind an IP header without options, unfragmented. */
static bool is_plain_ip(const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);
	u32 len = skb_network_header_len(skb);

	if (ip->version == 6)
		return len == sizeof(struct ipv6hdr) &&
		       ipv6_hdr(skb)->nexthdr == IPPROTO_UDP;
	return ip->version == IPVERSION && len == sizeof(*ip) &&
	       !ip_is_fragment(ip);
}

/* Has a NIC placed the payload, so that the fragments are pages of a user's region? */
static bool is_placed(const struct sk_buff *skb)
{
	return unlikely(skb_has_shared_frag(skb));
}

/* Placed payload must stay where it is, so only its headers are pulled. */
static bool pull_headers(struct sk_buff *skb)
{
	u32 udp = sizeof(struct udphdr), most = udp + VERVE_MAX_HDR_LEN;
	u32 bth = udp + sizeof(struct verve_bth_hdr);

	if (is_placed(skb)) {
		if (!pskb_may_pull(skb, bth))
			return false;
		most = max(bth, udp + verve_opcodes[skb->data[udp]].hdr_len);
	}
	return pskb_may_pull(skb, min(most, skb->len));
}

static enum verve_counter check_frame(struct sk_buff *skb)
{
	if (!is_plain_ip(skb))
		return VERVE_CNT_rx_drop_header;
	if (skb->len < MIN_LEN || skb->len > MAX_LEN)
		return VERVE_CNT_rx_drop_length;
	if (!pull_headers(skb))
		return VERVE_CNT_rx_drop_memory;
	if (ntohs(udp_hdr(skb)->len) != skb->len)
		return VERVE_CNT_rx_drop_length;
	return KEEP;
}

/* Update the ICRC with @len bytes from @offset, in the head or in fragments. */
static u32 update_icrc(u32 crc, struct sk_buff *skb, u32 offset, u32 len)
{
	struct skb_seq_state seq;
	unsigned int got, done = 0;
	const u8 *data;

	if (likely(offset + len <= skb_headlen(skb)))
		return verve_icrc_update(crc, skb->data + offset, len);

	skb_prepare_seq_read(skb, offset, offset + len, &seq);
	while (done < len && (got = skb_seq_read(done, &data, &seq))) {
		/* The last piece may extend beyond the range. */
		got = min(got, len - done);
		crc = verve_icrc_update(crc, data, got);
		done += got;
	}
	skb_abort_seq_read(&seq);
	return crc;
}

static bool is_icrc_good(struct sk_buff *skb)
{
	const struct udphdr *udp = udp_hdr(skb);
	const u8 *bth = skb->data + sizeof(*udp);
	u32 rest = sizeof(*udp) + sizeof(struct verve_bth_hdr);
	u32 end = skb->len - VERVE_ICRC_LEN;
	__le32 icrc;
	u32 crc;

	if (ip_hdr(skb)->version == 6)
		crc = verve_icrc_start_v6(ipv6_hdr(skb), udp, bth);
	else
		crc = verve_icrc_start_v4(ip_hdr(skb), udp, bth);
	crc = update_icrc(crc, skb, rest, end - rest);
	return !skb_copy_bits(skb, end, &icrc, sizeof(icrc)) &&
	       icrc == verve_icrc_end(crc);
}

static bool is_ce(const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (ip->version == 6)
		return INET_ECN_is_ce(ipv6_get_dsfield(ipv6_hdr(skb)));
	return INET_ECN_is_ce(ip->tos);
}

static enum verve_counter parse(struct sk_buff *skb, u32 *qpn)
{
	struct verve_pdu *pdu = &to_arrival(skb)->pdu;
	u32 offset = sizeof(struct udphdr);
	int err;

	err = verve_wire_parse(skb->data + offset, skb_headlen(skb) - offset,
			       skb->len - offset - VERVE_ICRC_LEN, pdu, qpn);
	switch (err) {
	case 0:
		break;
	case VERVE_WIRE_SHORT:
		return VERVE_CNT_rx_drop_length;
	case VERVE_WIRE_OPCODE:
		return VERVE_CNT_rx_drop_opcode;
	default:
		return VERVE_CNT_rx_drop_header;
	}
	/* Our membership is full, so the peer may be a limited or a full member. */
	if ((pdu->pkey ^ VERVE_DEFAULT_PKEY) & 0x7fff)
		return VERVE_CNT_rx_drop_pkey;
	if (is_ce(skb))
		pdu->flags |= VERVE_PDU_CE;
	if (is_placed(skb))
		pdu->flags |= VERVE_PDU_PLACED;
	return KEEP;
}

static enum verve_counter check(struct sk_buff *skb, u32 *qpn, bool verified)
{
	enum verve_counter reason = check_frame(skb);

	if (unlikely(reason != KEEP))
		return reason;
	if (unlikely(!verified && !is_icrc_good(skb)))
		return VERVE_CNT_rx_icrc_encapsulated;
	return parse(skb, qpn);
}

/* Get the destination address of a packet. Return: true if it is a multicast address. */
static bool get_daddr(const struct sk_buff *skb, struct in6_addr *daddr)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (ip->version == 6) {
		*daddr = ipv6_hdr(skb)->daddr;
		return ipv6_addr_is_multicast(daddr);
	}
	ipv6_addr_set_v4mapped(ip->daddr, daddr);
	return ipv4_is_multicast(ip->daddr);
}

/* The netdev that packets to @daddr, a GID of @dev or a group, should come in by */
static struct net_device *way_in(const struct verve_dev *dev,
				 struct net_device *from,
				 const struct in6_addr *daddr, bool is_group)
{
	struct net_device *ndev = verve_ndev_rcu(dev);

	if (!ndev)
		return NULL;
	if (!is_group)
		return verve_owner_find(ndev, daddr, from->ifindex) ?:
		       verve_owner_find_below(ndev, daddr);
	return ndev == from || netdev_has_upper_dev_all_rcu(ndev, from) ? from :
									  NULL;
}

/* Did a packet that came in by @from come in by @in, or by a netdev of the VRF @from? */
static bool is_arrival(struct net_device *in, struct net_device *from)
{
	return in == from || netdev_master_upper_dev_get_rcu(in) == from;
}

/*
 * How well does a packet that came in by @from fit a device? An address may exist
 * several times, so the netdev of arrival counts most: it is the one with the address,
 * or its VRF. Then a device on a VLAN precedes a device on the netdev below the VLAN.
 */
static int fitness(const struct verve_dev *dev, struct net_device *from,
		   const struct in6_addr *daddr, bool is_group)
{
	struct net_device *in = way_in(dev, from, daddr, is_group);

	if (!in)
		return 0;
	return 1 + (in == verve_ndev_rcu(dev)) + 2 * is_arrival(in, from);
}

/* Find the device for a packet by the destination address. Context: RCU. */
static struct verve_dev *find_device(struct verve_net *vnet,
				     const struct sk_buff *skb)
{
	struct verve_dev *dev, *best = NULL;
	struct in6_addr daddr;
	unsigned long ifindex;
	int fit, most = 0;
	bool is_group;

	is_group = get_daddr(skb, &daddr);
	dev = xa_load(&vnet->devs, skb->dev->ifindex);
	if (dev && fitness(dev, skb->dev, &daddr, is_group) == BEST_FIT)
		return dev;
	xa_for_each(&vnet->devs, ifindex, dev) {
		fit = fitness(dev, skb->dev, &daddr, is_group);
		if (fit > most) {
			best = dev;
			most = fit;
		}
	}
	return best;
}

/* The drop is counted on the device of the packet, or on any device if there is none. */
static void drop(struct verve_net *vnet, struct sk_buff *skb, u32 qpn,
		 enum verve_counter reason)
{
	struct verve_dev *dev = find_device(vnet, skb);
	unsigned long index = 0;

	if (!dev)
		dev = xa_find(&vnet->devs, &index, ULONG_MAX, XA_PRESENT);
	if (dev)
		verve_stats_add(dev->stats->counter[reason], 1);
	trace_verve_drop(dev, qpn, reason);
	kfree_skb(skb);
}

/* Is the address in the device's GID table, and the device known to clients? */
static bool has_gid(struct verve_dev *dev, const struct in6_addr *addr,
		    struct net_device *in)
{
	const struct ib_gid_attr *attr;

	if (!READ_ONCE(dev->client_seq) || !rcu_access_pointer(dev->gsi))
		return false;
	attr = verve_owner_gid(dev, addr, in);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

static bool is_older(const struct verve_dev *dev, const struct verve_dev *other)
{
	return (long)(READ_ONCE(dev->client_seq) -
		      READ_ONCE(other->client_seq)) < 0;
}

/*
 * Find the device for a management datagram. A GID of a VLAN is a GID of the devices on
 * the VLAN and on the netdev below it. For a listener at that GID, rdma_cm chooses the
 * device that its client was given first, and a request to another one is rejected.
 * Context: RCU.
 */
static struct verve_dev *find_gsi_device(struct verve_net *vnet,
					 const struct sk_buff *skb)
{
	struct verve_dev *dev, *best = NULL;
	bool arrival, best_arrival = false;
	struct in6_addr daddr;
	struct net_device *in;
	unsigned long ifindex;

	get_daddr(skb, &daddr);
	xa_for_each(&vnet->devs, ifindex, dev) {
		in = way_in(dev, skb->dev, &daddr, false);
		if (!in || !has_gid(dev, &daddr, in))
			continue;
		arrival = is_arrival(in, skb->dev);
		if (best && (arrival < best_arrival ||
			     (arrival == best_arrival && is_older(best, dev))))
			continue;
		best = dev;
		best_arrival = arrival;
	}
	return best;
}

static struct verve_qp *find_qp(struct verve_net *vnet,
				const struct sk_buff *skb, u32 qpn)
{
	struct verve_dev *dev;

	if (qpn != 1)
		return verve_qp_find(vnet, qpn);
	dev = find_gsi_device(vnet, skb);
	return dev ? verve_qp_find_gsi(dev) : NULL;
}

/* Release all that the skb refers to, as it may wait in an inbox for long. */
static void detach(struct sk_buff *skb, u32 hdr_len)
{
	__skb_pull(skb, sizeof(struct udphdr) + hdr_len);
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb_ext_reset(skb);
	/* The index outlives the netdev. Only a train's first packet has it already. */
	skb->skb_iif = skb->dev->ifindex;
	skb->dev = NULL;
}

static void append(struct verve_batch *batch, struct sk_buff *skb)
{
	struct verve_arrival *arrival = to_arrival(skb);

	batch->packets++;
	batch->bytes += skb->len - sizeof(struct udphdr);
	batch->memory += verve_arrival_memory(arrival);
	batch->hash = skb_get_hash_raw(skb);
	if (unlikely(arrival->pdu.flags & VERVE_PDU_CE))
		batch->marked++;
	detach(skb, arrival->pdu.hdr_len);
	arrival->node.next = batch->newest;
	batch->newest = &arrival->node;
	if (!batch->oldest)
		batch->oldest = &arrival->node;
}

bool verve_batch_copy(struct verve_batch *batch,
		      const struct verve_arrival *arrival)
{
	struct sk_buff *skb;

	/* The packet is not changed any more, so a clone can share it. */
	skb = skb_clone(container_of((char (*)[48])arrival, struct sk_buff, cb),
			GFP_ATOMIC);
	if (unlikely(!skb))
		return false;
	append(batch, skb);
	return true;
}

/*
 * A datagram to a group is for the device that fits best. If that came in by a VLAN, the
 * devices below may also have members, with GIDs of the VLAN.
 */
static bool give_members(struct verve_net *vnet, struct sk_buff *skb)
{
	struct verve_dev *dev, *best = find_device(vnet, skb);
	struct in6_addr addr;
	unsigned long ifindex;
	bool taken;

	if (!best || !get_daddr(skb, &addr))
		return false;
	taken = verve_mcast_receive(vnet, best, &addr, to_arrival(skb));
	if (!is_vlan_dev(skb->dev))
		return taken;
	xa_for_each(&vnet->devs, ifindex, dev) {
		if (dev != best && way_in(dev, skb->dev, &addr, true))
			taken |= verve_mcast_receive(vnet, dev, &addr,
						     to_arrival(skb));
	}
	return taken;
}

static void take_multicast(struct verve_net *vnet, struct sk_buff *skb)
{
	to_arrival(skb)->pdu.flags |= VERVE_PDU_MULTICAST;
	if (give_members(vnet, skb))
		consume_skb(skb);
	else
		drop(vnet, skb, VERVE_MULTICAST_QPN, VERVE_CNT_rx_drop_no_qp);
}

void verve_batch_take(struct verve_batch *batch, struct sk_buff *skb)
{
	bool verified = verve_icrc_offload_is_verified(skb);
	enum verve_counter reason;
	u32 qpn = 0;

	reason = check(skb, &qpn, verified);
	if (unlikely(reason != KEEP)) {
		drop(batch->vnet, skb, qpn, reason);
		return;
	}
	if (batch->qp && batch->qpn != qpn)
		verve_batch_deliver(batch);
	if (unlikely(qpn == VERVE_MULTICAST_QPN)) {
		take_multicast(batch->vnet, skb);
		return;
	}
	if (!batch->qp) {
		batch->qp = find_qp(batch->vnet, skb, qpn);
		batch->qpn = qpn;
	}
	if (likely(batch->qp)) {
		batch->verified += verified;
		append(batch, skb);
	} else {
		drop(batch->vnet, skb, qpn, VERVE_CNT_rx_drop_no_qp);
	}
}

void verve_batch_deliver(struct verve_batch *batch)
{
	if (!batch->qp)
		return;
	verve_batch_receive(batch);
	*batch = (struct verve_batch) { .vnet = batch->vnet };
}

int verve_net_receive(struct sock *sk, struct sk_buff *skb)
{
	struct verve_net *vnet = rcu_dereference_sk_user_data(sk);

	if (likely(vnet)) {
		struct verve_batch batch = { .vnet = vnet };

		verve_batch_take(&batch, skb);
		verve_batch_deliver(&batch);
	} else {
		kfree_skb(skb);
	}
	return 0;
}
