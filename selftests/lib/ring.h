/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Send requests without a call in the installed libibverbs. The test writes them into
 * the ring that the rxe provider shares with the kernel.
 *
 *	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
 *
 *	ibv_wr_start(qpx);
 *	qpx->wr_id = ...;			unique
 *	ibv_wr_rdma_write(qpx, rkey, addr);	takes a slot of the ring
 *	wqe = ring_request(qpx->wr_id);		may be changed now
 *	ibv_wr_complete(qpx);
 */
#ifndef SELFTESTS_RING_H
#define SELFTESTS_RING_H

#include <stdint.h>
#include <infiniband/verbs.h>

/* Offsets of the fields of a send request (rdma_user_rxe.h) */
enum {
	WQE_WR_ID	= 0,
	WQE_OPCODE	= 12,
	WQE_FLAGS	= 16,
	WQE_ADDR	= 24,
	WQE_UD_QPN	= 24,
	WQE_RDMA_RKEY	= 32,
	WQE_FLUSH_RKEY	= 36,
	WQE_UD_AH	= 36,
	WQE_FLUSH_TYPE	= 40,
	WQE_FLUSH_LEVEL	= 41,
	WQE_IOVA	= 152,
	WQE_LENGTH	= 184,
	WQE_RESID	= 188,
	WQE_NUM_SGE	= 196,
	WQE_PAYLOAD	= 208,
};

/*
 * Find the request with that wr_id between ibv_wr_start() and ibv_wr_complete(). Exits
 * when there is none.
 */
uint8_t *ring_request(uint64_t wr_id);

/* struct rxe_queue_buf: the head of each ring */
enum {
	RING_LOG2_SIZE	= 0,
	RING_MASK	= 4,
	RING_PRODUCER	= 128,
	RING_CONSUMER	= 256,
	RING_DATA	= 384,
};

struct ring {
	uint8_t *at;
	size_t size;
};

/* List rings that the process shares with the kernel. Return: number, up to @most. */
int ring_list(struct ring *rings, int most);

#endif
