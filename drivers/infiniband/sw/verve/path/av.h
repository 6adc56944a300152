/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address vectors
 */
#ifndef VERVE_PATH_AV_H
#define VERVE_PATH_AV_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/rcupdate.h>
#include <rdma/ib_verbs.h>

struct verve_dev;

/**
 * struct verve_av - addresses, ports and priority of packets to one destination
 * @saddr: source address; IPv4 as v4-mapped
 * @daddr: destination address; IPv4 as v4-mapped
 * @is_v6: both addresses are IPv6
 * @sl: service level that selects the priority, 1 to 7; 0: @traffic_class selects it
 * @max_priority: upper limit of the priority in the stack
 * @traffic_class: DSCP and ECN bits
 * @hop_limit: hop limit or TTL; 0: default
 * @flow_label: IPv6 flow label, 20 bits
 * @sport: UDP source port, host order
 * @sgid_index: index of the source GID
 * @ifindex: netdev of the source GID, as several may have its address; 0: any
 * @dmac: MAC address that the core resolved, only for queries
 * @pd: PD of the AH (AHs only)
 * @rcu: an AH is freed after a grace period
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
 * verve_av_fill() - make an address vector of RDMA AH attributes
 * @av: filled
 * @attr: attributes with a GRH and sgid_attr
 * @is_user: the caller acts for a program
 * @lqpn: local QP, for the UDP source port
 * @rqpn: remote QP, for the UDP source port
 *
 * Context: process or BH.
 * Return: 0; -EINVAL when there is no GRH, one GID is IPv4 and the other IPv6, or the
 * source GID is not RoCEv2 or belongs to another netdev or namespace.
 */
int verve_av_fill(struct verve_av *av, const struct rdma_ah_attr *attr,
		  bool is_user, u32 lqpn, u32 rqpn);

/* Find the AH @ah_num of @pd. Context: RCU. Return: NULL when @pd has no such AH. */
struct verve_av *verve_av_find(struct verve_dev *dev, struct ib_pd *pd,
			       u32 ah_num);

#endif
