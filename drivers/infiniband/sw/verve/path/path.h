/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Bursts and arrivals
 *
 * The transport never builds or parses a packet. The requester and the responder
 * describe a burst: consecutive packets of one message, and the memory of their
 * payload. The path makes packets of a burst. A packet that comes in reaches the
 * engine of its QP as an arrival: the protocol fields in host order, and a
 * payload that only the path can copy out.
 */
#ifndef VERVE_PATH_H
#define VERVE_PATH_H

#include <linux/llist.h>
#include <linux/types.h>
#include "../memory/iter.h"
#include "../offload/trust.h"
#include "../wire/headers.h"
#include "av.h"

struct dst_entry;
struct ib_gid_attr;
struct in6_addr;
struct net;
struct net_device;
struct sk_buff;
struct verve_dev;
struct verve_net;

enum verve_uso_state {
	VERVE_USO_UNPROVEN,
	VERVE_USO_ON_TRIAL,
	VERVE_USO_PROVEN,
};

/**
 * struct verve_uso_flow - evidence that a NIC segments a flow correctly (offload/uso.h)
 * @generation: generation of struct verve_uso that the evidence belongs to
 * @state: enum verve_uso_state
 * @failures: consecutive trials of this flow that failed
 * @psn: PSN of the last packet of the trial, while one is under way
 */
struct verve_uso_flow {
	u32 generation;
	u8 state;
	u8 failures;
	u32 psn;
};

/**
 * struct verve_flow - an address vector and its cached route
 * @av: addresses, ports and priority
 * @dst: route, or NULL; checked and renewed by the path
 * @cookie: cookie of @dst (IPv6)
 * @ip_id: IPv4 identification of the next packet
 * @icrc_offload: the egress device computes the ICRC (offload/icrc.h)
 * @is_distrusted: no ICRC offload until the route is renewed, since packets with
 *	an offloaded ICRC were not answered
 * @has_uso: the egress device segments UDP, and computes the ICRCs afterwards
 * @trust: evidence that what the device segments arrives
 * @uso: evidence that the NIC segments UDP correctly
 *
 * The engine of one QP owns the flow, under the engine's lock; or the flow is on
 * the stack of one function.
 */
struct verve_flow {
	struct verve_av av;
	struct dst_entry *dst;
	u32 cookie;
	u16 ip_id;
	bool icrc_offload;
	bool is_distrusted;
	bool has_uso;
	struct verve_trust trust;
	struct verve_uso_flow uso;
};

/* Release the route and all that was learned about it. Any context. */
void verve_flow_reset(struct verve_flow *flow);

/**
 * verve_flow_distrust() - compute the ICRC in software from now on
 * @flow: flow of a QP
 *
 * A QP calls this when the peer does not seem to receive its packets: a wrong ICRC from
 * the NIC may be the reason. UDP segmentation must be proven anew, too.
 *
 * Context: the caller owns the engine of the QP.
 * Return: true if the NIC computed the ICRC until now.
 */
bool verve_flow_distrust(struct verve_flow *flow);

/*
 * Outcome of a trial of UDP segmentation (offload/uso.h). A QP whose bursts allow
 * trials calls one of these; @flow is the flow of that QP.
 */

/* All packets up to @flow->uso.psn have arrived. */
void verve_uso_arrived(struct verve_dev *dev, struct verve_flow *flow);
/* A packet is sent again. Return: true if a trial was under way and failed by that. */
bool verve_uso_lost(struct verve_dev *dev, struct verve_flow *flow);
/* The packets are sent again, but may have arrived: the trial has no result. */
void verve_uso_cancel(struct verve_dev *dev, struct verve_flow *flow);

/*
 * Devices that may segment a burst (offload/uso.h). Each value adds to the one before it.
 */
enum verve_segmentation {
	VERVE_SEGMENT_HERE,	/* none: the path makes each packet */
	VERVE_SEGMENT_OFFERED,	/* a device whose driver has registered, so that it makes
				 * the ICRCs. Without them USO is excluded, since no ACK
				 * would reveal its errors
				 */
	VERVE_SEGMENT_PROVEN,	/* a NIC with USO that was proven for this flow */
	VERVE_SEGMENT_TRY,	/* a NIC with USO, as a trial */
};

/**
 * struct verve_burst - a run of packets of one message
 * @kind: kind of operation, which gives each packet its opcode
 * @pdu: header fields of the run. @pdu.psn is that of the first packet. The path
 *	fills length, opcode and hdr_len. VERVE_PDU_SOLICITED goes into the last
 *	packet of a message that @ends, VERVE_PDU_ACKREQ into the last packet of
 *	the burst. RETH, AETH and immediate data go into the packets whose opcode
 *	has them; all packets have the same AETH.
 * @qpn: destination QP
 * @packets: packets of the run, at least 1
 * @mtu: payload bytes of every packet but the last of the message
 * @length: payload bytes of the run
 * @starts: the first packet begins the message
 * @ends: the last packet ends the message
 * @segmentation: enum verve_segmentation
 * @payload: @length bytes; may be NULL when @length is 0
 */
struct verve_burst {
	enum verve_op_kind kind;
	struct verve_pdu pdu;
	u32 qpn;
	u32 packets;
	u32 mtu;
	u32 length;
	bool starts;
	bool ends;
	u8 segmentation;
	struct verve_iter *payload;
};

/**
 * verve_burst_pdu() - header fields of one or more packets of a burst
 * @burst: burst
 * @first: index of the first packet, from 0
 * @packets: number of packets
 * @length: payload bytes of these packets
 * @pdu: filled; with several packets, the opcode is that of one packet in place of
 *	them all
 */
void verve_burst_pdu(const struct verve_burst *burst, u32 first, u32 packets,
		     u32 length, struct verve_pdu *pdu);

/* End a burst after its first @packets, at least 1, as memory is absent behind them. */
void verve_burst_truncate(struct verve_burst *burst, u32 packets);

/**
 * struct verve_arrival - one packet for a QP, or a run of packets of a message
 * @node: entry in the inbox of the QP
 * @pdu: header fields. Of a run: the opcode for the places of its first and last
 *	packet, the PSN of the first, the payload length of all
 *
 * An arrival lives in the control block of its skb, or in a struct verve_handover.
 */
struct verve_arrival {
	struct llist_node node;
	struct verve_pdu pdu;
};

/* Number of packets in an arrival */
u32 verve_arrival_packets(const struct verve_arrival *arrival);

/* Memory charged while a packet of the network waits (backlog.h), in bytes */
u32 verve_arrival_memory(const struct verve_arrival *arrival);

/* Free an arrival that the engine has taken in. BH off. */
void verve_arrival_free(struct verve_arrival *arrival);

/**
 * verve_arrival_copy() - copy payload into memory
 * @arrival: source
 * @offset: first byte to copy, counted from the start of the payload
 * @to: destination; advanced
 * @len: bytes
 *
 * Context: BH off.
 * Return: 0; the error of @to; or -ECANCELED when the memory of a loopback sender cannot
 * be read, and the sender will repeat the packet or fail.
 */
int verve_arrival_copy(const struct verve_arrival *arrival, u32 offset,
		       struct verve_iter *to, u32 len);

/* Do the fragments of a packet already lie at @to, all of them? BH off. */
bool verve_arrival_is_in_place(const struct verve_arrival *arrival,
			       const struct verve_iter *to, u32 len);

/**
 * verve_arrival_repeats() - compare a packet with an earlier one
 * @arrival: packet from the network
 * @other: packet from the network
 *
 * A retransmission may differ in its AckReq bit, and a response in the fields beside
 * its data. The comparison ignores these.
 *
 * Context: any.
 * Return: true if all other header fields and the payload are the same.
 */
bool verve_arrival_repeats(const struct verve_arrival *arrival,
			   const struct verve_arrival *other);

/* Do the addresses of a packet match @av, with source and destination exchanged? */
bool verve_arrival_matches(const struct verve_arrival *arrival,
			   const struct verve_av *av);

/* Fill in addresses and netdev, and no more, for an answer to a packet of the network. */
void verve_arrival_origin(const struct verve_arrival *arrival,
			  struct verve_av *av);

/**
 * verve_arrival_vlan() - the VLAN of an answer
 * @dev: device that received the packet
 * @arrival: packet from the network
 *
 * The core identifies a GID by its address and its VLAN. rdma_read_gid_l2_fields()
 * reports the VLAN: that of the netdev with the address, or of a netdev below a
 * macvlan, bond or bridge with it. Where several netdevs have the address, as with
 * link-local ones, the netdev that received the packet decides.
 *
 * Context: any.
 * Return: VLAN ID, or VERVE_NO_VLAN.
 */
u16 verve_arrival_vlan(struct verve_dev *dev,
		       const struct verve_arrival *arrival);

/* Was the packet sent to a multicast address? */
bool verve_arrival_is_multicast(const struct verve_arrival *arrival);

/**
 * verve_arrival_grh() - fill in the 40 bytes in front of a UD message
 * @arrival: packet from the network
 * @grh: the IPv6 header, or 20 zero bytes and the IPv4 header (Annex A17.4.5.1)
 *
 * Return: true for IPv6.
 */
bool verve_arrival_grh(const struct verve_arrival *arrival, u8 grh[40]);

/**
 * verve_neigh_limit_admits() - may a datagram go on to QP 1?
 * @dev: device that received the datagram
 * @arrival: the datagram
 *
 * The core's connection manager resolves the neighbour of each host that asks for a
 * connection. It gives up after one second, and all other requests wait meanwhile.
 * So fewer than one datagram a second is admitted from hosts whose neighbour is
 * unknown. For the others, this function starts the resolution, which should be done
 * by the time that the host asks again.
 *
 * Context: BH off.
 * Return: true if the neighbour is known or the rate limit admits the datagram.
 */
bool verve_neigh_limit_admits(const struct verve_dev *dev,
			      const struct verve_arrival *arrival);

/* owner.c: the netdev that has an address */

/* No VLAN, in the core's notation */
#define VERVE_NO_VLAN 0xffff

/**
 * verve_owner_of_gid() - the netdev of a GID
 * @gid: GID of a Verve device
 *
 * Context: any.
 * Return: the ifindex of the netdev; 0 if verve_owner_is() says that it is no owner.
 */
int verve_owner_of_gid(const struct ib_gid_attr *gid);

/**
 * verve_owner_below() - the netdev whose GIDs the core lists
 * @ndev: netdev of a Verve device
 *
 * Context: RCU.
 * Return: the netdev below all VLANs, maybe in another namespace, or @ndev.
 */
struct net_device *verve_owner_below(struct net_device *ndev);

/**
 * verve_owner_is() - may a netdev have GIDs of a device
 * @ndev: netdev of the device
 * @owner: another netdev
 *
 * Context: RCU.
 * Return: true if @owner is @ndev; or if it is in the namespace of @ndev, and is
 * verve_owner_below() or on top of that.
 */
bool verve_owner_is(struct net_device *ndev, struct net_device *owner);

/**
 * verve_owner_find() - the netdev that has an address
 * @ndev: netdev of a Verve device
 * @addr: the address; IPv4 as v4-mapped
 * @ifindex: the netdev to check first, if verve_owner_is(); or 0
 *
 * Context: RCU.
 * Return: that netdev, @ndev, a netdev on top of @ndev, or NULL.
 */
struct net_device *verve_owner_find(struct net_device *ndev,
				    const struct in6_addr *addr, int ifindex);

/**
 * verve_owner_find_below() - the netdev below a VLAN that has an address
 * @ndev: netdev of a Verve device
 * @addr: the address; IPv4 as v4-mapped
 *
 * Context: RCU.
 * Return: verve_owner_below() or a netdev on top of it, in the namespace of @ndev; or
 * NULL, also if @ndev is no VLAN.
 */
struct net_device *verve_owner_find_below(struct net_device *ndev,
					  const struct in6_addr *addr);

/**
 * verve_owner_gid() - look an address up in a device's GID table
 * @dev: Verve device
 * @addr: the address; IPv4 as v4-mapped
 * @owner: the netdev that has it, or NULL for any
 *
 * Context: any.
 * Return: the GID, with a reference, for rdma_put_gid_attr(); or an error pointer.
 */
const struct ib_gid_attr *verve_owner_gid(struct verve_dev *dev,
					  const struct in6_addr *addr,
					  struct net_device *owner);

/**
 * verve_owner_vlan() - the VLAN of a GID that is an address
 * @dev: Verve device
 * @addr: the address; IPv4 as v4-mapped
 * @ifindex: the netdev to prefer when several have the address
 *
 * Context: any.
 * Return: VLAN ID, or VERVE_NO_VLAN.
 */
u16 verve_owner_vlan(struct verve_dev *dev, const struct in6_addr *addr,
		     int ifindex);

/* hw_roce.c: NICs with RoCE of their own, which keep packets to UDP port 4791 */

/**
 * verve_hw_roce_suspect() - schedule a search for RDMA devices of the same NIC
 * @dev: Verve device that waits for an answer
 *
 * If @dev has received no packet by then, an RDMA device of the same NIC may have
 * taken them all. The log names such a device once.
 *
 * Context: any up to softirq. All QPs of @dev must be gone before verve_hw_roce_exit().
 */
void verve_hw_roce_suspect(struct verve_dev *dev);
void verve_hw_roce_init(struct verve_dev *dev);	/* no search is scheduled */
/* Cancel the search. Process context, without RTNL. */
void verve_hw_roce_exit(struct verve_dev *dev);

/* netns.c: the sockets of a network namespace, which its devices share */

/**
 * verve_net_get() - open UDP port 4791 in a namespace, or share it
 * @net: namespace
 *
 * Context: process.
 * Return: the state of the namespace; or ERR_PTR: -EADDRINUSE when another socket has
 * the port, -ENODEV when the namespace goes away, -ENOMEM.
 */
struct verve_net *verve_net_get(struct net *net);
/* Release what verve_net_get() returned. Process context; RTNL may be held. */
void verve_net_put(struct verve_net *vnet);
/*
 * The namespace, or NULL once it is gone. Valid under RCU, or for as long as the caller
 * keeps the namespace alive by other means.
 */
struct net *verve_net_ns(const struct verve_net *vnet);

/**
 * verve_net_attach() - let packets find a device without a QP
 * @vnet: state of the namespace, which @dev holds
 * @dev: device that is ready for packets
 * @ifindex: ifindex of its netdev
 *
 * Packets to QP 1 are looked up by device. So is the counter for packets whose QP does
 * not exist.
 *
 * Context: process.
 * Return: 0, -EEXIST or -ENOMEM.
 */
int verve_net_attach(struct verve_net *vnet, struct verve_dev *dev,
		     int ifindex);
/* Undo verve_net_attach(), and wait until no receiver uses @dev. Process context. */
void verve_net_detach(struct verve_net *vnet, struct verve_dev *dev);

int verve_net_init(void);	/* module load */
void verve_net_exit(void);

/* packet.c */

/* IPv6, UDP, BTH, RETH, immediate data, ICRC: the most that one packet has */
#define VERVE_MAX_OVERHEAD (40 + 8 + 12 + 16 + 4 + 4)

/* The largest path MTU whose packets fit a netdev; any context */
enum ib_mtu verve_port_mtu(const struct net_device *ndev);
/* The largest path MTU that the netdev of a device has room for now; any context */
enum ib_mtu verve_path_mtu(const struct verve_dev *dev);

void verve_packet_exit(void);	/* module unload, after the last packet was sent */

#endif
