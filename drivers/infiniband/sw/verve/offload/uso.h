/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Segmentation by the NIC (USO)
 *
 * Many NICs cut one long UDP packet into packets of equal size
 * (NETIF_F_GSO_UDP_L4), and none takes trains. They were made for protocols that do
 * not care what IPv4 identifications the packets have; the ICRC covers those, and
 * must be there before they are. Nothing tells whether a NIC counts them up, nor
 * whether a peer takes packets with a UDP checksum, which such a NIC always adds. So
 * it is tried: two packets of a flow are made of one, and what the peer acknowledges
 * was right. Without that evidence no more than two packets are at stake, and they
 * are sent again one by one.
 */
#ifndef VERVE_OFFLOAD_USO_H
#define VERVE_OFFLOAD_USO_H

#include <linux/atomic.h>
#include <linux/types.h>

struct net_device;
struct verve_burst;
struct verve_dev;
struct verve_flow;

/* Packets of a trial: an identification that is counted up, and no more at stake */
#define VERVE_USO_TRIAL_SEGS	2

/* What the netdev does with a packet of a flow that could be segmented */
enum verve_uso_status {
	VERVE_USO_USED,
	VERVE_USO_TRIED,	/* used as soon as a trial has succeeded */
	VERVE_USO_FAILED,	/* too many trials have failed */
	VERVE_USO_TRAINS,	/* not needed: it takes trains whole */
	VERVE_USO_LACKING,	/* it does not segment UDP */
	VERVE_USO_STACKED,	/* it is a bond, bridge...: nobody knows who would */
	VERVE_USO_DISABLED,	/* trains=N */
	VERVE_USO_ICRC_OFFLOAD,	/* the ICRC is a NIC's, and so comes after */
};

/**
 * verve_uso_query() - what would the device's own netdev do?
 * @dev: device
 * @ndev: its netdev
 * @is_v6: of IPv6
 *
 * Context: RCU.
 * Return: whether it segments such packets, or why it does not.
 */
enum verve_uso_status verve_uso_query(const struct verve_dev *dev,
				      struct net_device *ndev, bool is_v6);

/**
 * verve_uso_segs() - how many packets may now be made of one?
 * @dev: device that sends
 * @flow: with a route
 * @burst: that begins such a run
 *
 * Context: BH off, RCU. The owner of @flow.
 * Return: 0 when none; VERVE_USO_TRIAL_SEGS: it is a trial, and so many packets.
 */
u32 verve_uso_segs(const struct verve_dev *dev, struct verve_flow *flow,
		   const struct verve_burst *burst);

/**
 * verve_uso_try() - a trial begins, unless another flow's is under way
 * @dev: device that sends
 * @flow: whose turn it would be
 * @psn: of the last packet of the run
 *
 * Context: BH off. The owner of @flow.
 * Return: whether it may begin.
 */
bool verve_uso_try(struct verve_dev *dev, struct verve_flow *flow, u32 psn);

/* All is to be found out anew: a device, or its netdev's features. Any context. */
void verve_uso_reset(struct verve_dev *dev);

#endif
