/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions shared by the files of this directory
 */
#ifndef VERVE_OPS_H
#define VERVE_OPS_H

#include <rdma/ib_verbs.h>

struct net_device;
struct verve_cc_params;

/* ops.c */
extern const struct ib_device_ops verve_device_ops;

/* device.c */

/**
 * verve_device_add() - create a device on a netdev and register it
 * @name: name of the ib_device; "verve%d" is allowed
 * @ndev: netdev, referenced by the caller
 *
 * Context: process, RTNL not held (like rdma_link_ops.newlink).
 * Return: 0; -EEXIST when the netdev has a device; -EADDRINUSE when UDP port 4791
 * is taken in the namespace; -EOPNOTSUPP for a netdev that does not carry IP; or
 * another error.
 */
int verve_device_add(const char *name, struct net_device *ndev);

int verve_device_init(void);	/* module load: netdev notifier, ib_client */
void verve_device_exit(void);	/* removes every device */

/* port.c: attributes of a device and its port. Context: process. */
int verve_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata);
int verve_modify_device(struct ib_device *ibdev, int mask,
			struct ib_device_modify *attr);
void verve_get_dev_fw_str(struct ib_device *ibdev, char *str);
int verve_query_port(struct ib_device *ibdev, u32 port_num,
		     struct ib_port_attr *attr);
/* @speed: in units of 100 Mb/s */
int verve_query_port_speed(struct ib_device *ibdev, u32 port_num, u64 *speed);
int verve_get_port_immutable(struct ib_device *ibdev, u32 port_num,
			     struct ib_port_immutable *immutable);
int verve_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index,
		     u16 *pkey);
enum rdma_link_layer verve_get_link_layer(struct ib_device *ibdev,
					  u32 port_num);
/* Return: netdev of the device's GIDs, with a reference, or NULL. Context: any. */
struct net_device *verve_get_netdev(struct ib_device *ibdev, u32 port_num);
/* Return: true if the netdev is up and has a carrier. Context: any. */
bool verve_port_is_active(const struct net_device *ndev);
extern const struct attribute_group verve_attr_group;

/* cc_params.c: parameters of congestion control, in the port's sysfs */
void verve_cc_params_init(struct verve_cc_params *params);
extern const struct attribute_group *verve_port_groups[];

/* pma.c: performance management. Context: process. */
int verve_process_mad(struct ib_device *ibdev, int flags, u32 port_num,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index);

/* device.c: free the resources of a device; the last call of the core */
void verve_dealloc_device(struct ib_device *ibdev);

#endif
