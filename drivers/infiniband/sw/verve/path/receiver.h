/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Receivers
 *
 * All that the path calls of what is above it: arrivals come up by these functions,
 * which the transport implements. To the path, a QP is a name for whoever gets them.
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
 * verve_qp_find() - the QP that a packet is for
 * @vnet: namespace that it arrived in
 * @qpn: destination QP, not 1
 * Context: any up to softirq.
 * Return: QP with a reference, or NULL.
 */
struct verve_qp *verve_qp_find(const struct verve_net *vnet, u32 qpn);
/* QP 1 of a device, with a reference, or NULL. */
struct verve_qp *verve_qp_find_gsi(struct verve_dev *dev);

/**
 * verve_batch_receive() - packets for one QP
 * @batch: with packets, and a QP, whose reference is given
 *
 * They are counted, and get into the inbox as far as there is room.
 *
 * Context: softirq, RCU.
 */
void verve_batch_receive(struct verve_batch *batch);

/**
 * verve_mcast_receive() - a packet for a group
 * @vnet: namespace that it arrived in
 * @dev: device that it is for
 * @addr: of the group
 * @arrival: the packet, of which each member gets a copy
 *
 * Context: softirq, RCU.
 * Return: false: there is no such group.
 */
bool verve_mcast_receive(struct verve_net *vnet, struct verve_dev *dev,
			 const struct in6_addr *addr,
			 const struct verve_arrival *arrival);

/* A handover for @qp, of a pair whose engines are both owned. BH off. */
void verve_pair_receive(struct verve_qp *qp, struct verve_arrival *arrival);

#endif
