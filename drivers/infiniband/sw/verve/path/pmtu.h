/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Path MTU and ICMP
 *
 * The MTU of a QP is negotiated when it is connected, and its packets are never
 * fragmented. A path with a smaller MTU breaks the connection, with or without an ICMP
 * message. But the sender of such a message need not be on the path: any host can claim
 * that packets above 552 bytes do not get through. The kernel believes it for ten
 * minutes, for all packets to that address. Other protocols then send smaller packets,
 * which Verve cannot do: it would send none. So Verve ignores the MTU that a route has
 * learned from ICMP, and heeds only the configured MTU and that of the netdev.
 */
#ifndef VERVE_PATH_PMTU_H
#define VERVE_PATH_PMTU_H

#include <linux/types.h>
#include <net/dst.h>

struct sk_buff;
struct sock;

/* Has the route learned an MTU from ICMP? Context: RCU. */
bool verve_pmtu_is_learned(const struct dst_entry *dst);

/* The MTU of a route without a learned value. Context: RCU. */
u32 verve_pmtu_of(const struct dst_entry *dst);

/* Does a route carry an IP packet of @len bytes, including the header? Context: RCU. */
static inline bool verve_pmtu_allows(const struct dst_entry *dst, u32 len)
{
	return likely(len <= dst_mtu(dst)) || len <= verve_pmtu_of(dst);
}

/**
 * verve_pmtu_override() - let a packet pass the learned MTU in IP output
 * @skb: one packet or a train, with its route; data at the IP header
 *
 * A packet longer than the learned MTU gets a socket that ignores the MTU. The packet
 * keeps the socket until it leaves the machine or is freed.
 *
 * Context: BH off, RCU.
 * Return: socket to pass to ip_local_out(), or NULL when none is needed.
 */
struct sock *verve_pmtu_override(struct sk_buff *skb);

int verve_pmtu_init(void);	/* module load */
void verve_pmtu_exit(void);	/* module unload, when no device is left */

#endif
