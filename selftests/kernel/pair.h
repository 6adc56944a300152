/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two connected QPs of the kernel on one device, for tests that are modules.
 */
#ifndef SELFTESTS_PAIR_H
#define SELFTESTS_PAIR_H

#include <linux/completion.h>
#include <rdma/ib_verbs.h>

/* Says where and why a test fails, and ends it. */
#define CHECK(cond, fmt, ...) do {					\
	if (!(cond)) {							\
		pr_info("# %s:%d: " fmt "\n", __func__, __LINE__,	\
			##__VA_ARGS__);					\
		return false;						\
	}								\
} while (0)

/* Bytes of each side's buffer */
#define SIDE_BYTES	(64 << 10)

/**
 * struct side - one end of the connection
 * @cq: of both queues
 * @qp: RC
 * @completions: that @cq has had
 * @buf: plain memory, reached by the PD's local_dma_lkey
 * @dma: its address in a work request
 */
struct side {
	struct ib_cq *cq;
	struct ib_qp *qp;
	unsigned int completions;
	u8 *buf;
	u64 dma;
};

/**
 * struct pair - what a test works with
 * @dev: device
 * @pd: of everything
 * @a: asks
 * @b: has what is asked for
 * @gid_index: of port 1
 */
struct pair {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct side a, b;
	int gid_index;
};

/**
 * struct op - a work request under way
 * @cqe: what its wr_cqe points to
 * @wc: its completion, when @done
 * @order: how many completed before it on its side
 * @done: has completed
 * @event: completed when it has
 */
struct op {
	struct ib_cqe cqe;
	struct ib_wc wc;
	unsigned int order;
	bool done;
	struct completion event;
};

/* Return: 0 or an error; nothing is left behind then. */
int pair_open(struct pair *p, const char *device, int gid_index);
void pair_close(struct pair *p);
/* QPs and CQs anew. Return: 0 or an error. */
int pair_connect(struct pair *p);
void pair_disconnect(struct pair *p);
/* One way, of QPs that are not the pair's: from RESET to RTS. Return: 0 or an error. */
int pair_bring_up(struct pair *p, struct ib_qp *qp, struct ib_qp *peer);

/* Before it is posted, and again before it is posted again. */
void op_init(struct op *op);
/* Return: the status of the completion, or -1 when it did not come. */
int op_wait(struct op *op);
/* Posts a list of one or more, all to @side. Return: as ib_post_send(). */
int side_send(struct side *side, struct ib_send_wr *wr);
/* A receive over the whole buffer. */
int side_recv(struct pair *p, struct side *side, struct op *op);

#endif
