// SPDX-License-Identifier: GPL-2.0-only
/* Stalls on absent memory (see stall.h) */
#include <linux/atomic.h>
#include <linux/slab.h>
#include "../memory/odp.h"
#include "share.h"
#include "stall.h"
#include "transport.h"

enum {
	/* Bytes faulted in at a time, if the message needs as many */
	FAULT_BYTES = 64 * PAGE_SIZE,
};

/**
 * struct verve_fault - a page fault for a QP
 * @job: job that faults the pages in
 * @ref: 1 for the QP, 1 while the fault is under way
 * @lock: protects @qp; BH off
 * @qp: QP to be kicked; NULL after the QP's destroy has begun
 * @odp: region with the absent memory, referenced while the fault is under way
 * @addr: user address
 * @len: bytes needed from @addr; success requires only the first one
 * @access: IB_ACCESS_LOCAL_WRITE or 0
 * @key: key of the region
 * @va: address in the region
 * @failed: the last fault has failed
 */
struct verve_fault {
	struct verve_job job;
	refcount_t ref;
	spinlock_t lock; /* protects qp */
	struct verve_qp *qp __guarded_by(&lock);
	struct verve_odp *odp;
	unsigned long addr;
	u32 len;
	int access;
	u32 key;
	u64 va;
	bool failed;
};

/* Held arrivals of all QPs, beyond the reserve of each QP */
static atomic_t held_total;

static void put_fault(struct verve_fault *fault)
{
	if (refcount_dec_and_test(&fault->ref))
		kfree(fault);
}

/* Return: the QP with a reference, or NULL. */
static struct verve_qp *get_qp(struct verve_fault *fault)
{
	struct verve_qp *qp;

	spin_lock_bh(&fault->lock);
	qp = fault->qp;
	if (qp)
		refcount_inc(&qp->ref);
	spin_unlock_bh(&fault->lock);
	return qp;
}

/*
 * The engine checks the pages itself, because they may be reclaimed before it
 * runs.
 */
static void fault_in(struct verve_job *job)
{
	struct verve_fault *fault = container_of(job, struct verve_fault, job);
	struct verve_qp *qp;
	ssize_t got;

	got = verve_odp_fault(fault->odp, fault->addr, fault->len,
			      fault->access, false);
	fault->failed = got < 0 && got != -EAGAIN;
	verve_odp_put(fault->odp);
	qp = get_qp(fault);
	if (qp) {
		verve_engine_kick(qp, VERVE_EV_FAULT);
		verve_qp_put(qp);
	}
	put_fault(fault);
}

int verve_stall_init(struct verve_qp *qp)
{
	struct verve_stall *stall = &qp->stall;
	struct verve_fault *fault;

	stall->held_end = &stall->held;
	fault = kzalloc_obj(*fault, GFP_KERNEL_ACCOUNT);
	if (!fault)
		return -ENOMEM;
	verve_job_init(&fault->job, fault_in);
	refcount_set(&fault->ref, 1);
	spin_lock_init(&fault->lock);
	/* The fault is not visible to other CPUs yet. */
	context_unsafe(fault->qp = qp);
	stall->fault = fault;
	return 0;
}

void verve_stall_detach(struct verve_qp *qp)
{
	/* The pointer is constant. */
	struct verve_fault *fault = context_unsafe(qp->stall.fault);

	if (!fault)
		return;
	spin_lock_bh(&fault->lock);
	fault->qp = NULL;
	spin_unlock_bh(&fault->lock);
}

void verve_stall_free(struct verve_qp *qp)
	__context_unsafe(/* the fault is not visible to other CPUs any more */)
{
	if (qp->stall.fault)
		put_fault(qp->stall.fault);
}

/* The QP owns the fault while the fault is not under way. */
static void start_fault(struct verve_qp *qp, const struct verve_mr *mr, u64 va,
			u32 len, int access)
	__must_hold(&qp->lock)
{
	struct verve_fault *fault = qp->stall.fault;

	fault->odp = verve_odp_get(mr);
	fault->addr = mr->start + (va - mr->iova);
	fault->len = min_t(u32, len, FAULT_BYTES);
	fault->access = access;
	fault->key = mr->key;
	fault->va = va;
	refcount_inc(&fault->ref);
	qp->stall.under_way = true;
	verve_odp_queue(fault->odp, &fault->job);
}

int verve_stall_begin_at(struct verve_qp *qp, const struct verve_mr *mr, u64 va,
			 u32 len, int access, enum verve_stall_part part)
{
	struct verve_stall *stall = &qp->stall;

	lockdep_assert_held(&qp->lock);
	if (stall->refused && stall->key == mr->key && stall->va == va) {
		stall->refused = false;
		return -EACCES;
	}
	stall->parts |= part;
	if (!stall->under_way)
		start_fault(qp, mr, va, len, access);
	return -EAGAIN;
}

int verve_stall_begin(struct verve_qp *qp, const struct verve_iter *it,
		      enum verve_stall_part part)
{
	return verve_stall_begin_at(qp, it->mr, it->addr, it->left, it->access,
				    part);
}

void verve_stall_end(struct verve_qp *qp)
{
	struct verve_stall *stall = &qp->stall;
	const struct verve_fault *fault = stall->fault;
	bool is_awaited = stall->parts;

	lockdep_assert_held(&qp->lock);
	stall->under_way = false;
	stall->parts = 0;
	if (!fault->failed || !is_awaited)
		return;
	stall->refused = true;
	stall->key = fault->key;
	stall->va = fault->va;
}

bool verve_stall_is_on(const struct verve_qp *qp, enum verve_stall_part part)
{
	return qp->stall.parts & part;
}

static bool have_room(const struct verve_stall *stall)
{
	if (stall->num_held < VERVE_MIN_HELD)
		return true;
	return stall->num_held != VERVE_MAX_HELD &&
	       verve_share_take(&held_total, VERVE_MAX_HELD_TOTAL,
				stall->num_held - VERVE_MIN_HELD);
}

void verve_stall_hold(struct verve_qp *qp, struct verve_arrival *arrival)
{
	struct verve_stall *stall = &qp->stall;

	lockdep_assert_held(&qp->lock);
	if (!have_room(stall)) {
		verve_count(qp, rx_drop_stalled, 1);
		verve_arrival_free(arrival);
		return;
	}
	arrival->node.next = NULL;
	*stall->held_end = &arrival->node;
	stall->held_end = &arrival->node.next;
	stall->num_held++;
}

struct llist_node *verve_stall_release(struct verve_qp *qp)
{
	struct verve_stall *stall = &qp->stall;
	struct llist_node *held = stall->held;

	lockdep_assert_held(&qp->lock);
	/* A QP in RESET or ERR cancels its stalls. */
	if (qp->state == IB_QPS_RESET || qp->state == IB_QPS_ERR) {
		stall->parts = 0;
		stall->refused = false;
	}
	if (stall->parts & VERVE_STALL_ARRIVALS)
		return NULL;
	if (stall->num_held > VERVE_MIN_HELD)
		atomic_sub(stall->num_held - VERVE_MIN_HELD, &held_total);
	stall->held = NULL;
	stall->held_end = &stall->held;
	stall->num_held = 0;
	stall->due_held = false;
	return held;
}
