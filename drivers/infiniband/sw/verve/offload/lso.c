// SPDX-License-Identifier: GPL-2.0-only
/*
 * LSO: the device segments messages (see lso.h)
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include "../path/net.h"
#include "../wire/icrc.h"
#include "lso.h"

enum {
	/* BTH, RETH, immediate data: the most that an RC or UC packet with payload has */
	MAX_HDR_LEN = sizeof(struct verve_bth_hdr) +
		      sizeof(struct verve_reth_hdr) +
		      sizeof(struct verve_immdt_hdr),
};

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
	u32 length = verve_lso_length(burst, first, packets);
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
		u32 len = verve_lso_length(burst, first + i, 1);

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
			verve_lso_length(burst, first, packets), &pdu);
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
