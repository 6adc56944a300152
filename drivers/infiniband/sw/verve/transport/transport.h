/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface between the parts of a QP's engine. Unless a function says otherwise,
 * the caller owns the engine: it holds qp->lock, with BH off.
 */
#ifndef VERVE_TRANSPORT_H
#define VERVE_TRANSPORT_H

#include "../path/train.h"
#include "../trace.h"
#include "engine.h"
#include "../wire/psn.h"
#include "qp.h"
#include "verdict.h"

/* Count and trace the drop of a packet of @qp. @reason is an rx_drop_* counter. */
#define verve_qp_drop(qp, reason) do {					\
	verve_count(qp, reason, 1);					\
	trace_verve_drop((qp)->dev, (qp)->qpn, VERVE_CNT_##reason);	\
} while (0)

/* requester.c: from send requests to bursts */

/* Fetch the user's next request, if any. */
bool verve_requester_fetch(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Return: request at sq.next, which is fetched if needed, or NULL. */
struct verve_swqe *verve_requester_next(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Assign PSNs to @wqe, the request at sq.next, from req.psn on. */
void verve_requester_start(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock);
/* Send or flush requests, within the budget. */
void verve_requester_run(struct verve_qp *qp)
	__must_hold(&qp->lock);
/**
 * verve_requester_ask() - request an ACK
 * @qp: QP
 *
 * The next verve_requester_run() sends the oldest outstanding packet again. The
 * peer answers with an ACK of all packets that it has received.
 *
 * Return: false if no repeat is needed: an answer has been requested, or no
 * packet is outstanding, or later packets of the message will request an ACK.
 */
bool verve_requester_ask(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* local.c: requests that send no packet */

/**
 * verve_local_run() - execute a local request
 * @qp: QP
 * @wqe: local request at sq.next
 *
 * REG_MR and BIND_MW execute in the order of the queue, so that later requests
 * can use the key. LOCAL_INV executes after all earlier requests have completed
 * (10.8.3.2). All of them complete in order.
 *
 * Return: false if no request can proceed now.
 */
bool verve_local_run(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock);

/* completer.c: from responses to completions */

/* Process an ACK, READ response or atomic response. Return: true if it is kept. */
bool verve_completer_receive(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock);
/* Complete the oldest request with @status. */
void verve_completer_retire(struct verve_qp *qp, enum ib_wc_status status)
	__must_hold(&qp->lock);
/* Fail the oldest request, and move the QP to an error state. */
void verve_completer_fail(struct verve_qp *qp, enum ib_wc_status status)
	__must_hold(&qp->lock);
/*
 * Flush all requests in order with IB_WC_WR_FLUSH_ERR, within the budget. Later
 * rounds flush the rest, while the QP is in a state that flushes.
 */
void verve_completer_flush(struct verve_qp *qp)
	__must_hold(&qp->lock);
/*
 * The QP leaves SQE. Mark the requests posted so far: the requester flushes them
 * before it sends later ones (10.3.1).
 */
void verve_completer_doom(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Flush the marked requests, within the budget. Return: true if none is left. */
bool verve_completer_flush_doomed(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Handle an expired retransmission timer while packets are outstanding. */
void verve_completer_timeout(struct verve_qp *qp)
	__must_hold(&qp->lock);
/*
 * Take the report of the NIC that runs the QP: all PSNs before @psn are answered.
 */
void verve_completer_acknowledged(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock);
/**
 * verve_completer_resume() - continue the QP after a NIC returns it
 * @qp: QP after RC offload. All PSNs that the NIC saw acknowledged have been
 *	reported
 * @psn: one beyond the newest PSN that was ever sent
 *
 * Outstanding packets may have been lost.
 */
void verve_completer_resume(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock);
/* Process an ACK that the NIC received and did not process. */
void verve_completer_ack(struct verve_qp *qp, u32 psn, u8 syndrome)
	__must_hold(&qp->lock);

/* responder.c: requests of the peer */

/* Process a request. Return: true if it is kept until its turn. */
bool verve_responder_receive(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock);
/**
 * verve_responder_rnr() - answer a request while earlier ones wait for a page
 * @qp: QP with VERVE_STALL_ARRIVALS
 * @arrival: packet
 *
 * A duplicate request shows that the peer's timer has expired. Without an answer
 * the peer would use up its retries. An RNR NAK makes the peer wait instead (IBTA
 * 9.7.5.2.8). The first copy stays, and is executed after the page fault.
 *
 * Return: true if the packet has been answered; false if the packet is new and
 * must be held.
 */
bool verve_responder_rnr(struct verve_qp *qp,
			 const struct verve_arrival *arrival)
	__must_hold(&qp->lock);
/* Set the expected PSN to @psn, cut to 24 bits. */
void verve_responder_set_psn(struct verve_responder *resp, u32 psn);
/* Continue after a NIC that ran the QP, from the state that the NIC reached. */
void verve_responder_resume(struct verve_responder *resp, u32 epsn, u32 msn,
			    const struct verve_message *message);
/* Reset the responder to its initial state and free its memory. */
void verve_responder_reset(struct verve_responder *resp);
/* End a round: send ACKs, and release memory regions. */
void verve_responder_round_end(struct verve_qp *qp)
	__must_hold(&qp->lock);
/*
 * Flush the QP's own receives with IB_WC_WR_FLUSH_ERR, like
 * verve_completer_flush().
 */
void verve_responder_flush(struct verve_qp *qp)
	__must_hold(&qp->lock);

/**
 * verve_responder_take_recv() - take the next receive of the QP or its SRQ
 * @qp: QP
 *
 * Return: as verve_rq_fetch(). Fills qp->resp.recv.
 */
int verve_responder_take_recv(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Hand the current receive over to a NIC. Return: false if there is none. */
bool verve_responder_lend_recv(struct verve_responder *resp,
			       struct verve_recv *recv);
/* Take back @recv, which has not completed. */
void verve_responder_return_recv(struct verve_responder *resp,
				 const struct verve_recv *recv);
/* Drop the current receive without a completion, because its queue is reset. */
void verve_responder_forget_recv(struct verve_responder *resp);
/* Complete the current receive. @wc is set except for wr_id and qp. */
void verve_responder_complete(struct verve_qp *qp, struct ib_wc *wc,
			      bool solicited)
	__must_hold(&qp->lock);
/* Complete a receive other than the current one. @wc is set except for qp. */
void verve_responder_deliver(struct verve_qp *qp, struct ib_wc *wc,
			     bool solicited)
	__must_hold(&qp->lock);
/* Fail the current receive with @status. */
void verve_responder_fail_recv(struct verve_qp *qp, enum ib_wc_status status)
	__must_hold(&qp->lock);

/* message.c: SENDs and RDMA WRITEs */

/**
 * verve_message_execute() - execute one packet of a SEND or RDMA WRITE
 * @qp: RC or UC QP
 * @arrival: request with the expected PSN that verve_verdict_request() allows
 * @flags: VERVE_OP_* of the opcode
 *
 * Return: verdict. On VERVE_REQUEST_DONE, the caller advances PSN and MSN. On
 * VERVE_REQUEST_LATER, and on a refusal of a packet that was received out of
 * order, the packet leaves no effect.
 */
enum verve_request_verdict
verve_message_execute(struct verve_qp *qp, const struct verve_arrival *arrival,
		      u32 flags)
	__must_hold(&qp->lock);
/* Release memory regions at the end of a round. */
void verve_message_round_end(struct verve_responder *resp);
/* Abandon the message in progress. */
void verve_message_drop(struct verve_responder *resp);
/* Continue a message of which a NIC has received the first part. */
void verve_message_resume(struct verve_responder *resp,
			  const struct verve_message *message);

/*
 * ack.c: ACKs and NAKs. None overtakes a response that is still to be sent (IBTA
 * 9.7.5.1.2), so they wait for the end of the round.
 */

/**
 * verve_nak_fatal() - refuse a request, and move the QP to the error state
 * @qp: QP
 * @nak: syndrome: VERVE_NAK_INV_REQ, _REM_ACC_ERR or _REM_OP_ERR
 *
 * Pending responses go first. Until then the QP keeps its state, but accepts no
 * more requests. The event of the NAK follows (9.9.3).
 */
void verve_nak_fatal(struct verve_qp *qp, u8 nak)
	__must_hold(&qp->lock);
/**
 * verve_nak_response() - refuse a READ whose memory was invalidated after the
 * request
 * @qp: QP
 * @psn: PSN of the response that cannot be sent
 *
 * The QP moves to the error state at once.
 */
void verve_nak_response(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock);
/* Send an RNR NAK of @psn at once. */
void verve_nak_rnr(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock);
/*
 * Answer a repeated request while a page is absent: an ACK of a SEND or WRITE at the
 * end of the round; if responses must precede that, and for a READ or atomic, an RNR
 * NAK of @psn. (The expected PSN may not have been sent, and a NAK of it is ignored.)
 */
void verve_nak_rnr_repeat(struct verve_qp *qp, bool is_rd_atomic, u32 psn)
	__must_hold(&qp->lock);
/* Send the ACK or NAK that is due, if all responses have been sent. */
void verve_ack_round_end(struct verve_qp *qp)
	__must_hold(&qp->lock);

/*
 * rd_atomic.c: execution, responses and repetition of READs, atomics, FLUSHes and
 * ATOMIC WRITEs
 */

/*
 * Allocate for @slots requests, at least 1. Process context. Return: memory or
 * NULL.
 */
struct verve_rd_atomic *verve_rd_atomic_alloc(u32 slots);
/**
 * verve_rd_atomic_resize() - change the number of responder resources
 * @resp: responder of a QP whose engine is locked
 * @res: result of verve_rd_atomic_alloc(@slots), or NULL when @slots is 0
 * @slots: max_dest_rd_atomic
 *
 * Executed requests and pending responses survive, because the peer may repeat
 * either request (11.2.5.2, SQD to SQD).
 *
 * Return: unused memory, which the caller frees.
 */
struct verve_rd_atomic *verve_rd_atomic_resize(struct verve_responder *resp,
					       struct verve_rd_atomic *res,
					       u32 slots);
/* Forget all requests and free their memory. Any context. */
void verve_rd_atomic_reset(struct verve_responder *resp);
/**
 * verve_rd_atomic_execute() - execute a READ, atomic, FLUSH or ATOMIC WRITE
 * @qp: QP
 * @arrival: request with the expected PSN that verve_verdict_request() allows
 *
 * verve_rd_atomic_respond() sends the response.
 *
 * Return: verdict. On VERVE_REQUEST_DONE, the caller advances PSN and MSN.
 */
enum verve_request_verdict
verve_rd_atomic_execute(struct verve_qp *qp,
			const struct verve_arrival *arrival)
	__must_hold(&qp->lock);
/*
 * Record an executed request for duplicates. @res may be a READ that a NIC
 * executed.
 */
void verve_rd_atomic_remember(struct verve_responder *resp,
			      const struct verve_rd_atomic *res);
/* Answer a duplicate request. */
void verve_rd_atomic_repeat(struct verve_qp *qp, const struct verve_pdu *pdu)
	__must_hold(&qp->lock);
/* Does a pending response read memory through this key? */
bool verve_rd_atomic_needs(const struct verve_responder *resp, u32 rkey);
/* Drop all pending responses. */
void verve_rd_atomic_drop(struct verve_responder *resp);
/* Send responses, within the budget. */
void verve_rd_atomic_respond(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* recovery.c: loss recovery */

/* Forget all losses. */
void verve_recovery_reset(struct verve_requester *req);
/*
 * The peer has NAKed the oldest outstanding packet. Start recovery, unless it is
 * already under way for that packet.
 */
void verve_recovery_nak(struct verve_qp *qp)
	__must_hold(&qp->lock);
/**
 * verve_recovery_responses() - recover lost responses
 * @qp: RC QP whose oldest outstanding PSN is of a response
 * @end: one beyond the PSN of the last response known to be lost
 */
void verve_recovery_responses(struct verve_qp *qp, u32 end)
	__must_hold(&qp->lock);
/* After a timeout or RNR wait, send one packet and wait for its ACK. */
void verve_recovery_probe(struct verve_qp *qp)
	__must_hold(&qp->lock);
/*
 * Repeat the oldest outstanding packet to request an ACK, though no packet is
 * lost.
 */
void verve_recovery_ask(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* At an expiry: if the run is answered, and no other answer is due, send the next. */
void verve_recovery_go_on(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Is recovery of the oldest outstanding packet under way? */
bool verve_recovery_is_begun(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Is the last run, or its probe, answered, but not all that may be lost with it? */
bool verve_recovery_is_over(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Was the oldest outstanding packet already sent when the current loss was noticed? */
bool verve_recovery_covers(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Packets up to req.psn have been sent. */
void verve_recovery_sent(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* An ACK or responses have moved req.una. */
void verve_recovery_acknowledged(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* An ACK has been processed. It covers all that the peer has from req.una on. */
void verve_recovery_ack(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* timer.c */

void verve_timer_init(struct verve_qp *qp);
/* Restore the retries, or the RNR retries, that the QP's attributes allow. */
void verve_timer_set_retries(struct verve_qp *qp)
	__must_hold(&qp->lock);
void verve_timer_set_rnr_retries(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* The peer has answered: restart the count of timeouts and RNR NAKs. */
void verve_timer_progress(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Use up a retry, or an RNR retry. Return: false if none was left. */
bool verve_timer_take_retry(struct verve_requester *req);
bool verve_timer_take_rnr_retry(struct verve_requester *req);
/* A duplicate response has arrived: the original was late, not lost. */
void verve_timer_dup_response(struct verve_requester *req);
/* Stop the timer. The NIC that now sends has a timer of its own. */
void verve_timer_forget(struct verve_requester *req);
/* End a round: start the timer if packets are outstanding. */
void verve_timer_round_end(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Stop sending for the time of an RNR NAK's timer code. */
void verve_timer_rnr_nak(struct verve_qp *qp, u8 code)
	__must_hold(&qp->lock);
/*
 * Poll for receives that a user posts to a QP in error, because they ring no
 * doorbell.
 */
void verve_timer_qp_error(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Start the timer that limits how long packets wait for their turn. */
void verve_timer_ooo(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Handle VERVE_EV_TIMER. */
void verve_timer_expired(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* datagram.c: UD and GSI */

/* Send a datagram. Return: false if it must wait. */
bool verve_datagram_send(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock);
void verve_datagram_receive(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock);

/* stall.c: absent memory */

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
/* Context: process. Return: 0 or -ENOMEM. */
int verve_stall_init(struct verve_qp *qp);
/*
 * The QP is being destroyed: its fault must not report any more. Process context.
 */
void verve_stall_detach(struct verve_qp *qp);
/* Free the fault after the engine has stopped. Process context. */
void verve_stall_free(struct verve_qp *qp);

/**
 * verve_stall_begin() - stall a part of the engine on absent memory
 * @qp: QP
 * @it: iterator for which verve_iter_next() has returned -EAGAIN
 * @part: part that stops until VERVE_EV_FAULT
 *
 * Return: -EAGAIN, or -EACCES if the memory cannot be faulted in.
 */
int verve_stall_begin(struct verve_qp *qp, const struct verve_iter *it,
		      enum verve_stall_part part)
	__must_hold(&qp->lock);
/* Stall on @len bytes from @va of @mr, which the caller holds. */
int verve_stall_begin_at(struct verve_qp *qp, const struct verve_mr *mr, u64 va,
			 u32 len, int access, enum verve_stall_part part)
	__must_hold(&qp->lock);
/* Handle VERVE_EV_FAULT: the fault has ended, and all parts may try again. */
void verve_stall_end(struct verve_qp *qp)
	__must_hold(&qp->lock);
bool verve_stall_is_on(const struct verve_qp *qp, enum verve_stall_part part)
	__must_hold(&qp->lock);

/* Append an arrival to those held, or drop it when there are too many. */
void verve_stall_hold(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock);
/* Return: held arrivals that the engine may process now, oldest first. */
struct llist_node *verve_stall_release(struct verve_qp *qp)
	__must_hold(&qp->lock);
#else
static inline int verve_stall_init(struct verve_qp *qp)
{
	return 0;
}

static inline void verve_stall_detach(struct verve_qp *qp)
{
}

static inline void verve_stall_free(struct verve_qp *qp)
{
}

static inline int verve_stall_begin(struct verve_qp *qp,
				    const struct verve_iter *it,
				    enum verve_stall_part part)
{
	return -EACCES;
}

static inline int verve_stall_begin_at(struct verve_qp *qp,
				       const struct verve_mr *mr, u64 va,
				       u32 len, int access,
				       enum verve_stall_part part)
{
	return -EACCES;
}

static inline void verve_stall_end(struct verve_qp *qp)
{
}

static inline bool verve_stall_is_on(const struct verve_qp *qp,
				     enum verve_stall_part part)
{
	return false;
}

static inline void verve_stall_hold(struct verve_qp *qp,
				    struct verve_arrival *arrival)
{
}

static inline struct llist_node *verve_stall_release(struct verve_qp *qp)
{
	return NULL;
}
#endif

/* pair.c: two engines run as one */

/**
 * verve_pair_join() - own the peer's engine as well, if there is a peer
 * @qp: QP
 * @patient: wait for the peer's lock where the lock order allows it
 *
 * Context: BH off.
 * Return: true if the engine can run: qp->pair.peer is owned, or NULL. false if
 * the caller must release the lock and call verve_pair_wake(); the work item of
 * the engine will be queued.
 */
bool verve_pair_join(struct verve_qp *qp, bool patient)
	__must_hold(&qp->lock);

/* Release the peer's engine. Return: peer with its reference, or NULL. */
struct verve_qp *verve_pair_part(struct verve_qp *qp)
	__must_hold(&qp->lock);

/*
 * Queue the work of QPs that failed to get the lock of @qp. Called without the
 * lock.
 */
void verve_pair_wake(struct verve_qp *qp);

/**
 * verve_pair_begin() - begin a round
 * @qp: QP
 * @train: train of the peer, if any; must stay valid for the round
 * @loop: loopback state; must stay valid for the round
 */
void verve_pair_begin(struct verve_qp *qp, struct verve_train *train,
		      struct verve_loop *loop)
	__must_hold(&qp->lock);

/**
 * verve_pair_settle() - let the peer answer the packets that it was sent
 * @qp: QP
 *
 * Return: true if answers came, so that more packets may be sent.
 */
bool verve_pair_settle(struct verve_qp *qp)
	__must_hold(&qp->lock);

/*
 * End a round. If responses were handed to the peer, it gets a round of its own, because
 * its requester did not run.
 */
void verve_pair_end(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* After a page fault, have packets repeated that were lost for lack of memory. */
void verve_pair_resume(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Is the peer in the middle of a send to @qp? Only ACKs may go out meanwhile. */
bool verve_pair_is_sent_to(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Does the peer wait for memory before it can answer? */
bool verve_pair_is_stalled(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* engine.c */

/**
 * verve_engine_lock() - become the owner, after a wait for the present one
 * @qp: QP
 *
 * For verbs that change or read a QP. The work of the present owner is bounded.
 *
 * Context: process. BH is off until verve_engine_unlock().
 */
void verve_engine_lock(struct verve_qp *qp)
	__acquires(&qp->lock);
/* Process new arrivals and events, raise notices, and release the engine. */
void verve_engine_unlock(struct verve_qp *qp)
	__releases(&qp->lock);
/* Release the engine. The work item processes new arrivals, events and notices. */
void verve_engine_release(struct verve_qp *qp)
	__releases(&qp->lock);
/* Raise an asynchronous event after the lock is dropped. */
void verve_engine_event(struct verve_qp *qp, enum ib_event_type event)
	__must_hold(&qp->lock);
/* Set the state of the QP. The caller does the rest of the transition. */
void verve_engine_state(struct verve_qp *qp, enum ib_qp_state state)
	__must_hold(&qp->lock);
/* Move the QP to the error state, and flush both queues. */
void verve_engine_error(struct verve_qp *qp)
	__must_hold(&qp->lock);
/*
 * Move the QP to the error state, or leave it there, and flush each queue with the budget
 * of a round. Return: true if one of these budgets was used up.
 */
bool verve_engine_flush(struct verve_qp *qp)
	__must_hold(&qp->lock);
/*
 * A CQ overrun has lost a completion. The next round moves the QP to the error
 * state, because this round may be in the middle of a request (11.6.3.1).
 */
void verve_engine_overrun(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Set an event, and leave the round to the work item. Any context, under any lock. */
void verve_engine_defer(struct verve_qp *qp, enum verve_qp_event event);
/* Request another round, because the budget is used up. */
void verve_engine_again(struct verve_qp *qp);
/* Queue the work item if work or callers remain. Called without the lock. */
void verve_engine_nudge(struct verve_qp *qp);
/* The QP is being destroyed. Stop sends, receives and timers. */
void verve_engine_kill(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Wait until the engine of a killed QP has stopped, after the last reference. */
void verve_engine_stop(struct verve_qp *qp);
void verve_engine_setup(struct verve_qp *qp);

#endif
