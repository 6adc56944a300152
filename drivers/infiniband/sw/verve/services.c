// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directory "offload" of a device in sysfs: status of each offload of its netdev. Each
 * file has one line: "in use", "on trial", or "off:" and the reason.
 */
#include <linux/sysfs.h>
#include <rdma/ib_verbs.h>
#include <rdma/roce_offload.h>
#include "device.h"
#include "offload/icrc.h"
#include "offload/uso.h"
#include "services.h"

/* Features of the netdev. A VLAN inherits those of its parent. */
static ssize_t say_feature(const struct net_device *ndev, netdev_features_t bit,
			   const char *name, char *buf)
{
	if (READ_ONCE(ndev->features) & bit)
		return sysfs_emit(buf, "in use\n");
	return sysfs_emit(buf, "off: %s has %s off\n", ndev->name, name);
}

static ssize_t say_segmentation(const struct verve_dev *dev,
				struct net_device *ndev, bool is_v6, char *buf)
{
	const char *name = ndev->name;

	switch (verve_uso_query(dev, ndev, is_v6)) {
	case VERVE_USO_USED:
		return sysfs_emit(buf, "in use\n");
	case VERVE_USO_TRIED:
		return sysfs_emit(buf, "on trial\n");
	case VERVE_USO_FAILED:
		return sysfs_emit(buf, "off: what %s segmented did not arrive\n",
				  name);
	case VERVE_USO_TRAINS:
		return sysfs_emit(buf, "off: %s takes trains (tx-gso-list)\n",
				  name);
	case VERVE_USO_LACKING:
		return sysfs_emit(buf,
				  "off: %s has tx-udp-segmentation or tx-scatter-gather off\n",
				  name);
	case VERVE_USO_STACKED:
		return sysfs_emit(buf, "off: %s is made of other netdevs\n",
				  name);
	case VERVE_USO_DISABLED:
		return sysfs_emit(buf, "off: trains=N\n");
	case VERVE_USO_ICRC_OFFLOAD:
		return sysfs_emit(buf, "off: %s computes ICRCs (icrc_tx) of single packets only\n",
				  name);
	}
	return -EINVAL;
}

/* @name: the feature's name in the command roce-offload */
static ssize_t say_offered(const struct verve_dev *dev, struct net_device *ndev,
			   u32 feature, const char *name, char *buf)
{
	const struct net_device *nic;

	switch (verve_icrc_offload_query(dev, ndev, feature, &nic)) {
	case VERVE_ICRC_OFFLOAD_OFFERED:
		return sysfs_emit(buf, "in use\n");
	case VERVE_ICRC_OFFLOAD_DISABLED:
		return sysfs_emit(buf, "off: not switched on (roce-offload set %s %s on)\n",
				  nic->name, name);
	case VERVE_ICRC_OFFLOAD_WITHHELD:
		return sysfs_emit(buf, "off: the driver of %s does not offer it\n",
				  ndev->name);
	case VERVE_ICRC_OFFLOAD_UNOFFERED:
		return sysfs_emit(buf, "off: no driver offers anything for %s\n",
				  ndev->name);
	case VERVE_ICRC_OFFLOAD_NO_REGISTRY:
		return sysfs_emit(buf, "off: roce_offload was not loaded\n");
	}
	return -EINVAL;
}

static struct verve_dev *to_owner(struct device *device)
{
	return rdma_device_to_drv_device(device, struct verve_dev, ibdev);
}

/* Define a file. The expression @say may use dev, ndev and buf. */
#define SERVICE(name, say)						\
static ssize_t name##_show(struct device *device,			\
			   struct device_attribute *attr, char *buf)	\
{									\
	const struct verve_dev *dev = to_owner(device);			\
	struct net_device *ndev;					\
	ssize_t len = -ENODEV;						\
									\
	rcu_read_lock();						\
	ndev = verve_ndev_rcu(dev);					\
	if (ndev)							\
		len = say;						\
	rcu_read_unlock();						\
	return len;							\
}									\
static DEVICE_ATTR_RO(name)

SERVICE(segmentation_ipv4, say_segmentation(dev, ndev, false, buf));
SERVICE(segmentation_ipv6, say_segmentation(dev, ndev, true, buf));
SERVICE(scatter_gather,
	say_feature(ndev, NETIF_F_SG, "tx-scatter-gather", buf));
SERVICE(rx_gro, say_feature(ndev, NETIF_F_GRO, "generic-receive-offload", buf));
SERVICE(rx_hash, say_feature(ndev, NETIF_F_RXHASH, "receive-hashing", buf));
SERVICE(icrc_tx,
	say_offered(dev, ndev, ROCE_OFFLOAD_TX_ICRC, "tx-icrc", buf));
SERVICE(icrc_rx,
	say_offered(dev, ndev, ROCE_OFFLOAD_RX_ICRC, "rx-icrc", buf));
SERVICE(ddp, say_offered(dev, ndev, ROCE_OFFLOAD_RX_DDP, "placement", buf));
SERVICE(rc, say_offered(dev, ndev, ROCE_OFFLOAD_RC, "rc-qps", buf));

static struct attribute *attrs[] = {
	&dev_attr_segmentation_ipv4.attr,
	&dev_attr_segmentation_ipv6.attr,
	&dev_attr_scatter_gather.attr,
	&dev_attr_rx_gro.attr,
	&dev_attr_rx_hash.attr,
	&dev_attr_icrc_tx.attr,
	&dev_attr_icrc_rx.attr,
	&dev_attr_ddp.attr,
	&dev_attr_rc.attr,
	NULL
};

/*
 * In shared mode, the core copies the device into each namespace. The copies lack this
 * directory, as they lack the counters, because there may be many thousands.
 */
static umode_t is_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	struct device *device = kobj_to_dev(kobj);

	if (device != &to_owner(device)->ibdev.dev)
		return SYSFS_GROUP_INVISIBLE;
	return attr->mode;
}

static const struct attribute_group group = {
	.name = "offload",
	.attrs = attrs,
	.is_visible = is_visible,
};

void verve_services_show(struct ib_device *ibdev)
{
	/*
	 * groups[0] is the core's, groups[1] the driver's. groups[2] is for hw_stats
	 * of a device, which Verve does not have.
	 */
	enum { PLACE = 2 };

	BUILD_BUG_ON(ARRAY_SIZE(ibdev->groups) <= PLACE + 1);
	ibdev->groups[PLACE] = &group;
}
