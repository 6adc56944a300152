/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Trains
 *
 * Most of what a small packet costs is its way through the IP stack, so
 * consecutive packets of a flow go through it coupled: one skb, whose
 * frag_list holds further packets that are each complete, with IP and UDP
 * headers of their own (SKB_GSO_FRAGLIST). The stack uncouples them where a
 * device needs that, or at the receiving socket; the packets on the wire are
 * the same as if each had been sent alone. They may differ in length, their
 * UDP checksum stays 0, and IPv4 identifications are rewritten as consecutive
 * ones, which is what they are, so that every ICRC stays right.
 */
#ifndef VERVE_PATH_TRAIN_H
#define VERVE_PATH_TRAIN_H

#include "path.h"

struct verve_loop;
struct verve_qp;

/**
 * struct verve_train - packets that wait to be sent as one
 * @dev: device that sends
 * @qpn: QP that sends
 * @stats: where it is counted
 * @head: first packet, or NULL
 * @tail: last packet behind @head, or NULL
 * @packets: how many
 * @bytes: transport headers, payload, pad and ICRC of all
 * @max_packets: for the route at hand
 * @max_len: bytes of one skb, likewise
 * @ip_id: IPv4 identification of the packet that may follow
 * @is_v6: it goes by IPv6
 * @icrc_offload: its packets lack their ICRCs
 * @max_segs: most packets that the NIC is to make of @head, which then is one packet
 *	with the payload of all; 0: it is a train
 * @is_trial: that is a trial
 * @is_closed: the last packet of that is shorter, so no other follows
 * @peer: QP that needs no packets, or NULL: then all the above is not used
 * @peer_stats: where that is counted, for this round
 * @loop: what passes to and from @peer
 *
 * On the stack of whoever owns the flow.
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
	bool is_trial;
	bool is_closed;
	struct verve_qp *peer;
	struct verve_stats __percpu *peer_stats;
	struct verve_loop *loop;
};

/**
 * verve_train_add() - send a burst, or append it to what will be sent
 * @train: train; full ones are sent, and one of another flow
 * @flow: where to; its route may be renewed
 * @burst: what; its payload iterator is advanced. Made shorter, and not to end
 *	the message, when memory is absent after its first packet
 *
 * The last packets stay in @train until verve_train_flush(). A packet that
 * cannot be sent (no route, no memory, a full queue) is a lost packet: counted
 * as send_err, not an error.
 *
 * Context: BH off, interrupts on.
 * Return: 0, or the payload iterator's error: -EACCES or -EINVAL, when packets
 * before the bad memory may be sent, or -EAGAIN, when none is.
 */
int verve_train_add(struct verve_train *train, struct verve_flow *flow,
		    struct verve_burst *burst);

/**
 * verve_train_flush() - send what is in a train
 * @train: may be empty; is empty afterwards
 * Context: BH off, interrupts on.
 */
void verve_train_flush(struct verve_train *train);

/**
 * verve_train_put() - append a packet, which is made here
 * @train: train; sent first when the packet does not fit
 * @flow: of the packet, with a route; the same as that of others in @train. Its
 *	identification is that of the packet
 * @burst: that the packet is of
 * @pdu: what it says
 * Context: BH off, RCU.
 * Return: 0, or as verve_packet_build().
 */
int verve_train_put(struct verve_train *train, struct verve_flow *flow,
		    const struct verve_burst *burst,
		    const struct verve_pdu *pdu);

/**
 * verve_train_put_lso() - send packets of a burst by a device that makes them
 * @train: train; sent before
 * @flow: as for verve_train_put(); has LSO
 * @burst: burst; its payload is advanced. Made shorter when memory is absent
 * @first: packet of it that is next
 *
 * Context: BH off, RCU.
 * Return: how many packets; 0: the next one has to be sent otherwise; or the payload
 * iterator's error.
 */
int verve_train_put_lso(struct verve_train *train, struct verve_flow *flow,
			struct verve_burst *burst, u32 first);

/*
 * A train of packets that are made elsewhere, each with its data at the IP header, and
 * all of one flow. @train begins as zeros.
 */
void verve_train_couple(struct verve_train *train, struct sk_buff *skb);
/* All are there: @train->head is the train, or the only packet. */
void verve_train_seal(struct verve_train *train);

/* Did nobody say trains=N? */
bool verve_train_is_allowed(void);

#endif
