/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Receivers
 *
 * The functions that the path calls in the layer above it, to pass arrivals up. The
 * transport implements them. The path only passes a QP on and never looks inside.
 */
#ifndef VERVE_PATH_RECEIVER_H
#define VERVE_PATH_RECEIVER_H

#include <linux/types.h>

struct in6_addr;
struct sk_buff;
struct verve_arrival;
struct verve_batch;
struct verve_dev;
struct verve_net;
struct verve_qp;

/**
 * verve_qp_find() - look up the QP of a packet
 * @vnet: namespace that the packet arrived in
 * @qpn: destination QP number, not 1
 *
 * Context: any up to softirq.
 * Return: QP with a reference, or NULL.
 */
struct verve_qp *verve_qp_find(const struct verve_net *vnet, u32 qpn);
/* Look up QP 1 of a device, likewise. Return: QP with a reference, or NULL. */
struct verve_qp *verve_qp_find_gsi(struct verve_dev *dev);

/**
 * verve_qp_release_routes() - release the routes of QPs whose namespace has ended
 *
 * A route to an IPv6 address refers to its namespace, and QPs of processes in other
 * namespaces may live longer. Their devices have no netdevs, so they find no new routes.
 *
 * Context: process. Takes the engine of each of these QPs in turn.
 */
void verve_qp_release_routes(void);

/**
 * verve_batch_receive() - count packets for a QP and put them into its inbox
 * @batch: packets and their QP; the reference is consumed
 *
 * Packets are dropped when the inbox has no room.
 *
 * Context: softirq, RCU.
 */
void verve_batch_receive(struct verve_batch *batch);

/**
 * verve_mcast_receive() - deliver a packet to the members of a multicast group
 * @vnet: namespace that the packet arrived in
 * @dev: device that the packet is for
 * @addr: address of the group
 * @arrival: the packet; each member gets a copy
 *
 * Context: softirq, RCU.
 * Return: true if the group exists.
 */
bool verve_mcast_receive(struct verve_net *vnet, struct verve_dev *dev,
			 const struct in6_addr *addr,
			 const struct verve_arrival *arrival);

/* Take in a handover at @qp. The caller owns both engines of the pair. BH off. */
void verve_pair_receive(struct verve_qp *qp, struct verve_arrival *arrival);

#endif
