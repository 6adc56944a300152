// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verve: RDMA over Converged Ethernet, version 2, in software.
 */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>
#include "device.h"
#include "link.h"
#include "memory/pager.h"
#include "offload/icrc.h"
#include "ops.h"
#include "parent.h"
#include "path/path.h"
#include "path/pmtu.h"
#include "transport/engine.h"
#include "transport/qp.h"
#include "wire/icrc.h"

static int __init verve_init(void)
{
	int err;

	err = verve_link_init();
	if (err)
		return err;
	err = verve_icrc_init();
	if (err)
		goto exit_link;
	err = verve_engine_init();
	if (err)
		goto exit_icrc;
	err = verve_pager_init();
	if (err)
		goto exit_engine;
	err = verve_qp_table_init();
	if (err)
		goto exit_pager;
	verve_icrc_offload_init();
	err = verve_pmtu_init();
	if (err)
		goto exit_icrc_offload;
	err = verve_net_init();
	if (err)
		goto exit_pmtu;
	err = verve_parent_init();
	if (err)
		goto exit_net;
	err = verve_device_init();
	if (err)
		goto exit_parent;
	err = verve_link_register();
	if (err)
		goto exit_device;
	return 0;

exit_device:
	verve_device_exit();
exit_parent:
	verve_parent_exit();
exit_net:
	verve_net_exit();
exit_pmtu:
	verve_pmtu_exit();
exit_icrc_offload:
	verve_icrc_offload_exit();
	verve_qp_table_exit();
exit_pager:
	verve_pager_exit();
exit_engine:
	verve_engine_exit();
exit_icrc:
	verve_icrc_exit();
exit_link:
	verve_link_exit();
	return err;
}

static void __exit verve_exit(void)
{
	verve_link_unregister();
	verve_device_exit();
	verve_parent_exit();
	verve_net_exit();
	verve_pmtu_exit();
	verve_packet_exit();
	verve_icrc_offload_exit();
	verve_qp_table_exit();
	verve_pager_exit();
	verve_engine_exit();
	verve_icrc_exit();
	verve_link_exit();
}

module_init(verve_init);
module_exit(verve_exit);

MODULE_DESCRIPTION("Software RDMA over Converged Ethernet, version 2");
MODULE_LICENSE("GPL");
MODULE_VERSION(VERVE_VERSION);
MODULE_ALIAS_RDMA_LINK("verve");
MODULE_SOFTDEP("pre: ib_uverbs roce_offload");
