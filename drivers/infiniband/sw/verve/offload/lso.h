/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: LSO
 *
 * A device whose driver offers ROCE_OFFLOAD_TX_LSO segments messages itself. It is
 * given a run of packets as one packet, as if the path MTU were larger: with the headers
 * of a packet in place of them all, and the payload of all. So up to 64 KiB need only
 * one skb and one set of headers.
 *
 * The egress device decides for each LSO packet. If it refuses, the LSO packet becomes a
 * train there, of the packets that would have been sent without LSO.
 *
 * The offer of a driver is trusted until it fails (trust.h). Retransmissions never use
 * LSO.
 */
#ifndef VERVE_OFFLOAD_LSO_H
#define VERVE_OFFLOAD_LSO_H

#include <linux/minmax.h>
#include "../path/path.h"

/**
 * verve_lso_build() - build an LSO packet of packets of a burst
 * @flow: flow with a route
 * @burst: burst; its payload is advanced. Truncated when memory is absent behind the
 *	first packet
 * @first: index of the next packet in the burst
 * @packets: in: most packets to take; out: packets taken, or lost
 *
 * The IPv4 identification of the first packet is @flow->ip_id.
 *
 * Context: BH off, RCU.
 * Return: LSO packet, data at the IP header; or ERR_PTR: -ENOMEM, when @packets, perhaps
 * 0, are lost; or the error of the payload iterator.
 */
struct sk_buff *verve_lso_build(const struct verve_flow *flow,
				struct verve_burst *burst, u32 first,
				u32 *packets);

/**
 * verve_lso_packets() - limit of packets in one LSO packet
 * @flow: flow with a route
 * @burst: burst
 * @max_len: limit of the train that the LSO packet may become, from its IP header on
 *
 * Return: number of packets; 0 also when a single packet exceeds the MTU of the route.
 */
u32 verve_lso_packets(const struct verve_flow *flow,
		      const struct verve_burst *burst, u32 max_len);

/* Payload of @packets packets from @first on; the last of the message may be shorter */
static inline u32 verve_lso_length(const struct verve_burst *burst, u32 first,
				   u32 packets)
{
	return min(burst->length - first * burst->mtu, packets * burst->mtu);
}

/* Bytes from BTH to ICRC in @packets packets of a burst, from @first on */
u32 verve_lso_bytes(const struct verve_burst *burst, u32 first, u32 packets);

#endif
