/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: QPs that are offloaded to a NIC
 *
 * A NIC may run a whole QP (rdma/roce_offload_rc.h). Meanwhile the engine neither sends
 * nor executes packets. It assigns PSNs to requests and hands them to the NIC, and makes
 * completions of the NIC's reports. So queues, completions and events are the same for
 * a QP in software and an offloaded one.
 *
 * The NIC is given receives in advance. The responder takes those that are not complete
 * when the QP returns before others. A QP with an SRQ stays in software, since other QPs
 * may need its receives.
 *
 * The end of a round queues a work item that offloads the QP. Requester and responder
 * may be anywhere in a message: outstanding requests are posted to the NIC, which sends
 * them again. The QP must be in state RTS and must not have anything that only software
 * can finish: responses to send, packets out of order, page faults, local requests,
 * congestion.
 *
 * A work item returns the QP to software when the engine or the NIC meets something that
 * is not offloaded. A modify and the removal of the NIC return it at once, and a new
 * address of the next hop soon after. The QP then goes on as after a loss.
 *
 * A returned QP stays in software for a time that doubles with each return that the
 * engine or the NIC asked for. It also stays until the peer has acknowledged something,
 * so that the retries for a silent peer run out.
 */
#ifndef VERVE_OFFLOAD_RC_RC_H
#define VERVE_OFFLOAD_RC_RC_H

#include <linux/types.h>
#include <linux/workqueue.h>
#include "../../transport/qp.h"

struct verve_rc_events;
struct roce_offload_rc_terms;

/**
 * struct verve_rc_offload - offload state of a QP
 * @qp: QP
 * @work: offloads the QP, or returns it
 * @return_asked: bit 0: the QP is to be returned; any context
 * @acked: oldest PSN that is not acknowledged, as reported by the NIC
 * @events: events from the NIC; allocated at the first offload
 * @terms: terms that the NIC was given; valid while the QP is offloaded
 * @barred: calls of verve_rc_offload_forbid() without verve_rc_offload_permit()
 * @may_post: the NIC has started the QP
 * @not_before: earliest time of the next offload in jiffies
 * @since: time of the last offload in jiffies
 * @backoff: ms in software after the next return that is asked for
 * @return_una: oldest PSN that was not acknowledged at the last return
 *
 * The QP's lock protects @events and all that follows.
 */
struct verve_rc_offload {
	struct verve_qp *qp;
	struct work_struct work;
	unsigned long return_asked;
	u32 acked;
	struct verve_rc_events *events;
	struct roce_offload_rc_terms *terms;
	unsigned int barred;
	bool may_post;
	unsigned long not_before;
	unsigned long since;
	unsigned int backoff;
	u32 return_una;
};

/* Functions of the transport that the registry calls for a QP that may be offloaded */
extern const struct roce_offload_rc_user verve_rc_offload_user;

/* Allow offload of a QP from now on. Process context. Return: NULL without memory. */
struct verve_rc_offload *verve_rc_offload_alloc(struct verve_qp *qp);
/* Return the QP before it is destroyed, and bar it from offload. Process context. */
void verve_rc_offload_end(struct verve_qp *qp);
/* Free @rc, after verve_rc_offload_end() and when the engine is stopped. */
void verve_rc_offload_free(struct verve_rc_offload *rc);

/**
 * verve_rc_offload_forbid() - return a QP to software and keep it there
 * @qp: QP
 *
 * The QP is in software when this returns, until verve_rc_offload_permit().
 *
 * Context: process.
 */
void verve_rc_offload_forbid(struct verve_qp *qp);
/* Undo one verve_rc_offload_forbid(). */
void verve_rc_offload_permit(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Take the oldest receive that a NIC has given back. Return: false if there is none. */
bool verve_rc_offload_take_held(struct verve_qp *qp, struct verve_recv *recv)
	__must_hold(&qp->lock);
/* Forget the receives that a NIC has given back, because the QP is reset. */
void verve_rc_offload_reset(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* Could a NIC run the QP now, as soon as no NIC places for it? */
bool verve_rc_offload_is_due(const struct verve_qp *qp)
	__must_hold(&qp->lock);
/* Queue the offload of a QP at the end of a round, if a NIC may run it. */
void verve_rc_offload_round_end(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* run.c: the engine of an offloaded QP */

/* Queue the return of a QP. Any context. */
void verve_rc_offload_ask_return(struct verve_rc_offload *rc);
/* Can a NIC execute a request, which has been sent or is next? */
bool verve_rc_offload_supports(const struct verve_qp *qp,
			       const struct verve_swqe *wqe)
	__must_hold(&qp->lock);
/*
 * Complete requests up to @una, which the peer has acknowledged, and process the events
 * of the NIC: complete receives, and remember READs of the peer.
 */
void verve_rc_offload_settle(struct verve_qp *qp, u32 una)
	__must_hold(&qp->lock);
/**
 * verve_rc_offload_round() - run a round of the engine while the QP is offloaded
 * @qp: QP
 * @strayed: packets of the peer have reached software instead of the NIC. The QP is
 *	returned if they still do some time after the offload
 *
 * Posts requests to the NIC, and completes those that it has finished.
 */
void verve_rc_offload_round(struct verve_qp *qp, bool strayed)
	__must_hold(&qp->lock);

#endif
