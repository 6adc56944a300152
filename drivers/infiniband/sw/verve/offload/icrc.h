/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ICRC offload to NICs whose driver has registered (rdma/roce_offload.h)
 */
#ifndef VERVE_OFFLOAD_ICRC_H
#define VERVE_OFFLOAD_ICRC_H

#include <linux/types.h>

struct net_device;
struct sk_buff;
struct verve_burst;
struct verve_dev;
struct verve_flow;
struct verve_stats;
struct roce_offload_registry;

/* The registry of NICs, or NULL. Constant while devices exist. */
extern const struct roce_offload_registry *verve_registry;

/**
 * verve_icrc_offload_select() - choose the offloads for the next packets of a flow
 * @dev: device that sends
 * @flow: flow with a route; @flow->icrc_offload and @flow->has_uso are set
 *
 * Context: BH off, RCU. The caller owns @flow.
 */
void verve_icrc_offload_select(const struct verve_dev *dev,
			       struct verve_flow *flow);

/**
 * verve_icrc_offload_segments() - may the device segment this burst, too?
 * @flow: flow with @flow->has_uso
 * @burst: burst
 *
 * Return: false for retransmissions, and for what no ACK vouches for while the device is
 * on trial (trust.h).
 */
bool verve_icrc_offload_segments(const struct verve_flow *flow,
				 const struct verve_burst *burst);

enum verve_icrc_offload_status {
	VERVE_ICRC_OFFLOAD_OFFERED,
	/* the NIC could have this feature, but it is not switched on */
	VERVE_ICRC_OFFLOAD_DISABLED,
	/* the NIC's driver has registered, but does not offer this feature */
	VERVE_ICRC_OFFLOAD_WITHHELD,
	VERVE_ICRC_OFFLOAD_UNOFFERED,
	VERVE_ICRC_OFFLOAD_NO_REGISTRY, /* the registry is not loaded */
};

/* Does the NIC of a netdev offer a feature to a device? Context: RCU. */
bool verve_icrc_offload_is_offered(const struct verve_dev *dev,
				   struct net_device *ndev, u32 feature);

/**
 * verve_icrc_offload_query() - the same, and if not, the reason
 * @dev: Verve device
 * @ndev: netdev that packets leave or come in by
 * @feature: enum roce_offload_feature
 * @nic: set with VERVE_ICRC_OFFLOAD_DISABLED: the NIC below @ndev, or @ndev
 *
 * Context: RCU.
 * Return: VERVE_ICRC_OFFLOAD_OFFERED, or the reason why not.
 */
enum verve_icrc_offload_status
verve_icrc_offload_query(const struct verve_dev *dev, struct net_device *ndev,
			 u32 feature, const struct net_device **nic);

/**
 * verve_icrc_offload_tx() - leave the ICRC of a packet or train to the egress device
 * @dev: device that sends
 * @skb: packet whose last four bytes are reserved for the ICRC, or a train of them
 *
 * Context: BH off.
 */
void verve_icrc_offload_tx(const struct verve_dev *dev, struct sk_buff *skb);

/**
 * verve_icrc_offload_tx_uso() - leave UDP segmentation and the ICRCs to the NIC
 * @dev: device that sends
 * @skb: several packets of equal size in one, each with four bytes for its ICRC
 *
 * Context: BH off.
 */
void verve_icrc_offload_tx_uso(const struct verve_dev *dev,
			       struct sk_buff *skb);

/**
 * verve_icrc_offload_is_verified() - has a NIC verified the ICRC of a packet?
 * @skb: received packet
 *
 * The checksum state of a packet counts only if the driver of its NIC has registered.
 *
 * Context: softirq, RCU.
 * Return: true if the ICRC is right.
 */
bool verve_icrc_offload_is_verified(const struct sk_buff *skb);

/* Add the registry's counters of a device to @values. Any context. */
void verve_icrc_offload_stats(const struct verve_dev *dev, u64 *values);

/*
 * Open and close a device's sender in the registry. Without registry or memory, the
 * device uses no ICRC offload. Process context.
 */
void verve_icrc_offload_open(struct verve_dev *dev);
void verve_icrc_offload_close(struct verve_dev *dev);

void verve_icrc_offload_init(void); /* module load: find the registry */
void verve_icrc_offload_exit(void);

#endif
