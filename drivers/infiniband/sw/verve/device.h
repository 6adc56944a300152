/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devices: one ib_device on one netdev.
 */
#ifndef VERVE_DEVICE_H
#define VERVE_DEVICE_H

#include <linux/idr.h>
#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>
#include "cc_params.h"
#include "limits.h"
#include "stats.h"

/* Version of the driver, also shown as the version of the firmware */
#define VERVE_VERSION		"0.1.0"
#define VERVE_VERSION_CODE	(0ULL << 32 | 1 << 16 | 0)

struct verve_qp;
struct verve_net;
struct roce_offload_ibdev;
struct roce_offload_sender;

/**
 * struct verve_uso - trials of a netdev's UDP segmentation (offload/uso.c)
 * @generation: incremented to void the results that flows remember
 * @failures: number of trials in a row that failed
 * @is_trusted: a trial has succeeded
 * @trial_until: jiffies until which a trial of another flow may be under way
 *
 * A device has one for each version of IP. No lock protects them. Two CPUs may begin
 * trials at the same time, or count an outdated failure.
 */
struct verve_uso {
	u32 generation;
	atomic_t failures;
	bool is_trusted;
	unsigned long trial_until;
};

/**
 * struct verve_mcast - multicast groups of a device
 * @groups: struct verve_group by address; RCU
 * @lock: serialises changes of @groups and @attached
 * @attached: number of attached QPs in all groups
 */
struct verve_mcast {
	struct rhashtable groups;
	struct mutex lock; /* groups, attached */
	u32 attached __guarded_by(&lock);
};

/**
 * struct verve_dev - a Verve device
 * @ibdev: device of the RDMA core, which frees it; first member
 * @ndev: netdev below, with a reference, or NULL once the netdev is being
 *	unregistered; RCU, written under devices_lock
 * @ndev_tracker: tracker of the reference on @ndev
 * @parent_ndev: netdev whose parent is that of @ibdev, with a reference until @ibdev has
 *	left sysfs; NULL if it has none (parent.c)
 * @parent_tracker: tracker of the reference on @parent_ndev
 * @net: per-namespace state (sockets) of the netdev's namespace, referenced
 * @sender: state in the registry of NICs for packets whose ICRC a NIC may compute
 *	(offload/icrc.c); NULL without the registry
 * @offload: state in the registry for objects that NICs may know
 *	(offload/rc/qpc.c); NULL without the registry
 * @nic_wq: ordered workqueue for offloading QPs and taking them back, because each
 *	waits for the same driver; set with @offload
 * @readdress: work item on @nic_wq: addresses of QPs that NICs know may have changed
 * @uso: trials of the netdev's UDP segmentation, for IPv4 and IPv6
 * @entry: entry in the list of devices (device.c), which holds a reference on
 *	@ibdev; protected by devices_lock
 * @removal: work item that unregisters the device, or waits for other callers that do
 * @hw_roce_search: work item that searches for RDMA devices of the NIC
 *	(path/hw_roce.c)
 * @is_heard: no search is needed: a packet has arrived, or a device was found
 * @client_seq: order in which the core gave the devices to its clients, 0 for a device
 *	that they do not have; atomic accesses
 * @is_going: the core takes the device from its clients, which destroys the objects of
 *	processes; atomic accesses
 * @port_active: state of the port in the last event; protected by devices_lock
 * @mr_table: MRs and MWs, by the upper 24 bits of the key (memory/keys.c)
 * @mw_lock: protects bindings of memory windows (memory/window.c)
 * @ahs: struct verve_av by AH number (path/av.c); RCU
 * @next_ah: number at which the search for a free AH number begins
 * @srq_nums: numbers of SRQs
 * @num_pds: number of PDs; see verve_quota_take()
 * @num_cqs: number of CQs
 * @num_qps: number of QPs
 * @mcast: multicast groups (transport/mcast.c)
 * @gsi: QP 1 while it exists; RCU
 * @stats: per-CPU counters, but for QPs bound to an rdma_counter
 * @apart: per-CPU counters of QPs bound to an rdma_counter, by its number
 *	(verbs/counter.c)
 * @past: sums of deallocated counters of @apart, under its lock
 * @qps: list of all QPs; protected by @qp_lock
 * @qp_lock: mutex of @qps, and of writing @gsi
 * @dma_mr: region of the local DMA lkey: all kernel memory
 * @cc: parameters of congestion control (cc_params.c)
 * @gid_table_len: length of the port's GID table
 */
struct verve_dev {
	struct ib_device ibdev;
	struct net_device __rcu *ndev;
	netdevice_tracker ndev_tracker;
	struct net_device *parent_ndev;
	netdevice_tracker parent_tracker;
	struct verve_net *net;
	struct roce_offload_sender *sender;
	struct roce_offload_ibdev *offload;
	struct workqueue_struct *nic_wq;
	struct work_struct readdress;
	struct verve_uso uso[2];
	struct list_head entry;
	struct work_struct removal;
	struct delayed_work hw_roce_search;
	bool is_heard;
	bool port_active;
	bool is_going;
	unsigned long client_seq;

	struct rhashtable mr_table;
	spinlock_t mw_lock; /* bindings of windows */
	struct xarray ahs;
	u32 next_ah;
	struct ida srq_nums;
	atomic_t num_pds;
	atomic_t num_cqs;
	atomic_t num_qps;
	struct verve_mcast mcast;
	struct verve_qp __rcu *gsi;
	struct verve_stats __percpu *stats;
	struct xarray apart;
	struct verve_stats past __guarded_by(&apart.xa_lock);

	struct list_head qps __guarded_by(&qp_lock);
	struct mutex qp_lock; /* qps, and setting gsi */

	struct verve_mr *dma_mr;
	struct verve_cc_params cc;
	int gid_table_len;
};

static inline struct verve_dev *to_vdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct verve_dev, ibdev);
}

/* Return: netdev below, or NULL if it is being unregistered. Context: RCU reader. */
static inline struct net_device *verve_ndev_rcu(const struct verve_dev *dev)
{
	return rcu_dereference(dev->ndev);
}

/* The limit for a caller: kernel users have some objects that no program can take. */
static inline u32 verve_quota(u32 most, bool is_user)
{
	return is_user ? most : most + VERVE_KERNEL_RESERVE;
}

/**
 * verve_quota_take() - count an object against a limit
 * @count: number of objects
 * @most: limit
 *
 * verve_quota_give() reverses this function.
 *
 * Context: any.
 * Return: 0, or -ENOMEM at the limit.
 */
static inline int verve_quota_take(atomic_t *count, int most)
{
	if (atomic_inc_return(count) <= most)
		return 0;
	atomic_dec(count);
	return -ENOMEM;
}

static inline void verve_quota_give(atomic_t *count)
{
	atomic_dec(count);
}

#endif
