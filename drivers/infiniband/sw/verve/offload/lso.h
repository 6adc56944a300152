/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: LSO
 *
 * A device whose driver offers that (VERVE_OFFLOAD_TX_LSO) makes the packets of a
 * run itself, and is given one, as if the path MTU were larger: the headers of a
 * packet in the place of all, and the payload of all. So there are headers to build,
 * and an skb to allocate, once in up to 64 KiB.
 *
 * It is decided at the device whether it does that. If not, the LSO packet becomes a
 * train there, of the packets that would have been sent.
 *
 * A driver that says that it knows how is believed. But where packets made by it
 * had to be sent again eight times in a row, and no LSO packet arrived meanwhile,
 * the flow has none for ten seconds, and then one, to see. What is sent again is
 * never LSO.
 */
#ifndef VERVE_OFFLOAD_LSO_H
#define VERVE_OFFLOAD_LSO_H

#include "../path/path.h"

/* Does nothing speak against LSO for this flow? */
bool verve_lso_is_trusted(const struct verve_flow *flow);

/**
 * verve_lso_build() - make an LSO packet of packets of a burst
 * @flow: where to; with a route
 * @burst: burst; its payload is advanced, and it is made shorter when memory is absent
 *	behind the first packet
 * @first: of the packets, which is next in the burst
 * @packets: how many at most, of those that are left; filled: how many have their
 *	payload in it, or would have
 *
 * The IPv4 identification of the first is @flow->ip_id.
 *
 * Context: BH off, RCU.
 * Return: the LSO packet, its data at the IP header; or ERR_PTR: -ENOMEM, and @packets,
 * perhaps 0, are lost; or the payload iterator's error.
 */
struct sk_buff *verve_lso_build(const struct verve_flow *flow,
				struct verve_burst *burst, u32 first,
				u32 *packets);

/**
 * verve_lso_packets() - how many packets of a burst fit into an LSO packet?
 * @flow: with a route
 * @burst: burst
 * @max_len: bytes of the train that it may become, IP headers and all
 *
 * Return: 0 also if a packet would not fit the route's MTU.
 */
u32 verve_lso_packets(const struct verve_flow *flow,
		      const struct verve_burst *burst, u32 max_len);

/* Bytes from BTH to ICRC, of those packets of a burst */
u32 verve_lso_bytes(const struct verve_burst *burst, u32 first, u32 packets);

/**
 * verve_lso_segment() - make a train of an LSO packet, at the device
 * @lso: data at whatever stands in front of IP; stays as it is
 *
 * Context: BH off or on.
 * Return: as struct verve_offload_transport says.
 */
struct sk_buff *verve_lso_segment(struct sk_buff *lso);

#endif
