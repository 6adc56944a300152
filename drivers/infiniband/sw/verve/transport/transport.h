/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of a QP's engine offer each other. All of it runs by the
 * owner: with qp->lock held and BH off.
 */
#ifndef VERVE_TRANSPORT_H
#define VERVE_TRANSPORT_H

#include "../path/train.h"
#include "../trace.h"
#include "engine.h"
#include "../wire/psn.h"
#include "qp.h"
#include "verdict.h"

/* A packet that came for @qp is thrown away: @reason is a rx_drop_* counter. */
#define verve_qp_drop(qp, reason) do {					\
	verve_count(qp, reason, 1);					\
	trace_verve_drop((qp)->dev, (qp)->qpn, VERVE_CNT_##reason);	\
} while (0)

/* requester.c: from send requests to bursts */

/* Fetch the user's next request, if there is one. */
bool verve_requester_fetch(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* The request at sq.next, fetched if need be, or NULL. */
struct verve_swqe *verve_requester_next(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* That request takes its PSNs, from req.psn on. */
void verve_requester_start(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock);
/* Send, or flush, what may be, within the budget. */
void verve_requester_run(struct verve_qp *qp)
	__must_hold(&qp->lock);
/**
 * verve_requester_ask() - have an ACK asked for
 * @qp: owned
 *
 * The oldest packet outstanding is sent once more, by the next
 * verve_requester_run(). All that the peer has it acknowledges then.
 *
 * Return: false when there is no need: an answer was asked for, or nothing is
 * outstanding; or when more of a message follows, which will ask.
 */
bool verve_requester_ask(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* local.c: requests that end here */

/**
 * verve_local_run() - execute the request at sq.next, which is a local one
 * @qp: QP
 * @wqe: that request
 *
 * REG_MR and BIND_MW are executed in the order of the queue, so that what
 * follows can use the key; LOCAL_INV when everything before it is done
 * (10.8.3.2). They complete in order, as all do.
 *
 * Return: false when nothing more can be done now.
 */
bool verve_local_run(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock);

/* completer.c: from responses to completions */

/* Take in an ACK, READ response or atomic response. Return: true: it is kept. */
bool verve_completer_receive(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock);
/* The oldest request has done, or failed. */
void verve_completer_retire(struct verve_qp *qp, enum ib_wc_status status)
	__must_hold(&qp->lock);
/* The oldest request fails, and with it the QP. */
void verve_completer_fail(struct verve_qp *qp, enum ib_wc_status status)
	__must_hold(&qp->lock);
/*
 * Every request, in order, with IB_WC_WR_FLUSH_ERR; within the budget. What is left
 * is done by the next rounds, as long as the QP's state is one in which it must be.
 */
void verve_completer_flush(struct verve_qp *qp)
	__must_hold(&qp->lock);
/*
 * The QP leaves SQE: what has been posted up to now is flushed all the same, before
 * anything is sent (10.3.1).
 */
void verve_completer_doom(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Flush those, within the budget. Return: whether none is left. */
bool verve_completer_flush_doomed(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* The retransmission timer has run out with packets outstanding. */
void verve_completer_timeout(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* A NIC that has the QP tells: everything before @psn has arrived, or come. */
void verve_completer_acknowledged(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock);
/**
 * verve_completer_resume() - go on where a NIC has stopped
 * @qp: QP that was offloaded; what it has acknowledged has been told
 * @psn: one beyond the newest PSN that was ever sent
 *
 * What is outstanding may have been lost.
 */
void verve_completer_resume(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock);
/* An ACK of the peer's came to that NIC, and still has to be taken in. */
void verve_completer_ack(struct verve_qp *qp, u32 psn, u8 syndrome)
	__must_hold(&qp->lock);

/* responder.c: requests of the peer */

/* Return: true: it is kept until its turn. */
bool verve_responder_receive(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock);
/**
 * verve_responder_rnr() - a packet, while what came before waits for a page
 * @qp: QP; VERVE_STALL_ARRIVALS
 * @arrival: packet
 *
 * A request that comes again tells that the peer has waited long. Were it not
 * answered, the peer would give up; an RNR NAK has him wait on (IBTA 9.7.5.2.8).
 * The first copy stays, and is executed when the page is there.
 *
 * Return: true when it has been answered so; false: it is new, and to be held.
 */
bool verve_responder_rnr(struct verve_qp *qp,
			 const struct verve_arrival *arrival)
	__must_hold(&qp->lock);
/* The first PSN that is expected, cut to 24 bits. */
void verve_responder_set_psn(struct verve_responder *resp, u32 psn);
/* A NIC that had the QP has got so far. */
void verve_responder_resume(struct verve_responder *resp, u32 epsn, u32 msn,
			    const struct verve_message *message);
/* The QP is reset: nothing has been received, and memory is freed. */
void verve_responder_reset(struct verve_responder *resp);
/* End of the engine's round: acknowledge, and hold no memory region on. */
void verve_responder_round_end(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Every receive of its own, with IB_WC_WR_FLUSH_ERR; as verve_completer_flush(). */
void verve_responder_flush(struct verve_qp *qp)
	__must_hold(&qp->lock);

/**
 * verve_responder_take_recv() - the next receive of the QP or its SRQ
 * @qp: QP
 *
 * Return: as verve_rq_fetch(); qp->resp.recv is filled.
 */
int verve_responder_take_recv(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Another holder takes the current receive. Return: false: there is none. */
bool verve_responder_lend_recv(struct verve_responder *resp,
			       struct verve_recv *recv);
/* It returns @recv, which has not completed. */
void verve_responder_return_recv(struct verve_responder *resp,
				 const struct verve_recv *recv);
/* The current receive will not complete: its queue is reset. */
void verve_responder_forget_recv(struct verve_responder *resp);
/* Complete the current receive; @wc has all but wr_id and qp. */
void verve_responder_complete(struct verve_qp *qp, struct ib_wc *wc,
			      bool solicited)
	__must_hold(&qp->lock);
/* Complete a receive that is not the current one; @wc has all but qp. */
void verve_responder_deliver(struct verve_qp *qp, struct ib_wc *wc,
			     bool solicited)
	__must_hold(&qp->lock);
/* The current receive fails with @status. */
void verve_responder_fail_recv(struct verve_qp *qp, enum ib_wc_status status)
	__must_hold(&qp->lock);

/* message.c: SENDs and RDMA WRITEs */

/**
 * verve_message_execute() - execute one packet of a SEND or RDMA WRITE
 * @qp: RC or UC
 * @arrival: request that is expected, and that verve_verdict_request() allows
 * @flags: VERVE_OP_* of its opcode
 *
 * Return: verdict; on VERVE_REQUEST_DONE the caller takes its PSN and its MSN. On
 * VERVE_REQUEST_LATER, or of a packet that has waited for its turn, nothing of the
 * packet is left.
 */
enum verve_request_verdict
verve_message_execute(struct verve_qp *qp, const struct verve_arrival *arrival,
		      u32 flags)
	__must_hold(&qp->lock);
/* No memory region is held beyond a round of the engine. */
void verve_message_round_end(struct verve_responder *resp);
/* The message under way is given up. */
void verve_message_drop(struct verve_responder *resp);
/* A NIC has taken so much of the message. */
void verve_message_resume(struct verve_responder *resp,
			  const struct verve_message *message);

/*
 * ack.c: ACKs and NAKs. None overtakes a response that is still to be sent
 * (IBTA 9.7.5.1.2): what is due waits for the end of a round.
 */

/**
 * verve_nak_fatal() - refuse a request, and move the QP to the error state
 * @qp: QP
 * @nak: syndrome: VERVE_NAK_INV_REQ, _REM_ACC_ERR or _REM_OP_ERR
 *
 * Responses that are not sent yet go first. Until then the QP stays in its state,
 * but takes no more requests. The event that belongs to the NAK follows (9.9.3).
 */
void verve_nak_fatal(struct verve_qp *qp, u8 nak)
	__must_hold(&qp->lock);
/**
 * verve_nak_response() - refuse a READ whose memory has gone since it was taken
 * @qp: QP
 * @psn: of the response that cannot be sent
 *
 * The QP moves to the error state at once.
 */
void verve_nak_response(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock);
/* An RNR NAK of @psn, at once: the peer is to come back later. */
void verve_nak_rnr(struct verve_qp *qp, u32 psn)
	__must_hold(&qp->lock);
/* An RNR NAK of the expected PSN, at once, but one in a round. */
void verve_nak_rnr_once(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* When all responses have been sent, whatever is due goes out. */
void verve_ack_round_end(struct verve_qp *qp)
	__must_hold(&qp->lock);

/*
 * rd_atomic.c: READs, atomics, FLUSH and ATOMIC WRITE, their responses and their
 * repetition
 */

/* Room for @slots, at least 1, requests. Process context. NULL: no memory. */
struct verve_rd_atomic *verve_rd_atomic_alloc(u32 slots);
/**
 * verve_rd_atomic_resize() - have room for so many requests, or take no more
 * than so many
 * @resp: of a QP whose engine is locked
 * @res: of verve_rd_atomic_alloc(@slots), or NULL when @slots is 0
 * @slots: max_dest_rd_atomic
 *
 * What was executed stays remembered, and what is to be answered is: the peer may
 * ask for either again (11.2.5.2, SQD to SQD).
 *
 * Return: memory that is not needed, to be freed.
 */
struct verve_rd_atomic *verve_rd_atomic_resize(struct verve_responder *resp,
					       struct verve_rd_atomic *res,
					       u32 slots);
/* Nothing has ever been executed. Frees its memory. Any context. */
void verve_rd_atomic_reset(struct verve_responder *resp);
/**
 * verve_rd_atomic_execute() - execute a READ, atomic, FLUSH or ATOMIC WRITE
 * @qp: QP
 * @arrival: request that is expected, and that verve_verdict_request() allows
 *
 * Its response is sent by verve_rd_atomic_respond().
 *
 * Return: verdict; on VERVE_REQUEST_DONE the caller takes its PSNs and its MSN.
 */
enum verve_request_verdict
verve_rd_atomic_execute(struct verve_qp *qp,
			const struct verve_arrival *arrival)
	__must_hold(&qp->lock);
/* A request that may come again: as new ones are, or a READ that a NIC has executed. */
void verve_rd_atomic_remember(struct verve_responder *resp,
			      const struct verve_rd_atomic *res);
/* A request that was executed before. */
void verve_rd_atomic_repeat(struct verve_qp *qp, const struct verve_pdu *pdu)
	__must_hold(&qp->lock);
/* Is a READ with this key still to be answered? */
bool verve_rd_atomic_needs(const struct verve_responder *resp, u32 rkey);
/* No response is sent any more. */
void verve_rd_atomic_drop(struct verve_responder *resp);
/* Send responses, within the budget. */
void verve_rd_atomic_respond(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* recovery.c: packets that were lost */

/* Nothing is known to be lost. */
void verve_recovery_reset(struct verve_requester *req);
/*
 * The peer lacks the oldest packet that is outstanding, and has said so; unless that
 * is being seen to.
 */
void verve_recovery_nak(struct verve_qp *qp)
	__must_hold(&qp->lock);
/**
 * verve_recovery_responses() - responses have been lost
 * @qp: RC; the oldest outstanding PSN is of a response
 * @end: one beyond the PSN of the last that is known to be lost
 */
void verve_recovery_responses(struct verve_qp *qp, u32 end)
	__must_hold(&qp->lock);
/* Nothing has been heard, or was to be sent: one packet, and wait for its ACK. */
void verve_recovery_probe(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Have an ACK asked for, by the oldest packet outstanding, though none is lost. */
void verve_recovery_ask(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Is it being seen to that the oldest packet outstanding was lost? */
bool verve_recovery_is_begun(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Was the oldest packet outstanding so before what is recovered from was noticed? */
bool verve_recovery_covers(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Packets up to req.psn have been sent. */
void verve_recovery_sent(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* req.una has moved, by an ACK or by responses. */
void verve_recovery_acknowledged(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* An ACK has been taken in: all that the peer had from there on, it has told. */
void verve_recovery_ack(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* timer.c */

void verve_timer_init(struct verve_qp *qp);
/* All retries that the QP's attributes allow are left. */
void verve_timer_set_retries(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* The peer has answered: timeouts and RNR NAKs are counted anew. */
void verve_timer_progress(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* A retry, or an RNR retry, is used up. Return: false: there was none left. */
bool verve_timer_take_retry(struct verve_requester *req);
bool verve_timer_take_rnr_retry(struct verve_requester *req);
/* A response has come once more: what was asked for again was only late. */
void verve_timer_dup_response(struct verve_requester *req);
/* The timer is not waited for: a NIC sends, and has its own. */
void verve_timer_forget(struct verve_requester *req);
/* Packets that are outstanding at the end of a round: is their loss noticed? */
void verve_timer_round_end(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Hold back until the peer's RNR timer code has passed. */
void verve_timer_rnr_nak(struct verve_qp *qp, u8 code)
	__must_hold(&qp->lock);
/* Receives that a user posts to a dead QP have no doorbell: look for them. */
void verve_timer_qp_error(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* A packet waits for its turn: not for ever. */
void verve_timer_ooo(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* VERVE_EV_TIMER */
void verve_timer_expired(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* datagram.c: UD and GSI */

/* Return: false when it must wait. */
bool verve_datagram_send(struct verve_qp *qp, struct verve_swqe *wqe)
	__must_hold(&qp->lock);
void verve_datagram_receive(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock);

/* stall.c: memory that is absent */

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
/* Context: process. Return: 0 or -ENOMEM. */
int verve_stall_init(struct verve_qp *qp);
/* The QP goes: nothing is reported to it any more. Process. */
void verve_stall_detach(struct verve_qp *qp);
/* Nothing of its engine runs any more. Process. */
void verve_stall_free(struct verve_qp *qp);

/**
 * verve_stall_begin() - an iterator found memory absent
 * @qp: QP
 * @it: as verve_iter_next() left it when it said -EAGAIN
 * @part: what stops until VERVE_EV_FAULT
 *
 * Return: -EAGAIN, or -EACCES: this memory cannot be had.
 */
int verve_stall_begin(struct verve_qp *qp, const struct verve_iter *it,
		      enum verve_stall_part part)
	__must_hold(&qp->lock);
/* The same for @len bytes from @va of a held region, named by themselves. */
int verve_stall_begin_at(struct verve_qp *qp, const struct verve_mr *mr, u64 va,
			 u32 len, int access, enum verve_stall_part part)
	__must_hold(&qp->lock);
/* VERVE_EV_FAULT: the fault has ended, all parts may try again. */
void verve_stall_end(struct verve_qp *qp)
	__must_hold(&qp->lock);
bool verve_stall_is_on(const struct verve_qp *qp, enum verve_stall_part part)
	__must_hold(&qp->lock);

/* Keep an arrival behind those kept, or drop it when there are too many. */
void verve_stall_hold(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock);
/* Those that may be taken in now, the oldest first. */
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

/* pair.c: two engines as one */

/**
 * verve_pair_join() - own the peer's engine as well, if there is a peer
 * @qp: owned
 * @patient: wait for the peer's lock, where the order of locks allows
 *
 * Context: BH off.
 * Return: true when the engine can be run: qp->pair.peer is owned, or NULL.
 * false: the lock must be let go, and verve_pair_wake() called; somebody will
 * queue the engine's work.
 */
bool verve_pair_join(struct verve_qp *qp, bool patient)
	__must_hold(&qp->lock);

/* Let go of the peer. Return: it, with the reference, or NULL. */
struct verve_qp *verve_pair_part(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Queue the work of those who failed to get the lock of @qp. Not locked. */
void verve_pair_wake(struct verve_qp *qp);

/**
 * verve_pair_begin() - a round begins
 * @qp: owned
 * @train: of the peer, if there is one; to live as long as the round
 * @loop: likewise
 */
void verve_pair_begin(struct verve_qp *qp, struct verve_train *train,
		      struct verve_loop *loop)
	__must_hold(&qp->lock);

/**
 * verve_pair_settle() - have the peer answer what it was sent
 * @qp: owned
 * Return: true when there were answers, and more can perhaps be sent.
 */
bool verve_pair_settle(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Memory is there again: have sent once more what was lost for want of it. */
void verve_pair_resume(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Is the peer in the middle of sending what is taken in? Only ACKs may go out. */
bool verve_pair_is_sent_to(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Has the peer to wait for memory before it can answer? */
bool verve_pair_is_stalled(const struct verve_qp *qp)
	__must_hold(&qp->lock);

/* engine.c */

/**
 * verve_engine_lock() - become the owner, waiting for the present one
 * @qp: QP
 *
 * For verbs that change or read a QP. The present owner's work is bounded.
 *
 * Context: process. BH are off until verve_engine_unlock().
 */
void verve_engine_lock(struct verve_qp *qp)
	__acquires(&qp->lock);
/* Do what came in meanwhile, raise what is due, let go. */
void verve_engine_unlock(struct verve_qp *qp)
	__releases(&qp->lock);
/* Let go; what came in meanwhile, and is due, is left to the work item. */
void verve_engine_release(struct verve_qp *qp)
	__releases(&qp->lock);
/* Raise an asynchronous event once the lock is dropped. */
void verve_engine_event(struct verve_qp *qp, enum ib_event_type event)
	__must_hold(&qp->lock);
/* The QP is in this state from now on; what else that means is done apart. */
void verve_engine_state(struct verve_qp *qp, enum ib_qp_state state)
	__must_hold(&qp->lock);
/* To the error state: flush both queues. */
void verve_engine_error(struct verve_qp *qp)
	__must_hold(&qp->lock);
/*
 * A completion was lost, for its CQ was full: to the error state, which the
 * next round takes in; this one may be in the middle of anything (11.6.3.1).
 */
void verve_engine_overrun(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* There is more to do than the budget allows. */
void verve_engine_again(struct verve_qp *qp);
/* Look after whatever was left while the lock was held, and callers. Not locked. */
void verve_engine_nudge(struct verve_qp *qp);
/*
 * One arrival: to the responder, the completer, or nowhere. Return: true when
 * it has been kept, and must not be freed.
 */
bool verve_engine_dispatch(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock);
/* After one: those that came before it, and whose turn has come, or has passed */
void verve_engine_take_ooo(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Have it wait for its turn. Return: true when it does; then it is not the caller's. */
bool verve_engine_keep(struct verve_qp *qp, struct verve_ooo *ooo,
		       struct verve_arrival *arrival)
	__must_hold(&qp->lock);
/* It is being destroyed: it sends and receives no more, and starts no timer. */
void verve_engine_kill(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Wait until nothing runs; then nothing will. Killed, after the last reference. */
void verve_engine_stop(struct verve_qp *qp);
void verve_engine_setup(struct verve_qp *qp);

#endif
