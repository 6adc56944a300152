/* SPDX-License-Identifier: GPL-2.0-only */
/*
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
#include <linux/skbuff.h>
#include <linux/types.h>

struct net_device;
struct verve_offload;

/* Changes when a driver that was not built again could not work any more. */
#define VERVE_OFFLOAD_ABI	1

/**
 * enum verve_offload_feature - what a device can do, or does now
 * @VERVE_OFFLOAD_TX_ICRC: compute the ICRC of packets for which
 *	verve_offload_is_due() says that it is due
 * @VERVE_OFFLOAD_RX_ICRC: say of packets that come in that their ICRC is right,
 *	by verve_offload_verified()
 */
enum verve_offload_feature {
	VERVE_OFFLOAD_TX_ICRC	= BIT(0),
	VERVE_OFFLOAD_RX_ICRC	= BIT(1),
};

#define VERVE_OFFLOAD_FEATURES	(VERVE_OFFLOAD_TX_ICRC | VERVE_OFFLOAD_RX_ICRC)

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
 * struct verve_offload_ops - what a driver is asked; each may be NULL
 * @features: which of its features the device has now, of those in the caps;
 *	asked when the netdev comes up, when its features change, and by
 *	verve_offload_update(). Process context, RTNL or not; the registry's mutex is
 *	held, so locks that are held around calls of it may not be taken. NULL: all
 * @may_send: whether the device can do what is due for this packet, as
 *	verve_offload_is_due() tells. If not, software does it. Called right
 *	before the packet is handed to the driver; BH off, RCU. NULL: always
 *
 * None is called after verve_offload_unregister() has returned.
 */
struct verve_offload_ops {
	u32 (*features)(struct net_device *ndev);
	bool (*may_send)(struct net_device *ndev, const struct sk_buff *skb);
};

/**
 * verve_offload_register() - offer a device's services
 * @ndev: registered netdev, which stays until verve_offload_unregister()
 * @ops: of the driver
 * @caps: copied
 *
 * They are used while the netdev is up.
 *
 * Context: process; RTNL may be held.
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
 * calls it again when the device works. When it returns, no packet is on its way
 * to the driver that was meant for services that are not offered any more; those
 * in the driver's queues are the driver's.
 *
 * Context: process; RTNL may be held.
 */
void verve_offload_update(struct verve_offload *offload);

/**
 * verve_offload_unregister() - the device offers nothing any more
 * @offload: from verve_offload_register(); not to be used again
 *
 * Any time, in the middle of traffic. Packets that were handed to the driver
 * before are sent or dropped by it.
 *
 * Context: process; RTNL may be held.
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
 */
static inline bool verve_offload_is_due(const struct sk_buff *skb)
{
	return skb->destructor == verve_offload_due;
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

/*
 * DOC: For the transport
 *
 * It finds the registry by symbol_get(), so that it can be loaded without.
 */

/**
 * struct verve_offload_stats - what became of a sender's packets
 * @device: ICRCs left to a device
 * @fallback: ICRCs computed in software after all, at the device
 * @unsettled: packets that never reached one: dropped on the way, or taken from it
 */
struct verve_offload_stats {
	u64 device;
	u64 fallback;
	u64 unsettled;
};

/**
 * struct verve_offload_transport - what the registry asks of the transport
 * @fill: compute the ICRC of a packet, or of each in a train. BH off or on, RCU;
 *	the transport and network header offsets are right. Return: how many, or 0
 *	when somebody has reshaped it
 */
struct verve_offload_transport {
	u32 (*fill)(struct sk_buff *skb);
};

struct verve_offload_sender;

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
 * @give: the ICRC of a packet or train is due: leave it to the egress device. BH
 *	off
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
	void (*give)(struct verve_offload_sender *sender, struct sk_buff *skb);
};

extern const struct verve_offload_registry verve_offload_registry;

#endif
