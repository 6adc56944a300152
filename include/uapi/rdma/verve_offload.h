/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Generic netlink family with which programs see, and administrators switch, the offloads
 * of NICs whose drivers have registered. Its specification, from which tools can be
 * generated, is Documentation/netlink/verve_offload.yaml.
 */
#ifndef _UAPI_RDMA_VERVE_OFFLOAD_H
#define _UAPI_RDMA_VERVE_OFFLOAD_H

#define VERVE_OFFLOAD_FAMILY_NAME	"verve-offload"
#define VERVE_OFFLOAD_FAMILY_VERSION	1

/**
 * enum verve_offload_feature - features of a device
 * @VERVE_OFFLOAD_TX_ICRC: compute the ICRC of packets for which
 *	verve_offload_is_due() returns true
 * @VERVE_OFFLOAD_RX_ICRC: verify the ICRC of received packets, and report it by
 *	verve_offload_verified()
 * @VERVE_OFFLOAD_TX_LSO: segment LSO packets, and compute the ICRCs of the packets;
 *	requires VERVE_OFFLOAD_TX_ICRC; see "LSO: packets, made by the device"
 * @VERVE_OFFLOAD_RX_DDP: write the payload of RDMA WRITEs to memory; requires
 *	VERVE_OFFLOAD_RX_ICRC; see "DDP: RDMA WRITEs, placed by the device"
 * @VERVE_OFFLOAD_RC: run RC QPs; see rdma/verve_offload_rc.h
 * @VERVE_OFFLOAD_TX_ICRC_SEGMENTED: compute the ICRCs of packets that the device makes by
 *	UDP segmentation (NETIF_F_GSO_UDP_L4); requires VERVE_OFFLOAD_TX_ICRC; see "USO:
 *	UDP segmentation with ICRCs"
 *
 * The sections and functions are those of the kernel's rdma/verve_offload.h.
 */
enum verve_offload_feature {
	VERVE_OFFLOAD_TX_ICRC		= 1 << 0,
	VERVE_OFFLOAD_RX_ICRC		= 1 << 1,
	VERVE_OFFLOAD_TX_LSO		= 1 << 2,
	VERVE_OFFLOAD_RX_DDP		= 1 << 3,
	VERVE_OFFLOAD_RC		= 1 << 4,
	VERVE_OFFLOAD_TX_ICRC_SEGMENTED	= 1 << 5,
};

/**
 * enum verve_offload_cmd - commands
 * @VERVE_OFFLOAD_CMD_DEV_GET: get a device, by VERVE_OFFLOAD_A_DEV_IFINDEX; as a dump,
 *	all devices of the network namespace
 * @VERVE_OFFLOAD_CMD_DEV_SET: switch features of a device, by
 *	VERVE_OFFLOAD_A_DEV_IFINDEX and VERVE_OFFLOAD_A_DEV_FEATURES; requires
 *	CAP_NET_ADMIN in the user namespace of the network namespace
 */
enum verve_offload_cmd {
	VERVE_OFFLOAD_CMD_DEV_GET = 1,
	VERVE_OFFLOAD_CMD_DEV_SET,
};

/**
 * enum verve_offload_a_dev - attributes of a device
 * @VERVE_OFFLOAD_A_DEV_IFINDEX: index of the netdev; u32
 * @VERVE_OFFLOAD_A_DEV_IFNAME: name of the netdev; string
 * @VERVE_OFFLOAD_A_DEV_CAPABLE: features that the device may have; u32, a mask of enum
 *	verve_offload_feature
 * @VERVE_OFFLOAD_A_DEV_FEATURES: features that are switched on; bitfield32. In a reply,
 *	the selector is the mask of features that can be switched. In a request, it is the
 *	mask of features to be switched
 * @VERVE_OFFLOAD_A_DEV_ACTIVE: features in use; u32, a mask
 * @VERVE_OFFLOAD_A_DEV_REGIONS: number of memory regions that the device knows; u32
 * @VERVE_OFFLOAD_A_DEV_QPS: number of QPs that the device knows; u32
 * @VERVE_OFFLOAD_A_DEV_REFUSED: number of regions and QPs that the driver has refused
 *	since it registered; u64
 * @VERVE_OFFLOAD_A_DEV_PAD: padding
 * @VERVE_OFFLOAD_A_DEV_MAX: the last attribute
 */
enum verve_offload_a_dev {
	VERVE_OFFLOAD_A_DEV_IFINDEX = 1,
	VERVE_OFFLOAD_A_DEV_IFNAME,
	VERVE_OFFLOAD_A_DEV_CAPABLE,
	VERVE_OFFLOAD_A_DEV_FEATURES,
	VERVE_OFFLOAD_A_DEV_ACTIVE,
	VERVE_OFFLOAD_A_DEV_REGIONS,
	VERVE_OFFLOAD_A_DEV_QPS,
	VERVE_OFFLOAD_A_DEV_REFUSED,
	VERVE_OFFLOAD_A_DEV_PAD,
	VERVE_OFFLOAD_A_DEV_MAX = VERVE_OFFLOAD_A_DEV_PAD,
};

#endif
