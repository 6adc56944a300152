/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two connected kernel QPs on one device, for test modules
 */
#ifndef SELFTESTS_PAIR_H
#define SELFTESTS_PAIR_H

#include <linux/completion.h>
#include <rdma/ib_verbs.h>

/* If @cond is false, print the place and the reason, and fail the test. */
#define CHECK(cond, fmt, ...) do {					\
	if (!(cond)) {							\
		pr_info("# %s:%d: " fmt "\n", __func__, __LINE__,	\
			##__VA_ARGS__);					\
		return false;						\
	}								\
} while (0)

/* Bytes of the buffer of each side */
#define SIDE_BYTES	(64 << 10)

/**
 * struct side - one end of the connection
 * @cq: CQ of both queues
 * @qp: RC QP
 * @completions: number of completions of @cq
 * @buf: memory, accessed by the PD's local_dma_lkey
 * @dma: address of @buf in work requests
 */
struct side {
	struct ib_cq *cq;
	struct ib_qp *qp;
	unsigned int completions;
	u8 *buf;
	u64 dma;
};

/**
 * struct pair - a connection for a test
 * @dev: device
 * @pd: PD of all objects
 * @a: side that posts requests
 * @b: side that owns the remote memory
 * @gid_index: GID of port 1
 */
struct pair {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct side a, b;
	int gid_index;
};

/**
 * struct op - a work request under way
 * @cqe: target of the request's wr_cqe
 * @wc: completion, if @done
 * @order: number of completions before it on its side
 * @done: the request has completed
 * @event: completed together with the request
 */
struct op {
	struct ib_cqe cqe;
	struct ib_wc wc;
	unsigned int order;
	bool done;
	struct completion event;
};

/* Open device and objects. Return: 0, or an error with nothing left open. */
int pair_open(struct pair *p, const char *device, int gid_index);
void pair_close(struct pair *p);
/* Create and connect new QPs and CQs. Return: 0 or an error. */
int pair_connect(struct pair *p);
void pair_disconnect(struct pair *p);
/* Bring one QP, also one outside the pair, from RESET to RTS. Return: 0 or an error. */
int pair_bring_up(struct pair *p, struct ib_qp *qp, struct ib_qp *peer);

/* Prepare an operation, before each time that it is posted. */
void op_init(struct op *op);
/* Return: status of the completion, or -1 when none came in time. */
int op_wait(struct op *op);
/* Post a list of one or more operations to @side. Return: as ib_post_send(). */
int side_send(struct side *side, struct ib_send_wr *wr);
/* Post a receive over the whole buffer. */
int side_recv(struct pair *p, struct side *side, struct op *op);

#endif
