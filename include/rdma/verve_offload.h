/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Offloads to NICs
 *
 * What a NIC's driver does for Verve, a transport of RoCEv2 in software. A driver
 * needs this header and the module verve_offload, which is a registry: it never
 * depends on the transport, which may come, go or be absent.
 *
 * Whatever a driver does not do, or does not do any more, software does. A packet
 * that a driver cannot send as asked it drops: that is a lost packet, and the
 * transport knows what to do about those. See Documentation/offload.rst.
 */
#ifndef RDMA_VERVE_OFFLOAD_H
#define RDMA_VERVE_OFFLOAD_H

#include <linux/bits.h>
#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/skbuff.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>

struct net_device;
struct sg_table;
struct verve_offload;
struct verve_offload_ibdev;
struct verve_offload_rc_ops;
struct verve_offload_rc_user;
struct verve_offload_rc_wr;

/* Changes when a driver that was not built again could not work any more. */
#define VERVE_OFFLOAD_ABI	1

/**
 * enum verve_offload_feature - what a device can do, or does now
 * @VERVE_OFFLOAD_TX_ICRC: compute the ICRC of packets for which
 *	verve_offload_is_due() says that it is due
 * @VERVE_OFFLOAD_RX_ICRC: say of packets that come in that their ICRC is right,
 *	by verve_offload_verified()
 * @VERVE_OFFLOAD_TX_LSO: make packets of an LSO packet, and with them their ICRCs, so
 *	it needs VERVE_OFFLOAD_TX_ICRC too; see "LSO: packets, made by the device"
 * @VERVE_OFFLOAD_RX_DDP: write the payload of RDMA WRITEs to its place; see "RDMA
 *	WRITEs, placed by the device"
 * @VERVE_OFFLOAD_RC: run RC QPs; see rdma/verve_offload_rc.h
 */
enum verve_offload_feature {
	VERVE_OFFLOAD_TX_ICRC	= BIT(0),
	VERVE_OFFLOAD_RX_ICRC	= BIT(1),
	VERVE_OFFLOAD_TX_LSO = BIT(2),
	VERVE_OFFLOAD_RX_DDP	= BIT(3),
	VERVE_OFFLOAD_RC	= BIT(4),
};

#define VERVE_OFFLOAD_FEATURES	(VERVE_OFFLOAD_TX_ICRC | \
				 VERVE_OFFLOAD_RX_ICRC | \
				 VERVE_OFFLOAD_TX_LSO | \
				 VERVE_OFFLOAD_RX_DDP | VERVE_OFFLOAD_RC)

/* Those for which a device has to know memory regions and QPs */
#define VERVE_OFFLOAD_STATEFUL	(VERVE_OFFLOAD_RX_DDP | VERVE_OFFLOAD_RC)

/**
 * struct verve_offload_caps - what a device can do at best
 * @abi: VERVE_OFFLOAD_ABI
 * @features: of enum verve_offload_feature
 */
struct verve_offload_caps {
	u32 abi;
	u32 features;
};

/**
 * struct verve_offload_object - the registry's part of an object
 * @entry: of those of @ibdev
 * @ibdev: RDMA device that it belongs to
 * @offload: device that it is known to, or NULL
 * @context: the driver's
 */
struct verve_offload_object {
	struct list_head entry;
	struct verve_offload_ibdev *ibdev;
	struct verve_offload *offload;
	void *context;
};

/**
 * DOC: Memory regions and QPs that a device knows
 *
 * A device that has a feature of VERVE_OFFLOAD_STATEFUL is told of memory regions and
 * connected QPs, by ops.mr_add() and ops.qp_add(), and that they go, by ops.mr_del()
 * and ops.qp_del(): of those that are there when it gets such a feature, and of all
 * that come and go while it has one. When it loses them, because it is set down or its
 * driver says so or unregisters, all are taken back; and if it gets them again, told
 * anew. QPs are added after the regions and go before them.
 *
 * A device gets the objects of an RDMA device if it is what that is on, through VLANs
 * and bonds, and the only one. Keys of regions are unique in their protection domain,
 * numbers of QPs everywhere.
 *
 * One that cannot take an object returns an error from adding it. Nobody is told: for
 * that object, software does everything.
 */

/**
 * struct verve_offload_mr - a memory region
 * @rkey: key, for both sides
 * @pd: protection domain, to be compared with that of the QP
 * @iova: address of the first byte, as peers name it
 * @length: bytes
 * @access: IB_ACCESS_* flags; without VERVE_OFFLOAD_RC, IB_ACCESS_REMOTE_WRITE is
 *	among them
 * @sgt: pages; the table is the registry's, so whoever maps them for DMA copies it
 * @offset: of the first byte in the first page
 * @object: the registry's
 *
 * Pinned, and constant until ops.mr_del() has returned.
 */
struct verve_offload_mr {
	u32 rkey;
	const void *pd;
	u64 iova;
	u64 length;
	int access;
	const struct sg_table *sgt;
	u32 offset;
	struct verve_offload_object object;
};

/**
 * enum verve_offload_rx - whether a device places what comes for a QP
 * @VERVE_OFFLOAD_RX_IDLE: no, and it need not be told how far the QP is
 * @VERVE_OFFLOAD_RX_WATCHING: not now, but it would from the next ops.rx_sync() on
 * @VERVE_OFFLOAD_RX_PLACING: yes
 */
enum verve_offload_rx {
	VERVE_OFFLOAD_RX_IDLE,
	VERVE_OFFLOAD_RX_WATCHING,
	VERVE_OFFLOAD_RX_PLACING,
};

/**
 * struct verve_offload_qp - an RC QP that can receive
 * @qpn: number
 * @pd: protection domain
 * @access: IB_ACCESS_REMOTE_* flags that it allows
 * @mtu: path MTU in bytes
 * @peer_qpn: number of the QP that it is connected with
 * @local: its IP address; IPv4 as v4-mapped
 * @peer: its peer's
 * @sport: UDP source port that it sends from; 4791 is the destination port of both
 * @mac: Ethernet address that its packets come to
 * @vlan: VLAN id that they come with, whatever their priority, or
 *	VERVE_OFFLOAD_NO_VLAN
 * @rx: enum verve_offload_rx; see "RDMA WRITEs, placed by the device"
 * @placed: PSN of the newest packet that a device has placed, or a value beyond 24
 *	bits; likewise
 * @lock: the registry's: calls of ops.rx_sync() and ops.rx_stop()
 * @user: the transport's, for a QP that may be offloaded; or NULL
 * @owner: likewise
 * @is_offered: the registry's: it may be offloaded to the device
 * @is_offloaded: and is; under the registry's lock of the device
 * @object: the registry's
 *
 * Constant until ops.qp_del() has returned, up to @vlan. @rx and @placed are the
 * driver's between ops.qp_add() and ops.qp_del().
 */
struct verve_offload_qp {
	u32 qpn;
	const void *pd;
	int access;
	u32 mtu;
	u32 peer_qpn;
	struct in6_addr local;
	struct in6_addr peer;
	u16 sport;
	u8 mac[ETH_ALEN];
	u16 vlan;
	u32 rx;
	u32 placed;
	spinlock_t lock; /* see above */
	const struct verve_offload_rc_user *user;
	void *owner;
	bool is_offered;
	bool is_offloaded;
	struct verve_offload_object object;
};

#define VERVE_OFFLOAD_NO_VLAN	0xffff
#define VERVE_OFFLOAD_NO_PSN	U32_MAX

/**
 * struct verve_offload_rx_point - how far a QP has executed what came
 * @psn: of the newest packet; none after it has been executed
 * @left: bytes to come of an RDMA WRITE that is under way; 0: the next packet begins
 *	a message
 * @va: where the next of them goes
 * @rkey: its key
 */
struct verve_offload_rx_point {
	u32 psn;
	u32 left;
	u64 va;
	u32 rkey;
};

/**
 * struct verve_offload_ops - what a driver is asked; each may be NULL
 * @features: which of its features the device has now, of those in the caps;
 *	asked soon after the netdev has come up or its features have changed, at other
 *	times, and by verve_offload_update(). Process context. NULL: all
 * @may_send: whether the device can do what is due for this packet, as
 *	verve_offload_is_due() and verve_offload_is_lso() tell. If not, software
 *	does it: of an LSO packet it makes a train, and asks again for that.
 *	Called right before the packet is handed to the driver; BH off, RCU.
 *	NULL: always
 * @mr_add: a memory region. The context is handed to ops.mr_del(). Return: 0 or an
 *	error
 * @mr_del: it goes. When this returns, the device does not touch its memory any more
 * @qp_add: a QP, likewise
 * @qp_del: it goes. When this returns, the device does not write for it any more
 * @rx_sync: how far a QP is: from the next packet on, the device may place what
 *	comes. Called if its state is VERVE_OFFLOAD_RX_WATCHING. BH off. Return: whether
 *	it does; then the state is VERVE_OFFLOAD_RX_PLACING
 * @rx_stop: place nothing more for a QP. When this returns, the device has not, nor
 *	will it; the state is not VERVE_OFFLOAD_RX_PLACING. BH off
 * @rc: see rdma/verve_offload_rc.h; looked at only with VERVE_OFFLOAD_RC
 *
 * The functions that add and delete are called in process context and may sleep. Of
 * them and @features, one at a time is called for a device; those of other devices do
 * not wait for it, nor does RTNL. None of the functions may take RTNL, or a lock that
 * the driver holds when it calls the registry: another driver's call, under RTNL, may
 * wait for them, where both netdevs lie below one bond. When the netdev is set down,
 * objects are taken back soon, perhaps after ndo_stop(). rx_sync() and rx_stop() are
 * called one at a time for a QP, under spinlocks.
 *
 * None is called after verve_offload_unregister() has returned.
 */
struct verve_offload_ops {
	u32 (*features)(struct net_device *ndev);
	bool (*may_send)(struct net_device *ndev, const struct sk_buff *skb);
	int (*mr_add)(struct net_device *ndev,
		      const struct verve_offload_mr *mr, void **context);
	void (*mr_del)(struct net_device *ndev, void *context);
	int (*qp_add)(struct net_device *ndev, struct verve_offload_qp *qp,
		      void **context);
	void (*qp_del)(struct net_device *ndev, void *context);
	bool (*rx_sync)(struct net_device *ndev, void *context,
			const struct verve_offload_rx_point *point);
	void (*rx_stop)(struct net_device *ndev, void *context);
	const struct verve_offload_rc_ops *rc;
};

/**
 * verve_offload_register() - offer a device's services
 * @ndev: registered netdev, which stays until verve_offload_unregister()
 * @ops: of the driver
 * @caps: copied
 *
 * They are used while the netdev is up.
 *
 * Context: as verve_offload_update().
 * Return: a handle, or ERR_PTR(): -EPROTONOSUPPORT for another ABI, -EEXIST for a
 * netdev that is registered, -ENOMEM. Features that this kernel cannot use are
 * ignored.
 */
struct verve_offload *
verve_offload_register(struct net_device *ndev,
		       const struct verve_offload_ops *ops,
		       const struct verve_offload_caps *caps);

/**
 * verve_offload_update() - what the device does now has changed
 * @offload: from verve_offload_register()
 *
 * A driver that resets its device has ops.features() return 0, calls this, and
 * calls it again when the device works. When it returns, all objects are taken back if
 * the device knew some for what it has lost, and no packet is chosen any more for
 * services that are not offered. Those in the driver's queues are the driver's.
 *
 * Others may still come, at any later time: packets that were chosen before, and for
 * which the driver was too busy (NETDEV_TX_BUSY), or its queue was stopped right
 * then, wait in front of it. So ndo_start_xmit() compares what is due with what the
 * device can do by then; see verve_offload_help().
 *
 * Context: process; waits for calls of the driver's, which never take RTNL; so RTNL may
 * be held.
 */
void verve_offload_update(struct verve_offload *offload);

/**
 * verve_offload_unregister() - the device offers nothing any more
 * @offload: from verve_offload_register(); not to be used again
 *
 * Any time, in the middle of traffic. Packets that were handed to the driver
 * before are sent or dropped by it; so are those that come later because it was busy,
 * as verve_offload_update() says.
 *
 * Context: as verve_offload_update().
 */
void verve_offload_unregister(struct verve_offload *offload);

/* The destructor of a packet whose ICRC is due; for verve_offload_is_due(). */
void verve_offload_due(struct sk_buff *skb);

/**
 * verve_offload_is_due() - is the ICRC of a packet for the device to compute?
 * @skb: packet in ndo_start_xmit(), before it is orphaned
 *
 * The packet, or every packet of a train if the netdev takes those
 * (SKB_GSO_FRAGLIST), ends with 4 bytes of any value, which the ICRC of what is
 * sent replaces (IBTA vol. 1, Annex A17.3.3). Never true of what is not Verve's.
 *
 * Context: any.
 * Return: true if the device has to compute it.
 */
static inline bool verve_offload_is_due(const struct sk_buff *skb)
{
	return skb->destructor == verve_offload_due;
}

/**
 * verve_offload_help() - have software do what is due for a packet after all
 * @skb: packet or train in ndo_start_xmit(), before it is orphaned
 *
 * For packets that were chosen for the device while it could do more than now: as
 * skb_checksum_help() does it for checksums.
 *
 * Context: BH off.
 * Return: 0: it is complete, and verve_offload_is_due() is false; or an error, and
 * the driver drops it: an LSO packet, or somebody has reshaped it.
 */
int verve_offload_help(struct sk_buff *skb);

/**
 * DOC: LSO: packets, made by the device
 *
 * A device with VERVE_OFFLOAD_TX_LSO is handed a run of packets of one message as
 * one packet: the one that it would be if the path MTU were larger. It has Ethernet,
 * IP, UDP and transport headers, which are linear, the payload of all, the pad and a
 * place for an ICRC, and its lengths are right. Its opcode is that of a packet in the
 * place of all of them: Only for a whole message, First, Middle or Last for a part
 * of one, and with immediate data or a key to invalidate if the last has that.
 *
 * skb_shinfo(skb)->gso_size is the path MTU, bytes of payload for each packet but the
 * last, and a multiple of 4; gso_segs is how many packets there are, at least 1. What
 * the device sends are these packets, one after the other:
 *
 * - Ethernet and VLAN headers: as they are;
 * - IP, UDP: with the packet's length; UDP's checksum stays 0; the IPv4 identification
 *   counts up by one, and the header checksum follows;
 * - BTH: the opcode by the packet's place, the PSN counts up by one, modulo 2^24. The
 *   bits SolicitedEvent and AckReq are for the last packet, the pad count too; they
 *   are 0 in the others;
 * - RETH, AETH, immediate data, IETH: in the packets whose opcode has them, the same
 *   in all. An AETH may be in the first and the last;
 * - payload, pad, and the ICRC of this packet.
 *
 * The opcodes are those of SEND, RDMA WRITE and RDMA READ Response of RC, and SEND and
 * RDMA WRITE of UC. A device that cannot do all of that for some packet refuses it by
 * ops.may_send().
 */

/* The destructor of an LSO packet that is the device's; for verve_offload_is_lso(). */
void verve_offload_lso_due(struct sk_buff *skb);

/**
 * verve_offload_is_lso() - is a packet for the device to make packets of?
 * @skb: packet in ndo_start_xmit(), before it is orphaned
 *
 * verve_offload_is_due() is false for those. As gso_type is 0, nobody but the driver
 * takes it for one that could be segmented. A device that cannot do it any more drops
 * it, and the transport sends packets in place of it.
 *
 * Context: any.
 * Return: true if the device has to segment it.
 */
static inline bool verve_offload_is_lso(const struct sk_buff *skb)
{
	return skb->destructor == verve_offload_lso_due;
}

/**
 * verve_offload_verified() - a packet's ICRC is right
 * @skb: packet that has come in, before the driver hands it over. Its UDP checksum
 *	is right, too, or absent
 *
 * Of a packet whose ICRC is wrong the driver says nothing: software finds that out,
 * drops and counts it.
 *
 * Context: any.
 */
static inline void verve_offload_verified(struct sk_buff *skb)
{
	/* One checksum beyond that of UDP, as for any protocol within UDP */
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = 1;
}

/**
 * DOC: DDP: RDMA WRITEs, placed by the device
 *
 * A device with VERVE_OFFLOAD_RX_DDP writes the payload of an RDMA WRITE to its
 * place. The transport remains responsible for all else: it decides in its own time
 * whether the packet is executed, answers it, and completes. It merely does not copy
 * what is there.
 *
 * For each QP the device is in one of the states of enum verve_offload_rx. It only
 * watches at first. ops.rx_sync() tells it how far the transport has executed. From then
 * on it places the packets that follow, one after the other: a packet
 *
 * - that would come to the QP, by its Ethernet address, VLAN, IP addresses, UDP port,
 *   QP number and P_Key (0x7fff or 0xffff), and whose ICRC is right;
 * - that has the PSN which is next;
 * - that is an RDMA WRITE First, Middle, Last or Only with payload and without
 *   immediate data, in its order, with the lengths that the path MTU demands;
 * - that the QP and the region allow, by access flags, protection domain and range,
 *   for all of the message that is to come.
 *
 * Responses and CNPs, which have other PSNs, change nothing. With any other packet
 * for the QP the device stops placing, before it hands that over: it is watching
 * again, until the next ops.rx_sync(). It sets @rx of struct verve_offload_qp by
 * verve_offload_rx_set().
 *
 * The packet is handed over with its headers linear, up to the payload. The payload
 * is in fragments, which are the pages of the region where it was placed, each with
 * a reference; behind it come the pad and the ICRC. The driver calls
 * verve_offload_placed(), and none of this changes GRO, firewalls or VLANs. A packet
 * whose payload is nowhere else is not lost by being dropped: the peer sends it again,
 * and then it is copied.
 *
 * Why that is right. What has been executed is never written again, since the memory
 * may be the program's: while the device places, the transport executes nothing but
 * packets that it has placed, whose PSNs lie behind; for any other it calls
 * ops.rx_stop() first. So what comes by another device, was on its way before, or had
 * been reshaped does no harm. And memory is in the end as if all packets had been
 * executed in their order: what the device has placed after a packet that the
 * transport had to copy, the transport refuses, and copies it when it comes again.
 * For that @placed tells what was placed last, and ops.rx_sync() is not called
 * before the transport is beyond that.
 */

/**
 * verve_offload_rx_set() - whether the device places for a QP
 * @qp: from ops.qp_add(), not yet deleted
 * @rx: VERVE_OFFLOAD_RX_PLACING only from ops.rx_sync(). Otherwise the device has
 *	stopped, and @qp->placed includes all that it has written
 *
 * Context: any.
 */
static inline void verve_offload_rx_set(struct verve_offload_qp *qp,
					enum verve_offload_rx rx)
{
	/* What was written is seen by whoever sees the state. */
	smp_store_release(&qp->rx, rx);
}

/**
 * verve_offload_placed() - the payload of a packet is in its place
 * @skb: packet that has come in, before the driver hands it over
 * @qp: its QP, not yet deleted
 * @psn: its PSN
 *
 * Its ICRC is right. Until it is taken in, its payload may change.
 *
 * Context: any; one at a time for a QP.
 */
static inline void verve_offload_placed(struct sk_buff *skb,
					struct verve_offload_qp *qp, u32 psn)
{
	WRITE_ONCE(qp->placed, psn);
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	verve_offload_verified(skb);
}

/**
 * DOC: For the transport
 *
 * It finds the registry by symbol_get(), so that it can be loaded without.
 */

/**
 * struct verve_offload_stats - what became of a sender's packets
 * @device: ICRCs left to a device
 * @fallback: ICRCs computed in software after all, at the device
 * @unsettled: packets that never reached one: dropped on the way, or taken from it
 * @lso_skbs: LSO packets left to a device
 * @lso_pkts: packets of those, which are counted by @device too
 * @lso_fallback: packets of those that became trains after all
 */
struct verve_offload_stats {
	u64 device;
	u64 fallback;
	u64 unsettled;
	u64 lso_skbs;
	u64 lso_pkts;
	u64 lso_fallback;
};

/**
 * struct verve_offload_transport - what the registry asks of the transport
 * @fill: compute the ICRC of a packet, or of each in a train. BH off or on, RCU;
 *	the transport and network header offsets are right. Return: how many, or 0
 *	when somebody has reshaped it
 * @segment: make a train of an LSO packet, or a packet if it is one only; the ICRCs are
 *	still to be computed. Likewise; the LSO packet stays. Return: NULL without
 *	memory, or when somebody has reshaped it
 */
struct verve_offload_transport {
	u32 (*fill)(struct sk_buff *skb);
	struct sk_buff *(*segment)(struct sk_buff *skb);
};

struct verve_offload_sender;

/**
 * enum verve_offload_object_kind - of a struct verve_offload_object
 * @VERVE_OFFLOAD_MR: in a struct verve_offload_mr
 * @VERVE_OFFLOAD_QP: in a struct verve_offload_qp
 * @VERVE_OFFLOAD_KINDS: how many there are
 */
enum verve_offload_object_kind {
	VERVE_OFFLOAD_MR,
	VERVE_OFFLOAD_QP,
	VERVE_OFFLOAD_KINDS,
};

/**
 * struct verve_offload_registry - what the transport asks of the registry
 * @attach: the transport is there. Process
 * @detach: it goes: it is not called any more. Packets on their way whose ICRC no
 *	device computes are dropped. Process
 * @open: somebody who sends, an RDMA device. Process. Return: NULL without memory
 * @close: sends no more; packets of his may be on their way. Process
 * @stats: add what was counted. Any context
 * @any: features that some netdev has; data path: READ_ONCE()
 * @features: what may be done for packets that leave by a netdev, or is done for
 *	those that come in by it; looks through VLANs and bonds. RCU
 * @tx_icrc: the ICRC of a packet or train is due: leave it to the egress device. BH
 *	off
 * @takes_trains: may trains be given? Not for a while after one was uncoupled before
 *	it came to a device. Any context
 * @tx_lso: an LSO packet: leave all of it to the egress device. BH off
 * @takes_lso: may there be LSO packets? Not for a while after one was lost before
 *	it came to a device. Any context
 * @join: an RDMA device has its netdev, until that is unregistered or @leave is
 *	called. RTNL. Return: NULL without memory
 * @leave: the RDMA device goes; it has no objects any more. Process
 * @publish: an object is there. Process
 * @withdraw: it goes; nobody calls @rx_sync or @rx_stop for it. When this returns, no
 *	device knows it. Process
 * @refused: how often a driver has refused an object. Any context
 * @rx_sync: ops.rx_sync(), if a device knows the QP. BH off
 * @rx_stop: likewise
 * @rc_offload: a QP that is offered may be offloaded. Process
 * @rc_return: it is to be back, if it is offloaded, when this returns. Process
 * @rc_post: ops.rc->post() for an offloaded QP. BH off
 */
struct verve_offload_registry {
	void (*attach)(const struct verve_offload_transport *transport);
	void (*detach)(void);
	struct verve_offload_sender *(*open)(void);
	void (*close)(struct verve_offload_sender *sender);
	void (*stats)(const struct verve_offload_sender *sender,
		      struct verve_offload_stats *stats);
	const u32 *any;
	u32 (*features)(struct net_device *ndev);
	void (*tx_icrc)(struct verve_offload_sender *sender,
			struct sk_buff *skb);
	bool (*takes_trains)(struct verve_offload_sender *sender);
	void (*tx_lso)(struct verve_offload_sender *sender,
		       struct sk_buff *skb);
	bool (*takes_lso)(struct verve_offload_sender *sender);
	struct verve_offload_ibdev *(*join)(struct net_device *ndev);
	void (*leave)(struct verve_offload_ibdev *ibdev);
	void (*publish)(struct verve_offload_ibdev *ibdev,
			enum verve_offload_object_kind kind,
			struct verve_offload_object *object);
	void (*withdraw)(enum verve_offload_object_kind kind,
			 struct verve_offload_object *object);
	u64 (*refused)(const struct verve_offload_ibdev *ibdev);
	bool (*rx_sync)(struct verve_offload_qp *qp,
			const struct verve_offload_rx_point *point);
	void (*rx_stop)(struct verve_offload_qp *qp);
	void (*rc_offload)(struct verve_offload_qp *qp);
	void (*rc_return)(struct verve_offload_qp *qp);
	int (*rc_post)(struct verve_offload_qp *qp,
		       const struct verve_offload_rc_wr *wr);
};

extern const struct verve_offload_registry verve_offload_registry;

#endif
