/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NIC in software: two netdevs, joined by a wire, that take work from Verve as a
 * driver's hardware would, and do it with code of their own.
 */
#ifndef VERVE_TESTNIC_H
#define VERVE_TESTNIC_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/wait.h>
#include <rdma/verve_offload_rc.h>

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
 * @full: there is no room in its queue
 * @turned_away: packets for which there was none
 * @helped: packets for which it could not do any more what was due, and software did
 * @given_up: packets that it dropped then: messages
 * @hold: it does not return when it is told of regions and QPs
 * @held: calls that it does not return from now
 * @holding: woken when @hold is cleared
 * @restless: it tells what it can do once more while its netdev goes down
 * @corrupt: how many ICRCs more it will get wrong
 * @lose: one frame of so many is lost; 0: none
 * @reorder: one frame of so many is overtaken; 0: none
 * @scatter: frames that arrive are handed over in pieces of so many bytes; 0: in one
 * @ids: what IPv4 identifications packets have that it makes of one: 0 counted up,
 *	1 the same in all, 2 any
 * @made: ICRCs that it has made
 * @trains: trains that came whole
 * @segmented: packets that it made many of
 * @messages: messages that it made packets of
 * @cut: packets that it made of those
 * @miscut: of how many messages more it will get all ICRCs wrong
 * @scattered: frames handed over in pieces
 * @verified: frames whose ICRC it has found right
 * @unable: packets it should not have been given, and dropped
 * @dirty: packets whose place for the ICRC was not empty
 * @busy: ns for which the CPU did what hardware does
 * @frames: frames sent, to lose or reorder some
 * @placing: @mrs, @qps, and writing to memory
 * @mrs: memory regions that it knows
 * @qps: QPs
 * @num_mrs: how many regions
 * @num_qps: how many QPs
 * @fail: how many objects more it will not take
 * @mangle: enum nic_mangle: what becomes of placed packets on their way to the stack
 * @mangle_one: of so many
 * @placed: packets that it has placed
 * @placed_bytes: their payload
 * @watched: WRITEs for QPs that it knows, which it has not placed
 * @reporting: a report to the transport, and @qps
 * @tick: wakes the NIC for QPs that wait for an answer
 * @num_offloaded: QPs that it has
 * @carried: frames that it has made for such QPs
 * @given_back: QPs that it has given back by itself
 * @dead: so many QPs more come back without a state
 * @astray: one of so many frames for such QPs goes to the stack instead; 0: none
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
	u32 full;
	atomic_t turned_away;
	atomic_t helped;
	atomic_t given_up;
	u32 hold;
	atomic_t held;
	wait_queue_head_t holding;
	u32 restless;
	atomic_t corrupt;
	u32 lose;
	u32 reorder;
	u32 scatter;
	u32 ids;
	atomic_t made;
	atomic_t trains;
	atomic_t segmented;
	atomic_t messages;
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

/* Its hardware has worked since that time. */
static inline void nic_worked(struct nic *nic, u64 since)
{
	atomic64_add(ktime_get_ns() - since, &nic->busy);
}

/* What may happen to a packet between a NIC and the transport */
enum nic_mangle {
	NIC_LOSE	= BIT(0),	/* a queue drops it */
	NIC_COPY	= BIT(1),	/* somebody makes a copy of it */
	NIC_PULL	= BIT(2),	/* somebody wants more of it linear */
	NIC_DOUBT	= BIT(3),	/* the mark of its ICRC is lost */
	NIC_ELSEWHERE	= BIT(4),	/* its fragments are other memory */
};

/* The module's two. Process context. */
int nic_offer(struct nic *nic);
void nic_withdraw(struct nic *nic);
void nic_reset(struct nic *nic);

/* transmit.c: ndo_start_xmit, and what the other end does with a frame */
netdev_tx_t nic_transmit(struct sk_buff *skb, struct net_device *ndev);
struct sk_buff *nic_check(struct nic *nic, struct sk_buff *skb);

/* scatter.c: a frame as it is handed over. Return: it, or what takes its place */
struct sk_buff *nic_scatter(struct nic *nic, struct sk_buff *frame);

/* objects.c: what it knows of the RDMA device, as struct verve_offload_ops */
int nic_mr_add(struct net_device *ndev, const struct verve_offload_mr *mr,
	       void **context);
void nic_mr_del(struct net_device *ndev, void *context);
int nic_qp_add(struct net_device *ndev, struct verve_offload_qp *qp,
	       void **context);
void nic_qp_del(struct net_device *ndev, void *context);
bool nic_rx_sync(struct net_device *ndev, void *context,
		 const struct verve_offload_rx_point *point);
void nic_rx_stop(struct net_device *ndev, void *context);
/* Is it one of those calls that are to fail? */
bool nic_is_to_fail(struct nic *nic);

/**
 * struct known_mr - a region
 * @entry: in nic.mrs
 * @mr: as it was told
 * @pages: of it
 */
struct known_mr {
	struct list_head entry;
	const struct verve_offload_mr *mr;
	struct page **pages;
};

/**
 * struct known_qp - a QP; under nic.placing
 * @entry: in nic.qps
 * @qp: as it was told
 * @next: PSN that is placed next
 * @newest: of what has come; only while @has_newest
 * @has_newest: something has come
 * @left: bytes to come of a WRITE that is under way
 * @va: where the next goes
 * @rkey: its key
 * @rc: what the NIC does if it has the QP, or NULL; nic.reporting, too
 */
struct known_qp {
	struct list_head entry;
	struct verve_offload_qp *qp;
	u32 next;
	u32 newest;
	bool has_newest;
	u32 left;
	u64 va;
	u32 rkey;
	struct rc *rc;
};

/**
 * nic_place() - a frame from the wire
 * @nic: that it came to
 * @frame: whose ICRC is right, from the Ethernet header on
 * @end: offset of the ICRC
 * Context: NAPI.
 * Return: what to hand over: @frame, or what it has become; NULL when it is lost
 */
struct sk_buff *nic_place(struct nic *nic, struct sk_buff *frame,
			  unsigned int end);

/* lso.c: a message, cut into packets. Under the TX lock */
void nic_lso(struct nic *nic, const struct sk_buff *skb);

/* There is room in its queue. Any context */
void nic_make_room(struct nic *nic);

/* One of so many that are left to do so? Counts them. */
bool nic_take_one(atomic_t *left);

/**
 * struct nic_packet - what a frame says
 * @ip: offset of the IP header
 * @end: offset of the ICRC; these two are filled in before it is read
 * @ecn: of IP
 * @opcode: BTH
 * @is_solicited: BTH
 * @asks_ack: BTH
 * @qpn: BTH
 * @psn: BTH
 * @payload: offset
 * @len: of the payload
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

/* packet.c. Return: whether it is one that the NIC looks at. */
bool nic_read_packet(const u8 *frame, struct nic_packet *p);
/* Under nic.placing: that it would come to, or NULL */
struct known_qp *nic_find_qp(struct nic *nic, const u8 *frame,
			     const struct nic_packet *p);

/*
 * memory.c: of regions, under nic.placing. @access: IB_ACCESS_* that the region must
 * allow; the range may be empty
 */
struct known_mr *nic_find_mr(struct nic *nic, const void *pd, u32 key);
bool nic_memory_allows(struct nic *nic, const void *pd, u32 key, int access,
		       u64 va, u64 len);
/* To memory if @is_write, or else from it. Return: false: it is not allowed. */
bool nic_memory_copy(struct nic *nic, const void *pd, u32 key, int access,
		     u64 va, u8 *data, unsigned int len, bool is_write);
/* Of all segments together, from @offset on */
bool nic_memory_copy_sges(struct nic *nic, const void *pd,
			  const struct ib_sge *sge, unsigned int num_sge,
			  u32 offset, u8 *data, unsigned int len, bool is_write);

/* What DMA would have read; NULL without memory. */
struct sk_buff *nic_read(const struct sk_buff *skb);
void nic_send_frame(struct nic *nic, struct sk_buff *frame);
/* A frame that is complete but for its ICRC, which is due. Consumed */
void nic_finish(struct nic *nic, struct sk_buff *frame);

/* segment.c: a long UDP packet, cut into frames. Under the TX lock */
void nic_segment(struct nic *nic, const struct sk_buff *skb);

/* crc.c: the ICRC of a frame as it is on the wire, by the book */
void nic_crc_init(void);

/* Return: where IP begins in a frame that may be RoCEv2, or 0 */
unsigned int nic_find_ip(const u8 *frame, unsigned int len);

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

/* hw_roce.c: on the board that both ends are of, if it has one: then nic_board() */
int nic_hw_roce_init(void);
void nic_hw_roce_exit(void);
struct device *nic_board(void);

#endif
