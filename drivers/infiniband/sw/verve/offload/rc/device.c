// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls from the offload of a QP to the registry (see device.h)
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/ip.h>
#include <net/dst.h>
#include <net/neighbour.h>
#include <rdma/roce_offload_rc.h>
#include <rdma/roce_offload_registry.h>
#include "../../device.h"
#include "../../path/net.h"
#include "../../transport/transport.h"
#include "../icrc.h"
#include "device.h"
#include "qpc.h"

bool verve_rc_device_is_offered(const struct verve_qp *qp)
{
	return READ_ONCE(verve_nic_known(qp)->is_offered);
}

/*
 * Do packets leave directly by the device's netdev, without a transform, and to another
 * address? Context: RCU.
 */
static bool is_straight(const struct verve_qp *qp, const struct dst_entry *dst)
	__must_hold(&qp->lock)
{
	const struct verve_av *av = &qp->flow.av;
	const struct net_device *ndev = verve_ndev_rcu(qp->dev);

	return ndev && dst->dev == ndev && ndev->type == ARPHRD_ETHER &&
	       !dst_xfrm(dst) && !dst->lwtstate &&
	       !ipv6_addr_equal(&av->saddr, &av->daddr);
}

static bool find_next_hop(const struct verve_flow *flow, u8 *dmac)
{
	struct neighbour *neigh = verve_flow_neighbour(flow);
	bool is_known;

	if (!neigh)
		return false;
	is_known = READ_ONCE(neigh->nud_state) & NUD_VALID;
	if (is_known)
		neigh_ha_snapshot(dmac, neigh, flow->dst->dev);
	neigh_release(neigh);
	return is_known;
}

bool verve_rc_device_terms(struct verve_qp *qp,
			   struct roce_offload_rc_terms *terms)
{
	const struct verve_av *av = &qp->flow.av;
	const struct ib_qp_attr *attr = &qp->attr;
	struct dst_entry *dst;
	bool found;

	lockdep_assert_held(&qp->lock);
	*terms = (struct roce_offload_rc_terms) {
		.traffic_class = av->traffic_class,
		.hop_limit = av->hop_limit ?: IPDEFTTL,
		.flow_label = av->flow_label,
		.timeout = attr->timeout,
		.retry_cnt = attr->retry_cnt,
		.min_rnr_timer = attr->min_rnr_timer,
		.max_rd_atomic = attr->max_rd_atomic,
		.max_dest_rd_atomic = attr->max_dest_rd_atomic,
	};
	rcu_read_lock();
	dst = verve_flow_route(&qp->flow, qp->dev);
	found = dst && is_straight(qp, dst) &&
		find_next_hop(&qp->flow, terms->dmac);
	if (found)
		terms->vlan_prio = verve_flow_pcp(&qp->flow);
	rcu_read_unlock();
	return found;
}

bool verve_rc_device_is_current(const struct verve_qp *qp)
{
	const struct verve_flow *flow = &qp->flow;
	bool is_current;

	rcu_read_lock();
	is_current = flow->dst && dst_check(flow->dst, flow->cookie);
	rcu_read_unlock();
	return is_current;
}

bool verve_rc_device_terms_hold(struct verve_qp *qp,
				const struct roce_offload_rc_terms *terms)
{
	struct roce_offload_rc_terms now;

	return verve_rc_device_is_current(qp) &&
	       verve_rc_device_terms(qp, &now) &&
	       ether_addr_equal(now.dmac, terms->dmac) &&
	       now.vlan_prio == terms->vlan_prio;
}

void verve_rc_device_offload(struct verve_qp *qp)
{
	verve_registry->rc_offload(verve_nic_known(qp));
}

void verve_rc_device_return(struct verve_qp *qp)
{
	verve_registry->rc_return(verve_nic_known(qp));
}

int verve_rc_device_post(struct verve_qp *qp, const struct verve_swqe *wqe)
{
	struct roce_offload_rc_wr wr = {
		.opcode = wqe->opcode,
		.is_solicited = wqe->flags & IB_SEND_SOLICITED,
		.first_psn = wqe->first_psn,
		.last_psn = wqe->last_psn,
		.length = wqe->length,
		.imm = wqe->imm,
		.va = wqe->raddr,
		.rkey = wqe->rkey,
	};

	lockdep_assert_held(&qp->lock);
	if (wqe->is_inline) {
		wr.data = wqe->inline_data;
	} else {
		wr.sge = (const struct ib_sge *)wqe->sge;
		wr.num_sge = wqe->num_sge;
	}
	return verve_registry->rc_post(verve_nic_known(qp), &wr);
}

void verve_rc_device_post_recv(struct verve_qp *qp,
			       const struct roce_offload_rc_recv *recv)
{
	lockdep_assert_held(&qp->lock);
	verve_registry->rc_post_recv(verve_nic_known(qp), recv);
}
