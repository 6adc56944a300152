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
 * verve_late_look() - what might a NIC do for a flow's packets now?
 * @dev: device that sends
 * @flow: with a route; @flow->is_late and @flow->has_messages are set
 * Context: BH off, RCU. The owner of @flow.
 */
void verve_late_look(const struct verve_dev *dev, struct verve_flow *flow);

enum verve_late_answer {
	VERVE_LATE_OFFERED,
	VERVE_LATE_WITHHELD,	/* a driver offers something, but not this */
	VERVE_LATE_UNOFFERED,
	VERVE_LATE_ALONE,	/* there is no registry */
};

/**
 * verve_late_ask() - does a NIC do something for what leaves by a netdev, or comes in?
 * @dev: device
 * @ndev: netdev
 * @feature: what, of enum verve_offload_feature
 *
 * Context: RCU.
 * Return: whether a driver offers the feature, and if not, what there is instead.
 */
enum verve_late_answer verve_late_ask(const struct verve_dev *dev,
				      struct net_device *ndev, u32 feature);

/**
 * verve_late_give() - the ICRC of a packet or train is to be computed later
 * @dev: device that sends
 * @skb: packet whose last four bytes are the ICRC's place, or a train of them
 * Context: BH off.
 */
void verve_late_give(const struct verve_dev *dev, struct sk_buff *skb);

/**
 * verve_late_give_message() - packets are to be made of a message later
 * @dev: device that sends
 * @skb: from verve_message_build()
 * Context: BH off.
 */
void verve_late_give_message(const struct verve_dev *dev, struct sk_buff *skb);

/**
 * verve_late_is_verified() - does a NIC say that a packet's ICRC is right?
 * @skb: as it came in; its netdev is believed only if its driver has registered
 *
 * Context: softirq, RCU.
 * Return: true if the NIC has compared it.
 */
bool verve_late_is_verified(const struct sk_buff *skb);

/* Add what the registry has counted for the device. Any context. */
void verve_late_stats(const struct verve_dev *dev, u64 *values);

/* A device comes, and goes. Without the registry, or memory, nothing is late. */
void verve_late_open(struct verve_dev *dev);
void verve_late_close(struct verve_dev *dev);

void verve_late_init(void);	/* module load: looks for the registry */
void verve_late_exit(void);

#endif
