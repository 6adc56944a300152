/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface between the files of the network path
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
 * @net: the namespace; RCU, NULL once it is gone
 * @users: number of devices; under the mutex of netns.c
 * @sk4: IPv4 socket on UDP port 4791; NULL once the namespace is gone
 * @sk6: IPv6 socket on that port; NULL also without IPv6
 * @hook: netfilter hook that takes packets before the sockets
 * @devs: devices of the namespace, by the ifindex of their netdevs; RCU
 * @rcu: receivers may still use the structure when the sockets are closed
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

/* BTH and the longest extended header, AtomicETH */
#define VERVE_MAX_HDR_LEN \
	(sizeof(struct verve_bth_hdr) + sizeof(struct verve_atomiceth_hdr))

/**
 * verve_net_receive() - receive a UDP datagram to port 4791 (encap_rcv)
 * @sk: socket of struct verve_net
 * @skb: consumed; data at the UDP header
 *
 * Context: softirq, RCU.
 * Return: 0.
 */
int verve_net_receive(struct sock *sk, struct sk_buff *skb);

/**
 * verve_gro_receive() - couple a packet to port 4791 to a train (gro_receive)
 * @sk: socket of struct verve_net
 * @held: packets that GRO holds; GRO has marked those of the same flow
 * @skb: packet, not yet verified; the GRO offset is that of the BTH
 *
 * Context: NAPI poll, RCU.
 * Return: a held packet that GRO must deliver now, or NULL.
 */
struct sk_buff *verve_gro_receive(struct sock *sk, struct list_head *held,
				  struct sk_buff *skb);
/* Finish a train before GRO delivers it (gro_complete). Context: as above. Return: 0. */
int verve_gro_complete(struct sock *sk, struct sk_buff *skb, int offset);

/**
 * struct verve_batch - packets that arrived together
 * @vnet: namespace of the packets
 * @qp: QP of the packets, referenced; NULL while the batch is empty
 * @qpn: destination QP number in the packets
 * @newest: last arrival, linked to the one before it, as in an inbox
 * @oldest: first arrival
 * @packets: number of packets
 * @bytes: transport headers, payload, pad and ICRC of the packets
 * @memory: memory of the packets in bytes (backlog.h)
 * @hash: hash of the flow, if the NIC or RPS computed it, or 0
 * @verified: packets whose ICRC a NIC verified
 * @marked: packets that a queue marked (ECN)
 *
 * The engine of a QP is entered once for all consecutive packets of a batch.
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
 * verve_batch_take() - check a packet to port 4791 and add it to a batch
 * @batch: packets that arrived together; delivered first if they are for another QP
 * @skb: consumed; data at the UDP header; IP and UDP headers linear; UDP checksum
 *	verified or absent
 *
 * Context: softirq, RCU.
 */
void verve_batch_take(struct verve_batch *batch, struct sk_buff *skb);

/*
 * Append a copy of a packet that shares its memory. Softirq.
 * Return: false without memory.
 */
bool verve_batch_copy(struct verve_batch *batch,
		      const struct verve_arrival *arrival);

/* Deliver all packets of a batch to their QP. Context: softirq, RCU. */
void verve_batch_deliver(struct verve_batch *batch);

/* hook.c: register and unregister the netfilter hook. Process context */
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
 * verve_flow_route() - get the route of a flow
 * @flow: flow
 * @dev: device that sends
 *
 * A route that is no longer valid is looked up again, and all that was learned about
 * the old one is forgotten.
 *
 * Context: BH off, RCU.
 * Return: the reference that @flow holds, or NULL without a route.
 */
struct dst_entry *verve_flow_route(struct verve_flow *flow,
				   const struct verve_dev *dev);

/* Has a route neither a transform, nor a tunnel, nor an MTU of its own? Context: RCU. */
bool verve_route_is_plain(const struct dst_entry *dst);

/**
 * verve_flow_priority() - the priority of a flow's packets in the stack
 * @flow: flow with a route
 *
 * A flow without a service level has the priority of its traffic class, as a socket
 * has. The administrator configures what a netdev makes of a priority: the PCP of a
 * VLAN (egress-qos-map), or a traffic class elsewhere (mqprio). A service level names
 * that PCP or traffic class, as it does for hardware and in rdma_cm. So this function
 * searches for a priority that the netdev maps to the service level. Without one, the
 * priority is the level itself.
 *
 * Context: any up to softirq.
 * Return: value for skb->priority, never above the limit for the program.
 */
u32 verve_flow_priority(const struct verve_flow *flow);
/* The PCP that a VLAN maps that priority to, for a NIC that runs the QP; 0: no VLAN */
u8 verve_flow_pcp(const struct verve_flow *flow);

/**
 * verve_flow_neighbour() - find or create the neighbour entry of the next hop
 * @flow: flow with a route
 *
 * Context: any up to softirq; RCU.
 * Return: neighbour with a reference, or NULL.
 */
struct neighbour *verve_flow_neighbour(const struct verve_flow *flow);

/**
 * verve_packet_build() - build one packet
 * @flow: flow with a route
 * @pdu: header fields, complete
 * @qpn: destination QP
 * @payload: @pdu->length bytes, advanced also on -EMSGSIZE and -ENOMEM
 *
 * The packet has IP, UDP and transport headers, payload, pad and ICRC; data is at the
 * IP header. With @flow->icrc_offload, four zero bytes stand in place of the ICRC. The
 * IPv4 identification is @flow->ip_id.
 *
 * Context: BH off, RCU.
 * Return: the packet; or ERR_PTR: -ENOMEM; -EMSGSIZE when the packet exceeds the MTU of
 * the route; the error of the payload iterator.
 */
struct sk_buff *verve_packet_build(const struct verve_flow *flow,
				   const struct verve_pdu *pdu, u32 qpn,
				   struct verve_iter *payload);

/**
 * verve_packet_append() - append a packet without its UDP and IP headers (USO)
 * @head: packet of @flow from verve_packet_build(), and those appended to it before;
 *	only the first has UDP and IP headers
 * @flow: as for verve_packet_build(), without @icrc_offload
 * @pdu: header fields, complete; the packet must not be longer than the first
 * @qpn: destination QP
 * @payload: @pdu->length bytes, advanced
 *
 * The ICRC is that of the packet that the NIC will cut: with its own lengths and the
 * identification @flow->ip_id.
 *
 * Context: BH off, RCU.
 * Return: 0; -ENOBUFS when the packet cannot be appended, and @payload is untouched; or
 * the error of the payload iterator.
 */
int verve_packet_append(struct sk_buff *head, const struct verve_flow *flow,
			const struct verve_pdu *pdu, u32 qpn,
			struct verve_iter *payload);

/**
 * verve_packet_is_of() - may packets of a flow be coupled to this packet?
 * @skb: first packet of a train, or the only one
 * @flow: flow with a route
 *
 * A train goes through the stack with the IP and UDP headers of its first packet.
 *
 * Context: any.
 * Return: true if the route, the priority, and the IP and UDP headers are the same.
 */
bool verve_packet_is_of(const struct sk_buff *skb, const struct verve_flow *flow);

#endif
