// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fetching: copies a user's send requests once into the kernel, before any check.
 */
#include <linux/local_lock.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include "transport.h"

/*
 * Copy of a user's request, taken before any check. Used with BH off and under
 * bh_lock, because on PREEMPT_RT BH off does not keep other tasks from the CPU.
 */
struct scratch {
	local_lock_t bh_lock;
	u8 wqe[sizeof(struct rxe_send_wqe) + VERVE_MAX_INLINE] __aligned(8);
};

static DEFINE_PER_CPU(struct scratch, scratch) = {
	.bh_lock = INIT_LOCAL_LOCK(bh_lock),
};

static void copy_request(struct verve_sq *sq, const struct rxe_send_wqe *wqe)
{
	struct rxe_send_wqe *copy;

	local_lock_nested_bh(&scratch.bh_lock);
	copy = (void *)this_cpu_ptr(&scratch)->wqe;
	/*
	 * Copy the header first, because only the copy tells the length of the
	 * rest.
	 */
	memcpy(copy, wqe, sizeof(*wqe));
	memcpy(copy->dma.inline_data, wqe->dma.inline_data,
	       verve_wqe_tail(&sq->limits, copy));
	verve_wqe_from_user(&sq->limits, copy, verve_sq_at(sq, sq->head));
	local_unlock_nested_bh(&scratch.bh_lock);
}

bool verve_requester_fetch(struct verve_qp *qp)
{
	struct verve_sq *sq = &qp->sq;
	u32 have = sq->head - sq->tail;

	if (!qp->is_user || have >= sq->max_wr ||
	    verve_ring_pending(&sq->ring) <= have)
		return false;
	copy_request(sq, verve_ring_slot(&sq->ring, have));
	/* Store the copy before its index: see verve_sq_head() */
	smp_store_release(&sq->head, sq->head + 1);
	return true;
}

struct verve_swqe *verve_requester_next(struct verve_qp *qp)
{
	struct verve_sq *sq = &qp->sq;

	if (sq->next == verve_sq_head(sq) &&
	    !verve_requester_fetch(qp))
		return NULL;
	return verve_sq_at(sq, sq->next);
}
