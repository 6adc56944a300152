// SPDX-License-Identifier: GPL-2.0-only
/* Datagrams: UD QPs, and the GSI on QP 1 (IBTA vol. 1, 9.8.4, 13.5) */
#include <rdma/ib_mad.h>
#include "../wire/psn.h"
#include "outstanding.h"
#include "transport.h"

enum {
	GRH_BYTES = 40,
	/* Highest bit: use the QP's own Q_Key (10.2.5). */
	QKEY_CONTROLLED = 1U << 31,
};

/*
 * Headers of a received datagram, as a completion reports them (A17.4.5.1). Verbs
 * have no field for them. ConnectX reports them in the service level, which RoCE
 * does not have on the wire. Programs such as UCX read them there.
 */
enum {
	SL_IPV6 = 1,
	SL_IPV4 = 2,
	SL_UDP = 1 << 3,
};

static int transmit(struct verve_qp *qp, const struct verve_swqe *wqe,
		    const struct verve_av *av, struct verve_iter *it)
	__must_hold(&qp->lock)
{
	struct verve_flow flow = { .av = *av };
	struct verve_burst burst = {
		.kind = verve_swqe_def(wqe)->ud,
		.qpn = wqe->rqpn,
		.packets = 1,
		.mtu = qp->mtu,
		.length = wqe->length,
		.starts = true,
		.ends = true,
		.payload = it,
		.pdu.psn = qp->req.psn,
		.pdu.imm = wqe->imm,
		.pdu.qkey = wqe->rqkey & QKEY_CONTROLLED ? qp->attr.qkey :
							   wqe->rqkey,
		.pdu.sqpn = qp->qpn,
	};
	int err;

	/* The source port depends on both QPNs, while an AH serves all QPs. */
	flow.av.sport = rdma_get_udp_sport(av->flow_label, qp->qpn, wqe->rqpn);
	if (wqe->rqpn == VERVE_MULTICAST_QPN)
		verve_count(qp, sent_mcast_pkts, 1);
	if (wqe->flags & IB_SEND_SOLICITED)
		burst.pdu.flags |= VERVE_PDU_SOLICITED;
	err = verve_train_add(qp->train, &flow, &burst);
	verve_flow_reset(&flow);
	if (err == -EAGAIN)
		err = verve_stall_begin(qp, it, VERVE_STALL_REQUESTS);
	return err;
}

bool verve_datagram_send(struct verve_qp *qp, struct verve_swqe *wqe)
{
	const struct verve_av *av;
	struct verve_iter it;
	int err;

	lockdep_assert_held(&qp->lock);
	rcu_read_lock();
	av = verve_av_find(qp->dev, qp->ibqp->pd, wqe->ah_num);
	if (!av) {
		rcu_read_unlock();
		verve_completer_fail(qp, IB_WC_LOC_QP_OP_ERR);
		return true;
	}
	if (wqe->is_inline)
		verve_iter_flat(&it, wqe->inline_data, wqe->length);
	else
		verve_iter_sges(&it, qp->dev, qp->ibqp->pd, wqe->sge,
				wqe->num_sge, 0);
	err = transmit(qp, wqe, av, &it);
	rcu_read_unlock();
	verve_iter_end(&it);
	if (err == -EAGAIN)
		return false;
	if (err) {
		verve_completer_fail(qp, IB_WC_LOC_PROT_ERR);
		return true;
	}
	/* Connection management waits for an answer to this datagram. */
	if (qp->type == IB_QPT_GSI)
		verve_hw_roce_suspect(qp->dev);
	verve_outstanding_sent(&qp->req, 1);
	verve_outstanding_answered(&qp->req, qp->req.psn);
	qp->budget--;
	verve_completer_retire(qp, IB_WC_SUCCESS);
	return true;
}

static int copy_payload(struct verve_qp *qp,
			const struct verve_arrival *arrival, const u8 *grh)
	__must_hold(&qp->lock)
{
	struct verve_recv *recv = &qp->resp.recv;
	struct verve_iter it;
	int err;

	verve_iter_sges(&it, qp->dev, qp->ibqp->pd, recv->sge, recv->num_sge,
			IB_ACCESS_LOCAL_WRITE);
	err = verve_iter_write(&it, grh, GRH_BYTES);
	if (!err && arrival->pdu.length)
		err = verve_arrival_copy(arrival, 0, &it, arrival->pdu.length);
	if (err == -EAGAIN)
		err = verve_stall_begin(qp, &it, VERVE_STALL_ARRIVALS);
	verve_iter_end(&it);
	return err;
}

static void fail(struct verve_qp *qp, enum ib_wc_status status)
	__must_hold(&qp->lock)
{
	verve_responder_fail_recv(qp, status);
	verve_engine_event(qp, IB_EVENT_QP_FATAL);
	verve_engine_error(qp);
}

/* Set the fields that the core needs for an answer to the datagram. */
static void describe_link(struct verve_qp *qp, struct ib_wc *wc,
			  const struct verve_arrival *arrival, bool is_v6)
{
	wc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
	wc->network_hdr_type = is_v6 ? RDMA_NETWORK_IPV6 : RDMA_NETWORK_IPV4;
	wc->vlan_id = verve_arrival_vlan(qp->dev, arrival);
	if (wc->vlan_id != VERVE_NO_VLAN)
		wc->wc_flags |= IB_WC_WITH_VLAN;
}

static void complete_recv(struct verve_qp *qp,
			  const struct verve_arrival *arrival, bool is_v6)
	__must_hold(&qp->lock)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	struct ib_wc wc = {
		.opcode = IB_WC_RECV,
		.byte_len = GRH_BYTES + pdu->length,
		.src_qp = pdu->sqpn,
		.wc_flags = IB_WC_GRH,
	};

	if (qp->is_user)
		wc.sl = SL_UDP | (is_v6 ? SL_IPV6 : SL_IPV4);
	else
		describe_link(qp, &wc, arrival, is_v6);
	if (verve_opcode_flags(pdu->opcode) & VERVE_OP_IMM) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = pdu->imm;
	}
	verve_count(qp, rdma_recvs, 1);
	verve_responder_complete(qp, &wc, pdu->flags & VERVE_PDU_SOLICITED);
}

/* Multicast datagrams must come through a group, and unicast ones must not. */
static bool is_misdirected(const struct verve_arrival *arrival)
{
	return verve_arrival_is_multicast(arrival) !=
	       !!(arrival->pdu.flags & VERVE_PDU_MULTICAST);
}

/*
 * Is it a management datagram (13.4.2)? The core would log an error for any
 * other.
 */
static bool is_mad(const struct verve_arrival *arrival)
{
	struct verve_iter it;
	u8 version;

	if (arrival->pdu.length != IB_MGMT_MAD_SIZE)
		return false;
	verve_iter_flat(&it, &version, sizeof(version));
	return !verve_arrival_copy(arrival, 0, &it, sizeof(version)) &&
	       version == IB_MGMT_BASE_VERSION;
}

/* Is the datagram invalid for this QP? Then its drop is counted. */
static bool is_refused(struct verve_qp *qp, const struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	if (is_misdirected(arrival))
		verve_qp_drop(qp, rx_drop_address);
	else if (arrival->pdu.qkey != qp->attr.qkey)
		verve_qp_drop(qp, rx_drop_qkey);
	else if (qp->type == IB_QPT_GSI && !is_mad(arrival))
		verve_qp_drop(qp, rx_drop_protocol);
	else if (qp->type == IB_QPT_GSI &&
		 !verve_neigh_limit_admits(qp->dev, arrival))
		verve_qp_drop(qp, rx_drop_address);
	else
		return false;
	return true;
}

void verve_datagram_receive(struct verve_qp *qp, struct verve_arrival *arrival)
{
	const struct verve_pdu *pdu = &arrival->pdu;
	u8 grh[GRH_BYTES];
	bool is_v6;
	int err;

	lockdep_assert_held(&qp->lock);
	if (is_refused(qp, arrival))
		return;
	switch (verve_responder_take_recv(qp)) {
	case 0:
		break;
	case -ENOENT:
		verve_qp_drop(qp, rx_drop_no_recv);
		return;
	default:
		fail(qp, IB_WC_LOC_QP_OP_ERR);
		return;
	}
	/*
	 * Any host may have sent the datagram, so the receive stays for the next
	 * one (9.9.3, D and E).
	 */
	if (pdu->length + GRH_BYTES > qp->resp.recv.length) {
		verve_qp_drop(qp, rx_drop_too_long);
		return;
	}
	is_v6 = verve_arrival_grh(arrival, grh);
	err = copy_payload(qp, arrival, grh);
	if (err == -EAGAIN)
		return;
	if (err) {
		fail(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	complete_recv(qp, arrival, is_v6);
}
