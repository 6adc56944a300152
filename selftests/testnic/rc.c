// SPDX-License-Identifier: GPL-2.0-only
/*
 * Offloaded QPs: start, stop, and scheduling
 *
 * QPs change only in NAPI, or under its lock: frames arrive, requests are posted, and the
 * poll sends what is due and reports. Reports have a lock of their own, since requests
 * are posted meanwhile.
 */
#include <linux/slab.h>
#include "rc.h"

enum {
	TICK_NS = 2 * 1000 * 1000,
};

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct nic *nic = container_of(timer, struct nic, tick);

	napi_schedule(&nic->napi);
	return HRTIMER_NORESTART;
}

void nic_rc_init(struct nic *nic)
{
	spin_lock_init(&nic->reporting);
	hrtimer_setup(&nic->tick, tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

static void lock(struct nic *nic)
	__acquires(&nic->reporting)
	__acquires(&nic->placing)
{
	spin_lock_bh(&nic->reporting);
	spin_lock(&nic->placing);
}

static void unlock(struct nic *nic)
	__releases(&nic->placing)
	__releases(&nic->reporting)
{
	spin_unlock(&nic->placing);
	spin_unlock_bh(&nic->reporting);
}

static int start(void *context,
		 const struct roce_offload_rc_terms *terms,
		 const struct roce_offload_rc_state *state)
{
	struct known_qp *known = context;
	struct nic *nic = known->nic;
	struct rc *rc;

	if (nic_is_to_fail(nic))
		return -EIO;
	rc = kzalloc_obj(*rc);
	if (!rc)
		return -ENOMEM;
	rc->nic = nic;
	rc->qp = known->qp;
	rc->terms = *terms;
	rc->state = *state;
	rc->posted = state->una;
	rc->next = state->una;
	rc->since = ktime_get_ns();
	rc->is_running = true;
	lock(nic);
	known->rc = rc;
	unlock(nic);
	atomic_inc(&nic->num_offloaded);
	return 0;
}

static int stop(void *context, struct roce_offload_rc_state *state)
{
	struct known_qp *known = context;
	struct nic *nic = known->nic;
	struct rc *rc;

	lock(nic);
	rc = known->rc;
	known->rc = NULL;
	unlock(nic);
	atomic_dec(&nic->num_offloaded);
	*state = rc->state;
	kfree(rc);
	return atomic_add_unless(&nic->dead, -1, 0) ? -EIO : 0;
}

static int post(void *context, const struct roce_offload_rc_wr *wr)
{
	struct known_qp *known = context;
	struct nic *nic = known->nic;
	struct rc *rc;
	int err = -EAGAIN;

	spin_lock(&nic->placing);
	rc = known->rc;
	if (rc && rc->is_running && rc->head - rc->tail < RC_WRS) {
		rc->wrs[rc->head++ % RC_WRS] = *wr;
		rc->posted = psn_add(wr->last_psn, 1);
		err = 0;
	}
	spin_unlock(&nic->placing);
	napi_schedule(&nic->napi);
	return err;
}

/* If a packet was dropped for want of a receive, the peer is told why, or repeats it. */
static void post_recv(void *context,
		      const struct roce_offload_rc_recv *recv)
{
	struct known_qp *known = context;
	struct nic *nic = known->nic;
	struct rc *rc;

	spin_lock(&nic->placing);
	rc = known->rc;
	if (rc && recv && rc->recv_head - rc->recv_tail >= nic->most_recvs)
		atomic_inc(&nic->unable);
	else if (rc && recv)
		rc->recvs[rc->recv_head++ % RC_RECVS] = *recv;
	if (rc && rc->needs_recv) {
		rc->needs_recv = false;
		rc->rnr_due = !recv;
		rc->nak_due = recv;
		rc->nak_sent = true;
	}
	spin_unlock(&nic->placing);
	napi_schedule(&nic->napi);
}

const struct roce_offload_rc_ops nic_rc_ops = {
	.start = start,
	.stop = stop,
	.post = post,
	.post_recv = post_recv,
};

void rc_ask_return(struct rc *rc)
{
	if (!rc->is_running)
		return;
	rc->is_running = false;
	atomic_inc(&rc->nic->given_back);
	roce_offload_rc_ask_return(rc->qp);
}

void nic_rc_stop(struct nic *nic)
{
	struct known_qp *known;

	lock(nic);
	list_for_each_entry(known, &nic->qps, entry) {
		if (known->rc)
			rc_ask_return(known->rc);
	}
	unlock(nic);
}

static bool goes_astray(const struct nic *nic, const struct nic_packet *p)
{
	u32 one = READ_ONCE(nic->astray);

	return one && !(p->psn % one);
}

static void take(struct rc *rc, const u8 *frame, const struct nic_packet *p)
{
	/* Congestion control is left to the transport. */
	if (p->ecn == 3 || p->opcode > RC_ACK)
		rc_ask_return(rc);
	else if (p->opcode > RC_READ)
		rc_take_response(rc, frame, p);
	else
		rc_take_request(rc, frame, p);
}

bool nic_rc_receive(struct nic *nic, const u8 *frame, unsigned int len,
		    unsigned int end)
{
	struct nic_packet p = {
		.ip = nic_find_ip(frame, len),
		.end = end,
	};
	struct known_qp *known;
	bool is_mine;

	if (!nic_read_packet(frame, &p))
		return false;
	spin_lock(&nic->placing);
	known = nic_find_qp(nic, frame, &p);
	is_mine = known && known->rc && known->rc->is_running &&
		  !goes_astray(nic, &p);
	if (is_mine)
		take(known->rc, frame, &p);
	spin_unlock(&nic->placing);
	return is_mine;
}

/* Send answers first, as the peer waits for them. Return: true if there is more. */
static bool carry_on(struct rc *rc)
{
	int budget = RC_BUDGET;

	rc_look_at_clock(rc);
	while (budget && rc->is_running &&
	       (rc_respond(rc) || rc_send_request(rc)))
		budget--;
	return !budget;
}

static bool is_waiting(const struct rc *rc)
{
	return rc->state.una != rc->state.psn || rc->head != rc->tail;
}

static void report(struct nic *nic)
{
	struct known_qp *known;

	spin_lock(&nic->reporting);
	list_for_each_entry(known, &nic->qps, entry) {
		struct rc *rc = known->rc;

		if (rc && xchg(&rc->has_news, false))
			roce_offload_rc_report(rc->qp);
	}
	spin_unlock(&nic->reporting);
}

bool nic_rc_run(struct nic *nic)
{
	bool more = false, waits = false;
	struct known_qp *known;
	u64 begun;

	if (!atomic_read(&nic->num_offloaded))
		return false;
	begun = nic_works();
	spin_lock(&nic->placing);
	list_for_each_entry(known, &nic->qps, entry) {
		struct rc *rc = known->rc;

		if (!rc || !rc->is_running)
			continue;
		more |= carry_on(rc);
		waits |= is_waiting(rc);
	}
	spin_unlock(&nic->placing);
	nic_worked(nic, begun);
	report(nic);
	if (waits && !hrtimer_active(&nic->tick))
		hrtimer_start(&nic->tick, TICK_NS, HRTIMER_MODE_REL_SOFT);
	return more;
}
