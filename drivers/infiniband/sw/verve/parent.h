/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Parent devices
 *
 * A device of the RDMA core without a parent has no file "device" in sysfs. Programs that
 * expect hardware look for the parent there: its place in PCI, its NUMA node, its driver.
 * With the module parameter parent=Y a device takes the parent of its netdev, such as the
 * PCI function of a NIC. A netdev without a parent (veth, bridge, dummy) gives the root
 * device "verve".
 *
 * The parent's driver unregisters the netdev before the parent goes. The device is
 * removed later, by a work item, and must not outlive the parent's directory in sysfs. So
 * it holds the netdev until then, which the unregistration of the netdev waits for. The
 * removal waits for verbs under way (Documentation/locking.rst, "Removal"), and so does
 * the driver.
 */
#ifndef VERVE_PARENT_H
#define VERVE_PARENT_H

struct net_device;
struct verve_dev;

int verve_parent_init(void);	/* module load; Return: 0 or -ENOMEM */
void verve_parent_exit(void);	/* module exit, without a device left */

/**
 * verve_parent_set() - give a device its parent, if the user wants it
 * @dev: device, not registered yet
 * @ndev: its netdev, registered
 *
 * Context: may sleep. The caller holds RTNL.
 */
void verve_parent_set(struct verve_dev *dev, struct net_device *ndev);

/**
 * verve_parent_put() - release the netdev that keeps the parent
 * @dev: device, unregistered or never registered
 *
 * Context: any.
 */
void verve_parent_put(struct verve_dev *dev);

#endif
