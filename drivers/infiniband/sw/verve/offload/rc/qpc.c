// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptions of RC QPs for NICs
 *
 * The registry gets the description of each QP that can receive, and passes it to the
 * NIC, if there is one.
 */
#include <linux/if_vlan.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/roce_offload_registry.h>
#include "../../device.h"
#include "../../transport/transport.h"
#include "../../wire/psn.h"
#include "../icrc.h"
#include "qpc.h"
#include "rc.h"

/**
 * struct verve_nic_qp - a QP as NICs know it
 * @qp: the QP
 * @known: description for NICs
 * @is_published: the registry has @known; under the device's qp_lock
 * @has_placed: a NIC may have placed payload for the QP; under the QP's lock
 * @receives: a NIC has verified packets to the QP since the last run began
 */
struct verve_nic_qp {
	struct verve_qp *qp;
	struct roce_offload_qp known;
	bool is_published;
	bool has_placed;
	bool receives;
};

u64 verve_nic_refused(const struct verve_dev *dev)
{
	return dev->offload ? verve_registry->refused(dev->offload) : 0;
}

/* A NIC looks at one VLAN tag only. */
static bool is_nested(const struct net_device *ndev)
{
	return is_vlan_dev(ndev) && is_vlan_dev(vlan_dev_real_dev(ndev));
}

static bool describe_link(struct roce_offload_qp *known, struct ib_device *dev,
			  int sgid_index)
{
	const struct ib_gid_attr *sgid = rdma_get_gid_attr(dev, 1, sgid_index);
	struct net_device *ndev;
	bool done;

	if (IS_ERR(sgid))
		return false;
	rcu_read_lock();
	ndev = rcu_dereference(sgid->ndev);
	done = ndev && !is_nested(ndev) &&
	       !memcmp(&known->local, &sgid->gid, sizeof(sgid->gid)) &&
	       !rdma_read_gid_l2_fields(sgid, &known->vlan, known->mac);
	rcu_read_unlock();
	rdma_put_gid_attr(sgid);
	return done;
}

static bool is_receiving(enum ib_qp_state state)
{
	return state == IB_QPS_RTR || state == IB_QPS_RTS ||
	       state == IB_QPS_SQD || state == IB_QPS_SQE;
}

/* Return: true if a NIC should know the QP. */
static bool describe(struct roce_offload_qp *known, struct verve_qp *qp)
{
	bool receives;
	int sgid_index;

	memset(known, 0, sizeof(*known));
	verve_engine_lock(qp);
	receives = is_receiving(qp->state);
	known->qpn = qp->qpn;
	known->pd = qp->ibqp->pd;
	known->access = qp->attr.qp_access_flags;
	known->mtu = qp->mtu;
	known->peer_qpn = qp->attr.dest_qp_num;
	known->local = qp->flow.av.saddr;
	known->peer = qp->flow.av.daddr;
	known->sport = qp->flow.av.sport;
	sgid_index = qp->flow.av.sgid_index;
	verve_engine_unlock(qp);
	return receives && describe_link(known, &qp->dev->ibdev, sgid_index);
}

static void withdraw(struct verve_nic_qp *nic)
{
	if (nic->is_published)
		verve_registry->withdraw(ROCE_OFFLOAD_QP, &nic->known.object);
	nic->is_published = false;
}

/* Compare the description only: @rx and the fields behind it change with the traffic. */
static bool is_same(const struct roce_offload_qp *a,
		    const struct roce_offload_qp *b)
{
	return !memcmp(a, b, offsetof(struct roce_offload_qp, rx));
}

/* PSNs begin anew. The QP passes this state between two connections. */
static void forget_old_psns(struct verve_qp *qp)
{
	verve_engine_lock(qp);
	if (qp->state == IB_QPS_INIT)
		verve_nic_forget(qp);
	verve_engine_unlock(qp);
}

static void update(struct verve_qp *qp)
	__must_hold(&qp->dev->qp_lock)
{
	struct verve_nic_qp *nic = qp->nic;
	struct roce_offload_qp known;
	bool is_known;

	is_known = describe(&known, qp);
	if (!is_known) {
		withdraw(nic);
		forget_old_psns(qp);
	} else if (!nic->is_published || !is_same(&known, &nic->known)) {
		withdraw(nic);
		memcpy(&nic->known, &known,
		       offsetof(struct roce_offload_qp, rx));
		nic->is_published = true;
		verve_registry->publish(qp->dev->offload, ROCE_OFFLOAD_QP,
					&nic->known.object);
	}
}

void verve_nic_update_qp(struct verve_qp *qp)
{
	if (!qp->nic)
		return;
	mutex_lock(&qp->dev->qp_lock);
	update(qp);
	mutex_unlock(&qp->dev->qp_lock);
}

static void readdress(struct work_struct *work)
{
	struct verve_dev *dev = container_of(work, struct verve_dev, readdress);
	struct verve_qp *qp;

	mutex_lock(&dev->qp_lock);
	list_for_each_entry(qp, &dev->qps, entry) {
		lockdep_assert_held(&qp->dev->qp_lock);
		if (qp->nic)
			update(qp);
	}
	mutex_unlock(&dev->qp_lock);
}

void verve_nic_readdress(struct verve_dev *dev)
{
	if (dev->offload)
		queue_work(dev->nic_wq, &dev->readdress);
}

void verve_nic_join(struct verve_dev *dev, struct net_device *ndev)
{
	if (!verve_registry)
		return;
	INIT_WORK(&dev->readdress, readdress);
	dev->nic_wq = alloc_ordered_workqueue("verve_nic", 0);
	if (dev->nic_wq)
		dev->offload = verve_registry->join(ndev);
}

void verve_nic_leave(struct verve_dev *dev)
{
	if (dev->offload)
		verve_registry->leave(dev->offload);
	if (dev->nic_wq)
		destroy_workqueue(dev->nic_wq);
}

/* Under locks of the driver, which the engine may take: so a work item runs it. */
static void answered(struct roce_offload_qp *known)
{
	const struct verve_nic_qp *nic =
		container_of(known, struct verve_nic_qp, known);

	verve_engine_defer(nic->qp, VERVE_EV_DDP);
}

void verve_nic_init_qp(struct verve_qp *qp, bool has_srq)
{
	if (!qp->dev->offload || qp->type != IB_QPT_RC)
		return;
	qp->nic = kzalloc_obj(*qp->nic, GFP_KERNEL_ACCOUNT);
	if (!qp->nic)
		return;
	qp->nic->qp = qp;
	qp->nic->known.rx_answered = answered;
	qp->nic->known.placed = ROCE_OFFLOAD_NO_PSN;
	spin_lock_init(&qp->nic->known.lock);
	/*
	 * Kernel users post memory that is not registered with NICs. Other QPs may need
	 * the receives of an SRQ.
	 */
	if (qp->is_user && !has_srq)
		qp->rc_offload = verve_rc_offload_alloc(qp);
	if (!qp->rc_offload)
		return;
	qp->nic->known.user = &verve_rc_offload_user;
	qp->nic->known.owner = qp;
}

struct roce_offload_range verve_nic_qpns(const struct verve_qp *qp)
{
	if (!qp->nic)
		return (struct roce_offload_range) {};
	return verve_registry->range(qp->dev->offload, ROCE_OFFLOAD_QP,
				     &qp->nic->known.object);
}

void verve_nic_withdraw_qp(struct verve_qp *qp)
{
	if (!qp->nic)
		return;
	mutex_lock(&qp->dev->qp_lock);
	withdraw(qp->nic);
	mutex_unlock(&qp->dev->qp_lock);
}

void verve_nic_exit_qp(struct verve_qp *qp)
{
	kfree(qp->nic);
}

bool verve_nic_has_placed(const struct verve_qp *qp)
{
	return qp->nic && qp->nic->has_placed;
}

bool verve_nic_is_stopped(const struct verve_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	return !qp->nic || roce_offload_rx_state(&qp->nic->known) ==
			   ROCE_OFFLOAD_RX_STOPPED;
}

bool verve_nic_is_placing(const struct verve_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	return qp->nic && roce_offload_rx_state(&qp->nic->known) ==
			  ROCE_OFFLOAD_RX_PLACING;
}

void verve_nic_receives(struct verve_qp *qp)
{
	if (qp->nic && !READ_ONCE(qp->nic->receives))
		WRITE_ONCE(qp->nic->receives, true);
}

u32 verve_nic_rx_after(const struct verve_qp *qp)
{
	const struct verve_nic_qp *nic = qp->nic;

	return nic && READ_ONCE(nic->receives) ? READ_ONCE(nic->known.rx_after) : 0;
}

/* Forget @placed then, since PSNs wrap. Only a device in a run writes the field. */
bool verve_nic_is_passed(struct verve_qp *qp, u32 psn)
{
	struct verve_nic_qp *nic = qp->nic;
	u32 placed = READ_ONCE(nic->known.placed);

	lockdep_assert_held(&qp->lock);
	if (placed == ROCE_OFFLOAD_NO_PSN)
		return true;
	if (verve_psn_before(psn, placed))
		return false;
	WRITE_ONCE(nic->known.placed, ROCE_OFFLOAD_NO_PSN);
	return true;
}

bool verve_nic_start(struct verve_qp *qp)
{
	const struct verve_responder *resp = &qp->resp;
	struct roce_offload_rx_point point = {
		.psn = verve_psn_add(resp->epsn, -1),
	};

	lockdep_assert_held(&qp->lock);
	if (resp->message.op == VERVE_OP_WRITE) {
		point.left = resp->message.left;
		point.va = resp->message.va + resp->message.offset;
		point.rkey = resp->message.rkey;
	}
	qp->nic->has_placed = true;
	WRITE_ONCE(qp->nic->receives, false);
	return verve_registry->rx_start(&qp->nic->known, &point);
}

void verve_nic_stop(struct verve_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	verve_registry->rx_stop(&qp->nic->known);
}

struct roce_offload_qp *verve_nic_known(const struct verve_qp *qp)
{
	return &qp->nic->known;
}

void verve_nic_forget(struct verve_qp *qp)
{
	struct verve_nic_qp *nic = qp->nic;

	lockdep_assert_held(&qp->lock);
	WRITE_ONCE(nic->known.placed, ROCE_OFFLOAD_NO_PSN);
}
