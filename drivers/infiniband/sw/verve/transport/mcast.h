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
 * @node: entry in struct verve_mcast
 * @addr: group address; IPv4 as v4-mapped
 * @members: list of struct verve_group_member; RCU
 * @num_members: length of @members
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
 * struct verve_group_member - an attached QP
 * @entry: entry in the group
 * @qp: QP, which is detached before it is destroyed
 * @times: number of attachments, as the core counts them by LID; LIDs have no
 *	meaning here
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

/* Verbs, in process context */
int verve_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int verve_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif
