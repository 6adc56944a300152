/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device: one ib_device on one netdev.
 */
#ifndef VERVE_DEVICE_H
#define VERVE_DEVICE_H

#include <linux/idr.h>
#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>
#include "cc_params.h"
#include "limits.h"
#include "stats.h"

/* Of the driver; also what is called firmware, as there is none. */
#define VERVE_VERSION		"0.1.0"
#define VERVE_VERSION_CODE	(0ULL << 32 | 1 << 16 | 0)

struct verve_qp;
struct verve_net;
struct verve_offload_ibdev;
struct verve_offload_sender;

/**
 * struct verve_uso - what is known of how a device's netdev segments
 * @generation: of that knowledge: what flows know from an older one is void
 * @failures: trials in a row that failed
 * @is_trusted: one has succeeded
 * @trial_until: jiffies: until then somebody else's trial may be under way
 *
 * One for each version of IP. Without locks: two CPUs that look at once may both
 * begin a trial, or count a failure of a moment ago.
 */
struct verve_uso {
	u32 generation;
	atomic_t failures;
	bool is_trusted;
	unsigned long trial_until;
};

/**
 * struct verve_mcast - a device's groups
 * @groups: address to struct verve_group; RCU
 * @lock: changes of all that
 * @attached: QPs, over all groups
 */
struct verve_mcast {
	struct rhashtable groups;
	struct mutex lock; /* attaching and detaching */
	u32 attached __guarded_by(&lock);
};

/**
 * struct verve_dev - a Verve device
 * @ibdev: what the RDMA core knows; first member, freed by the core
 * @ndev: the netdev below; NULL once that is being unregistered. RCU; the
 *	device holds a reference while it is set. Written under the mutex of
 *	the list.
 * @ndev_tracker: of that reference
 * @net: per-namespace state (sockets) of the netdev's namespace; held
 * @sender: what packets carry whose ICRC a NIC may compute (offload/icrc.c); NULL
 *	without the registry of NICs
 * @offload: where the registry keeps what NICs may know of the device
 *	(offload/rc/qpc.c); likewise
 * @nic_wq: workqueue: QPs that go to a NIC and come back, one at a time, as they wait
 *	for the same driver; set with @offload
 * @readdress: on @nic_wq: NICs may know addresses that are not right any more
 * @uso: what is known of the netdev's segmentation, of IPv4 and of IPv6
 * @entry: in the list of devices (device.c), under its mutex; holds a
 *	reference on @ibdev
 * @removal: unregisters the device, and waits for others who do
 * @hw_roce_search: looks for another RDMA device of the NIC (path/hw_roce.c)
 * @is_heard: there is no need for that: something has arrived, or one was found
 * @port_active: as last reported by an event; under the list's mutex
 * @mr_table: keys to MRs and MWs, by the upper 24 bits of the key
 *	(memory/keys.c)
 * @mw_lock: spinlock: bindings of memory windows (memory/window.c)
 * @ahs: AH number to struct verve_av (path/av.c); RCU
 * @next_ah: where the search for a free number begins
 * @srq_nums: numbers of SRQs
 * @num_pds: how many there are, as the next two; see verve_quota_take()
 * @num_cqs: likewise
 * @num_qps: likewise
 * @mcast: multicast groups (transport/mcast.c)
 * @gsi: the QP with number 1, RCU; set while it exists
 * @stats: per-CPU counters of what is not counted apart
 * @apart: per-CPU counters of QPs that are counted apart, by the number of
 *	their rdma_counter (verbs/counter.c)
 * @past: what such counters held that are gone; under the lock of @apart
 * @qps: every QP of the device, for events that concern all; under @qp_lock
 * @qp_lock: mutex
 * @dma_mr: what the local DMA lkey stands for: all kernel memory
 * @cc: how congestion is reacted to (cc_params.c)
 * @mac: address that GUIDs are made from
 */
struct verve_dev {
	struct ib_device ibdev;
	struct net_device __rcu *ndev;
	netdevice_tracker ndev_tracker;
	struct verve_net *net;
	struct verve_offload_sender *sender;
	struct verve_offload_ibdev *offload;
	struct workqueue_struct *nic_wq;
	struct work_struct readdress;
	struct verve_uso uso[2];
	struct list_head entry;
	struct work_struct removal;
	struct delayed_work hw_roce_search;
	bool is_heard;
	bool port_active;

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
	u8 mac[ETH_ALEN];
};

static inline struct verve_dev *to_vdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct verve_dev, ibdev);
}

/* RCU. The netdev below, or NULL when it goes away. */
static inline struct net_device *verve_ndev_rcu(const struct verve_dev *dev)
{
	return rcu_dereference(dev->ndev);
}

/**
 * verve_quota_take() - one more object of a kind
 * @count: how many there are
 * @most: how many there may be
 *
 * Context: any.
 * Return: 0 or -ENOMEM; verve_quota_give() is the reverse.
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
