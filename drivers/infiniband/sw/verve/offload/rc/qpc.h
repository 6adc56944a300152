/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * QPs that NICs know (rdma/verve_offload.h)
 */
#ifndef VERVE_OFFLOAD_RC_QPC_H
#define VERVE_OFFLOAD_RC_QPC_H

#include "../../transport/qp.h"

struct verve_offload_qp;

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
/* Number of objects that drivers have refused. Any context. */
u64 verve_nic_refused(const struct verve_dev *dev);

/*
 * Set up a QP for NICs, and withdraw it. Process context; the caller does not hold the
 * device's qp_lock.
 */
void verve_nic_init_qp(struct verve_qp *qp);
void verve_nic_exit_qp(struct verve_qp *qp);
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

/* Has a NIC ever placed payload for the QP? */
bool verve_nic_has_placed(const struct verve_qp *qp)
	__must_hold(&qp->lock);
/**
 * verve_nic_wants_sync() - does a NIC wait to be told the responder's position?
 * @qp: QP
 * @psn: PSN of the last request that was executed
 *
 * Return: true if a NIC waits, and no packet behind @psn has been placed before.
 */
bool verve_nic_wants_sync(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock);
/* Tell the NIC the responder's position. Return: true if it begins to place packets. */
bool verve_nic_sync(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Stop the NIC. It places nothing more when this returns. */
void verve_nic_stop(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* The description of a QP for NICs. The QP must have @nic. */
struct verve_offload_qp *verve_nic_known(struct verve_qp *qp);
/* Forget packets that were placed ahead of the responder, before a NIC runs the QP. */
void verve_nic_forget(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Forget placed packets, as PSNs begin anew. */
void verve_nic_reset(struct verve_qp *qp)
	__must_hold(&qp->lock);

#endif
