/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Offloads to NICs
 *
 * Interface between drivers of NICs and a RoCEv2 transport in software, such as Verve. A
 * driver needs this header and the module roce_offload, a registry. It does not depend on
 * the transport, which may be loaded and unloaded at any time, or be absent.
 *
 * Software does the work that a driver does not offer or no longer offers. A driver
 * drops a packet that it cannot send as requested, and the transport recovers as from
 * any lost packet. See Documentation/offload.rst.
 */
#ifndef RDMA_ROCE_OFFLOAD_H
#define RDMA_ROCE_OFFLOAD_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/skbuff.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>
#include <uapi/rdma/roce_offload.h>

struct dma_buf;
struct net_device;
struct sg_table;
struct roce_offload;
struct roce_offload_ibdev;
struct roce_offload_rc_ops;
struct roce_offload_rc_recv;
struct roce_offload_rc_user;
struct roce_offload_rc_wr;

/* Incremented by changes after which drivers must be rebuilt */
#define ROCE_OFFLOAD_ABI	8

/* Each is a bit of enum roce_offload_feature. */
#define ROCE_OFFLOAD_FEATURES	(ROCE_OFFLOAD_TX_ICRC | \
				 ROCE_OFFLOAD_RX_ICRC | \
				 ROCE_OFFLOAD_TX_ICRC_SEGMENTED | \
				 ROCE_OFFLOAD_RX_DDP | ROCE_OFFLOAD_RC)

/*
 * Features for which a device must know memory regions and QPs. Their packets bypass
 * nftables, tc, XDP and captures, so they are off until an administrator switches them on
 * for the netdev. All other features are on from the start.
 */
#define ROCE_OFFLOAD_STATEFUL	(ROCE_OFFLOAD_RX_DDP | ROCE_OFFLOAD_RC)

/**
 * struct roce_offload_range - range of 24-bit numbers
 * @first: lowest. Key 0, and QPs 0, 1 and 0xffffff, are never drawn
 * @count: number of them, or 0: all numbers
 */
struct roce_offload_range {
	u32 first;
	u32 count;
};

/**
 * struct roce_offload_caps - capabilities of a device
 * @abi: ROCE_OFFLOAD_ABI
 * @features: all features that the device may have, enum roce_offload_feature
 * @rx_after: ROCE_OFFLOAD_RX_DDP: payload of RDMA WRITEs in bytes that the transport
 *	copies, without a SEND or immediate data in between, before it calls
 *	ops.rx_start() for a QP; at least 1. More after runs that were not much longer
 * @rc_recvs: ROCE_OFFLOAD_RC: receives that the device holds for a QP, at least 1
 * @qpns: numbers of QPs that the device can know
 * @keys: upper 24 bits of the keys of regions that the device can know
 */
struct roce_offload_caps {
	u32 abi;
	u32 features;
	u32 rx_after;
	u32 rc_recvs;
	struct roce_offload_range qpns;
	struct roce_offload_range keys;
};

/**
 * struct roce_offload_object - state of an object in the registry
 * @entry: entry in the list of @ibdev
 * @ibdev: RDMA device of the object
 * @offload: device that knows the object, or NULL
 * @context: the driver's context of the object
 */
struct roce_offload_object {
	struct list_head entry;
	struct roce_offload_ibdev *ibdev;
	struct roce_offload *offload;
	void *context;
};

/**
 * DOC: Memory regions and QPs that a device knows
 *
 * The registry adds memory regions and connected QPs to a device that has a feature of
 * ROCE_OFFLOAD_STATEFUL, by ops.mr_add() and ops.qp_add(), and deletes them by
 * ops.mr_del() and ops.qp_del(). When a device gets such a feature, all existing objects
 * are added. When it loses these features, because the netdev is set down, an
 * administrator switches them off, or the driver says so or unregisters, all objects are
 * deleted. QPs are added after regions and deleted before them.
 *
 * A device gets the objects of an RDMA device if it is the only device below that RDMA
 * device, directly or through VLANs and bonds.
 *
 * Numbers of QPs are unique in the system. The upper 24 bits of keys are unique in an
 * RDMA device, and the low 8 bits are random. All numbers are random, so that peers
 * cannot guess them. A device whose tables have other sizes has ranges in its caps. While
 * the device has a feature of ROCE_OFFLOAD_STATEFUL, the numbers of new objects are drawn
 * from its ranges, at random: the shorter a range, the easier they are to guess. Objects
 * with other numbers, which are older or found no free one, are not added. Devices with
 * equal ranges share the numbers of QPs, so each should have its own. Of two RDMA devices
 * on one netdev, each draws keys for itself: a driver returns an error if an entry of its
 * table is taken.
 *
 * A driver that cannot add an object returns an error. Software then does all work for
 * that object, without any report.
 */

/**
 * struct roce_offload_mr - a memory region
 * @rkey: lkey and rkey
 * @pd: protection domain, which must be that of the QP
 * @iova: address of the first byte in packets and work requests
 * @length: bytes
 * @access: IB_ACCESS_* flags; without ROCE_OFFLOAD_RC, they include
 *	IB_ACCESS_REMOTE_WRITE
 * @sgt: pages; read-only, so a driver that maps them for DMA copies the table. NULL for
 *	a dma-buf
 * @dmabuf: dma-buf, or NULL; used only with ROCE_OFFLOAD_RC
 * @offset: offset of the first byte in the first page, or in the dma-buf
 * @object: private to the registry
 *
 * Pages are pinned. A driver attaches to a dma-buf itself, and maps it for its device. It
 * returns an error if it cannot, or if the device is not coherent with the CPU: the
 * transport has the buffer mapped, too, which keeps the exporter from moving it, and
 * accesses it when a QP is returned. A driver calls no function of the registry while it
 * holds the lock of a buffer. All fields are constant until ops.mr_del() has returned.
 */
struct roce_offload_mr {
	u32 rkey;
	const void *pd;
	u64 iova;
	u64 length;
	int access;
	const struct sg_table *sgt;
	struct dma_buf *dmabuf;
	u64 offset;
	struct roce_offload_object object;
};

/**
 * enum roce_offload_rx - DDP state of a QP
 * @ROCE_OFFLOAD_RX_STOPPED: the device places nothing
 * @ROCE_OFFLOAD_RX_STARTING: ops.rx_start() was called, and the device has not answered
 * @ROCE_OFFLOAD_RX_PLACING: the device places payload
 * @ROCE_OFFLOAD_RX_STOPPING: ops.rx_stop() was called, and the device has not answered
 */
enum roce_offload_rx {
	ROCE_OFFLOAD_RX_STOPPED,
	ROCE_OFFLOAD_RX_STARTING,
	ROCE_OFFLOAD_RX_PLACING,
	ROCE_OFFLOAD_RX_STOPPING,
};

/**
 * struct roce_offload_qp - an RC QP that can receive
 * @qpn: number
 * @pd: protection domain
 * @access: IB_ACCESS_REMOTE_* flags
 * @mtu: path MTU in bytes
 * @peer_qpn: number of the connected QP
 * @local: IP address of the QP, IPv4 as v4-mapped
 * @peer: IP address of the peer
 * @sport: UDP source port of packets sent; the destination port is 4791 both ways
 * @mac: Ethernet destination address of received packets
 * @vlan: VLAN id of received packets, with any priority, or ROCE_OFFLOAD_NO_VLAN
 * @rx: private to the registry: enum roce_offload_rx, and the number of the run
 * @rx_after: private to the registry: as in the caps, or 0 if no device places for the QP
 * @placed: private to the registry: PSN of the last placed packet, or
 *	ROCE_OFFLOAD_NO_PSN
 * @rx_answered: private to the registry: the transport is told that the device has
 *	answered; any context, under locks of the driver
 * @lock: private to the registry: serialises ops.rx_start() and ops.rx_stop()
 * @rc_recvs: private to the registry: as in the caps
 * @user: operations of the transport for a QP that may be offloaded, or NULL
 * @owner: QP of the transport, for @user
 * @is_offered: private to the registry: the QP may be offloaded to the device
 * @is_offloaded: private to the registry: the QP is offloaded; protected by the lock of
 *	the device
 * @object: private to the registry
 *
 * The fields up to @vlan are constant until ops.qp_del() has returned.
 */
struct roce_offload_qp {
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
	u32 rx_after;
	u32 placed;
	void (*rx_answered)(struct roce_offload_qp *qp);
	spinlock_t lock; /* see above */
	u32 rc_recvs;
	const struct roce_offload_rc_user *user;
	void *owner;
	bool is_offered;
	bool is_offloaded;
	struct roce_offload_object object;
};

#define ROCE_OFFLOAD_NO_VLAN	0xffff
#define ROCE_OFFLOAD_NO_PSN	U32_MAX

/**
 * struct roce_offload_rx_point - progress of a QP's responder
 * @psn: PSN of the newest packet executed
 * @left: bytes to come of the present RDMA WRITE; 0: the next packet begins a message
 * @va: address of the next byte
 * @rkey: key of the RDMA WRITE
 */
struct roce_offload_rx_point {
	u32 psn;
	u32 left;
	u64 va;
	u32 rkey;
};

/**
 * struct roce_offload_ops - operations of a driver; each may be NULL
 * @features: return the features of the caps that the device has now, whether or not an
 *	administrator has switched them on. Called soon after the netdev has come up, its
 *	features have changed or an administrator has switched one, by
 *	roce_offload_update(), and at other times. Process context. NULL: all features
 * @may_send: return true if the device can do the work of this packet, whose ICRC is
 *	due. If not, software does it. Software makes a train of a packet to be segmented,
 *	and calls may_send() for the train. Called right before the packet is handed to
 *	the driver, with BH off, as an RCU reader. NULL: always true
 * @mr_add: add a memory region, and set the context for ops.mr_del(). Return: 0 or an
 *	error
 * @mr_del: delete a memory region. When mr_del() returns, the device no longer accesses
 *	its memory
 * @qp_add: add a QP, and set the context of its other operations. Return: 0 or an error
 * @qp_del: delete a QP. When qp_del() returns, the device no longer writes for it. A
 *	driver whose device has begun a run calls roce_offload_rx_stopped() before
 * @rx_start: ask the device to begin a run of placed packets, with the packet that
 *	follows @point. The driver answers at any time later, or at once, by
 *	roce_offload_rx_started() or roce_offload_rx_stopped(). BH off
 * @rx_stop: ask the device to end the run. The driver answers by
 *	roce_offload_rx_stopped(), unless it has ended the run itself. BH off
 * @rc: see rdma/roce_offload_rc.h; used only with ROCE_OFFLOAD_RC
 *
 * @priv of the operations is that of roce_offload_register(), @context that of mr_add()
 * or qp_add().
 *
 * mr_add(), mr_del(), qp_add() and qp_del() are called in process context and may sleep.
 * These and features() are called one at a time for a device. Neither calls for other
 * devices nor holders of RTNL wait for them. No operation may take RTNL, or a lock that
 * the driver holds when it calls the registry: if two netdevs are below one bond, a call
 * of the other driver under RTNL may wait for this operation. When the netdev is set
 * down, its objects are deleted soon, perhaps after ndo_stop(). rx_start() and rx_stop()
 * are called one at a time for a QP, under spinlocks, and never wait for the device.
 *
 * No operation is called after roce_offload_unregister() has returned.
 */
struct roce_offload_ops {
	u32 (*features)(void *priv);
	bool (*may_send)(void *priv, const struct sk_buff *skb);
	int (*mr_add)(void *priv, const struct roce_offload_mr *mr,
		      void **context);
	void (*mr_del)(void *context);
	int (*qp_add)(void *priv, struct roce_offload_qp *qp, void **context);
	void (*qp_del)(void *context);
	void (*rx_start)(void *context, u32 run,
			 const struct roce_offload_rx_point *point);
	void (*rx_stop)(void *context);
	const struct roce_offload_rc_ops *rc;
};

/**
 * roce_offload_register() - register the features of a device
 * @ndev: registered netdev, which stays until roce_offload_unregister()
 * @ops: operations of the driver
 * @caps: capabilities, which are copied
 * @priv: the driver's own data, for its operations. They may be called before this
 *	function returns
 *
 * Features are used while the netdev is up. Those of ROCE_OFFLOAD_STATEFUL are switched
 * off at first. Features that this kernel cannot use are ignored.
 *
 * Context: process; RTNL may be held, see roce_offload_update().
 * Return: a handle, or ERR_PTR(): -EPROTONOSUPPORT for another ABI, -EINVAL for a range
 * beyond 24 bits, -EEXIST for a netdev that is registered, -ENOMEM.
 */
struct roce_offload *
roce_offload_register(struct net_device *ndev,
		      const struct roce_offload_ops *ops,
		      const struct roce_offload_caps *caps, void *priv);

/**
 * roce_offload_update() - announce a change of the device's features
 * @offload: handle from roce_offload_register()
 *
 * A driver that resets its device has ops.features() return 0 and calls this function.
 * It calls this function again when the device works. When this function returns, no
 * more packets are chosen for features that the device has lost. If these include a
 * stateful feature, all objects have been deleted. Packets in the driver's queues are
 * the driver's business.
 *
 * Packets chosen earlier may still arrive at any later time. They wait in front of the
 * driver if it returned NETDEV_TX_BUSY or has stopped its queue. So ndo_start_xmit()
 * compares the work of each packet with the present features; see roce_offload_help().
 *
 * Context: process. Waits for operations of the driver. These never take RTNL, so the
 * caller may hold it.
 */
void roce_offload_update(struct roce_offload *offload);

/**
 * roce_offload_unregister() - unregister the features of a device
 * @offload: handle from roce_offload_register(), invalid afterwards
 *
 * A driver may unregister at any time, also during traffic. It sends or drops the packets
 * that it has got, and those that still arrive because it was busy, see
 * roce_offload_update().
 *
 * Context: process; RTNL may be held, see roce_offload_update().
 */
void roce_offload_unregister(struct roce_offload *offload);

/* Destructor that marks a packet without ICRC. See roce_offload_is_due(). */
void roce_offload_due(struct sk_buff *skb);

/**
 * roce_offload_is_due() - check whether the device must compute the ICRC
 * @skb: packet in ndo_start_xmit(), before it is orphaned
 *
 * The packet ends with 4 bytes of any value. The device replaces them by the ICRC of the
 * packet that it sends (IBTA vol. 1, Annex A17.3.3). If the netdev takes trains
 * (SKB_GSO_FRAGLIST), this holds for each packet of a train; with
 * ROCE_OFFLOAD_TX_ICRC_SEGMENTED, for each packet that the device makes of one. The
 * function returns false for packets of others than the transport.
 *
 * Context: any.
 * Return: true if the device must compute the ICRC.
 */
static inline bool roce_offload_is_due(const struct sk_buff *skb)
{
	return skb->destructor == roce_offload_due;
}

/**
 * roce_offload_help() - compute the ICRCs of a packet or train in software
 * @skb: packet or train in ndo_start_xmit(), before it is orphaned
 *
 * Like skb_checksum_help() for checksums, this function is for packets that were chosen
 * before the device lost a feature.
 *
 * Context: BH off.
 * Return: 0, and roce_offload_is_due() is false; or an error for a packet to be
 * segmented, or for one that was reshaped on its way. The driver drops it then.
 */
int roce_offload_help(struct sk_buff *skb);

/**
 * DOC: USO: UDP segmentation with ICRCs
 *
 * A device with ROCE_OFFLOAD_TX_ICRC_SEGMENTED gets several packets of equal size as
 * one, the last of which may be shorter. This is GSO of type SKB_GSO_UDP_L4 as it gets
 * from any program: gso_size is the length of each packet behind its UDP header, from
 * BTH to ICRC; the headers are linear, and all behind the first packet is in fragments.
 * roce_offload_is_due() is true: each packet ends with 4 bytes for its ICRC.
 *
 * The device makes the packets as always. IPv4 identifications may have any values. Then
 * it replaces the last bytes of each packet by the ICRC of the packet that it sends. The
 * UDP checksum covers the ICRC, so it is computed afterwards, or is 0.
 *
 * Nothing is segmented while NETIF_F_GSO_UDP_L4 or NETIF_F_SG is off in the netdev's
 * features, nor on top of VLANs or bonds while it is off in its vlan_features.
 */

/**
 * roce_offload_verified() - report that the ICRC of a packet is right
 * @skb: received packet, before the driver hands it to the stack. Its UDP checksum is
 *	right or absent
 *
 * A driver does not report a wrong ICRC. Software checks the packet, drops it and counts
 * it.
 *
 * Context: any.
 */
static inline void roce_offload_verified(struct sk_buff *skb)
{
	/* csum_level 1: one checksum is verified after that of UDP. */
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = 1;
}

/**
 * DOC: DDP: RDMA WRITEs, placed by the device
 *
 * A device with ROCE_OFFLOAD_RX_DDP writes the payload of an RDMA WRITE to the memory
 * of the region. The transport remains responsible for all else: later it decides
 * whether to execute the packet, acknowledges it, and completes the request. It only
 * does not copy payload that has been placed.
 *
 * Packets are placed in runs. ops.rx_start() tells the number of the run, and which
 * packet the transport has executed last. The device places the packets that follow, in
 * order, and answers by roce_offload_rx_started() before the driver hands over the first
 * of them. It may have seen these packets before, unplaced: the transport then drops
 * them, and the peer sends them again. A packet is placed if
 *
 * - its Ethernet address, VLAN, IP addresses, UDP port, QP number and P_Key (0x7fff or
 *   0xffff) are those of the QP, and its ICRC is right;
 * - it has the next PSN;
 * - it is an RDMA WRITE First, Middle, Last or Only in due order, with payload and
 *   without immediate data, and with the length that the path MTU demands;
 * - access flags, protection domain and range of QP and region allow the rest of the
 *   message;
 * - the region has pages, and no dma-buf.
 *
 * A packet with any other PSN, a response or a CNP does not change the run. The device
 * ends the run with any other request that has the next PSN. The driver then calls
 * roce_offload_rx_stopped() before it hands that packet over. ops.rx_stop() ends a run,
 * too, in whatever time the device needs. Answers to requests for different QPs may come
 * in any order.
 *
 * The driver hands over a placed packet with linear headers up to the payload. The
 * payload is in fragments, which are pages of the region, each with a reference. Pad and
 * ICRC follow it. The driver calls roce_offload_placed(). GRO, firewalls and VLANs work
 * as for any packet. If the packet is dropped, the peer sends it again, and software
 * copies the payload.
 *
 * Two rules make this safe. First, memory of an executed packet is never written again,
 * because it may belong to the program. From ops.rx_start() until the device has stopped,
 * the transport executes only placed packets. It drops any other packet that is next, and
 * stops the device if that comes again. So packets from another device, packets received
 * earlier, and packets that were reshaped do no harm. Second, memory is finally as if all
 * packets had been executed in order. The transport refuses packets that were placed
 * after a packet that it had to copy, and copies them when the peer sends them again. For
 * this, roce_offload_rx_stopped() tells the last placed packet, and ops.rx_start() is
 * not called before the transport is beyond it.
 *
 * After an error of the QP, packets of the peer may be placed until the device stops.
 */

/**
 * roce_offload_rx_started() - report that a device has begun a run
 * @qp: QP between ops.qp_add() and ops.qp_del()
 * @run: its number, from ops.rx_start()
 *
 * Context: any. Takes no lock.
 */
void roce_offload_rx_started(struct roce_offload_qp *qp, u32 run);

/**
 * roce_offload_rx_stopped() - report that a device has ended a run, or cannot begin it
 * @qp: QP between ops.qp_add() and the return of ops.qp_del()
 * @run: its number, from ops.rx_start(). Numbers of earlier runs are ignored
 * @psn: PSN of the last packet that the device has placed in the run, whether or not it
 *	was handed over, or ROCE_OFFLOAD_NO_PSN
 *
 * The device writes nothing more in this run.
 *
 * Context: any; one call at a time for a QP. Takes no lock.
 */
void roce_offload_rx_stopped(struct roce_offload_qp *qp, u32 run, u32 psn);

/**
 * roce_offload_placed() - report that the payload of a packet has been placed
 * @skb: received packet with a right ICRC, before the driver hands it to the stack
 *
 * The program may change the payload before the transport executes the packet.
 *
 * Context: any.
 */
static inline void roce_offload_placed(struct sk_buff *skb)
{
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	roce_offload_verified(skb);
}

#endif
