/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Multicast groups of a device, and the UD QPs attached to them
 */
#ifndef VERVE_TRANSPORT_MCAST_H
#define VERVE_TRANSPORT_MCAST_H

#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <rdma/ib_verbs.h>

struct verve_dev;
struct verve_qp;

/**
 * struct verve_group - a multicast group with at least one QP
 * @node: in struct verve_mcast
 * @addr: IPv4 as v4-mapped
 * @members: struct verve_group_member; RCU
 * @num_members: in @members
 * @rcu: freed after a grace period
 */
struct verve_group {
	struct rhash_head node;
	struct in6_addr addr;
	struct list_head members;
	u32 num_members;
	struct rcu_head rcu;
};

/**
 * struct verve_group_member - a QP that is attached
 * @entry: in the group
 * @qp: not destroyed before it is detached
 * @times: attached, as the core counts it: LIDs differ, and mean nothing here
 * @rcu: freed after a grace period
 */
struct verve_group_member {
	struct list_head entry;
	struct verve_qp *qp;
	u32 times;
	struct rcu_head rcu;
};

int verve_mcast_init(struct verve_dev *dev);
void verve_mcast_exit(struct verve_dev *dev);

/* verbs; process context */
int verve_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int verve_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif
