/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: RC QPs, offloaded to the device
 *
 * A device with ROCE_OFFLOAD_RC runs the protocol of RC QPs: it sends packets, executes
 * requests of the peer, acknowledges them, and retransmits lost packets (IBTA vol. 1,
 * 9.7). The transport keeps the interface to programs: queues, work requests,
 * completions and events.
 *
 * The registry offloads a QP by ops.rc->start() and takes it back by ops.rc->stop(). It
 * takes a QP back when
 *
 * - the program changes or destroys the QP, or posts a request that is not offloaded;
 * - the route changes;
 * - the device loses the feature or is reset, or its driver unregisters;
 * - the device asks for it by roce_offload_rc_ask_return().
 *
 * Both calls transfer struct roce_offload_rc_state, which has the PSNs of both
 * directions. The new owner of the QP, device or transport, continues there: it sends
 * unacknowledged packets again, and acknowledges repetitions of executed requests
 * without executing them.
 *
 * A device need not implement everything. It stops in front of an unusual packet or
 * request and returns the QP. The peer repeats the packet, and software handles it. This
 * is no error. Offloaded are SEND and RDMA WRITE, both also with immediate data, and
 * RDMA READ, in both directions, with memory regions that the device knows. Unusual are
 *
 * - other opcodes, and keys that the device does not know;
 * - requests that the responder must refuse with a NAK, and NAKs of the peer;
 * - congestion (a CNP, or CE);
 * - a peer that does not answer.
 *
 * QPs with an SRQ are not offloaded.
 *
 * Software drops packets to an offloaded QP that arrive by other ways than the device.
 */
#ifndef RDMA_ROCE_OFFLOAD_RC_H
#define RDMA_ROCE_OFFLOAD_RC_H

#include <linux/if_ether.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/roce_offload.h>

/**
 * struct roce_offload_rc_terms - attributes of a QP while it is offloaded
 * @dmac: Ethernet address of the next hop
 * @traffic_class: traffic class of IP
 * @hop_limit: hop limit of IP
 * @flow_label: flow label of IPv6
 * @timeout: local ACK timeout is 4.096 us << @timeout; 0: no timeout
 * @retry_cnt: timeouts in a row before the device returns the QP
 * @min_rnr_timer: timer code of RNR NAKs
 * @max_rd_atomic: outstanding READs to the peer
 * @max_dest_rd_atomic: outstanding READs of the peer
 * @vlan_prio: PCP of the VLAN tag, if the QP's packets have one
 *
 * Further attributes are in struct roce_offload_qp. When the Ethernet address of the
 * next hop changes or becomes unknown, the QP is stopped, and started again with new
 * terms.
 */
struct roce_offload_rc_terms {
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
 * enum roce_offload_rc_message - message that the responder has begun
 * @ROCE_OFFLOAD_RC_NONE: none; the next packet begins a message
 * @ROCE_OFFLOAD_RC_SEND: a SEND, which has consumed a receive: the first that is posted
 *	after start(), and the oldest that is not complete at stop()
 * @ROCE_OFFLOAD_RC_WRITE: an RDMA WRITE
 */
enum roce_offload_rc_message {
	ROCE_OFFLOAD_RC_NONE,
	ROCE_OFFLOAD_RC_SEND,
	ROCE_OFFLOAD_RC_WRITE,
};

/**
 * struct roce_offload_rc_state - progress of a QP
 * @una: requester: oldest unacknowledged PSN. Only responses acknowledge READs
 * @psn: requester: one beyond the newest PSN sent, by the device or before. The peer
 *	may acknowledge PSNs up to it that the device has not sent
 * @epsn: responder: expected PSN. All packets before it are executed and reported
 * @msn: responder: number of completed messages
 * @message: enum roce_offload_rc_message
 * @offset: bytes of the message that are in memory
 * @va: WRITE: address of the first byte
 * @rkey: WRITE: key
 * @left: WRITE: bytes to come
 * @has_ack: from stop(): the peer sent a NAK or RNR NAK that the device did not
 *	handle. @una does not include it
 * @syndrome: AETH syndrome of the NAK
 * @ack_psn: PSN of the NAK
 */
struct roce_offload_rc_state {
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
 * struct roce_offload_rc_wr - a send request
 * @opcode: IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE,
 *	IB_WR_RDMA_WRITE_WITH_IMM or IB_WR_RDMA_READ
 * @is_solicited: set the Solicited Event bit
 * @first_psn: first PSN of the message, which follows the previous request
 * @last_psn: last PSN of the message; of a READ, that of its last response
 * @length: bytes of the message
 * @imm: immediate data
 * @va: RDMA: remote address
 * @rkey: RDMA: remote key
 * @data: SEND, WRITE: @length bytes to send, in place of @sge; or NULL
 * @sge: segments of local memory
 * @num_sge: number of segments
 *
 * @data and @sge are valid until the request is acknowledged or stop() has returned.
 */
struct roce_offload_rc_wr {
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
 * struct roce_offload_rc_recv - a receive request
 * @length: bytes of all segments
 * @num_sge: number of segments
 * @sge: segments; valid until the receive is complete or stop() has returned
 */
struct roce_offload_rc_recv {
	u64 length;
	u32 num_sge;
	const struct ib_sge *sge;
};

/**
 * struct roce_offload_rc_ops - RC operations of a driver, with the context of the QP
 * @start: begin to run a QP that ops.qp_add() has added. The transport then posts
 *	outstanding requests again, from @state->una on. Return: 0, or an error, and
 *	the QP stays with the transport
 * @stop: return a QP. When stop() returns, the device neither sends nor executes
 *	anything for the QP, nor accesses memory for it, and no call by the driver for
 *	the QP is under way or follows. Return: 0, or an error when the state is
 *	unknown, and the QP fails (IB_EVENT_QP_FATAL)
 * @post: post a send request, in order. The driver copies @wr. The device executes it
 *	without further calls. Return: 0, or -EAGAIN when the device has no room or the
 *	QP has been stopped. The transport tries again after the next
 *	roce_offload_rc_report()
 * @post_recv: post a receive behind the others. The driver copies @recv, but not its
 *	segments. Not more than caps.rc_recvs are posted and not complete. @recv is NULL
 *	in answer to roce_offload_rc_need_recv() when the program has posted none; a
 *	device that does not wait, or has a receive by now, ignores that. Does nothing
 *	when the QP has been stopped
 *
 * start() and stop() are called in process context, one at a time for a device. They may
 * sleep, but must not take RTNL, which may be held. stop() may be called some time after
 * the netdev was set down. post() and post_recv() are called after start() has returned,
 * with BH off and under a spinlock.
 */
struct roce_offload_rc_ops {
	int (*start)(void *context,
		     const struct roce_offload_rc_terms *terms,
		     const struct roce_offload_rc_state *state);
	int (*stop)(void *context, struct roce_offload_rc_state *state);
	int (*post)(void *context, const struct roce_offload_rc_wr *wr);
	void (*post_recv)(void *context,
			  const struct roce_offload_rc_recv *recv);
};

/**
 * struct roce_offload_rc_done - completion of a receive request
 * @length: bytes received
 * @is_write: the message is an RDMA WRITE with immediate data, not a SEND
 * @has_imm: @imm is valid
 * @is_solicited: the Solicited Event bit was set
 * @imm: immediate data
 */
struct roce_offload_rc_done {
	u32 length;
	bool is_write;
	bool has_imm;
	bool is_solicited;
	__be32 imm;
};

/**
 * struct roce_offload_rc_read - a READ request of the peer
 * @psn: PSN of the request
 * @msn: MSN that includes the request
 * @va: address of the first byte
 * @rkey: key
 * @length: bytes
 */
struct roce_offload_rc_read {
	u32 psn;
	u32 msn;
	u64 va;
	u32 rkey;
	u32 length;
};

/**
 * struct roce_offload_rc_user - RC operations of the transport
 * @offload: fill in @terms and @state, and stop running the QP. Return: false if the
 *	QP cannot be offloaded now
 * @offloaded: ops.rc->start() has succeeded
 * @returned: ops.rc->start() has failed, or ops.rc->stop() was called. @state is NULL
 *	if the state is unknown
 * @need_recv: see roce_offload_rc_need_recv()
 * @received: see roce_offload_rc_received()
 * @read: see roce_offload_rc_read()
 * @acked: see roce_offload_rc_acked()
 * @report: see roce_offload_rc_report()
 * @ask_return: see roce_offload_rc_ask_return()
 * @may_stay: check the terms that @offload gave. Return: false if they have changed,
 *	and the registry stops the QP
 *
 * offload(), offloaded(), returned() and may_stay() are called in process context, under
 * the lock of the device in the registry.
 */
struct roce_offload_rc_user {
	bool (*offload)(struct roce_offload_qp *qp,
			struct roce_offload_rc_terms *terms,
			struct roce_offload_rc_state *state);
	void (*offloaded)(struct roce_offload_qp *qp);
	void (*returned)(struct roce_offload_qp *qp,
			 const struct roce_offload_rc_state *state);
	void (*need_recv)(struct roce_offload_qp *qp);
	void (*received)(struct roce_offload_qp *qp,
			 const struct roce_offload_rc_done *done);
	int (*read)(struct roce_offload_qp *qp,
		    const struct roce_offload_rc_read *read);
	void (*acked)(struct roce_offload_qp *qp, u32 una);
	void (*report)(struct roce_offload_qp *qp);
	void (*ask_return)(struct roce_offload_qp *qp);
	bool (*may_stay)(struct roce_offload_qp *qp);
};

/*
 * The driver calls the following functions for an offloaded QP, between the call of
 * ops.rc->start() and the return of ops.rc->stop(). It makes one call at a time for a
 * QP, with BH off. It may hold locks, but for roce_offload_rc_report().
 */

/**
 * roce_offload_rc_need_recv() - ask for a receive
 * @qp: offloaded QP
 *
 * The transport posts receives until the device holds caps.rc_recvs, or 16: after
 * start(), when half of them are complete, and whenever it runs for the QP. A program may
 * post receives without a call of the kernel, so the device may run out of them all the
 * same.
 * It then drops a SEND, or immediate data, and its driver calls this function. The
 * transport answers by ops.rc->post_recv(): with a receive, and the device has the peer
 * repeat the packet by a NAK; or with NULL, and the device sends an RNR NAK. A QP that
 * the transport takes back gets no answer.
 */
static inline void roce_offload_rc_need_recv(struct roce_offload_qp *qp)
{
	qp->user->need_recv(qp);
}

/**
 * roce_offload_rc_received() - complete the oldest receive
 * @qp: offloaded QP
 * @done: completion
 *
 * The driver calls this function after the data are in memory, and before the device
 * acknowledges the message.
 */
static inline void
roce_offload_rc_received(struct roce_offload_qp *qp,
			 const struct roce_offload_rc_done *done)
{
	qp->user->received(qp, done);
}

/**
 * roce_offload_rc_read() - note a READ of the peer
 * @qp: offloaded QP
 * @read: READ
 *
 * The driver calls this function before the device responds. Software executes the READ
 * again if the peer repeats it after the QP has been returned.
 *
 * Return: 0; -EAGAIN when too many events wait for roce_offload_rc_report(), and the
 * device drops the packet.
 */
static inline int
roce_offload_rc_read(struct roce_offload_qp *qp,
		     const struct roce_offload_rc_read *read)
{
	return qp->user->read(qp, read);
}

/**
 * roce_offload_rc_acked() - note acknowledged requests
 * @qp: offloaded QP
 * @una: oldest unacknowledged PSN, not beyond the last posted request. The data of READs
 *	before it are in memory, and the device has done with these requests
 */
static inline void roce_offload_rc_acked(struct roce_offload_qp *qp, u32 una)
{
	qp->user->acked(qp, una);
}

/**
 * roce_offload_rc_report() - generate the completions of the calls above
 * @qp: offloaded QP
 *
 * One report may follow many calls. ops.rc->post() and ops.rc->post_recv() may be called
 * meanwhile, so the driver must not hold a lock that they take.
 */
static inline void roce_offload_rc_report(struct roce_offload_qp *qp)
{
	qp->user->report(qp);
}

/**
 * roce_offload_rc_ask_return() - ask the registry to take a QP back
 * @qp: offloaded QP
 *
 * The registry calls ops.rc->stop() soon. Until then the device does nothing for the QP.
 */
static inline void roce_offload_rc_ask_return(struct roce_offload_qp *qp)
{
	qp->user->ask_return(qp);
}

#endif
