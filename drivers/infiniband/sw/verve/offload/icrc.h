/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ICRC, left to NICs whose driver has registered (rdma/verve_offload.h)
 */
#ifndef VERVE_OFFLOAD_ICRC_H
#define VERVE_OFFLOAD_ICRC_H

#include <linux/types.h>

struct net_device;
struct sk_buff;
struct verve_dev;
struct verve_flow;
struct verve_stats;
struct verve_offload_registry;

/* What registered NICs are found by; NULL without, and set before there are devices */
extern const struct verve_offload_registry *verve_registry;

/**
 * verve_icrc_offload_select() - what might a NIC do for a flow's packets now?
 * @dev: device that sends
 * @flow: with a route; @flow->icrc_offload and @flow->has_lso are set
 * Context: BH off, RCU. The owner of @flow.
 */
void verve_icrc_offload_select(const struct verve_dev *dev,
			       struct verve_flow *flow);

enum verve_icrc_offload_status {
	VERVE_ICRC_OFFLOAD_OFFERED,
	/* a driver offers something, but not this */
	VERVE_ICRC_OFFLOAD_WITHHELD,
	VERVE_ICRC_OFFLOAD_UNOFFERED,
	VERVE_ICRC_OFFLOAD_NO_REGISTRY, /* there is no registry */
};

/**
 * verve_icrc_offload_query() - does a NIC do something for what leaves by a
 * netdev, or comes in?
 * @dev: device
 * @ndev: netdev
 * @feature: what, of enum verve_offload_feature
 *
 * Context: RCU.
 * Return: whether a driver offers the feature, and if not, what there is instead.
 */
enum verve_icrc_offload_status
verve_icrc_offload_query(const struct verve_dev *dev, struct net_device *ndev,
			 u32 feature);

/**
 * verve_icrc_offload_tx() - leave the ICRC of a packet or train to the NIC
 * @dev: device that sends
 * @skb: packet whose last four bytes are the ICRC's place, or a train of them
 * Context: BH off.
 */
void verve_icrc_offload_tx(const struct verve_dev *dev, struct sk_buff *skb);

/**
 * verve_icrc_offload_tx_lso() - leave an LSO packet to the NIC
 * @dev: device that sends
 * @skb: from verve_lso_build()
 * Context: BH off.
 */
void verve_icrc_offload_tx_lso(const struct verve_dev *dev,
			       struct sk_buff *skb);

/**
 * verve_icrc_offload_is_verified() - does a NIC say that a packet's ICRC is right?
 * @skb: as it came in; its netdev is believed only if its driver has registered
 *
 * Context: softirq, RCU.
 * Return: true if the NIC has compared it.
 */
bool verve_icrc_offload_is_verified(const struct sk_buff *skb);

/* Add what the registry has counted for the device. Any context. */
void verve_icrc_offload_stats(const struct verve_dev *dev, u64 *values);

/* A device comes, and goes. Without the registry, or memory, nothing is offloaded. */
void verve_icrc_offload_open(struct verve_dev *dev);
void verve_icrc_offload_close(struct verve_dev *dev);

void verve_icrc_offload_init(void); /* module load: looks for the registry */
void verve_icrc_offload_exit(void);

#endif
