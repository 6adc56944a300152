/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Bursts and arrivals
 *
 * The transport never builds or parses a packet. The requester and responder
 * describe a burst: consecutive packets of one message, with the memory their
 * payload comes from. A path turns it into packets. What comes in reaches a
 * QP's engine as an arrival: the protocol fields of one packet in host order,
 * and payload that only the path knows how to copy out.
 */
#ifndef VERVE_PATH_H
#define VERVE_PATH_H

#include <linux/llist.h>
#include <linux/types.h>
#include "../memory/iter.h"
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
 * struct verve_uso_flow - may a NIC make many packets of a flow of one? (uso.h)
 * @generation: of what is known of the NIC
 * @state: of a trial
 * @failures: trials of this flow, in a row, that failed
 * @psn: on trial: of the last packet
 */
struct verve_uso_flow {
	u32 generation;
	u8 state;
	u8 failures;
	u32 psn;
};

/**
 * struct verve_lso_flow - what becomes of the messages of a flow (offload/lso.h)
 * @psn: of the newest packet of one, if @is_out
 * @barred_until: jiffies: none until then; 0: it did not come to that
 * @failures: in a row, when an LSO packet was out and packets had to be sent again
 * @is_out: it is not known yet whether it has arrived
 */
struct verve_lso_flow {
	unsigned long barred_until;
	u32 psn;
	u8 failures;
	bool is_out;
};

/**
 * struct verve_flow - an address vector and its cached route
 * @av: where to
 * @dst: route, or NULL; checked and renewed by the path
 * @cookie: of @dst (IPv6)
 * @ip_id: IPv4 identification of the next packet
 * @icrc_offload: the ICRC of its packets is left to the egress device (offload/icrc.h)
 * @is_distrusted: that did no good; until the route is renewed
 * @has_lso: so is making its packets
 * @lso: whether those arrive
 * @uso: whether its packets may be segmented by the NIC
 *
 * Owned by one QP's engine (under its lock) or used on one stack.
 */
struct verve_flow {
	struct verve_av av;
	struct dst_entry *dst;
	u32 cookie;
	u16 ip_id;
	bool icrc_offload;
	bool is_distrusted;
	bool has_lso;
	struct verve_lso_flow lso;
	struct verve_uso_flow uso;
};

/* Forget the route. Any context. */
void verve_flow_reset(struct verve_flow *flow);

/**
 * verve_flow_distrust() - nobody answers what is sent
 * @flow: of a QP, whose engine is owned
 *
 * A NIC's ICRC may be the reason: from now on they are computed here.
 *
 * Return: whether it may have been the NIC's fault.
 */
bool verve_flow_distrust(struct verve_flow *flow);

/*
 * Trials of a NIC's segmentation (offload/uso.h). A QP that allows them in its bursts
 * tells what has become of one; @flow is that QP's.
 */

/* Everything up to @flow->uso.psn has arrived. */
void verve_uso_arrived(struct verve_dev *dev, struct verve_flow *flow);
/* Something is sent again. Return: whether it was a trial that failed. */
bool verve_uso_lost(struct verve_dev *dev, struct verve_flow *flow);
/* It will be sent again, though it may well have arrived. */
void verve_uso_cancel(struct verve_dev *dev, struct verve_flow *flow);

/*
 * Messages whose packets a NIC makes (offload/lso.h), likewise.
 */

/* Everything up to @flow->lso.psn has arrived. */
void verve_lso_arrived(struct verve_flow *flow);
/**
 * verve_lso_lost() - something is sent again
 * @flow: of a QP, whose engine is owned
 * Return: whether there will be no LSO for a while, for the first time.
 */
bool verve_lso_lost(struct verve_flow *flow);

/* May a NIC make the packets of a burst of one? (offload/uso.h, lso.h) */
enum verve_segmentation {
	VERVE_SEGMENT_HERE,	/* no */
	VERVE_SEGMENT_OFFERED,	/* one whose driver says that it knows how; nobody
				 * would learn that another did it wrong
				 */
	VERVE_SEGMENT_PROVEN,	/* also if it has done it right for this flow */
	VERVE_SEGMENT_TRY,	/* also as a trial */
};

/**
 * struct verve_burst - a run of packets of one message
 * @kind: opcodes by place
 * @pdu: fields of the run. psn: of the first packet. length, opcode and
 *	hdr_len are the path's to fill. flags: VERVE_PDU_SOLICITED goes into
 *	the last packet of a message that @ends, VERVE_PDU_ACKREQ into the last
 *	packet of the burst. RETH, AETH, immediate... stand in the packets
 *	whose opcode has them; the AETH is the same in all.
 * @qpn: destination QP
 * @packets: in the run, at least 1
 * @mtu: payload bytes of every packet but the message's last
 * @length: payload bytes of the run
 * @starts: the first packet begins the message
 * @ends: the last packet ends it
 * @segmentation: enum verve_segmentation
 * @payload: @length bytes; may be NULL when that is 0
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
 * verve_burst_pdu() - the fields of some packets of a burst
 * @burst: burst
 * @first: of them, counted from 0
 * @packets: how many
 * @length: payload bytes of those
 * @pdu: filled: the opcode is that of a packet in the place of all of them
 *
 * Context: any. Pure.
 */
void verve_burst_pdu(const struct verve_burst *burst, u32 first, u32 packets,
		     u32 length, struct verve_pdu *pdu);

/* Memory is absent behind its first @packets, at least 1: it ends there. */
void verve_burst_truncate(struct verve_burst *burst, u32 packets);

/**
 * struct verve_arrival - one packet for a QP, or a run of packets of a message
 * @node: in the QP's inbox
 * @pdu: what it says; of a run: opcode by the places of its first and last
 *	packet, PSN of the first, the payload of all
 *
 * Lives in the control block of its skb, or in a struct verve_handover.
 */
struct verve_arrival {
	struct llist_node node;
	struct verve_pdu pdu;
};

/* How many packets it stands for. */
u32 verve_arrival_packets(const struct verve_arrival *arrival);

/* Bytes that it takes while it waits, for the account (backlog.h). From the network. */
u32 verve_arrival_memory(const struct verve_arrival *arrival);

/* The arrival was taken in: give back its memory. BH off. */
void verve_arrival_free(struct verve_arrival *arrival);

/**
 * verve_arrival_copy() - copy payload into memory
 * @arrival: from
 * @offset: of the first byte in the payload
 * @to: where; advanced
 * @len: bytes
 *
 * Context: BH off.
 * Return: 0; the iterator's error; or -ECANCELED: the sender
 * cannot read it, and will send it again or fail.
 */
int verve_arrival_copy(const struct verve_arrival *arrival, u32 offset,
		       struct verve_iter *to, u32 len);

/* Is the payload of a packet where it belongs, and nowhere else? BH off. */
bool verve_arrival_is_in_place(const struct verve_arrival *arrival,
			       const struct verve_iter *to, u32 len);

/**
 * verve_arrival_repeats() - does a packet say what another one has said?
 * @arrival: from the network
 * @other: likewise
 *
 * Who asks for an ACK may have changed, and what a response says beside its data.
 *
 * Context: any.
 * Return: true if headers and payload are the same otherwise.
 */
bool verve_arrival_repeats(const struct verve_arrival *arrival,
			   const struct verve_arrival *other);

/* Did it come from where @av goes to, and to where @av comes from? */
bool verve_arrival_matches(const struct verve_arrival *arrival,
			   const struct verve_av *av);

/* Where an answer would go: addresses and netdev, no more. From the network. */
void verve_arrival_origin(const struct verve_arrival *arrival,
			  struct verve_av *av);

/**
 * verve_arrival_vlan() - by which VLAN an answer would go
 * @dev: device that got it
 * @arrival: from the network
 *
 * The core knows a GID by its address and its VLAN, as rdma_read_gid_l2_fields() tells
 * it: that of the netdev with the address, or of one below a macvlan, bond or bridge.
 * Where several have the address, as link-local ones, it is that of the one that the
 * packet came by.
 *
 * Context: any.
 * Return: its number, or VERVE_NO_VLAN.
 */
u16 verve_arrival_vlan(struct verve_dev *dev,
		       const struct verve_arrival *arrival);

/* Was it sent to a multicast address? */
bool verve_arrival_is_multicast(const struct verve_arrival *arrival);

/**
 * verve_arrival_grh() - the 40 bytes in front of a UD message
 * @arrival: from the network
 * @grh: IPv6 header, or 20 zero bytes and the IPv4 header (Annex A17.4.5.1)
 *
 * Return: true for IPv6.
 */
bool verve_arrival_grh(const struct verve_arrival *arrival, u8 grh[40]);

/**
 * verve_neigh_limit_admits() - may a datagram from an unknown host go on?
 * @dev: device that got it
 * @arrival: from the network
 *
 * The core's connection manager looks for the neighbour that leads to whoever asks for
 * a connection, and gives up after a second, in which all others wait. So of those
 * whose neighbour is not known, fewer than one in a second are let through. The others
 * are looked for here, and should be known when they ask again.
 *
 * Context: BH off.
 * Return: true, too, when the neighbour is known.
 */
bool verve_neigh_limit_admits(const struct verve_dev *dev,
			      const struct verve_arrival *arrival);

/* owner.c: whose an address is */

/* As the core has it */
#define VERVE_NO_VLAN 0xffff

/**
 * verve_owner_of_gid() - the netdev of a GID
 * @gid: of a Verve device
 *
 * Context: any.
 * Return: its ifindex; or 0 when it is not the device's netdev nor on top of that, or is
 * in another namespace.
 */
int verve_owner_of_gid(const struct ib_gid_attr *gid);

/**
 * verve_owner_find() - the netdev that has an address
 * @ndev: a device's
 * @addr: the address; IPv4 as v4-mapped
 * @ifindex: of the netdev to look at first, if it is @ndev or on top of that; or 0
 *
 * Context: RCU.
 * Return: @ndev, a netdev on top of it, or NULL.
 */
struct net_device *verve_owner_find(struct net_device *ndev,
				    const struct in6_addr *addr, int ifindex);

/**
 * verve_owner_vlan() - the VLAN of a GID that is an address
 * @dev: a device
 * @addr: the address; IPv4 as v4-mapped
 * @ifindex: of the netdev to prefer where several have it
 *
 * Context: any.
 * Return: its number, or VERVE_NO_VLAN.
 */
u16 verve_owner_vlan(struct verve_dev *dev, const struct in6_addr *addr,
		     int ifindex);

/* hw_roce.c: NICs that keep what is ours */

/**
 * verve_hw_roce_suspect() - an answer is due, or is missing
 * @dev: a device
 *
 * Where no packet has ever arrived, an RDMA device of the same NIC may have taken them
 * all: then the log says so, once.
 *
 * Context: any up to softirq; the QPs of @dev end before it does.
 */
void verve_hw_roce_suspect(struct verve_dev *dev);
void verve_hw_roce_init(struct verve_dev *dev);	/* no suspicion */
/* It is not suspected any more. Process context, without RTNL. */
void verve_hw_roce_exit(struct verve_dev *dev);

/* netns.c: sockets of a network namespace, shared by its devices */

/**
 * verve_net_get() - open UDP port 4791 in a namespace, or share it
 * @net: namespace
 *
 * Context: process.
 * Return: the namespace's state, or ERR_PTR(-EADDRINUSE...).
 */
struct verve_net *verve_net_get(struct net *net);
/* Context: process; RTNL may be held. */
void verve_net_put(struct verve_net *vnet);
/* The namespace, or NULL once it has gone. RCU, or whatever else holds it. */
struct net *verve_net_ns(const struct verve_net *vnet);

/**
 * verve_net_attach() - packets that name no QP may find the device
 * @vnet: held by the device
 * @dev: ready for packets
 * @ifindex: of its netdev
 *
 * Packets for QP 1, and the counting of those that no QP takes, need a device.
 *
 * Context: process.
 * Return: 0, -EEXIST or -ENOMEM.
 */
int verve_net_attach(struct verve_net *vnet, struct verve_dev *dev,
		     int ifindex);
/* The reverse; receivers have done with @dev when it returns. Process. */
void verve_net_detach(struct verve_net *vnet, struct verve_dev *dev);

int verve_net_init(void);	/* module load */
void verve_net_exit(void);

/* packet.c */

/* The largest path MTU whose packets fit a netdev. Any context. */
enum ib_mtu verve_port_mtu(const struct net_device *ndev);
/* The largest that there is room for now. Any context. */
enum ib_mtu verve_path_mtu(const struct verve_dev *dev);

void verve_packet_exit(void);	/* module unload, when nothing is sent any more */

#endif
