/* SPDX-License-Identifier: GPL-2.0-only */
/* Queue pairs and their numbers */
#ifndef VERVE_TRANSPORT_QP_H
#define VERVE_TRANSPORT_QP_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/llist.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "../memory/region.h"
#include "../path/path.h"
#include "../path/receiver.h"
#include "../queue/cq.h"
#include "../queue/rq.h"
#include "../queue/sq.h"
#include "../queue/wqe.h"
#include "ack.h"
#include "ooo.h"
#include "pair.h"
#include "recovery.h"
#include "rtt.h"
#include "stall.h"

struct roce_offload_range;
struct verve_congestion;
struct verve_rc_offload;
struct verve_nic_qp;
struct verve_train;

/**
 * struct verve_requester - sending side of a connected QP
 * @psn: PSN of the next packet
 * @max_psn: one beyond the highest PSN ever sent
 * @una: oldest unacknowledged PSN
 * @rd_atomic: number of outstanding READ and atomic requests
 * @unasked: packets sent since the last one with the AckReq bit
 * @asked: one beyond the newest PSN for which an answer is requested
 * @retries: timeouts and sequence errors left before the QP fails
 * @timed_out: the timer has used up a retry since @retries were set
 * @rnr_retries: RNR NAKs left; 7 means no limit
 * @rnr_naks: consecutive RNR NAKs, for the backoff
 * @wait_rnr: sending stops until the timer expires
 * @timer_armed: the timer is running
 * @timer_long: an answer was missed before the timer started, and has not come since
 * @progress: @una has moved since the timer started
 * @dup_response: a duplicate response has arrived since the timer started
 * @spurious_waits: timeouts that @dup_response made spurious since @una last
 *	moved
 * @delay: ns for which the timer was started
 * @waited: ns of expired timers since the last answer
 * @probing: after a timeout or RNR NAK, no new packet is sent until @una moves
 * @err_polls: error state: number of times that the timer looked for late
 *	receives
 * @acked: one beyond the newest PSN that an ACK named; ahead of @una where
 *	responses are missing
 * @ooo: responses received out of order
 * @recovery: state of loss recovery
 * @rtt: round-trip times, and the timing of the current answer
 */
struct verve_requester {
	u32 psn;
	u32 max_psn;
	u32 una;
	u32 rd_atomic;
	u32 unasked;
	u32 asked;
	u8 retries;
	u8 rnr_retries;
	u8 rnr_naks;
	u8 err_polls;
	bool wait_rnr;
	bool timer_armed;
	bool timer_long;
	bool progress;
	bool probing;
	bool timed_out;
	bool dup_response;
	u8 spurious_waits;
	u32 acked;
	u64 delay;
	u64 waited;
	struct verve_ooo ooo;
	struct verve_recovery recovery;
	struct verve_rtt rtt;
};

/**
 * struct verve_rd_atomic - responder resources of a READ, atomic, FLUSH or ATOMIC
 * WRITE, or a response to be sent
 * @op: VERVE_OP_READ, _ATOMIC, _FLUSH or _ATOMIC_WRITE
 * @is_repeat: the request is a duplicate, and has been answered before
 * @first_psn: PSN of the request, and of the first response
 * @last_psn: PSN of the last response
 * @va: READ: address of the first byte
 * @rkey: READ: remote key
 * @length: READ: number of bytes; otherwise 0
 * @msn: MSN at the time of execution
 * @orig: atomic: original value of the memory
 */
struct verve_rd_atomic {
	u32 op;
	bool is_repeat;
	u32 first_psn;
	u32 last_psn;
	u32 msn;
	u32 rkey;
	u32 length;
	union {
		u64 va;
		u64 orig;
	};
};

/**
 * struct verve_message - SEND or RDMA WRITE in progress at a responder
 * @op: VERVE_OP_SEND or VERVE_OP_WRITE; 0 between messages
 * @offset: bytes received
 * @va: WRITE: address of the first byte
 * @rkey: WRITE: remote key
 * @left: WRITE: bytes still to come
 */
struct verve_message {
	u32 op;
	u32 offset;
	u64 va;
	u32 rkey;
	u32 left;
};

/**
 * struct verve_ddp - placement by a NIC, at a responder (offload/rc/ddp.h)
 * @is_active: a NIC was asked to begin a run, and has not been seen to stop
 * @is_fresh: no request of the run has come yet
 * @is_ahead: placed packets of the last run may be ahead of the responder
 * @in_run: placed packets are those of the run, and none of them was overwritten
 * @nak_wanted: requests were dropped that the NIC's answer makes welcome
 * @lost_psn: PSN of the newest of these
 * @doublings: runs were short: how often to double what is copied before the next
 * @copied: bytes of RDMA WRITEs copied without a SEND or immediate data in between
 * @threshold: bytes that were copied before the run
 * @placed: bytes placed in the run
 */
struct verve_ddp {
	bool is_active;
	bool is_fresh;
	bool is_ahead;
	bool in_run;
	bool nak_wanted;
	u8 doublings;
	u32 lost_psn;
	u64 copied;
	u64 threshold;
	u64 placed;
};

/**
 * struct verve_responder - receiving side of a QP
 * @epsn: expected PSN
 * @msn: number of completed messages
 * @message: message in progress
 * @ack: ACKs and NAKs that are due
 * @repeats: duplicate requests since the last new one
 * @far_at: time in ns of the last NAK for a request far ahead, or 0
 * @recv_valid: @recv has been taken from its queue and has not completed
 * @is_copying: @dest is set up. Valid within one round of the engine only, so
 *	that no MR is held longer
 * @dest: destination of the next payload
 * @resources: responder resources of the last @room READs, atomics and so on
 * @responses: ring of 2 * @room responses to be sent
 * @slots: max_dest_rd_atomic
 * @room: highest value that @slots has had
 * @next_slot: entry of @resources to be overwritten next
 * @first_response: index of the first entry of @responses
 * @num_responses: number of entries in @responses
 * @num_repeats: number of those entries that answer duplicates; @room at most
 * @response_psn: PSN of the next packet of the first response
 * @ddp: placement by a NIC
 * @recv: current receive
 * @ooo: requests received out of order
 */
struct verve_responder {
	u32 epsn;
	u32 msn;
	struct verve_message message;
	struct verve_ack ack;
	u8 repeats;
	bool recv_valid;
	bool is_copying;
	struct verve_iter dest;
	struct verve_rd_atomic *resources;
	struct verve_rd_atomic *responses;
	u32 slots;
	u32 room;
	u32 next_slot;
	u32 first_response;
	u32 num_responses;
	u32 num_repeats;
	u32 response_psn;
	struct verve_ddp ddp;
	struct verve_recv recv;
	struct verve_ooo ooo;
	u64 far_at;
};

enum verve_qp_event {
	VERVE_EV_DOORBELL,	/* send requests may have been posted */
	VERVE_EV_TIMER,		/* the requester's timer has expired */
	VERVE_EV_MODIFIED,	/* state or attributes changed */
	VERVE_EV_CONTINUE,	/* the last round used up its budget */
	VERVE_EV_FAULT,		/* a page fault has ended */
	VERVE_EV_REPORT,	/* the NIC that runs the QP has a report */
	VERVE_EV_OOO,		/* the timer of out-of-order packets has expired */
	VERVE_EV_DDP,		/* the NIC has begun or ended a run of placed packets */
};

enum verve_qp_notice {
	VERVE_NOTICE_SCQ	= 1 << 0,
	VERVE_NOTICE_RCQ	= 1 << 1,
	VERVE_NOTICE_SRQ	= 1 << 2,
	/*
	 * Bits of asynchronous events, which are raised after the lock is dropped
	 */
	VERVE_NOTICE_SHIFT	= 8,
};

/**
 * struct verve_qp - a queue pair and its engine
 * @ibqp: the core's object; NULL after the core has freed it
 * @dev: device
 * @node: entry in the module's table of QPNs
 * @entry: entry in verve_dev.qps, under the mutex of that list
 * @qpn: QP number
 * @type: RC, UC, UD or GSI
 * @is_user: user space posts the requests
 * @scope: scope of the keys that the QP may use
 * @stats: counters of the device, or of the QP itself (verbs/counter.c). Written
 *	under @lock. Readers without @lock need an RCU read section
 * @ref: 1 until destroy, and 1 for each look-up and each entry into the engine
 * @idle: completed when @ref drops to 0
 * @rcu: defers the free of the memory beyond concurrent look-ups
 * @rx_hash: flow hash of received packets, for RPS, or 0
 * @inbox: arrivals that the engine has not processed
 * @inbox_memory: approximate memory of @inbox in bytes (transport/backlog.h)
 * @events: enum verve_qp_event bits that the engine has not processed
 * @work: continues a round after the budget is used up, and runs the engine for
 *	posts made with interrupts off
 * @timer: retransmission or RNR timer
 * @ooo_timer: limits the time that packets wait in @req.ooo and @resp.ooo
 * @lock: ownership of the engine. The data path only tries the lock, so that no
 *	CPU waits for the work of another QP. Modify, query and destroy take it by
 *	spin_lock_bh(). It protects the fields below, except for constant ones,
 *	and for queues and pairs, which have locks or rules of their own
 * @state: enum ib_qp_state
 * @dead: the QP is being destroyed, and no timer may start
 * @drained: SQD: all started requests have completed, and the event is raised
 * @last_wqe_reported: IB_EVENT_QP_LAST_WQE_REACHED has been raised
 * @comm_est: IB_EVENT_COMM_EST has been raised
 * @attr: attributes of the last modify
 * @mtu: bytes of payload per packet
 * @flow: RC, UC: path to the peer
 * @notices: enum verve_qp_notice bits to be raised after @lock is dropped
 * @budget: packets that this round may still send
 * @train: packets of this round, which leave as one train where possible
 * @sq: send queue
 * @rq: receive queue, unless @srq is set
 * @srq: shared receive queue, or NULL
 * @scq: send CQ
 * @rcq: receive CQ
 * @req: requester
 * @resp: responder
 * @stall: parts of the engine that wait for a page
 * @pair: connection with a QP of the same device
 * @congestion: rate limit, or NULL if the QP has never been limited
 * @cnp_sent: time in ns of the last CNP sent, or 0
 * @nic: context of the QP in NICs (offload/rc/qpc.h), or NULL; constant
 * @rc_offload: state of RC offload (offload/rc/rc.h), or NULL; constant
 * @is_offloaded: a NIC runs the QP, and the engine does not
 */
struct verve_qp {
	struct ib_qp *ibqp;
	struct verve_dev *dev;
	struct rhash_head node;
	struct list_head entry;
	u32 qpn;
	enum ib_qp_type type;
	bool is_user;
	struct verve_mr_scope scope;
	struct verve_stats __percpu *stats;
	refcount_t ref;
	struct completion idle;
	struct rcu_head rcu;

	u32 rx_hash;
	struct llist_head inbox;
	atomic_t inbox_memory;
	unsigned long events;
	struct work_struct work;
	struct hrtimer timer;
	struct hrtimer ooo_timer;

	spinlock_t lock;	/* protects the fields marked __guarded_by */
	enum ib_qp_state state __guarded_by(&lock);
	bool dead __guarded_by(&lock);
	bool drained __guarded_by(&lock);
	bool last_wqe_reported __guarded_by(&lock);
	bool comm_est __guarded_by(&lock);
	struct ib_qp_attr attr __guarded_by(&lock);
	u32 mtu __guarded_by(&lock);
	struct verve_flow flow __guarded_by(&lock);
	u32 notices __guarded_by(&lock);
	u32 budget __guarded_by(&lock);
	struct verve_train *train __guarded_by(&lock);

	struct verve_sq sq;
	struct verve_rq rq;
	struct verve_srq *srq;
	struct verve_cq *scq;
	struct verve_cq *rcq;
	struct verve_requester req __guarded_by(&lock);
	struct verve_responder resp __guarded_by(&lock);
	struct verve_stall stall __guarded_by(&lock);
	struct verve_pair pair;
	struct verve_congestion *congestion __guarded_by(&lock);
	u64 cnp_sent __guarded_by(&lock);
	struct verve_nic_qp *nic;
	struct verve_rc_offload *rc_offload;
	bool is_offloaded __guarded_by(&lock);
};

/**
 * struct verve_qp_handle - the core's object for a QP
 * @ibqp: object of the core
 * @qp: QP
 *
 * The core frees this object when destroy returns, without a grace period. struct
 * verve_qp is a separate object because concurrent look-ups may still find it
 * then.
 */
struct verve_qp_handle {
	struct ib_qp ibqp;
	struct verve_qp *qp;
};

static inline struct verve_qp_handle *to_handle(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct verve_qp_handle, ibqp);
}

static inline struct verve_qp *to_vqp(struct ib_qp *ibqp)
{
	return to_handle(ibqp)->qp;
}

static inline bool verve_qp_is_connected(const struct verve_qp *qp)
{
	return qp->type == IB_QPT_RC || qp->type == IB_QPT_UC;
}

/**
 * verve_qp_find_any() - look up a QP of this machine, in any namespace
 * @qpn: number, not 1
 *
 * Context: any up to softirq.
 * Return: QP with a reference, which keeps its device too; or NULL.
 */
struct verve_qp *verve_qp_find_any(u32 qpn);

/**
 * verve_qp_hold() - take a reference to the QP of a core object
 * @ibqp: core object. The QP may be in destroy: before Linux 7.2, the netlink
 *	code that dumps resources holds the core object only
 *
 * Context: any up to softirq.
 * Return: QP with a reference, or NULL.
 */
struct verve_qp *verve_qp_hold(struct ib_qp *ibqp);
void verve_qp_put(struct verve_qp *qp);
/* Take a reference unless the count is 0. Any context. */
static inline bool verve_qp_get(struct verve_qp *qp)
{
	return refcount_inc_not_zero(&qp->ref);
}

/* Allocate a zeroed QP. Process context. Return: QP or NULL. */
struct verve_qp *verve_qp_alloc(void);
/* Free a QP after a grace period, because concurrent look-ups may still read it. */
void verve_qp_free(struct verve_qp *qp);
/*
 * Assign a QPN, from a range if a few draws find a free one, and make the QP visible to
 * packets.
 * Process context. Return: 0, -ENOMEM, or -EBUSY if the device already has a GSI QP.
 */
int verve_qp_publish(struct verve_qp *qp, struct roce_offload_range qpns);
/* Hide the QP from packets. */
void verve_qp_withdraw(struct verve_qp *qp);

int verve_qp_table_init(void);	/* module load */
void verve_qp_table_exit(void);

#endif
