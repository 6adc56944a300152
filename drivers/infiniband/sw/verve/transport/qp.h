/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queue pairs, and their numbers
 */
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

struct verve_congestion;
struct verve_rc_offload;
struct verve_nic_qp;
struct verve_train;

/**
 * struct verve_requester - sending side of a connected QP
 * @psn: of the next packet to be sent
 * @max_psn: one beyond the highest PSN ever sent
 * @una: oldest PSN that is not acknowledged
 * @rd_atomic: READ and atomic requests under way
 * @unasked: packets sent since one asked for an ACK
 * @asked: one beyond the newest PSN that an answer is asked for
 * @retries: timeouts and sequence errors left before giving up
 * @rnr_retries: RNR NAKs left; 7 means for ever
 * @rnr_naks: in a row, for backing off
 * @wait_rnr: nothing may be sent until the timer has run out
 * @timer_armed: the timer is running
 * @progress: @una has moved since the timer was started
 * @dup_response: a response has come once more since the timer was started
 * @spurious_waits: how often that made a timeout spurious since @una moved
 * @delay: ns that the timer was started with
 * @waited: ns since anything was heard that it has run out after
 * @probing: after a timeout or RNR NAK: nothing new until @una moves
 * @err_polls: error state: how often the timer looked for late receives
 * @acked: one beyond the newest PSN that an ACK named; ahead of @una where
 *	responses are missing
 * @ooo: responses that came before their turn
 * @recovery: what is done about loss
 * @rtt: how long an answer takes, and how long it has been waited for
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
	bool progress;
	bool probing;
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
 * struct verve_rd_atomic - responder resources of a READ, atomic, FLUSH or
 *	ATOMIC WRITE, or a response to be sent
 * @op: VERVE_OP_READ, _ATOMIC, _FLUSH or _ATOMIC_WRITE
 * @is_repeat: the peer asks again: it was answered before
 * @first_psn: of the request, and of the first response
 * @last_psn: of the last response
 * @va: READ: address of the first byte
 * @rkey: READ
 * @length: READ: bytes; otherwise 0
 * @msn: when it was executed
 * @orig: atomic: the value before
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
 * struct verve_message - SEND or RDMA WRITE that a responder is in the middle of
 * @op: VERVE_OP_SEND or VERVE_OP_WRITE; 0 between messages
 * @offset: bytes that have been taken
 * @va: WRITE: address of its first byte
 * @rkey: WRITE
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
 * struct verve_responder - receiving side of a QP
 * @epsn: PSN expected next
 * @msn: messages completed
 * @message: what is under way
 * @ack: ACKs and NAKs that are due
 * @repeats: requests that came again since the last new one
 * @far_at: ns: when the peer was last told of one that was far ahead, or 0
 * @recv_valid: @recv has been taken from its queue and has not completed
 * @is_copying: @dest is set up; only within one round of the engine, so that no
 *	MR is held longer
 * @dest: where payload goes next
 * @resources: of the last @room READs, atomics and so on
 * @responses: responses to be sent, a ring of 2 * @room
 * @slots: max_dest_rd_atomic
 * @room: the most that @slots has been
 * @next_slot: of @resources to be overwritten next
 * @first_response: of @responses
 * @num_responses: in @responses
 * @num_repeats: of those, requests that came again; @room at most
 * @response_psn: of the next packet of the first response
 * @in_ddp: a NIC places, or has placed, what comes next (offload/rc/ddp.h)
 * @recv: current receive
 * @ooo: requests that came out of order
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
	bool in_ddp;
	struct verve_recv recv;
	struct verve_ooo ooo;
	u64 far_at;
};

enum verve_qp_event {
	VERVE_EV_DOORBELL,	/* new send requests may be there */
	VERVE_EV_TIMER,		/* the requester's timer has run out */
	VERVE_EV_MODIFIED,	/* state or attributes changed */
	VERVE_EV_CONTINUE,	/* the budget ran out */
	VERVE_EV_FAULT,		/* a page fault has ended */
	VERVE_EV_REPORT,	/* a NIC that has the QP has done something */
	VERVE_EV_OOO,		/* packets have waited for their turn */
};

enum verve_qp_notice {
	VERVE_NOTICE_SCQ	= 1 << 0,
	VERVE_NOTICE_RCQ	= 1 << 1,
	VERVE_NOTICE_SRQ	= 1 << 2,
	/* Async events, raised once the lock is dropped */
	VERVE_NOTICE_SHIFT	= 8,
};

/**
 * struct verve_qp - a queue pair and its engine
 * @ibqp: the core's object; NULL when it is gone
 * @dev: device
 * @node: in the module's table of QPNs
 * @entry: in verve_dev.qps, under its mutex
 * @qpn: number
 * @type: RC, UC, UD, GSI
 * @is_user: user space posts
 * @scope: where its keys are good
 * @stats: where its counters are: the device's, or its own (verbs/counter.c). Written
 *	under @lock; who reads it without is in an RCU section
 * @ref: 1 until destroyed, 1 for each look-up and each entry into the engine
 * @idle: completed when @ref drops to 0
 * @rcu: memory outlives look-ups
 * @rx_hash: of the flow that its packets come in by, for RPS, or 0
 * @inbox: arrivals not yet taken in
 * @inbox_memory: bytes that they take, about (transport/backlog.h)
 * @events: enum verve_qp_event bits not yet taken in
 * @work: continues where the budget ran out, and runs posts made with
 *	interrupts off
 * @timer: retransmission or RNR
 * @ooo_timer: runs while packets wait for their turn
 * @lock: the engine: whoever holds it is the owner. Taken by trylock from the
 *	data path, so that nobody waits for another QP's work; by spin_lock_bh
 *	from modify, query and destroy. Protects what is below, but for what is
 *	constant, and what queues and pairs have locks, or rules, of their own for.
 * @state: enum ib_qp_state
 * @dead: being destroyed: no timer is started
 * @drained: SQD: everything that was begun is done, and has been told
 * @last_wqe_reported: IB_EVENT_QP_LAST_WQE_REACHED comes once
 * @comm_est: IB_EVENT_COMM_EST comes once
 * @attr: as last modified
 * @mtu: bytes of payload per packet
 * @flow: RC, UC: where the peer is
 * @notices: enum verve_qp_notice to be raised when @lock is dropped
 * @budget: packets that this round may still send
 * @train: what this round sends, as one where possible
 * @sq: send queue
 * @rq: receive queue, unless @srq
 * @srq: or NULL
 * @scq: send CQ
 * @rcq: receive CQ
 * @req: requester
 * @resp: responder
 * @stall: what waits for a page
 * @pair: a QP of the same device that it is connected with
 * @congestion: how it is held back, or NULL: it never was
 * @cnp_sent: ns: when it last told its peer of marks, or 0
 * @nic: what NICs know of it (offload/rc/qpc.h), or NULL; constant
 * @rc_offload: how it may be offloaded to a NIC (offload/rc/rc.h), or NULL; constant
 * @is_offloaded: it is, and nothing of it runs here
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

	spinlock_t lock;	/* what is guarded by it */
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
 * @ibqp: what the core knows
 * @qp: the QP
 *
 * The core frees this when destroy returns, without a grace period; what
 * look-ups find must outlive that, so it is apart.
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
 * verve_qp_hold() - the QP behind the core's object
 * @ibqp: may be in the middle of being destroyed: before Linux 7.2, who looks
 *	at resources by netlink keeps the core's object only
 * Context: any up to softirq.
 * Return: QP with a reference, or NULL.
 */
struct verve_qp *verve_qp_hold(struct ib_qp *ibqp);
void verve_qp_put(struct verve_qp *qp);
/* One more reference, if there still is one. Any context. */
static inline bool verve_qp_get(struct verve_qp *qp)
{
	return refcount_inc_not_zero(&qp->ref);
}

/* The memory of a QP, all zeros. Process. NULL: none. */
struct verve_qp *verve_qp_alloc(void);
/* The reverse, after a grace period: whoever looks up may still see it. */
void verve_qp_free(struct verve_qp *qp);
/*
 * The QP gets its number, and packets find it from now on. Process. Return: 0, -ENOMEM,
 * or -EBUSY: there is a GSI already.
 */
int verve_qp_publish(struct verve_qp *qp);
/* They do not any more. */
void verve_qp_withdraw(struct verve_qp *qp);

int verve_qp_table_init(void);	/* module load */
void verve_qp_table_exit(void);

#endif
