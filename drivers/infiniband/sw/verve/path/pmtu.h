/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: What ICMP says of a path's MTU
 *
 * The MTU of a QP is agreed when it is connected, and its packets are never
 * fragmented. A path that does not carry them ends the connection, whatever ICMP
 * says. But who says it need not be on that path: anybody can send a message that no
 * more than 552 bytes get through, and the kernel believes it, for ten minutes and all
 * packets to that address. Others send smaller ones then. Verve could send none, so it
 * does not listen: what a route has learned in that way does not count, only what the
 * administrator has set and what the netdev takes.
 */
#ifndef VERVE_PATH_PMTU_H
#define VERVE_PATH_PMTU_H

#include <linux/types.h>
#include <net/dst.h>

struct sk_buff;
struct sock;

/* Has ICMP told the route an MTU? RCU. */
bool verve_pmtu_is_learned(const struct dst_entry *dst);

/* Bytes of an IP packet that a route would take without that. RCU. */
u32 verve_pmtu_of(const struct dst_entry *dst);

/* Does a route take an IP packet of @len bytes, its header included? RCU. */
static inline bool verve_pmtu_allows(const struct dst_entry *dst, u32 len)
{
	return likely(len <= dst_mtu(dst)) || len <= verve_pmtu_of(dst);
}

/**
 * verve_pmtu_override() - let IP's output send a packet as it is
 * @skb: one packet or a train, with its route; data at the IP header
 *
 * Where it is longer than what the route has learned, it gets a socket that does not
 * heed that, and keeps it until it leaves the machine or is freed.
 *
 * Context: BH off, RCU.
 * Return: the socket to pass to ip_local_out(), or NULL: no need for one.
 */
struct sock *verve_pmtu_override(struct sk_buff *skb);

int verve_pmtu_init(void);	/* module load */
void verve_pmtu_exit(void);	/* no device is left */

#endif
