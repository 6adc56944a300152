/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Trains
 *
 * Most of the cost of a small packet is its way through the IP stack. So consecutive
 * packets of a flow pass the stack coupled: in one skb, whose frag_list holds further
 * complete packets, each with its own IP and UDP headers (SKB_GSO_FRAGLIST). The stack
 * uncouples them where a device needs that, or at the receiving socket. The packets on
 * the wire are the same as if each had been sent alone: they may differ in length, and
 * their UDP checksum stays 0. The stack rewrites IPv4 identifications as consecutive
 * ones, which they already are, so every ICRC stays right.
 */
#ifndef VERVE_PATH_TRAIN_H
#define VERVE_PATH_TRAIN_H

#include "../wire/headers.h"
#include "path.h"

struct verve_loop;
struct verve_qp;

/*
 * Bytes by which a packet may exceed the first of its train. A host that forwards the
 * train compares its MTU with the first packet only. So none may be longer, but for the
 * headers of a first packet that follows the end of another message. Of requests with
 * payload, a WRITE with immediate data has the longest.
 */
enum {
	VERVE_MAX_EXCESS = sizeof(struct verve_reth_hdr) + sizeof(__be32),
};

/**
 * struct verve_train - packets that wait to be sent as one skb
 * @dev: device that sends
 * @qpn: QP that sends
 * @stats: counters of the QP
 * @head: first packet, or NULL
 * @tail: last packet behind @head, or NULL
 * @packets: number of packets
 * @bytes: transport headers, payload, pad and ICRC of all packets
 * @max_packets: limit of @packets for the current route
 * @max_len: limit of skb->len for the current route
 * @ip_id: IPv4 identification of the next packet
 * @is_v6: the packets are IPv6
 * @icrc_offload: the device fills in the ICRCs
 * @max_segs: limit of packets that the NIC will cut @head into (USO); @head then is one
 *	packet with the payload of all. 0: @head is a train
 * @first_psn: PSN of the first packet, if @requests
 * @requests: number of packets of RC SENDs and WRITEs at the front, for USO
 * @is_trial: this is a trial of USO (offload/uso.h)
 * @is_closed: the last packet for USO is shorter than the first, so no other may follow
 * @peer: QP that bursts are handed over to, without packets; or NULL
 * @peer_stats: counters of @peer for this round
 * @loop: state shared with @peer
 * @has_responded: @peer was handed a response
 *
 * A train is on the stack of the function that owns the flow.
 */
struct verve_train {
	struct verve_dev *dev;
	u32 qpn;
	struct verve_stats __percpu *stats;
	struct sk_buff *head;
	struct sk_buff *tail;
	u32 packets;
	u32 bytes;
	u32 max_packets;
	u32 max_len;
	u16 ip_id;
	bool is_v6;
	bool icrc_offload;
	u32 max_segs;
	u32 first_psn;
	u32 requests;
	bool is_trial;
	bool is_closed;
	struct verve_qp *peer;
	struct verve_stats __percpu *peer_stats;
	struct verve_loop *loop;
	bool has_responded;
};

/**
 * verve_train_add() - add the packets of a burst to a train, or hand the burst over
 * @train: train; sent when it is full or of another flow
 * @flow: flow of the packets; its route may be renewed
 * @burst: burst; its payload iterator is advanced. When memory is absent behind the
 *	first packet, the burst is truncated and does not end the message
 *
 * The last packets stay in @train until verve_train_flush(). A packet without a route,
 * without memory or with a full queue is a lost packet: it counts as send_err, and is
 * not an error.
 *
 * Context: BH off, interrupts on.
 * Return: 0; or the error of the payload iterator: -EACCES or -EINVAL, when packets
 * before the bad memory may have been added; -EAGAIN, when none was.
 */
int verve_train_add(struct verve_train *train, struct verve_flow *flow,
		    struct verve_burst *burst);

/**
 * verve_train_flush() - send the packets of a train
 * @train: train, perhaps empty; empty afterwards
 *
 * Context: BH off, interrupts on.
 */
void verve_train_flush(struct verve_train *train);

/**
 * verve_train_put() - build a packet and append it to a train
 * @train: train; sent first when it has no room for the packet
 * @flow: flow of the train, with a route; @flow->ip_id is that of the packet
 * @burst: burst of the packet
 * @pdu: header fields of the packet
 *
 * Context: BH off, RCU.
 * Return: 0, or as verve_packet_build().
 */
int verve_train_put(struct verve_train *train, struct verve_flow *flow,
		    const struct verve_burst *burst,
		    const struct verve_pdu *pdu);

/*
 * Couple packets that were built elsewhere. All are of one flow, and the data of each
 * begins at the IP header. @train begins as zeros.
 */
void verve_train_couple(struct verve_train *train, struct sk_buff *skb);
/* Finish a train: @train->head is ready to be sent, also if it is a single packet. */
void verve_train_seal(struct verve_train *train);

/* Are trains enabled? The module parameter trains=N disables them. */
bool verve_train_is_allowed(void);

#endif
