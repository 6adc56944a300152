/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Interface to the transport
 *
 * Interface between the registry of NICs, roce_offload, and the transport. Drivers need
 * rdma/roce_offload.h only.
 *
 * The transport finds roce_offload_attach() by symbol_get(), so that it can be loaded
 * without the registry.
 */
#ifndef RDMA_ROCE_OFFLOAD_REGISTRY_H
#define RDMA_ROCE_OFFLOAD_REGISTRY_H

#include <linux/kernel.h>
#include <linux/random.h>
#include <rdma/roce_offload.h>

/**
 * struct roce_offload_stats - counters of a sender
 * @device: ICRCs left to a device
 * @fallback: ICRCs that software computed right before the device
 * @unsettled: packets that never reached a device: dropped, or redirected, on their way
 * @uso_skbs: packets left to a device for UDP segmentation
 * @uso_pkts: packets of these, which @device counts too
 * @uso_fallback: packets of such that software segmented right before the device
 */
struct roce_offload_stats {
	u64 device;
	u64 fallback;
	u64 unsettled;
	u64 uso_skbs;
	u64 uso_pkts;
	u64 uso_fallback;
};

/**
 * struct roce_offload_transport - operations of the transport
 * @fill: compute the ICRC of a packet, or of each packet of a train. The offsets of
 *	transport and network header are right. RCU reader, BH off or on. Return: number
 *	of packets, or 0 for a packet that was reshaped
 * @segment: make a train of a packet of @tx_uso, or a packet if there is only one. The
 *	ICRCs are not computed, and the packet of @tx_uso is not freed. Offsets and
 *	context are those of @fill. Return: NULL without memory, or for a packet that was
 *	reshaped
 */
struct roce_offload_transport {
	u32 (*fill)(struct sk_buff *skb);
	struct sk_buff *(*segment)(struct sk_buff *skb);
};

struct roce_offload_sender;

#define ROCE_OFFLOAD_RX_STATE_BITS	2

/* The DDP state of a QP. @placed is final in ROCE_OFFLOAD_RX_STOPPED. */
static inline enum roce_offload_rx
roce_offload_rx_state(const struct roce_offload_qp *qp)
{
	/* Pairs with the cmpxchg() of roce_offload_rx_stopped(). */
	return smp_load_acquire(&qp->rx) & GENMASK(ROCE_OFFLOAD_RX_STATE_BITS - 1, 0);
}

/**
 * enum roce_offload_object_kind - kind of a struct roce_offload_object
 * @ROCE_OFFLOAD_MR: member of a struct roce_offload_mr
 * @ROCE_OFFLOAD_QP: member of a struct roce_offload_qp
 * @ROCE_OFFLOAD_KINDS: number of kinds
 */
enum roce_offload_object_kind {
	ROCE_OFFLOAD_MR,
	ROCE_OFFLOAD_QP,
	ROCE_OFFLOAD_KINDS,
};

/* Draw a number at random. */
static inline u32 roce_offload_draw(struct roce_offload_range range)
{
	u32 random = get_random_u32();

	return range.count ? range.first + reciprocal_scale(random, range.count) :
			     random >> 8;
}

/**
 * struct roce_offload_registry - operations of the registry
 * @detach: withdraw the transport, whose operations are not called afterwards. Packets
 *	on their way whose ICRC no device computes are dropped. Process context
 * @open: create a sender for an RDMA device. Process context. Return: NULL without
 *	memory
 * @close: release a sender that sends no more. Its packets may be on their way.
 *	Process context
 * @stats: add a sender's counters to @stats. Any context
 * @any: features of all netdevs, combined; read by READ_ONCE()
 * @features: return the features of the device below a netdev, through VLANs and bonds.
 *	RCU reader
 * @disabled: look for a device below a netdev, as @features does, that could have a
 *	feature which is switched off. RCU reader. Return: its netdev, or NULL
 * @tx_icrc: leave the ICRC of a packet or train to the egress device. BH off
 * @takes_trains: return true if the sender may pass trains to @tx_icrc. False for a
 *	while after a train was uncoupled in front of a device. Any context
 * @tx_uso: leave the segmentation of a packet, and the ICRCs, to the egress device. Its
 *	gso_size and gso_segs are set, and its UDP checksum is 0. BH off
 * @takes_segmented: return true if the sender may pass packets to @tx_uso. False for a
 *	while after one was lost in front of a device. Any context
 * @join: bind an RDMA device to its netdev, until the netdev is unregistered or @leave
 *	is called. RTNL held. Return: NULL without memory
 * @leave: remove an RDMA device without objects. Process context
 * @range: return the numbers that the device of an RDMA device can know a new object by:
 *	numbers of QPs, or the upper 24 bits of keys. All, if the object is of no use to
 *	it, or there is none. Process context
 * @publish: add an object. Process context
 * @withdraw: remove an object, for which @rx_start and @rx_stop are no longer called. No
 *	device knows the object when withdraw() returns. Process context
 * @refused: return how many objects no device can know. Any context
 * @rx_start: begin a run, if a device places for the QP, which is stopped. BH off.
 *	Return: true if the device was asked
 * @rx_stop: end the run, if there is one. BH off
 * @rc_offload: offload a QP with @is_offered set. Process context
 * @rc_return: take a QP back if it is offloaded. Process context
 * @rc_post: call ops.rc->post() for an offloaded QP. BH off
 * @rc_post_recv: likewise ops.rc->post_recv()
 */
struct roce_offload_registry {
	void (*detach)(void);
	struct roce_offload_sender *(*open)(void);
	void (*close)(struct roce_offload_sender *sender);
	void (*stats)(const struct roce_offload_sender *sender,
		      struct roce_offload_stats *stats);
	const u32 *any;
	u32 (*features)(struct net_device *ndev);
	const struct net_device *(*disabled)(struct net_device *ndev,
					     u32 feature);
	void (*tx_icrc)(struct roce_offload_sender *sender,
			struct sk_buff *skb);
	bool (*takes_trains)(struct roce_offload_sender *sender);
	void (*tx_uso)(struct roce_offload_sender *sender,
		       struct sk_buff *skb);
	bool (*takes_segmented)(struct roce_offload_sender *sender);
	struct roce_offload_ibdev *(*join)(struct net_device *ndev);
	void (*leave)(struct roce_offload_ibdev *ibdev);
	struct roce_offload_range
	(*range)(struct roce_offload_ibdev *ibdev,
		 enum roce_offload_object_kind kind,
		 const struct roce_offload_object *object);
	void (*publish)(struct roce_offload_ibdev *ibdev,
			enum roce_offload_object_kind kind,
			struct roce_offload_object *object);
	void (*withdraw)(enum roce_offload_object_kind kind,
			 struct roce_offload_object *object);
	u64 (*refused)(const struct roce_offload_ibdev *ibdev);
	bool (*rx_start)(struct roce_offload_qp *qp,
			 const struct roce_offload_rx_point *point);
	void (*rx_stop)(struct roce_offload_qp *qp);
	void (*rc_offload)(struct roce_offload_qp *qp);
	void (*rc_return)(struct roce_offload_qp *qp);
	int (*rc_post)(struct roce_offload_qp *qp,
		       const struct roce_offload_rc_wr *wr);
	void (*rc_post_recv)(struct roce_offload_qp *qp,
			     const struct roce_offload_rc_recv *recv);
};

/**
 * roce_offload_attach() - announce the transport
 * @abi: ROCE_OFFLOAD_ABI
 * @transport: operations, until @detach of the registry
 *
 * Context: process.
 * Return: the registry, or NULL if it has another ABI.
 */
const struct roce_offload_registry *
roce_offload_attach(u32 abi, const struct roce_offload_transport *transport);

#endif
