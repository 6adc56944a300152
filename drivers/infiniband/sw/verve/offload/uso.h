/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: UDP segmentation by the NIC (USO)
 *
 * Many NICs cut one long UDP packet into packets of equal size (NETIF_F_GSO_UDP_L4), and
 * none takes trains. These NICs were built for protocols to which the IPv4
 * identifications of the packets do not matter. The ICRC covers the identification, and
 * must be computed before the NIC assigns it. No feature bit tells whether a NIC counts
 * identifications up, nor whether a peer accepts the UDP checksum that the NIC always
 * adds. So Verve tries it: two packets of a flow are sent as one, and their ACK is the
 * proof. Until then no more than two packets are at risk, and they are retransmitted one
 * by one.
 *
 * A NIC that computes the ICRCs of the packets that it makes
 * (ROCE_OFFLOAD_TX_ICRC_SEGMENTED) needs no trial.
 */
#ifndef VERVE_OFFLOAD_USO_H
#define VERVE_OFFLOAD_USO_H

#include <linux/atomic.h>
#include <linux/types.h>

struct net_device;
struct verve_burst;
struct verve_dev;
struct verve_flow;

/* Packets of a trial. The second one shows whether identifications are counted up. */
#define VERVE_USO_TRIAL_SEGS	2

/* USO of a netdev, or the reason why there is none */
enum verve_uso_status {
	VERVE_USO_USED,
	VERVE_USO_TRIED,	/* used as soon as a trial succeeds */
	VERVE_USO_FAILED,	/* too many trials have failed */
	VERVE_USO_TRAINS,	/* not needed: the netdev takes trains whole */
	VERVE_USO_LACKING,	/* the netdev does not segment UDP */
	VERVE_USO_STACKED,	/* a bond, bridge...: the egress NIC is unknown */
	VERVE_USO_DISABLED,	/* trains=N */
	VERVE_USO_ICRC_OFFLOAD,	/* not possible: the NIC computes ICRCs, but not those
				 * of packets that it makes
				 */
};

/**
 * verve_uso_query() - does the netdev of a device segment packets?
 * @dev: Verve device
 * @ndev: netdev of the device
 * @is_v6: for IPv6 packets
 *
 * Context: RCU.
 * Return: VERVE_USO_USED, or the reason why not.
 */
enum verve_uso_status verve_uso_query(const struct verve_dev *dev,
				      struct net_device *ndev, bool is_v6);

/**
 * verve_uso_segs() - limit of packets that may be sent as one now
 * @dev: device that sends
 * @flow: flow with a route
 * @burst: burst of the first packet
 *
 * Context: BH off, RCU. The caller owns @flow.
 * Return: 0 for no USO; VERVE_USO_TRIAL_SEGS for a trial; otherwise the limit.
 */
u32 verve_uso_segs(const struct verve_dev *dev, struct verve_flow *flow,
		   const struct verve_burst *burst);

/**
 * verve_uso_try() - begin a trial, unless another flow's trial is under way
 * @dev: device that sends
 * @flow: flow of the trial
 * @psn: PSN of the last packet of the trial
 *
 * Flows need not take turns once one trial has succeeded.
 *
 * Context: BH off. The caller owns @flow.
 * Return: true if the trial has begun.
 */
bool verve_uso_try(struct verve_dev *dev, struct verve_flow *flow, u32 psn);

/* Forget all trials, for a new device or new features of its netdev. Any context. */
void verve_uso_reset(struct verve_dev *dev);

#endif
