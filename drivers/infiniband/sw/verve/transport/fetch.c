// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fetching: copies a user's send requests once into the kernel, before any check.
 */
#include <linux/build_bug.h>
#include <linux/local_lock.h>
#include <linux/percpu.h>
#include <linux/stddef.h>
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

/*
 * Operands of the largest request. librxe's address vector and its own state follow,
 * more than half of the header, which the driver never reads.
 */
#define OPERANDS_END	offsetofend(struct rxe_send_wr, wr.mw)

static void copy_header(struct rxe_send_wqe *copy,
			const struct rxe_send_wqe *wqe)
{
	BUILD_BUG_ON(offsetofend(struct rxe_send_wr, wr.atomic) > OPERANDS_END);
	BUILD_BUG_ON(offsetofend(struct rxe_send_wr, wr.ud.ah_num) > OPERANDS_END);
	memcpy(&copy->wr, &wqe->wr, OPERANDS_END);
	memcpy(&copy->dma, &wqe->dma,
	       offsetof(struct rxe_dma_info, inline_data));
}

static void copy_request(struct verve_sq *sq, const struct rxe_send_wqe *wqe)
{
	struct rxe_send_wqe *copy;

	local_lock_nested_bh(&scratch.bh_lock);
	copy = (void *)this_cpu_ptr(&scratch)->wqe;
	/*
	 * Copy the header first, because only the copy tells the length of the
	 * rest.
	 */
	copy_header(copy, wqe);
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
