// SPDX-License-Identifier: GPL-2.0-only
/*
 * ICRC offload: the NIC, or software at the egress device, computes the ICRC
 *
 * The registry of NICs is another module, which may be absent. It is loaded if it is
 * installed, and its reference is held for as long as this module is loaded.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jiffies.h>
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ipv6.h>
#include <rdma/roce_offload_registry.h>
#include "../device.h"
#include "../path/net.h"
#include "../path/train.h"
#include "../wire/icrc.h"
#include "icrc.h"
#include "segment.h"

const struct roce_offload_registry *verve_registry;

/* IP and UDP headers of one packet as they will be on the wire */
struct headers {
	union {
		struct iphdr v4;
		struct ipv6hdr v6;
	};
	struct udphdr udp;
	bool is_v6;
};

/*
 * @ip and @udp may be the headers of a train, with the length of the whole train.
 * Return: false if the packet no longer goes to port 4791.
 */
static bool copy_headers(struct headers *headers, const void *ip,
			 const struct udphdr *udp, u32 udp_len)
{
	headers->is_v6 = ((const struct iphdr *)ip)->version == 6;
	if (headers->is_v6) {
		headers->v6 = *(const struct ipv6hdr *)ip;
		headers->v6.payload_len = htons(udp_len);
	} else {
		headers->v4 = *(const struct iphdr *)ip;
		headers->v4.tot_len = htons(sizeof(headers->v4) + udp_len);
	}
	headers->udp = *udp;
	headers->udp.len = htons(udp_len);
	return udp->dest == htons(VERVE_UDP_PORT);
}

/*
 * Compute the ICRC of a packet whose bytes are linear up to @end. Return: false if the
 * headers were changed on the way.
 */
static bool fill_packet(struct sk_buff *skb, struct udphdr *udp, u8 *end)
{
	u8 *bth = (u8 *)(udp + 1), *rest = bth + sizeof(struct verve_bth_hdr);
	u8 *last = end - VERVE_ICRC_LEN;
	struct headers headers;
	__le32 icrc;
	u32 crc;

	if (last < rest || !copy_headers(&headers, skb_network_header(skb), udp,
					 end - (u8 *)udp))
		return false;
	crc = headers.is_v6 ?
		verve_icrc_start_v6(&headers.v6, &headers.udp, bth) :
		verve_icrc_start_v4(&headers.v4, &headers.udp, bth);
	icrc = verve_icrc_end(verve_icrc_update(crc, rest, last - rest));
	memcpy(last, &icrc, sizeof(icrc));
	return true;
}

/* Is the packet still as it was built: linear and complete behind the UDP header? */
static bool is_intact(const struct sk_buff *skb)
{
	u32 len = skb_tail_pointer(skb) - skb_transport_header(skb);
	const struct skb_shared_info *shinfo = skb_shinfo(skb);

	if (skb_network_header_len(skb) != (ip_hdr(skb)->version == 6 ?
					    sizeof(struct ipv6hdr) :
					    sizeof(struct iphdr)) ||
	    shinfo->nr_frags)
		return false;
	if (!skb_is_gso(skb))
		return !skb_is_nonlinear(skb) &&
		       ntohs(udp_hdr(skb)->len) == len;
	return shinfo->gso_type & SKB_GSO_FRAGLIST && skb_has_frag_list(skb) &&
	       len == sizeof(struct udphdr) + shinfo->gso_size;
}

/*
 * Compute the ICRCs of all packets of a train, or of none: segmentation copies changes of
 * the first packet's headers to all.
 */
static u32 fill(struct sk_buff *skb)
{
	struct sk_buff *member;
	u32 packets = 1;

	if (!is_intact(skb) ||
	    !fill_packet(skb, udp_hdr(skb), skb_tail_pointer(skb)))
		return 0;
	if (!skb_is_gso(skb))
		return packets;
	skb_walk_frags(skb, member) {
		if (skb_is_nonlinear(member) ||
		    !fill_packet(member, udp_hdr(member),
				 skb_tail_pointer(member)))
			return 0;
		packets++;
	}
	return packets;
}

static const struct roce_offload_transport transport = {
	.fill = fill,
	.segment = verve_segment,
};

/*
 * Can the egress device of a flow see its ICRCs? IP copies multicast packets to members
 * on this machine. A transform hides the ICRC from the device. A packet that ignores a
 * learned path MTU has a socket already, so it cannot have the one of ICRC offload.
 */
static bool is_plain(const struct verve_flow *flow)
{
	const struct verve_av *av = &flow->av;

	if (!verve_route_is_plain(flow->dst))
		return false;
	if (av->is_v6)
		return !ipv6_addr_is_multicast(&av->daddr);
	return !ipv4_is_multicast(av->daddr.s6_addr32[3]);
}

/* Features of a netdev's NIC. No lookup while no registered NIC has a wanted feature. */
static u32 features(struct net_device *ndev, u32 wanted)
{
	if (!verve_registry ||
	    likely(!(READ_ONCE(*verve_registry->any) & wanted)))
		return 0;
	return verve_registry->features(ndev) & wanted;
}

static u32 usable(const struct verve_dev *dev, const struct verve_flow *flow)
{
	u32 offered;

	if (!dev->sender || flow->is_distrusted)
		return 0;
	offered = features(flow->dst->dev,
			   ROCE_OFFLOAD_TX_ICRC |
			   ROCE_OFFLOAD_TX_ICRC_SEGMENTED);
	return offered && is_plain(flow) ? offered : 0;
}

void verve_icrc_offload_select(const struct verve_dev *dev,
			       struct verve_flow *flow)
{
	u32 offered = usable(dev, flow);

	flow->icrc_offload = offered & ROCE_OFFLOAD_TX_ICRC &&
			     verve_registry->takes_trains(dev->sender);
	flow->has_uso = flow->icrc_offload &&
			offered & ROCE_OFFLOAD_TX_ICRC_SEGMENTED &&
			verve_train_is_allowed() &&
			verve_trust_allows(&flow->trust, jiffies) &&
			verve_registry->takes_segmented(dev->sender);
}

bool verve_icrc_offload_segments(const struct verve_flow *flow,
				 const struct verve_burst *burst)
{
	u8 least = verve_trust_is_on_trial(&flow->trust) ?
		   VERVE_SEGMENT_PROVEN : VERVE_SEGMENT_OFFERED;

	return burst->segmentation >= least;
}

bool verve_icrc_offload_is_offered(const struct verve_dev *dev,
				   struct net_device *ndev, u32 feature)
{
	return dev->sender && features(ndev, feature);
}

enum verve_icrc_offload_status
verve_icrc_offload_query(const struct verve_dev *dev, struct net_device *ndev,
			 u32 feature, const struct net_device **nic)
{
	if (!dev->sender)
		return VERVE_ICRC_OFFLOAD_NO_REGISTRY;
	if (verve_icrc_offload_is_offered(dev, ndev, feature))
		return VERVE_ICRC_OFFLOAD_OFFERED;
	*nic = verve_registry->disabled(ndev, feature);
	if (*nic)
		return VERVE_ICRC_OFFLOAD_DISABLED;
	return features(ndev, ROCE_OFFLOAD_FEATURES) ?
	       VERVE_ICRC_OFFLOAD_WITHHELD : VERVE_ICRC_OFFLOAD_UNOFFERED;
}

void verve_icrc_offload_tx(const struct verve_dev *dev, struct sk_buff *skb)
{
	verve_registry->tx_icrc(dev->sender, skb);
}

void verve_icrc_offload_tx_uso(const struct verve_dev *dev, struct sk_buff *skb)
{
	verve_registry->tx_uso(dev->sender, skb);
}

bool verve_icrc_offload_is_verified(const struct sk_buff *skb)
{
	return skb->ip_summed == CHECKSUM_UNNECESSARY && skb->csum_level &&
	       features(skb->dev, ROCE_OFFLOAD_RX_ICRC);
}

void verve_icrc_offload_stats(const struct verve_dev *dev, u64 *values)
{
	struct roce_offload_stats stats = {};

	if (!dev->sender)
		return;
	verve_registry->stats(dev->sender, &stats);
	values[VERVE_CNT_tx_icrc_offload] += stats.device;
	values[VERVE_CNT_tx_icrc_fallback] += stats.fallback;
	values[VERVE_CNT_tx_icrc_unsettled] += stats.unsettled;
	values[VERVE_CNT_tx_uso_pkts] += stats.uso_pkts;
	values[VERVE_CNT_tx_uso_skbs] += stats.uso_skbs;
	values[VERVE_CNT_tx_uso_fallback] += stats.uso_fallback;
}

void verve_icrc_offload_open(struct verve_dev *dev)
{
	if (verve_registry)
		dev->sender = verve_registry->open();
}

void verve_icrc_offload_close(struct verve_dev *dev)
{
	if (dev->sender)
		verve_registry->close(dev->sender);
}

void __init verve_icrc_offload_init(void)
{
	typeof(roce_offload_attach) *attach;

	request_module("roce_offload");
	attach = symbol_get(roce_offload_attach);
	if (!attach)
		return;
	verve_registry = attach(ROCE_OFFLOAD_ABI, &transport);
	if (verve_registry)
		return;
	pr_warn("verve: roce_offload is of another version\n");
	symbol_put(roce_offload_attach);
}

void verve_icrc_offload_exit(void)
{
	if (!verve_registry)
		return;
	verve_registry->detach();
	symbol_put(roce_offload_attach);
}
