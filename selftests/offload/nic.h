/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NIC in software: two netdevs, joined by a wire, that take work from Verve as a
 * driver's hardware would, and do it with code of their own.
 */
#ifndef VERVE_TESTNIC_H
#define VERVE_TESTNIC_H

#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <rdma/verve_offload.h>

/**
 * struct nic - one end of the wire
 * @ndev: its netdev
 * @peer: the other end
 * @napi: delivers what has arrived
 * @arrived: frames that have
 * @late: a frame that the next one is to overtake, or NULL; under the TX lock
 * @lock: knobs that do something when they are turned
 * @offload: as registered, or NULL
 * @able: what its hardware can do now, of enum verve_offload_feature
 * @refuse: how many packets more it will not take
 * @corrupt: how many ICRCs more it will get wrong
 * @lose: one frame of so many is lost; 0: none
 * @reorder: one frame of so many is overtaken; 0: none
 * @ids: what IPv4 identifications packets have that it makes of one: 0 counted up,
 *	1 the same in all, 2 any
 * @made: ICRCs that it has made
 * @trains: trains that came whole
 * @segmented: packets that it made many of
 * @verified: frames whose ICRC it has found right
 * @unable: packets it should not have been given, and dropped
 * @dirty: packets whose place for the ICRC was not empty
 * @frames: frames sent, to lose or reorder some
 */
struct nic {
	struct net_device *ndev;
	struct nic *peer;
	struct napi_struct napi;
	struct sk_buff_head arrived;
	struct sk_buff *late;
	struct mutex lock; /* knobs */
	struct verve_offload *offload;
	u32 able;
	atomic_t refuse;
	atomic_t corrupt;
	u32 lose;
	u32 reorder;
	u32 ids;
	atomic_t made;
	atomic_t trains;
	atomic_t segmented;
	atomic_t verified;
	atomic_t unable;
	atomic_t dirty;
	u32 frames;
};

/* The module's two. Process context. */
int nic_offer(struct nic *nic);
void nic_withdraw(struct nic *nic);
void nic_reset(struct nic *nic);

/* transmit.c: ndo_start_xmit, and what the other end does with a frame */
netdev_tx_t nic_transmit(struct sk_buff *skb, struct net_device *ndev);
void nic_check(struct nic *nic, struct sk_buff *skb);

/* What DMA would have read; NULL without memory. */
struct sk_buff *nic_read(const struct sk_buff *skb);
void nic_send_frame(struct nic *nic, struct sk_buff *frame);

/* segment.c: a long UDP packet, cut into frames. Under the TX lock */
void nic_segment(struct nic *nic, const struct sk_buff *skb);

/* crc.c: the ICRC of a frame as it is on the wire, by the book */
void nic_crc_init(void);

/**
 * nic_icrc() - where a frame's ICRC is, and what it should be
 * @frame: from the Ethernet header on
 * @len: of it
 * @icrc: filled, in the order of the wire
 * Return: the offset of the ICRC, or 0 if this is no RoCEv2
 */
unsigned int nic_icrc(const u8 *frame, unsigned int len, u8 icrc[4]);

/* knobs.c: debugfs */
void nic_knobs_init(void);
void nic_knobs_add(struct nic *nic, const char *name);
void nic_knobs_exit(void);

#endif
