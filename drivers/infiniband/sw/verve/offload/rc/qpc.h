/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What NICs know of a device's QPs (rdma/verve_offload.h)
 */
#ifndef VERVE_OFFLOAD_RC_QPC_H
#define VERVE_OFFLOAD_RC_QPC_H

#include "../../transport/qp.h"

struct verve_offload_qp;

/* A device has its netdev, under RTNL, and goes. Both in process context. */
void verve_nic_join(struct verve_dev *dev, struct net_device *ndev);
void verve_nic_leave(struct verve_dev *dev);
/*
 * Ethernet addresses of netdevs have changed; QPs that had them are told anew. Process,
 * not after verve_nic_leave(); the driver is not waited for.
 */
void verve_nic_readdress(struct verve_dev *dev);
/* How often a NIC's driver has refused to know something. Any context. */
u64 verve_nic_refused(const struct verve_dev *dev);

/* A QP comes, with the device's qp_lock free, and goes. Process context. */
void verve_nic_init_qp(struct verve_qp *qp);
void verve_nic_exit_qp(struct verve_qp *qp);
/**
 * verve_nic_update_qp() - its state or attributes have changed
 * @qp: as it is now, NICs may know it from now on, or not any more
 * Context: process.
 */
void verve_nic_update_qp(struct verve_qp *qp);

/*
 * The receiving of a QP (offload/rc/ddp.h). The engine is owned.
 */

/* Has a NIC ever placed what came for it? */
bool verve_nic_has_placed(const struct verve_qp *qp)
	__must_hold(&qp->lock);
/**
 * verve_nic_wants_sync() - does a NIC want to know how far the QP is?
 * @qp: QP
 * @psn: of the newest request that has been executed
 *
 * Return: false, too, when something after that has been placed before.
 */
bool verve_nic_wants_sync(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock);
/* Tell it how far. Return: whether it places what comes from now on. */
bool verve_nic_sync(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* It does not any more, when this returns. */
void verve_nic_stop(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* What NICs are told of a QP, which has @rc_offload. */
struct verve_offload_qp *verve_nic_known(struct verve_qp *qp);
/* All that was placed ahead of the QP is forgotten: a NIC will have it instead. */
void verve_nic_forget(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* PSNs begin anew. */
void verve_nic_reset(struct verve_qp *qp)
	__must_hold(&qp->lock);

#endif
