/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * QPs that NICs know (rdma/roce_offload.h)
 */
#ifndef VERVE_OFFLOAD_RC_QPC_H
#define VERVE_OFFLOAD_RC_QPC_H

#include "../../transport/qp.h"

struct roce_offload_qp;
struct roce_offload_range;

/*
 * Connect a device with the NICs below its netdev, under RTNL, and disconnect it. Process
 * context.
 */
void verve_nic_join(struct verve_dev *dev, struct net_device *ndev);
void verve_nic_leave(struct verve_dev *dev);
/*
 * Queue an update of all QPs, because Ethernet addresses of netdevs have changed. Process
 * context, before verve_nic_leave(). Does not wait for the driver.
 */
void verve_nic_readdress(struct verve_dev *dev);
/* Number of objects that NICs cannot know. Any context. */
u64 verve_nic_refused(const struct verve_dev *dev);

/*
 * Set up a QP for NICs, withdraw it before the engine stops, and free what belongs to it.
 * Process context; the caller does not hold the device's qp_lock.
 */
void verve_nic_init_qp(struct verve_qp *qp, bool has_srq);
void verve_nic_withdraw_qp(struct verve_qp *qp);
void verve_nic_exit_qp(struct verve_qp *qp);
/* The numbers that NICs could know a QP by. Process context. */
struct roce_offload_range verve_nic_qpns(const struct verve_qp *qp);
/**
 * verve_nic_update_qp() - tell NICs of a new state or new attributes
 * @qp: QP; published or withdrawn according to its state
 *
 * Context: process.
 */
void verve_nic_update_qp(struct verve_qp *qp);

/*
 * Receive side of a QP (offload/rc/ddp.h). The caller owns the engine.
 */

/* A NIC has verified packets to the QP, so it could place them. Any context. */
void verve_nic_receives(struct verve_qp *qp);
/* Was a NIC ever asked to place payload for the QP? */
bool verve_nic_has_placed(const struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Is no NIC placing, nor asked to begin? All that NICs have placed is known then. */
bool verve_nic_is_stopped(const struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Has a NIC begun to place, and is it not asked to stop? */
bool verve_nic_is_placing(const struct verve_qp *qp)
	__must_hold(&qp->lock);
/*
 * Bytes to be copied before a NIC begins a run, or 0 if no NIC places for the QP, or none
 * has received packets for the QP since the last run began
 */
u32 verve_nic_rx_after(const struct verve_qp *qp)
	__must_hold(&qp->lock);
/**
 * verve_nic_is_passed() - is the responder beyond all that a NIC has placed?
 * @qp: QP whose NIC has stopped
 * @psn: PSN of the last request that was executed
 *
 * Return: false if a packet behind @psn has been placed.
 */
bool verve_nic_is_passed(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock);
/* Ask the NIC to begin a run of placed packets. Return: true if there is a NIC to ask. */
bool verve_nic_start(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Ask the NIC to end the run. */
void verve_nic_stop(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* The description of a QP for NICs. The QP must have @nic. */
struct roce_offload_qp *verve_nic_known(const struct verve_qp *qp);
/* Forget packets that were placed ahead of the responder. The NIC has stopped. */
void verve_nic_forget(struct verve_qp *qp)
	__must_hold(&qp->lock);

#endif
