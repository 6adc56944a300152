/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: QPs that are offloaded to a NIC
 *
 * A NIC may run a whole QP (rdma/verve_offload_rc.h). While it has one, the engine
 * neither sends nor executes: it hands requests to the NIC, which is where their PSNs
 * are given, and makes completions of what the NIC reports. So queues, completions
 * and events are the same whoever has the QP.
 *
 * A QP is offloaded at the end of a round, by a work item, wherever both sides are:
 * what is outstanding is posted to the NIC, which sends it again. It must be in
 * state RTS, and have nothing that only software can finish: responses to be sent,
 * packets that came out of order, page faults, local requests, congestion.
 *
 * It comes back by a work item when the engine meets something that is not
 * offloaded, or the NIC does; at once, for verbs that change it, when the NIC goes,
 * and when the next hop has another address; and then it goes on as after a loss.
 * For a while it stays: longer each time that it came back by itself, and until the
 * peer has answered, so that one that never does is found out.
 */
#ifndef VERVE_OFFLOAD_RC_RC_H
#define VERVE_OFFLOAD_RC_RC_H

#include <linux/types.h>
#include <linux/workqueue.h>
#include "../../transport/qp.h"

struct verve_rc_events;
struct verve_offload_rc_terms;

/**
 * struct verve_rc_offload - of a QP that may be offloaded
 * @qp: QP
 * @work: offloads it, or takes it back
 * @return_asked: bit 0: it is to come back; any context
 * @acked: oldest PSN that is not acknowledged, as the NIC tells
 * @events: allocated when it is first offloaded
 * @terms: as the NIC was told; while it is offloaded
 * @barred: verve_rc_offload_forbid() without verve_rc_offload_permit()
 * @may_post: the NIC has begun
 * @not_before: jiffies: not to be offloaded before
 * @since: jiffies: when it was offloaded
 * @backoff: ms that it stays when it comes back by itself
 * @return_una: oldest PSN that was not acknowledged when it came back
 *
 * From @terms on under the QP's lock.
 */
struct verve_rc_offload {
	struct verve_qp *qp;
	struct work_struct work;
	unsigned long return_asked;
	u32 acked;
	struct verve_rc_events *events;
	struct verve_offload_rc_terms *terms;
	unsigned int barred;
	bool may_post;
	unsigned long not_before;
	unsigned long since;
	unsigned int backoff;
	u32 return_una;
};

/* What the registry asks of a QP that may be offloaded */
extern const struct verve_offload_rc_user verve_rc_offload_user;

/* The QP may be offloaded from now on. Process. Return: NULL without memory. */
struct verve_rc_offload *verve_rc_offload_alloc(struct verve_qp *qp);
/* The QP will be destroyed: it is back, and is not offloaded any more. Process. */
void verve_rc_offload_end(struct verve_qp *qp);
/* After that, and when the engine has been stopped */
void verve_rc_offload_free(struct verve_rc_offload *rc);

/**
 * verve_rc_offload_forbid() - the QP is in software when this returns, and stays there
 * @qp: QP
 * Context: process.
 */
void verve_rc_offload_forbid(struct verve_qp *qp);
/* It need not any more. */
void verve_rc_offload_permit(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* End of a round of the engine: a NIC may have the QP from here. */
void verve_rc_offload_round_end(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* run.c: meanwhile */

/* It is to come back. Any context. */
void verve_rc_offload_ask_return(struct verve_rc_offload *rc);
/* May a NIC have a QP that has sent this request, or is about to? */
bool verve_rc_offload_supports(const struct verve_qp *qp,
			       const struct verve_swqe *wqe)
	__must_hold(&qp->lock);
/*
 * What the NIC has told, to completions, and to what must be remembered: @una is how
 * far requests are acknowledged.
 */
void verve_rc_offload_settle(struct verve_qp *qp, u32 una)
	__must_hold(&qp->lock);
/**
 * verve_rc_offload_round() - a round of the engine while the QP is offloaded:
 * post, and complete
 * @qp: QP
 * @strayed: packets of the peer's have come here. When that goes on, they do not
 *	reach the NIC, and the QP has to come back
 */
void verve_rc_offload_round(struct verve_qp *qp, bool strayed)
	__must_hold(&qp->lock);

#endif
