/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Generic netlink family with which programs see, and administrators switch, the offloads
 * of NICs whose drivers have registered. Its specification, from which tools can be
 * generated, is Documentation/netlink/roce_offload.yaml.
 */
#ifndef _UAPI_RDMA_ROCE_OFFLOAD_H
#define _UAPI_RDMA_ROCE_OFFLOAD_H

#define ROCE_OFFLOAD_FAMILY_NAME	"roce-offload"
#define ROCE_OFFLOAD_FAMILY_VERSION	1

/**
 * enum roce_offload_feature - features of a device
 * @ROCE_OFFLOAD_TX_ICRC: compute the ICRC of packets for which
 *	roce_offload_is_due() returns true
 * @ROCE_OFFLOAD_RX_ICRC: verify the ICRC of received packets, and report it by
 *	roce_offload_verified()
 * @ROCE_OFFLOAD_TX_ICRC_SEGMENTED: compute the ICRCs of packets that the device makes by
 *	UDP segmentation (NETIF_F_GSO_UDP_L4); requires ROCE_OFFLOAD_TX_ICRC; see "USO:
 *	UDP segmentation with ICRCs"
 * @ROCE_OFFLOAD_RX_DDP: write the payload of RDMA WRITEs to memory; requires
 *	ROCE_OFFLOAD_RX_ICRC; see "DDP: RDMA WRITEs, placed by the device"
 * @ROCE_OFFLOAD_RC: run RC QPs; see rdma/roce_offload_rc.h
 *
 * The sections and functions are those of the kernel's rdma/roce_offload.h.
 */
enum roce_offload_feature {
	ROCE_OFFLOAD_TX_ICRC		= 1 << 0,
	ROCE_OFFLOAD_RX_ICRC		= 1 << 1,
	ROCE_OFFLOAD_TX_ICRC_SEGMENTED	= 1 << 2,
	ROCE_OFFLOAD_RX_DDP		= 1 << 3,
	ROCE_OFFLOAD_RC			= 1 << 4,
};

/**
 * enum roce_offload_cmd - commands
 * @ROCE_OFFLOAD_CMD_DEV_GET: get a device, by ROCE_OFFLOAD_A_DEV_IFINDEX; as a dump,
 *	all devices of the network namespace
 * @ROCE_OFFLOAD_CMD_DEV_SET: switch features of a device, by
 *	ROCE_OFFLOAD_A_DEV_IFINDEX and ROCE_OFFLOAD_A_DEV_FEATURES; requires
 *	CAP_NET_ADMIN in the user namespace of the network namespace
 */
enum roce_offload_cmd {
	ROCE_OFFLOAD_CMD_DEV_GET = 1,
	ROCE_OFFLOAD_CMD_DEV_SET,
};

/**
 * enum roce_offload_a_dev - attributes of a device
 * @ROCE_OFFLOAD_A_DEV_IFINDEX: index of the netdev; u32
 * @ROCE_OFFLOAD_A_DEV_IFNAME: name of the netdev; string
 * @ROCE_OFFLOAD_A_DEV_CAPABLE: features that the device may have; u32, a mask of enum
 *	roce_offload_feature
 * @ROCE_OFFLOAD_A_DEV_FEATURES: features that are switched on; bitfield32. In a reply,
 *	the selector is the mask of features that can be switched. In a request, it is the
 *	mask of features to be switched
 * @ROCE_OFFLOAD_A_DEV_ACTIVE: features in use; u32, a mask
 * @ROCE_OFFLOAD_A_DEV_REGIONS: number of memory regions that the device knows; u32
 * @ROCE_OFFLOAD_A_DEV_QPS: number of QPs that the device knows; u32
 * @ROCE_OFFLOAD_A_DEV_REFUSED: number of regions and QPs that the device could not
 *	know since it registered; u64
 * @ROCE_OFFLOAD_A_DEV_PAD: padding
 * @ROCE_OFFLOAD_A_DEV_MAX: the last attribute
 */
enum roce_offload_a_dev {
	ROCE_OFFLOAD_A_DEV_IFINDEX = 1,
	ROCE_OFFLOAD_A_DEV_IFNAME,
	ROCE_OFFLOAD_A_DEV_CAPABLE,
	ROCE_OFFLOAD_A_DEV_FEATURES,
	ROCE_OFFLOAD_A_DEV_ACTIVE,
	ROCE_OFFLOAD_A_DEV_REGIONS,
	ROCE_OFFLOAD_A_DEV_QPS,
	ROCE_OFFLOAD_A_DEV_REFUSED,
	ROCE_OFFLOAD_A_DEV_PAD,
	ROCE_OFFLOAD_A_DEV_MAX = ROCE_OFFLOAD_A_DEV_PAD,
};

#endif
