/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the network path share.
 */
#ifndef VERVE_PATH_NET_H
#define VERVE_PATH_NET_H

#include <linux/netfilter.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include "path.h"

struct sock;
struct verve_qp;

/**
 * struct verve_net - Verve in a network namespace
 * @net: the namespace; RCU, NULL once it has gone
 * @users: devices; under the mutex of netns.c
 * @sk4: owner of UDP port 4791; NULL once the namespace has gone
 * @sk6: likewise; NULL also where there is no IPv6
 * @hook: takes packets before the sockets see them
 * @devs: ifindex of the netdev to struct verve_dev; RCU
 * @rcu: receivers may still look at it when the sockets are closed
 */
struct verve_net {
	struct net __rcu *net;
	unsigned int users;
	struct sock *sk4;
	struct sock *sk6;
	struct nf_hook_ops hook;
	struct xarray devs;
	struct rcu_head rcu;
};

/* BTH and the longest extended headers that follow it: AtomicETH. */
#define VERVE_MAX_HDR_LEN \
	(sizeof(struct verve_bth_hdr) + sizeof(struct verve_atomiceth_hdr))

/**
 * verve_net_receive() - a UDP datagram to port 4791, as encap_rcv
 * @sk: a socket of struct verve_net
 * @skb: consumed; data at the UDP header
 *
 * Context: softirq, RCU.
 * Return: 0.
 */
int verve_net_receive(struct sock *sk, struct sk_buff *skb);

/**
 * verve_gro_receive() - GRO: a packet to port 4791, not yet verified
 * @sk: a socket of struct verve_net
 * @held: packets that GRO holds; those of the same flow are marked
 * @skb: the packet; the GRO offset is that of the BTH
 *
 * Context: NAPI poll, RCU.
 * Return: a held one that is to be delivered now, or NULL.
 */
struct sk_buff *verve_gro_receive(struct sock *sk, struct list_head *held,
				  struct sk_buff *skb);
/* GRO: the train @skb is complete. Context: NAPI poll, RCU. Return: 0. */
int verve_gro_complete(struct sock *sk, struct sk_buff *skb, int offset);

/**
 * struct verve_batch - packets that came in together
 * @vnet: namespace that they arrived in
 * @qp: QP that those in hand are for, referenced; NULL when there are none
 * @qpn: how they name it
 * @newest: last arrival, linked to the one before it, as in an inbox
 * @oldest: first arrival
 * @packets: in hand
 * @bytes: transport headers, payload, pad and ICRC of those
 * @memory: bytes that they take (backlog.h)
 * @hash: of their flow, when the NIC or RPS has computed it, or 0
 * @verified: packets of those whose ICRC a NIC has verified
 * @marked: packets of those that a queue has marked (ECN)
 *
 * A QP's engine is entered once for all consecutive packets of a batch.
 */
struct verve_batch {
	struct verve_net *vnet;
	struct verve_qp *qp;
	u32 qpn;
	struct llist_node *newest;
	struct llist_node *oldest;
	u32 packets;
	u32 bytes;
	u32 memory;
	u32 hash;
	u32 verified;
	u32 marked;
};

/**
 * verve_batch_take() - a packet to port 4791
 * @batch: what it came with
 * @skb: consumed; data at the UDP header, IP and UDP headers linear, the
 *	checksum of UDP verified or absent
 *
 * Context: softirq, RCU.
 */
void verve_batch_take(struct verve_batch *batch, struct sk_buff *skb);

/*
 * A copy of a packet, with the same memory, is appended. Softirq. Return: false: no
 * memory.
 */
bool verve_batch_copy(struct verve_batch *batch,
		      const struct verve_arrival *arrival);

/* Hand over what is in hand. Context: softirq, RCU. */
void verve_batch_deliver(struct verve_batch *batch);

/* hook.c; process context */
#if IS_ENABLED(CONFIG_NETFILTER)
int verve_net_hook(struct verve_net *vnet, struct net *net);
void verve_net_unhook(struct verve_net *vnet, struct net *net);
#else
static inline int verve_net_hook(struct verve_net *vnet, struct net *net)
{
	return 0;
}

static inline void verve_net_unhook(struct verve_net *vnet, struct net *net)
{
}
#endif

/**
 * verve_flow_route() - the route of a flow, looked up when it is not current
 * @flow: flow
 * @dev: device that sends
 *
 * Context: BH off, RCU.
 * Return: @flow's reference, or NULL when there is no route.
 */
struct dst_entry *verve_flow_route(struct verve_flow *flow,
				   const struct verve_dev *dev);

/**
 * verve_flow_priority() - what packets of a flow have as their priority in the stack
 * @flow: with a route
 *
 * Where a program says none (IBTA has a service level for it), that of the traffic
 * class, as for sockets. What a netdev makes of a priority is configured: on a VLAN the
 * PCP (egress-qos-map), elsewhere perhaps a traffic class (mqprio). A service level is
 * what shall come of it, as hardware takes it and rdma_cm gives it: so that priority
 * is looked for which becomes the level. Where none does, it is the level itself.
 *
 * Context: any up to softirq.
 * Return: for skb->priority; what a program's flow may not have, it does not get.
 */
u32 verve_flow_priority(const struct verve_flow *flow);
/* What a VLAN makes of that: the PCP, for a NIC that sends by itself. 0: no VLAN. */
u8 verve_flow_pcp(const struct verve_flow *flow);

/**
 * verve_flow_neighbour() - the next hop of a flow
 * @flow: with a route
 *
 * Context: any up to softirq; RCU.
 * Return: neighbour with a reference, made if there was none; or NULL.
 */
struct neighbour *verve_flow_neighbour(const struct verve_flow *flow);

/**
 * verve_packet_build() - make one packet
 * @flow: where to; with a route
 * @pdu: complete
 * @qpn: destination QP
 * @payload: @pdu->length bytes, advanced also when there is no memory
 *
 * The IPv4 identification is @flow->ip_id. The packet has its IP, UDP and
 * transport headers, payload, pad and ICRC, or four zero bytes in its place when
 * @flow->icrc_offload; its data is at the IP header.
 *
 * Context: BH off, RCU.
 * Return: the packet, or ERR_PTR: -ENOMEM; -EMSGSIZE when it does not fit the
 * route's MTU; or the payload iterator's error.
 */
struct sk_buff *verve_packet_build(const struct verve_flow *flow,
				   const struct verve_pdu *pdu, u32 qpn,
				   struct verve_iter *payload);

/**
 * verve_packet_append() - what follows the UDP header of one packet more
 * @head: a packet of @flow, from verve_packet_build(), and what was appended to it:
 *	headers stand in front of the first only
 * @flow: as for verve_packet_build(); without @icrc_offload
 * @pdu: complete; the packet is not longer than @head was
 * @qpn: destination QP
 * @payload: @pdu->length bytes, advanced
 *
 * Its ICRC is that of the packet that a NIC will make of it, with the lengths that
 * it has then and the identification @flow->ip_id.
 *
 * Context: BH off, RCU.
 * Return: 0; -ENOBUFS, @payload untouched, when it cannot be appended; or the payload
 * iterator's error.
 */
int verve_packet_append(struct sk_buff *head, const struct verve_flow *flow,
			const struct verve_pdu *pdu, u32 qpn,
			struct verve_iter *payload);

/**
 * verve_packet_is_of() - could a packet of a flow be coupled to this one?
 * @skb: from here
 * @flow: with a route
 *
 * Only the first packet's headers are kept of those that are coupled.
 *
 * Context: any.
 * Return: true if route, priority, and IP and UDP headers are the same.
 */
bool verve_packet_is_of(const struct sk_buff *skb, const struct verve_flow *flow);

/*
 * A packet whose payload is in fragments, from the end to the beginning: payload, pad
 * and ICRC are attached, transport headers pushed, then those of UDP and IP.
 */

/* @room: bytes of all headers. BH off. Return: NULL without memory. */
struct sk_buff *verve_packet_begin(const struct verve_flow *flow, u32 room);

/**
 * verve_packet_attach() - append to what is there
 * @skb: from verve_packet_begin()
 * @payload: advanced
 * @len: bytes of it
 * @zeros: bytes behind those
 *
 * Context: BH off, RCU.
 * Return: 0; -ENOBUFS, @payload untouched, when there is no room; or the payload
 * iterator's error.
 */
int verve_packet_attach(struct sk_buff *skb, struct verve_iter *payload, u32 len,
			u32 zeros);
/* All that follows the UDP header is there. */
void verve_packet_end(struct sk_buff *skb, const struct verve_flow *flow);

#endif
