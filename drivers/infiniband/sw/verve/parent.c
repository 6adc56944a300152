// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parents of devices, by which programs see hardware below them
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include "device.h"
#include "parent.h"

static bool parent;
module_param(parent, bool, 0444);
MODULE_PARM_DESC(parent,
		 "Give devices the parent of their netdev, or a virtual one, as hardware has (default: N)");

static struct device *root;

int __init verve_parent_init(void)
{
	if (!parent)
		return 0;
	root = root_device_register("verve");
	return PTR_ERR_OR_ZERO(root);
}

void verve_parent_exit(void)
{
	if (parent)
		root_device_unregister(root);
}

void verve_parent_set(struct verve_dev *dev, struct net_device *ndev)
{
	ASSERT_RTNL();
	if (!parent)
		return;
	dev->ibdev.dev.parent = root;
	if (!ndev->dev.parent)
		return;
	netdev_hold(ndev, &dev->parent_tracker, GFP_KERNEL);
	dev->parent_ndev = ndev;
	dev->ibdev.dev.parent = ndev->dev.parent;
}

void verve_parent_put(struct verve_dev *dev)
{
	netdev_put(dev->parent_ndev, &dev->parent_tracker);
}
