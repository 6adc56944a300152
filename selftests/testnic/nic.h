/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NIC in software: two netdevs joined by a wire. Each takes work from Verve as a driver
 * with hardware would, and does the work with code of its own.
 */
#ifndef VERVE_TESTNIC_H
#define VERVE_TESTNIC_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/iosys-map.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/roce_offload_rc.h>
#include "work.h"

/* Receives that a NIC holds for a QP at most */
#define NIC_RECVS	8
/* Lowest number of a QP, and upper bits of a key, in its tables */
#define NIC_FIRST_NUMBER	0x4000

/**
 * struct nic - one end of the wire
 * @ndev: netdev of this end
 * @peer: the other end
 * @napi: delivers frames in @arrived
 * @arrived: frames from the wire
 * @late: frame that the next one will overtake, or NULL; under the TX lock
 * @lock: serializes knobs with an action
 * @offload: registration, or NULL
 * @able: present abilities of the hardware, enum roce_offload_feature
 * @refuse: number of packets that may_send() will refuse
 * @full: the TX queue has no room
 * @turned_away: packets returned because the queue was full
 * @helped: packets handed to software because the hardware had lost its ability
 * @given_up: packets to be segmented, dropped for that reason
 * @hold: calls for regions and QPs do not return
 * @held: number of calls that do not return now
 * @holding: woken when @hold is cleared, or a QP leaves
 * @slow: requests are answered after as many us at most
 * @restless: updates its features once more while its netdev goes down
 * @corrupt: number of ICRCs that it will compute wrong
 * @lose: one of this many frames is lost; 0: none
 * @reorder: one of this many frames is overtaken; 0: none
 * @scatter: received frames are split into pieces of this many bytes; 0: not split
 * @ids: IPv4 identifications of segmented packets: 0 counted up, 1 constant, 2 random
 * @made: ICRCs computed
 * @trains: trains that arrived whole
 * @segmented: UDP packets segmented
 * @cut: packets made of others, with their ICRCs
 * @miscut: number of packets to be segmented whose packets will get wrong ICRCs
 * @scattered: received frames that were split
 * @verified: frames with a correct ICRC
 * @unable: packets without an ability for them, dropped
 * @dirty: packets whose place for the ICRC was not zero
 * @busy: CPU time in ns spent on work of the hardware
 * @frames: frames sent, for @lose and @reorder
 * @placing: protects @mrs, @qps, and writes to memory
 * @mrs: memory regions
 * @qps: QPs
 * @num_mrs: number of regions
 * @num_qps: number of QPs
 * @fail: number of objects that it will refuse
 * @recvs: receives that it holds for a QP, from the next registration on
 * @most_recvs: likewise, now
 * @num_qpns: numbers of QPs, from NIC_FIRST_NUMBER on, that it can know; 0: all; from the
 *	next registration on
 * @num_keys: likewise upper 24 bits of keys
 * @qpns: range of numbers of QPs, now
 * @keys: range of upper 24 bits of keys, now
 * @mangle: enum nic_mangle: changes to placed packets on their way to the stack
 * @mangle_one: one of this many placed packets is changed
 * @placed: packets placed
 * @placed_bytes: payload placed
 * @watched: WRITEs for known QPs that were not placed
 * @reporting: serializes reports to the transport; protects @qps as well
 * @tick: runs the NIC for QPs that wait for an answer
 * @num_offloaded: number of offloaded QPs
 * @carried: frames sent for offloaded QPs
 * @given_back: QPs returned at the NIC's own request
 * @dead: number of QPs that will return without a state
 * @astray: one of this many frames for offloaded QPs goes to the stack; 0: none
 */
struct nic {
	struct net_device *ndev;
	struct nic *peer;
	struct napi_struct napi;
	struct sk_buff_head arrived;
	struct sk_buff *late;
	struct mutex lock; /* see above */
	struct roce_offload *offload;
	u32 able;
	atomic_t refuse;
	u32 full;
	atomic_t turned_away;
	atomic_t helped;
	atomic_t given_up;
	u32 hold;
	atomic_t held;
	wait_queue_head_t holding;
	u32 slow;
	u32 restless;
	atomic_t corrupt;
	u32 lose;
	u32 reorder;
	u32 scatter;
	u32 ids;
	atomic_t made;
	atomic_t trains;
	atomic_t segmented;
	atomic_t cut;
	atomic_t miscut;
	atomic_t scattered;
	atomic_t verified;
	atomic_t unable;
	atomic_t dirty;
	atomic64_t busy;
	u32 frames;
	spinlock_t placing; /* see above */
	struct list_head mrs;
	struct list_head qps;
	atomic_t num_mrs;
	atomic_t num_qps;
	atomic_t fail;
	u32 recvs;
	u32 most_recvs;
	u32 num_qpns;
	u32 num_keys;
	struct roce_offload_range qpns;
	struct roce_offload_range keys;
	u32 mangle;
	u32 mangle_one;
	atomic_t placed;
	atomic_t placed_bytes;
	atomic_t watched;
	spinlock_t reporting; /* see above; taken before @placing */
	struct hrtimer tick;
	atomic_t num_offloaded;
	atomic_t carried;
	atomic_t given_back;
	atomic_t dead;
	u32 astray;
};

/* Begin work of the hardware. Return: the time, for nic_worked() */
static inline u64 nic_works(void)
{
	nic_work_begins();
	return ktime_get_ns();
}

/* Account CPU time since @since as work of the hardware. */
static inline void nic_worked(struct nic *nic, u64 since)
{
	atomic64_add(ktime_get_ns() - since, &nic->busy);
	nic_work_ends();
}

/* Changes to a placed packet on its way from the NIC to the transport */
enum nic_mangle {
	NIC_LOSE	= BIT(0),	/* it is dropped */
	NIC_COPY	= BIT(1),	/* it is copied */
	NIC_PULL	= BIT(2),	/* more of it is made linear */
	NIC_DOUBT	= BIT(3),	/* its ICRC is no longer marked as verified */
	NIC_ELSEWHERE	= BIT(4),	/* its fragments are other memory */
};

struct known_qp;

/* Register one of the two netdevs, and unregister it. Process context. */
int nic_offer(struct nic *nic);
void nic_withdraw(struct nic *nic);
void nic_reset(struct nic *nic);

/* transmit.c: ndo_start_xmit, and the ICRC check of the receiver */
netdev_tx_t nic_transmit(struct sk_buff *skb, struct net_device *ndev);
struct sk_buff *nic_check(struct nic *nic, struct sk_buff *skb);

/* scatter.c: split a received frame. Return: @frame, or the packet in its place */
struct sk_buff *nic_scatter(struct nic *nic, struct sk_buff *frame);

/* objects.c: functions of struct roce_offload_ops for regions and QPs */
int nic_mr_add(void *priv, const struct roce_offload_mr *mr, void **context);
void nic_mr_del(void *context);
int nic_qp_add(void *priv, struct roce_offload_qp *qp, void **context);
void nic_qp_del(void *context);

/* firmware.c: requests to begin and end runs of placed packets, answered late */
void nic_rx_start(void *context, u32 run,
		  const struct roce_offload_rx_point *point);
void nic_rx_stop(void *context);
void nic_firmware_init(struct known_qp *known);
/* End the run, if there is one. A packet may have ended it. Under nic.placing */
void nic_end_run(struct known_qp *known);
/* The driver takes the QP off the NIC, after it has left nic.qps. May sleep */
void nic_firmware_exit(struct known_qp *known);

/* Consume one of @fail. Return: true if this call is to fail. */
bool nic_is_to_fail(struct nic *nic);

/**
 * struct known_mr - a memory region
 * @entry: in nic.mrs
 * @nic: the NIC
 * @mr: description by the registry
 * @pages: pages of the region, or NULL
 * @map: dma-buf of the region, which hardware would map for DMA
 */
struct known_mr {
	struct list_head entry;
	struct nic *nic;
	const struct roce_offload_mr *mr;
	struct page **pages;
	struct iosys_map map;
};

/**
 * struct known_qp - a QP; under nic.placing
 * @entry: in nic.qps
 * @nic: the NIC
 * @qp: description by the registry
 * @requests: carries out @start and @stop, in this order
 * @start: a run is to begin
 * @stop: the run is to end
 * @leaves: the QP is being deleted
 * @next_run: number of the run to begin
 * @point: packet before its first
 * @is_placing: a run is under way
 * @run: its number
 * @placed: last PSN placed in it, or ROCE_OFFLOAD_NO_PSN
 * @next: PSN of the next packet to place
 * @left: remaining bytes of the current WRITE
 * @va: address of the next byte
 * @rkey: key of the WRITE
 * @rc: state of an offloaded QP, or NULL; under nic.reporting as well
 */
struct known_qp {
	struct list_head entry;
	struct nic *nic;
	struct roce_offload_qp *qp;
	struct work_struct requests;
	bool start;
	bool stop;
	bool leaves;
	u32 next_run;
	struct roce_offload_rx_point point;
	bool is_placing;
	u32 run;
	u32 placed;
	u32 next;
	u32 left;
	u64 va;
	u32 rkey;
	struct rc *rc;
};

/**
 * nic_place() - place the payload of a frame, if it is a WRITE to be placed
 * @nic: NIC that received the frame
 * @frame: frame with a correct ICRC, from the Ethernet header on
 * @end: offset of the ICRC
 *
 * Context: NAPI.
 * Return: @frame, or the packet in its place; NULL when it is lost
 */
struct sk_buff *nic_place(struct nic *nic, struct sk_buff *frame,
			  unsigned int end);

/* Make room in the TX queue. Any context */
void nic_make_room(struct nic *nic);

/* Decrement a counter of events to come. Return: true if it was not 0 */
bool nic_take_one(atomic_t *left);

/**
 * struct nic_packet - header fields of a frame
 * @ip: offset of the IP header; set by the caller of nic_read_packet()
 * @end: offset of the ICRC; set by the caller of nic_read_packet()
 * @ecn: ECN bits of IP
 * @opcode: BTH
 * @is_solicited: BTH: SolicitedEvent
 * @asks_ack: BTH: AckReq
 * @qpn: BTH: destination QP
 * @psn: BTH
 * @payload: offset of the payload
 * @len: length of the payload
 * @va: RETH
 * @rkey: RETH
 * @dmalen: RETH
 */
struct nic_packet {
	unsigned int ip;
	unsigned int end;
	u8 ecn;
	u8 opcode;
	bool is_solicited;
	bool asks_ack;
	u32 qpn;
	u32 psn;
	unsigned int payload;
	unsigned int len;
	u64 va;
	u32 rkey;
	u32 dmalen;
};

/* packet.c: parse a frame. Return: true if it is a packet for RC that the NIC handles */
bool nic_read_packet(const u8 *frame, struct nic_packet *p);
/* Find the QP of a packet, or NULL. Under nic.placing */
struct known_qp *nic_find_qp(struct nic *nic, const u8 *frame,
			     const struct nic_packet *p);

/*
 * memory.c: find a region by its key. Under nic.placing. In the following, @access is
 * IB_ACCESS_* that the region must allow, and the range may be empty.
 */
struct known_mr *nic_find_mr(struct nic *nic, const void *pd, u32 key);
bool nic_memory_allows(struct nic *nic, const void *pd, u32 key, int access,
		       u64 va, u64 len);
/* Write @data to memory if @is_write, else read. Return: false if not allowed */
bool nic_memory_copy(struct nic *nic, const void *pd, u32 key, int access,
		     u64 va, u8 *data, unsigned int len, bool is_write);
/* Copy likewise, from @offset on in all segments together. */
bool nic_memory_copy_sges(struct nic *nic, const void *pd,
			  const struct ib_sge *sge, unsigned int num_sge,
			  u32 offset, u8 *data, unsigned int len, bool is_write);

/* Copy a packet, as DMA would read it. Return: NULL without memory */
struct sk_buff *nic_read(const struct sk_buff *skb);
void nic_send_frame(struct nic *nic, struct sk_buff *frame);

/* Put the ICRC into a frame that ends with room for it. */
void nic_put_icrc(struct nic *nic, struct sk_buff *frame);

/*
 * segment.c: segment a UDP packet and send the frames, with their ICRCs if these are due.
 * Under the TX lock
 */
void nic_segment(struct nic *nic, const struct sk_buff *skb, bool is_due);

/* crc.c: ICRC of a frame on the wire */
void nic_crc_init(void);

/* Return: offset of the IP header of a frame that may be RoCEv2, or 0 */
unsigned int nic_find_ip(const u8 *frame, unsigned int len);

/**
 * nic_icrc() - compute the ICRC of a frame
 * @frame: frame, from the Ethernet header on
 * @len: length of the frame
 * @icrc: filled with the correct ICRC, in the order of the wire
 *
 * Return: offset of the ICRC, or 0 if the frame is no RoCEv2.
 */
unsigned int nic_icrc(const u8 *frame, unsigned int len, u8 icrc[4]);

/* knobs.c: debugfs */
void nic_knobs_init(void);
void nic_knobs_add(struct nic *nic, const char *name);
void nic_knobs_exit(void);

/* hw_roce.c: RDMA device of the board that both ends are on, and that board, if any */
int nic_hw_roce_init(void);
void nic_hw_roce_exit(void);
struct device *nic_board(void);

#endif
