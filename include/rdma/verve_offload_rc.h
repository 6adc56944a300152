/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Whole QPs, offloaded to the device
 *
 * A device with VERVE_OFFLOAD_RC runs the protocol of connected QPs by itself: it makes
 * and sends packets, executes what comes in, acknowledges, and sends again what was
 * lost (IBTA vol. 1, 9.7). The transport keeps what programs see: queues, work
 * requests, completions and events.
 *
 * A QP is offloaded, by ops.rc->start(), and comes back by ops.rc->stop(), which ends
 * for each of these reasons: the program changes or destroys the QP; it posts something
 * that is not offloaded; the route changes; the device loses the feature, is reset, or
 * its driver unregisters; or the device gives it back, by
 * verve_offload_rc_ask_return(). Both ways go the same few values, struct
 * verve_offload_rc_state, which say how far each direction is. Whoever has the QP
 * continues from there: what is not acknowledged is sent again, and what was executed
 * is acknowledged again and not executed.
 *
 * So a device need not be able to do everything. At anything unusual it stops where it
 * is, in front of the packet or request in question, and gives the QP back: the peer
 * repeats the packet, and software meets what it is about. Nothing of that sort is an
 * error. These are offloaded:
 *
 * - SEND, RDMA WRITE, either with immediate data, and RDMA READ, in both directions, by
 *   memory regions that the device knows;
 *
 * and these are unusual: other opcodes, keys that the device does not know, whatever
 * the peer must be refused, what the peer refuses, congestion (a CNP, or CE), and a
 * peer that does not answer.
 *
 * Packets that come for an offloaded QP, but not to the device, are dropped by software.
 */
#ifndef RDMA_VERVE_OFFLOAD_RC_H
#define RDMA_VERVE_OFFLOAD_RC_H

#include <linux/if_ether.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/verve_offload.h>

/**
 * struct verve_offload_rc_terms - what holds as long as the QP is offloaded
 * @dmac: Ethernet address of the next hop
 * @traffic_class: of IP
 * @hop_limit: of IP
 * @flow_label: of IPv6
 * @timeout: local ACK timeout, 4.096 us << this; 0: none
 * @retry_cnt: how often it may run out in a row
 * @min_rnr_timer: code for RNR NAKs
 * @max_rd_atomic: READs that may be under way to the peer
 * @max_dest_rd_atomic: READs that the peer may have under way
 * @vlan_prio: PCP of the VLAN tag, if the QP's packets have one
 *
 * The rest is in struct verve_offload_qp. When the next hop gets another Ethernet
 * address, or nobody knows it any more, the QP is stopped, and started anew with
 * other terms.
 */
struct verve_offload_rc_terms {
	u8 dmac[ETH_ALEN];
	u8 traffic_class;
	u8 hop_limit;
	u32 flow_label;
	u8 timeout;
	u8 retry_cnt;
	u8 min_rnr_timer;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	u8 vlan_prio;
};

/**
 * enum verve_offload_rc_message - what the responder is in the middle of
 * @VERVE_OFFLOAD_RC_NONE: nothing: a message begins next
 * @VERVE_OFFLOAD_RC_SEND: a SEND, for which a receive has been taken
 * @VERVE_OFFLOAD_RC_WRITE: an RDMA WRITE
 */
enum verve_offload_rc_message {
	VERVE_OFFLOAD_RC_NONE,
	VERVE_OFFLOAD_RC_SEND,
	VERVE_OFFLOAD_RC_WRITE,
};

/**
 * struct verve_offload_rc_state - how far a QP is
 * @una: requester: oldest PSN that is not acknowledged. READs are by their responses
 *	only
 * @psn: one beyond the newest PSN that was ever sent, by whomever. PSNs in between
 *	may be acknowledged though the device has not sent them
 * @epsn: responder: PSN expected next. All before it is executed, and reported
 * @msn: messages completed
 * @message: enum verve_offload_rc_message
 * @offset: bytes of it that were placed
 * @va: WRITE: address of its first byte
 * @rkey: WRITE
 * @left: WRITE: bytes to come
 * @has_ack: from stop(): the peer refused something, or was not ready, and the
 *	device did not act on it: @una is as it was before
 * @syndrome: of that answer, in its AETH
 * @ack_psn: its PSN
 */
struct verve_offload_rc_state {
	u32 una;
	u32 psn;
	u32 epsn;
	u32 msn;
	u32 message;
	u32 offset;
	u64 va;
	u32 rkey;
	u32 left;
	bool has_ack;
	u8 syndrome;
	u32 ack_psn;
};

/**
 * struct verve_offload_rc_wr - a send request
 * @opcode: IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE,
 *	IB_WR_RDMA_WRITE_WITH_IMM or IB_WR_RDMA_READ
 * @is_solicited: the peer is to be told
 * @first_psn: of the message; where the last request ended
 * @last_psn: of it; of a READ, that of its last response
 * @length: of the message
 * @imm: immediate data
 * @va: RDMA: remote address
 * @rkey: RDMA
 * @data: SEND, WRITE: @length bytes to send, in place of @sge; or NULL
 * @sge: local memory
 * @num_sge: of @sge
 *
 * @data and @sge are good until the request is acknowledged or the QP is back.
 */
struct verve_offload_rc_wr {
	enum ib_wr_opcode opcode;
	bool is_solicited;
	u32 first_psn;
	u32 last_psn;
	u32 length;
	__be32 imm;
	u64 va;
	u32 rkey;
	const void *data;
	const struct ib_sge *sge;
	u32 num_sge;
};

/**
 * struct verve_offload_rc_ops - what the driver is asked
 * @start: take a QP; it was added by ops.qp_add(). What is outstanding is posted
 *	next, from @state->una on. Return: 0, or an error: the QP stays where it is
 * @stop: give it back. When this returns, the device neither sends nor executes
 *	anything for it, nor uses any memory, and no call of the driver's for it is
 *	under way, nor will be. Return: 0; or an error when the device does not tell
 *	how far it is: then the QP fails (IB_EVENT_QP_FATAL)
 * @post: a send request; in order. It is copied. The device does all that it can do
 *	without being asked again. Return: 0; -EAGAIN when there is no room now, or
 *	the QP has been stopped: after the next verve_offload_rc_report() it is
 *	tried again
 *
 * start() and stop() are called in process context, one at a time for a device, and may
 * sleep, but not for RTNL: it may be held. stop() may come a while
 * after the netdev was set down. post() is called with BH off, under a spinlock, not
 * before start() has returned.
 */
struct verve_offload_rc_ops {
	int (*start)(struct net_device *ndev, void *context,
		     const struct verve_offload_rc_terms *terms,
		     const struct verve_offload_rc_state *state);
	int (*stop)(struct net_device *ndev, void *context,
		    struct verve_offload_rc_state *state);
	int (*post)(struct net_device *ndev, void *context,
		    const struct verve_offload_rc_wr *wr);
};

/**
 * struct verve_offload_rc_recv - a receive request
 * @length: room in all segments
 * @num_sge: of @sge
 * @sge: segments
 */
struct verve_offload_rc_recv {
	u64 length;
	u32 num_sge;
	const struct ib_sge *sge;
};

/**
 * struct verve_offload_rc_done - a receive request is done
 * @length: bytes that came
 * @is_write: by an RDMA WRITE with immediate data
 * @has_imm: @imm is valid
 * @is_solicited: the peer asks for an event
 * @imm: immediate data
 */
struct verve_offload_rc_done {
	u32 length;
	bool is_write;
	bool has_imm;
	bool is_solicited;
	__be32 imm;
};

/**
 * struct verve_offload_rc_read - a READ of the peer's that is being answered
 * @psn: of the request
 * @msn: with it
 * @va: first byte
 * @rkey: key
 * @length: bytes
 */
struct verve_offload_rc_read {
	u32 psn;
	u32 msn;
	u64 va;
	u32 rkey;
	u32 length;
};

/**
 * struct verve_offload_rc_user - the transport's side
 * @offload: fill in @terms and @state, and leave the QP alone. Return: whether it may
 *	be offloaded now
 * @offloaded: ops.rc->start() has succeeded
 * @returned: it has not, or ops.rc->stop() was called; @state is NULL when nothing is
 *	known
 * @take_recv: see verve_offload_rc_take_recv()
 * @received: see verve_offload_rc_received()
 * @read: see verve_offload_rc_read()
 * @acked: see verve_offload_rc_acked()
 * @report: see verve_offload_rc_report()
 * @ask_return: see verve_offload_rc_ask_return()
 * @may_stay: do the terms still hold that @offload told? If not, the QP is stopped
 *
 * The first three and the last: process context, under the device's lock in the
 * registry.
 */
struct verve_offload_rc_user {
	bool (*offload)(struct verve_offload_qp *qp,
			struct verve_offload_rc_terms *terms,
			struct verve_offload_rc_state *state);
	void (*offloaded)(struct verve_offload_qp *qp);
	void (*returned)(struct verve_offload_qp *qp,
			 const struct verve_offload_rc_state *state);
	int (*take_recv)(struct verve_offload_qp *qp,
			 struct verve_offload_rc_recv *recv);
	void (*received)(struct verve_offload_qp *qp,
			 const struct verve_offload_rc_done *done);
	int (*read)(struct verve_offload_qp *qp,
		    const struct verve_offload_rc_read *read);
	void (*acked)(struct verve_offload_qp *qp, u32 una);
	void (*report)(struct verve_offload_qp *qp);
	void (*ask_return)(struct verve_offload_qp *qp);
	bool (*may_stay)(struct verve_offload_qp *qp);
};

/*
 * What the driver says of a QP that it has, from ops.rc->start() on until
 * ops.rc->stop() returns: one call at a time for a QP, BH off. But for
 * verve_offload_rc_report(), the driver may hold locks.
 */

/**
 * verve_offload_rc_take_recv() - a SEND or immediate data needs a receive
 * @qp: offloaded QP
 * @recv: filled; good until verve_offload_rc_received()
 *
 * Asked again before that, it is the same one.
 *
 * Return: 0; -ENOENT: none is posted: an RNR NAK is due; -EAGAIN: too much has been
 * done that was not reported: the packet is to be dropped; -EINVAL: give it back.
 */
static inline int verve_offload_rc_take_recv(struct verve_offload_qp *qp,
					     struct verve_offload_rc_recv *recv)
{
	return qp->user->take_recv(qp, recv);
}

/**
 * verve_offload_rc_received() - a message is complete that used up a receive
 * @qp: offloaded QP
 * @done: what came
 *
 * The data are in memory. Before it is acknowledged.
 */
static inline void
verve_offload_rc_received(struct verve_offload_qp *qp,
			  const struct verve_offload_rc_done *done)
{
	qp->user->received(qp, done);
}

/**
 * verve_offload_rc_read() - a READ of the peer's is executed
 * @qp: offloaded QP
 * @read: of it
 *
 * Before it is answered: software answers it if the peer asks again later.
 *
 * Return: 0; -EAGAIN: too much has been done that was not reported: the packet is to
 * be dropped.
 */
static inline int
verve_offload_rc_read(struct verve_offload_qp *qp,
		      const struct verve_offload_rc_read *read)
{
	return qp->user->read(qp, read);
}

/**
 * verve_offload_rc_acked() - requests have been acknowledged
 * @qp: offloaded QP
 * @una: oldest PSN that is not; not beyond what was posted. The data of READs before
 *	it are in memory, and the device needs nothing of these requests any more
 */
static inline void verve_offload_rc_acked(struct verve_offload_qp *qp, u32 una)
{
	qp->user->acked(qp, una);
}

/**
 * verve_offload_rc_report() - tell programs what was done
 * @qp: offloaded QP
 *
 * What was told by the calls above is completed now; one report may be for many.
 * ops.rc->post() may be called meanwhile, so no lock that it takes may be held.
 */
static inline void verve_offload_rc_report(struct verve_offload_qp *qp)
{
	qp->user->report(qp);
}

/**
 * verve_offload_rc_ask_return() - the device cannot, or does not want to, go on
 * @qp: offloaded QP
 *
 * ops.rc->stop() will be called soon; until then the device does no more for it.
 */
static inline void verve_offload_rc_ask_return(struct verve_offload_qp *qp)
{
	qp->user->ask_return(qp);
}

#endif
