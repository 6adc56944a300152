// SPDX-License-Identifier: GPL-2.0-only
/* Pairs: two engines of one machine, run as one (see pair.h) */
#include "../device.h"
#include "../path/bypass.h"
#include "../path/loop.h"
#include "dispatch.h"
#include "pair.h"
#include "transport.h"

/* A QP that is connected with one of its device has the address of both ends. */
static bool is_own(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return ipv6_addr_equal(&qp->flow.av.saddr, &qp->flow.av.daddr);
}

/* The port must be up, because a NIC would not deliver without it. */
static bool may_have_peer(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	/* A timer or the work item may run once more without a reference. */
	return !qp->dead && qp->type == IB_QPT_RC &&
	       READ_ONCE(qp->dev->port_active) &&
	       (is_own(qp) ? verve_loop_is_on() :
			     verve_bypass_is_near(qp->dev, &qp->flow));
}

/*
 * May packets to the peer be left out? A QP that is not connected back is asked for
 * nothing. The look without its lock may be wrong, and are_connected() looks again.
 */
static bool is_near(struct verve_qp *qp, const struct verve_qp *peer)
	__must_hold(&qp->lock)
{
	/* A stale value costs a round. */
	if (context_unsafe(READ_ONCE(peer->attr.dest_qp_num)) != qp->qpn)
		return false;
	if (is_own(qp))
		return peer->dev == qp->dev;
	return verve_bypass_leads(qp->dev, &qp->flow, peer->dev, qp->mtu);
}

/* Is each QP the peer of the other, with the same MTU and the reverse addresses? */
static bool are_connected(const struct verve_qp *qp,
			  const struct verve_qp *peer)
	__must_hold(&qp->lock)
	__must_hold(&peer->lock)
{
	const struct verve_av *av = &qp->flow.av, *back = &peer->flow.av;

	return !peer->dead && peer->type == IB_QPT_RC &&
	       peer->attr.dest_qp_num == qp->qpn && peer->mtu == qp->mtu &&
	       av->is_v6 == back->is_v6 &&
	       ipv6_addr_equal(&av->daddr, &back->saddr) &&
	       ipv6_addr_equal(&av->saddr, &back->daddr);
}

/* May the peer's answers be left out as well? */
static bool returns(struct verve_qp *qp, struct verve_qp *peer)
	__must_hold(&qp->lock)
	__must_hold(&peer->lock)
{
	return is_own(qp) ||
	       verve_bypass_returns(&qp->flow, peer->dev, &peer->flow, qp->dev,
				    qp->mtu);
}

/* Return: candidate for the peer, with a reference, or NULL. */
static struct verve_qp *find_peer(struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	struct verve_qp *peer;

	if (!may_have_peer(qp))
		return NULL;
	peer = verve_qp_find_any(qp->attr.dest_qp_num);
	if (!peer)
		return NULL;
	if (peer != qp && is_near(qp, peer))
		return peer;
	verve_qp_put(peer);
	return NULL;
}

/* Add the QP to the peer's callers, which the holder of the peer's lock wakes. */
static void call(struct verve_qp *qp, struct verve_qp *peer)
	__must_hold(&qp->lock)
{
	if (!test_and_set_bit(0, &qp->pair.calling)) {
		refcount_inc(&qp->ref);
		llist_add(&qp->pair.node, &peer->pair.callers);
	}
	/* Pairs with the full barrier before verve_pair_wake() */
	smp_mb();
}

/*
 * A handover overtakes packets that are still on their way, and the gap costs a retry.
 * A QP without retries waits until it has an answer to all its packets.
 */
static bool may_overtake(const struct verve_qp *qp)
	__must_hold(&qp->lock)
{
	return qp->pair.had_peer || qp->attr.retry_cnt ||
	       qp->req.una == qp->req.max_psn;
}

/* With both locks held: make the QPs a pair for the round, or release the peer. */
static void pair_up(struct verve_qp *qp, struct verve_qp *peer)
	__must_hold(&qp->lock)
	__releases(&peer->lock)
{
	if (are_connected(qp, peer) && returns(qp, peer) &&
	    may_overtake(qp) && may_overtake(peer)) {
		/* verve_pair_part() releases the lock, which sparse cannot know. */
		__release(&peer->lock);
		qp->pair.peer = peer;
		peer->pair.peer = qp;
		return;
	}
	spin_unlock(&peer->lock);
	/* Serve entries that failed to get the lock. */
	verve_engine_nudge(peer);
	verve_qp_put(peer);
}

bool verve_pair_join(struct verve_qp *qp, bool patient)
{
	struct verve_qp *peer = find_peer(qp);

	lockdep_assert_held(&qp->lock);
	if (!peer)
		return true;
	if (spin_trylock(&peer->lock)) {
		pair_up(qp, peer);
		return true;
	}
	if (patient && qp < peer) {
		spin_lock_nested(&peer->lock, SINGLE_DEPTH_NESTING);
		pair_up(qp, peer);
		return true;
	}
	call(qp, peer);
	/* The lock may have become free meanwhile. */
	if (spin_trylock(&peer->lock)) {
		pair_up(qp, peer);
		return true;
	}
	verve_qp_put(peer);
	return false;
}

struct verve_qp *verve_pair_part(struct verve_qp *qp)
{
	struct verve_qp *peer = qp->pair.peer;

	lockdep_assert_held(&qp->lock);
	if (!peer)
		return NULL;
	/* verve_pair_join() acquired the lock. */
	__acquire(&peer->lock);
	qp->pair.peer = NULL;
	peer->pair.peer = NULL;
	peer->train = NULL;
	spin_unlock(&peer->lock);
	return peer;
}

void verve_pair_wake(struct verve_qp *qp)
{
	struct llist_node *callers;
	struct verve_qp *caller, *next;

	if (likely(llist_empty(&qp->pair.callers)))
		return;
	callers = llist_del_all(&qp->pair.callers);
	llist_for_each_entry_safe(caller, next, callers, pair.node) {
		/* @node is free again. Pairs with test_and_set_bit() in call(). */
		clear_bit_unlock(0, &caller->pair.calling);
		verve_engine_again(caller);
		verve_qp_put(caller);
	}
}

void verve_pair_begin(struct verve_qp *qp, struct verve_train *train,
		      struct verve_loop *loop)
{
	struct verve_qp *peer = qp->pair.peer;

	qp->pair.had_peer = peer;
	if (!peer)
		return;
	lockdep_assert_held(&peer->lock);
	peer->pair.had_peer = true;
	*loop = (struct verve_loop) {};
	*train = (struct verve_train) {
		.dev = peer->dev,
		.qpn = peer->qpn,
		.stats = peer->stats,
		.peer = qp,
		.peer_stats = qp->stats,
		.loop = loop,
	};
	qp->train->peer = peer;
	qp->train->peer_stats = peer->stats;
	qp->train->loop = loop;
	peer->train = train;
	peer->budget = VERVE_BUDGET_PACKETS;
}

bool verve_pair_settle(struct verve_qp *qp)
{
	struct verve_qp *peer = qp->pair.peer;

	if (!peer)
		return false;
	lockdep_assert_held(&peer->lock);
	peer->train->has_responded = false;
	verve_loop_flush(peer->train);
	verve_responder_round_end(peer);
	/*
	 * A stalled request must not be repeated as often as the peer asks for
	 * it.
	 */
	return peer->train->has_responded &&
	       !verve_stall_is_on(qp, VERVE_STALL_REQUESTS);
}

void verve_pair_end(struct verve_qp *qp)
{
	struct verve_qp *peer = qp->pair.peer;

	if (!peer)
		return;
	lockdep_assert_held(&peer->lock);
	if (qp->train->has_responded)
		set_bit(VERVE_EV_CONTINUE, &peer->events);
}

static u8 lost_kind(const struct verve_arrival *arrival)
{
	return verve_opcode_flags(arrival->pdu.opcode) & VERVE_OP_RESPONSE ?
	       VERVE_LOST_RESPONSE : VERVE_LOST_REQUEST;
}

/*
 * The payload is in the sender's memory, which is valid only during this call. So
 * a packet that cannot be placed now is not kept, but requested again. Kept
 * packets are from before the two QPs became a pair.
 */
void verve_pair_receive(struct verve_qp *qp, struct verve_arrival *arrival)
	__must_hold(&qp->lock)
{
	lockdep_assert_held(&qp->lock);
	if (!verve_stall_is_on(qp, VERVE_STALL_ARRIVALS))
		verve_dispatch(qp, arrival);
	if (verve_stall_is_on(qp, VERVE_STALL_ARRIVALS))
		qp->pair.lost |= lost_kind(arrival);
	else
		verve_dispatch_ooo(qp);
}

void verve_pair_resume(struct verve_qp *qp)
{
	struct verve_qp *peer = qp->pair.peer;
	u8 lost = qp->pair.lost;

	qp->pair.lost = 0;
	/*
	 * Start with one packet, because a whole run may never fit if pages come
	 * and go.
	 */
	if (lost & VERVE_LOST_RESPONSE)
		verve_recovery_probe(qp);
	if (peer && lost & VERVE_LOST_REQUEST) {
		lockdep_assert_held(&peer->lock);
		verve_recovery_probe(peer);
		verve_engine_again(peer);
	}
}

bool verve_pair_is_sent_to(const struct verve_qp *qp)
{
	return qp->pair.peer && qp->train->loop->sending;
}

bool verve_pair_is_stalled(const struct verve_qp *qp)
{
	const struct verve_qp *peer = qp->pair.peer;

	if (!peer)
		return false;
	lockdep_assert_held(&peer->lock);
	return verve_stall_is_on(peer, VERVE_STALL_ARRIVALS) ||
	       verve_stall_is_on(peer, VERVE_STALL_RESPONSES);
}
