/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: QPs that are lent to a NIC
 *
 * A NIC may run a whole QP (rdma/verve_offload_rc.h). While it has one, the engine
 * neither sends nor executes: it hands requests to the NIC, which is where their PSNs
 * are given, and makes completions of what the NIC reports. So queues, completions
 * and events are the same whoever has the QP.
 *
 * A QP is lent at the end of a round, by a work item, wherever both sides are:
 * what is outstanding is posted to the NIC, which sends it again. It must be in
 * state RTS, and have nothing that only software can finish: responses to be sent,
 * packets that came out of order, page faults, local requests, congestion.
 *
 * It comes back by a work item when the engine meets something that is not
 * carried, or the NIC does; at once, for verbs that change it, when the NIC goes,
 * and when the next hop has another address; and then it goes on as after a loss.
 * For a while it stays: longer each time that it came back by itself, and until the
 * peer has answered, so that one that never does is found out.
 */
#ifndef VERVE_OFFLOAD_RC_RC_H
#define VERVE_OFFLOAD_RC_RC_H

#include <linux/types.h>
#include <linux/workqueue.h>
#include "../../transport/qp.h"

struct verve_book;
struct verve_offload_rc_terms;

/**
 * struct verve_loan - of a QP that may be lent
 * @qp: QP
 * @work: lends it, or takes it back
 * @asked: bit 0: it is to come back; any context
 * @acked: oldest PSN that is not acknowledged, as the NIC tells
 * @book: allocated when it is first lent
 * @terms: as the NIC was told; while it is lent
 * @barred: verve_loan_forbid() without verve_loan_permit()
 * @may_post: the NIC has begun
 * @next: jiffies: not to be lent before
 * @since: jiffies: when it was lent
 * @stay: ms that it stays when it comes back by itself
 * @home_una: oldest PSN that was not acknowledged when it came back
 *
 * From @terms on under the QP's lock.
 */
struct verve_loan {
	struct verve_qp *qp;
	struct work_struct work;
	unsigned long asked;
	u32 acked;
	struct verve_book *book;
	struct verve_offload_rc_terms *terms;
	unsigned int barred;
	bool may_post;
	unsigned long next;
	unsigned long since;
	unsigned int stay;
	u32 home_una;
};

/* What the registry asks of a QP that may be lent */
extern const struct verve_offload_rc_user verve_loan_user;

/* The QP may be lent from now on. Process. Return: NULL without memory. */
struct verve_loan *verve_loan_alloc(struct verve_qp *qp);
/* The QP will be destroyed: it is back, and is not lent any more. Process. */
void verve_loan_end(struct verve_qp *qp);
/* After that, and when the engine has been stopped */
void verve_loan_free(struct verve_loan *loan);

/**
 * verve_loan_forbid() - the QP is in software when this returns, and stays there
 * @qp: QP
 * Context: process.
 */
void verve_loan_forbid(struct verve_qp *qp);
/* It need not any more. */
void verve_loan_permit(struct verve_qp *qp)
	__must_hold(&qp->lock);

/* End of a round of the engine: a NIC may have the QP from here. */
void verve_loan_round_end(struct verve_qp *qp)
	__must_hold(&qp->lock);
/* run.c: meanwhile */

/* It is to come back. Any context. */
void verve_loan_ask_back(struct verve_loan *loan);
/* May a NIC have a QP that has sent this request, or is about to? */
bool verve_loan_carries(const struct verve_qp *qp,
			const struct verve_swqe *wqe)
	__must_hold(&qp->lock);
/*
 * What the NIC has told, to completions, and to what must be remembered: @una is how
 * far requests are acknowledged.
 */
void verve_loan_settle(struct verve_qp *qp, u32 una)
	__must_hold(&qp->lock);
/**
 * verve_loan_run() - a round of the engine while the QP is lent: post, and complete
 * @qp: QP
 * @strayed: packets of the peer's have come here. When that goes on, they do not
 *	reach the NIC, and the QP has to come back
 */
void verve_loan_run(struct verve_qp *qp, bool strayed)
	__must_hold(&qp->lock);

#endif
