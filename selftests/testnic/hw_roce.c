// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NIC's own RDMA device with RoCE: only registered, with no function
 */
#include <linux/device.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>
#include "nic.h"

static bool hw_roce;
module_param(hw_roce, bool, 0400);
MODULE_PARM_DESC(hw_roce, "The NIC has an RDMA device of its own");

static bool has_board;
module_param_named(board, has_board, bool, 0400);
MODULE_PARM_DESC(board, "The NIC is on a board: its netdevs have a parent");

struct roce {
	struct ib_device ibdev;
};

static struct device *board;
static struct roce *roce;

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	memset(attr, 0, sizeof(*attr));
	return 0;
}

static int query_port(struct ib_device *ibdev, u32 port,
		      struct ib_port_attr *attr)
{
	attr->state = IB_PORT_DOWN;
	attr->gid_tbl_len = 2;
	return 0;
}

static int get_port_immutable(struct ib_device *ibdev, u32 port,
			      struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 2;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static const struct ib_device_ops ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.query_device = query_device,
	.query_port = query_port,
	.get_link_layer = get_link_layer,
	.get_port_immutable = get_port_immutable,
};

static int add_roce(void)
{
	struct ib_device *ibdev;
	int err;

	roce = ib_alloc_device(roce, ibdev);
	if (!roce)
		return -ENOMEM;
	ibdev = &roce->ibdev;
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->dev.parent = board;
	ib_set_device_ops(ibdev, &ops);
	err = ib_register_device(ibdev, "testroce%d", NULL);
	if (err) {
		ib_dealloc_device(ibdev);
		roce = NULL;
	}
	return err;
}

struct device *nic_board(void)
{
	return board;
}

int nic_hw_roce_init(void)
{
	int err;

	if (!hw_roce && !has_board)
		return 0;
	board = root_device_register("verve_testnic");
	if (IS_ERR(board)) {
		err = PTR_ERR(board);
		board = NULL;
		return err;
	}
	err = hw_roce ? add_roce() : 0;
	if (err)
		nic_hw_roce_exit();
	return err;
}

void nic_hw_roce_exit(void)
{
	if (roce) {
		ib_unregister_device(&roce->ibdev);
		ib_dealloc_device(&roce->ibdev);
	}
	roce = NULL;
	if (board)
		root_device_unregister(board);
	board = NULL;
}
