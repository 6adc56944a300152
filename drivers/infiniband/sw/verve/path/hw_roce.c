// SPDX-License-Identifier: GPL-2.0-only
/*
 * NICs with RoCE of their own
 *
 * Such a NIC passes packets to UDP port 4791 to its own RDMA device, and the kernel
 * never sees them. Packets of a Verve device on its netdev reach the peer, but no
 * answer reaches the Verve device. A user has no other symptom to go by. So when a
 * device waits for an answer and has never received a packet, this file searches for
 * RDMA devices of the same NIC and names one in the log.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include "../device.h"
#include "path.h"

/* A retry follows an answer that takes longer, and schedules the search again. */
#define REPLY_TIME	(3 * HZ)

/* The counters from rx_icrc_encapsulated on count packets that were dropped. */
static bool has_received(struct verve_dev *dev, struct verve_stats *total)
{
	int i;

	verve_stats_total(dev, total);
	for (i = VERVE_CNT_rx_icrc_encapsulated; i < VERVE_NUM_COUNTERS; i++) {
		if (total->counter[i])
			return true;
	}
	return total->counter[VERVE_CNT_rcvd_pkts];
}

static bool speaks_roce(struct ib_device *ibdev)
{
	u32 port;

	rdma_for_each_port(ibdev, port) {
		if (rdma_protocol_roce_udp_encap(ibdev, port))
			return true;
	}
	return false;
}

/* driver_id does not tell: other drivers use the same one. */
static bool is_same_driver(const struct ib_device *ibdev,
			   const struct ib_device *own)
{
	return ibdev->ops.post_send == own->ops.post_send;
}

/* Report a child of the NIC if it is an RDMA device with RoCE. The core has no list. */
static int is_hw_roce(struct device *child, void *data)
{
	struct verve_dev *dev = data;
	struct ib_device *ibdev;

	if (!child->class || strcmp(child->class->name, "infiniband"))
		return 0;
	ibdev = rdma_device_to_ibdev(child);
	if (is_same_driver(ibdev, &dev->ibdev) || !speaks_roce(ibdev))
		return 0;
	ibdev_warn(&dev->ibdev,
		   "nothing has arrived: %s of the same NIC speaks RoCE, too, and may keep UDP port 4791 to itself (see quickstart.rst)\n",
		   dev_name(child));
	return 1;
}

static int look_at(struct net_device *lower, struct netdev_nested_priv *priv)
{
	struct device *parent = lower->dev.parent;

	return parent ? device_for_each_child(parent, priv->data, is_hw_roce) :
			0;
}

/*
 * Search the netdev and those below it, as of a VLAN, a bond or a bridge.
 * Return: true if an RDMA device was named.
 */
static bool report_hw_roce(struct verve_dev *dev)
{
	struct netdev_nested_priv priv = { .data = dev };
	struct net_device *ndev;
	bool found = false;

	rtnl_lock();
	ndev = rcu_dereference_rtnl(dev->ndev);
	if (ndev && ndev->reg_state == NETREG_REGISTERED)
		found = look_at(ndev, &priv) ||
			netdev_walk_all_lower_dev(ndev, look_at, &priv);
	rtnl_unlock();
	return found;
}

static void search(struct work_struct *work)
{
	struct verve_dev *dev = container_of(to_delayed_work(work),
					     struct verve_dev, hw_roce_search);
	struct verve_stats *total;

	total = kzalloc_obj(*total);
	if (!total)
		return;
	if (has_received(dev, total) || report_hw_roce(dev))
		WRITE_ONCE(dev->is_heard, true);
	kfree(total);
}

void verve_hw_roce_init(struct verve_dev *dev)
{
	INIT_DELAYED_WORK(&dev->hw_roce_search, search);
}

void verve_hw_roce_exit(struct verve_dev *dev)
{
	cancel_delayed_work_sync(&dev->hw_roce_search);
}

void verve_hw_roce_suspect(struct verve_dev *dev)
{
	if (unlikely(!READ_ONCE(dev->is_heard)))
		queue_delayed_work(system_long_wq, &dev->hw_roce_search,
				   REPLY_TIME);
}
