// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of a device and its port.
 */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sysfs.h>
#include <rdma/ib_mad.h>
#include <rdma/uverbs_ioctl.h>
#include "device.h"
#include "ops.h"
#include "path/path.h"

enum {
	/* A software device has no OUI. */
	VENDOR_ID	= 0xffffff,
	PART_ID		= 0x7665,	/* "ve" */
	HW_VERSION	= 1,

	/* Mb/s of netdevs without a speed; the speed of virtual netdevs */
	DEFAULT_SPEED	= SPEED_10000,
	/* The unit of query_port_speed, in Mb/s */
	MBPS_PER_SPEED	= 100,
};

/* All operations that access memory support on-demand paging. */
static void set_odp_caps(struct ib_device_attr *attr)
{
	const u32 messages = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
			     IB_ODP_SUPPORT_SRQ_RECV;
	const u32 rdma = IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ |
			 IB_ODP_SUPPORT_ATOMIC | IB_ODP_SUPPORT_FLUSH |
			 IB_ODP_SUPPORT_ATOMIC_WRITE;

	if (!IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING))
		return;
	attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
	attr->odp_caps = (struct ib_odp_caps) {
		.general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT,
		.per_transport_caps = {
			.rc_odp_caps = messages | rdma,
			.uc_odp_caps = messages | IB_ODP_SUPPORT_WRITE,
			.ud_odp_caps = messages,
		},
	};
}

int verve_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata)
{
	*attr = (struct ib_device_attr) {
		.fw_ver = VERVE_VERSION_CODE,
		.sys_image_guid = ibdev->node_guid,
		.max_mr_size = U64_MAX,
		/* Blocks may have any size from a page up. */
		.page_size_cap = U32_MAX & PAGE_MASK,
		.vendor_id = VENDOR_ID,
		.vendor_part_id = PART_ID,
		.hw_ver = HW_VERSION,
		.device_cap_flags = IB_DEVICE_CURR_QP_STATE_MOD |
				    IB_DEVICE_PORT_ACTIVE_EVENT |
				    IB_DEVICE_SYS_IMAGE_GUID |
				    IB_DEVICE_RC_RNR_NAK_GEN |
				    IB_DEVICE_SRQ_RESIZE |
				    IB_DEVICE_MEM_MGT_EXTENSIONS |
				    IB_DEVICE_MEM_WINDOW |
				    IB_DEVICE_MEM_WINDOW_TYPE_2B |
				    IB_DEVICE_FLUSH_GLOBAL |
				    IB_DEVICE_ATOMIC_WRITE,
		.kernel_cap_flags = IBK_ALLOW_USER_UNREG | IBK_LOCAL_DMA_LKEY |
				    IBK_SG_GAPS_REG,
		.max_qp = VERVE_MAX_QP,
		.max_qp_wr = VERVE_MAX_QP_WR,
		.max_send_sge = VERVE_MAX_SGE,
		.max_recv_sge = VERVE_MAX_SGE,
		.max_sge_rd = VERVE_MAX_SGE_RD,
		/*
		 * A READ into more segments is one READ into a registered
		 * region, and not a chain of READs. The core asks for the
		 * completion of the last READ of a chain only, and loses
		 * the error of another one.
		 */
		.max_sgl_rd = VERVE_MAX_SGE_RD,
		.max_cq = VERVE_MAX_CQ,
		.max_cqe = VERVE_MAX_CQE,
		.max_mr = VERVE_MAX_MR,
		.max_mw = VERVE_MAX_MW,
		.max_pd = VERVE_MAX_PD,
		.max_qp_rd_atom = VERVE_MAX_RD_ATOMIC,
		.max_qp_init_rd_atom = VERVE_MAX_RD_ATOMIC,
		.max_res_rd_atom = VERVE_MAX_RD_ATOMIC * VERVE_MAX_QP,
		.atomic_cap = IB_ATOMIC_HCA,
		.max_mcast_grp = VERVE_MAX_MCAST_GRP,
		.max_mcast_qp_attach = VERVE_MAX_MCAST_QP_ATTACH,
		.max_total_mcast_qp_attach = VERVE_MAX_TOTAL_MCAST_QP_ATTACH,
		.max_ah = VERVE_MAX_AH,
		.max_srq = VERVE_MAX_SRQ,
		.max_srq_wr = VERVE_MAX_SRQ_WR,
		.max_srq_sge = VERVE_MAX_SGE,
		.max_fast_reg_page_list_len = VERVE_MAX_FAST_PAGES,
		.max_pkeys = VERVE_PKEY_TABLE_LEN,
		.cq_caps = {
			.max_cq_moderation_count = VERVE_MAX_CQ_COUNT,
			.max_cq_moderation_period = VERVE_MAX_CQ_PERIOD,
		},
		.local_ca_ack_delay = VERVE_LOCAL_CA_ACK_DELAY,
	};
	set_odp_caps(attr);
	return ib_no_udata_io(udata);
}

int verve_modify_device(struct ib_device *ibdev, int mask,
			struct ib_device_modify *attr)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, attr->node_desc,
		       sizeof(ibdev->node_desc));
	return 0;
}

void verve_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	strscpy(str, VERVE_VERSION, IB_FW_VERSION_NAME_MAX);
}

static struct net_device *hold_netdev(struct verve_dev *dev)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = verve_ndev_rcu(dev);
	dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

/*
 * The core fills the GID table with the addresses of this netdev and of its VLANs,
 * and does not support a VLAN here. So a device on a VLAN returns the netdev below, and
 * has its GIDs too. verve_av_fill() refuses those of another namespace.
 */
struct net_device *verve_get_netdev(struct ib_device *ibdev, u32 port_num)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = verve_ndev_rcu(to_vdev(ibdev));
	if (ndev)
		ndev = verve_owner_below(ndev);
	dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

bool verve_port_is_active(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev);
}

/* Set the slowest InfiniBand link that is not slower than @speed, in Mb/s. */
static void set_speed(struct ib_port_attr *attr, u32 speed)
{
	static const struct {
		u32 up_to;
		u8 width;
		u16 speed;
	} links[] = {
		{ 2500,		IB_WIDTH_1X,	IB_SPEED_SDR },
		{ 5000,		IB_WIDTH_1X,	IB_SPEED_DDR },
		{ 10000,	IB_WIDTH_1X,	IB_SPEED_QDR },
		{ 20000,	IB_WIDTH_4X,	IB_SPEED_DDR },
		{ 25000,	IB_WIDTH_1X,	IB_SPEED_EDR },
		{ 40000,	IB_WIDTH_4X,	IB_SPEED_QDR },
		{ 50000,	IB_WIDTH_1X,	IB_SPEED_HDR },
		{ 100000,	IB_WIDTH_4X,	IB_SPEED_EDR },
		{ 200000,	IB_WIDTH_4X,	IB_SPEED_HDR },
		{ 400000,	IB_WIDTH_4X,	IB_SPEED_NDR },
		{ U32_MAX,	IB_WIDTH_8X,	IB_SPEED_NDR },
	};
	int i = 0;

	while (speed > links[i].up_to)
		i++;
	attr->active_width = links[i].width;
	attr->active_speed = links[i].speed;
}

/*
 * ib_get_eth_speed() would log a message for each query of a netdev without a speed,
 * such as lo.
 */
static u32 netdev_speed(struct net_device *ndev)
{
	struct ethtool_link_ksettings settings = {};
	int err = -ENODEV;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED)
		err = __ethtool_get_link_ksettings(ndev, &settings);
	rtnl_unlock();
	if (err || settings.base.speed == (u32)SPEED_UNKNOWN)
		return DEFAULT_SPEED;
	return settings.base.speed;
}

static void set_link(struct ib_port_attr *attr, struct net_device *ndev)
{
	set_speed(attr, netdev_speed(ndev));
	attr->active_mtu = verve_port_mtu(ndev);
	if (verve_port_is_active(ndev)) {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	} else if (netif_running(ndev)) {
		attr->phys_state = IB_PORT_PHYS_STATE_POLLING;
	}
}

/* Attributes of a port whose netdev has been unregistered */
static void set_no_link(struct ib_port_attr *attr)
{
	attr->state = IB_PORT_DOWN;
	attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	attr->active_mtu = IB_MTU_256;
	set_speed(attr, DEFAULT_SPEED);
}

int verve_query_port(struct ib_device *ibdev, u32 port_num,
		     struct ib_port_attr *attr)
{
	struct net_device *ndev;

	if (port_num != 1)
		return -EINVAL;

	set_no_link(attr);
	ndev = hold_netdev(to_vdev(ibdev));
	if (ndev)
		set_link(attr, ndev);
	dev_put(ndev);
	attr->max_mtu = IB_MTU_4096;
	attr->phys_mtu = ib_mtu_enum_to_int(attr->active_mtu);
	attr->gid_tbl_len = to_vdev(ibdev)->gid_table_len;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = VERVE_MAX_MSG;
	attr->pkey_tbl_len = VERVE_PKEY_TABLE_LEN;
	attr->max_vl_num = 1;
	return 0;
}

int verve_query_port_speed(struct ib_device *ibdev, u32 port_num, u64 *speed)
{
	struct net_device *ndev;

	if (port_num != 1)
		return -EINVAL;
	ndev = hold_netdev(to_vdev(ibdev));
	*speed = (ndev ? netdev_speed(ndev) : DEFAULT_SPEED) / MBPS_PER_SPEED;
	dev_put(ndev);
	return 0;
}

int verve_get_port_immutable(struct ib_device *ibdev, u32 port_num,
			     struct ib_port_immutable *immutable)
{
	immutable->pkey_tbl_len = VERVE_PKEY_TABLE_LEN;
	immutable->gid_tbl_len = to_vdev(ibdev)->gid_table_len;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

int verve_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index,
		     u16 *pkey)
{
	if (index >= VERVE_PKEY_TABLE_LEN)
		return -EINVAL;
	*pkey = VERVE_DEFAULT_PKEY;
	return 0;
}

enum rdma_link_layer verve_get_link_layer(struct ib_device *ibdev, u32 port_num)
{
	return IB_LINK_LAYER_ETHERNET;
}

static ssize_t parent_show(struct device *device, struct device_attribute *attr,
			   char *buf)
{
	struct verve_dev *dev =
		rdma_device_to_drv_device(device, struct verve_dev, ibdev);
	struct net_device *ndev;
	ssize_t len;

	rcu_read_lock();
	ndev = verve_ndev_rcu(dev);
	len = sysfs_emit(buf, "%s\n", ndev ? ndev->name : "");
	rcu_read_unlock();
	return len;
}
static DEVICE_ATTR_RO(parent);

static ssize_t hca_type_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "Verve\n");
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *device, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%x\n", HW_VERSION);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t board_id_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "verve\n");
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *verve_attrs[] = {
	&dev_attr_parent.attr,
	&dev_attr_hca_type.attr,
	&dev_attr_hw_rev.attr,
	&dev_attr_board_id.attr,
	NULL
};

const struct attribute_group verve_attr_group = { .attrs = verve_attrs };
