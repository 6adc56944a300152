/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The address vector that every path starts from
 */
#ifndef VERVE_PATH_AV_H
#define VERVE_PATH_AV_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/rcupdate.h>
#include <rdma/ib_verbs.h>

struct verve_dev;

/**
 * struct verve_av - where packets go
 * @saddr: source; IPv4 as v4-mapped
 * @daddr: destination; likewise
 * @is_v6: which of the two
 * @sl: service level that is a priority, 1 to 7; 0: @traffic_class is to say it
 * @max_priority: of the stack's, that it may be
 * @traffic_class: DSCP and ECN bits
 * @hop_limit: TTL
 * @flow_label: IPv6; no more than its 20 bits
 * @sport: UDP source port, host order
 * @sgid_index: what the sgid was
 * @ifindex: of the netdev that the sgid was of; others may have the same address. 0:
 *	any
 * @dmac: as resolved by the core, used to answer queries only
 * @pd: owner of the AH (AHs only)
 * @rcu: AHs are freed after a grace period
 */
struct verve_av {
	struct in6_addr saddr;
	struct in6_addr daddr;
	bool is_v6;
	u8 sl;
	u8 max_priority;
	u8 traffic_class;
	u8 hop_limit;
	u32 flow_label;
	u16 sport;
	u16 sgid_index;
	int ifindex;
	u8 dmac[ETH_ALEN];
	struct ib_pd *pd;
	struct rcu_head rcu;
};

/**
 * verve_av_fill() - address vector of RDMA AH attributes
 * @av: filled
 * @attr: with GRH and sgid_attr
 * @is_user: a program's, which the caller acts for
 * @lqpn: local QP, for the UDP source port
 * @rqpn: remote QP
 *
 * Context: process or BH.
 * Return: 0, or -EINVAL: no GRH, GIDs of two kinds,
 * not a RoCEv2 GID, or a GID of another netdev or namespace.
 */
int verve_av_fill(struct verve_av *av, const struct rdma_ah_attr *attr,
		  bool is_user, u32 lqpn, u32 rqpn);

/* RCU. NULL when there is no such AH in @pd. */
struct verve_av *verve_av_find(struct verve_dev *dev, struct ib_pd *pd,
			       u32 ah_num);

#endif
