// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: fair DEVICE GID-INDEX DEVICE GID-INDEX QPS
 *
 * Measures many QPs of the first device that are all busy, each with a QP of the second
 * one. Prints "MB/s RATE" of their WRITEs of 4 KiB together, and "jain INDEX", Jain's
 * index of their shares: 1 if all are equal.
 */
#include "bench.h"

enum { DEPTH = 4, SIZE = 4096, BATCH = 64 };

#define WARM_US		300e3
#define MEASURED_US	1500e3

struct end {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	union ibv_gid gid;
	int gid_index;
	struct ibv_qp **qps;
};

static char memory[2][SIZE];

static void create_end(struct end *end, char *const *argv, int qps, char *memory)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	int i;

	end->pd = open_device(argv[0]);
	end->gid_index = atoi(argv[1]);
	check(!ibv_query_gid(end->pd->context, 1, end->gid_index, &end->gid), "GID");
	end->cq = ibv_create_cq(end->pd->context, qps * DEPTH, NULL, NULL, 0);
	end->mr = ibv_reg_mr(end->pd, memory, SIZE,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	end->qps = calloc(qps, sizeof(*end->qps));
	check(end->cq && end->mr && end->qps, "CQ, MR");
	attr.send_cq = end->cq;
	attr.recv_cq = end->cq;
	for (i = 0; i < qps; i++) {
		end->qps[i] = ibv_create_qp(end->pd, &attr);
		check(!!end->qps[i], "create_qp");
	}
}

static void connect_ends(struct end *a, struct end *b, int qps)
{
	int i;

	for (i = 0; i < qps; i++) {
		connect_qp(a->qps[i], b->qps[i]->qp_num, &b->gid, a->gid_index,
			   IBV_MTU_4096);
		connect_qp(b->qps[i], a->qps[i]->qp_num, &a->gid, b->gid_index,
			   IBV_MTU_4096);
	}
}

static void write_from(const struct end *a, const struct end *b, int i)
{
	struct ibv_sge sge = { (uintptr_t)memory[0], SIZE, a->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = i,
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { (uintptr_t)memory[1], b->mr->rkey },
	}, *bad;

	check(!ibv_post_send(a->qps[i], &wr, &bad), "post_send");
}

/* Each completed WRITE is followed by another one of the same QP, for @us. */
static void go_on(const struct end *a, const struct end *b, double us, double *done)
{
	double until = now_us() + us;
	struct ibv_wc wc[BATCH];
	int i, n;

	while (now_us() < until) {
		n = poll_good(a->cq, wc, BATCH);
		for (i = 0; i < n; i++) {
			done[wc[i].wr_id]++;
			write_from(a, b, wc[i].wr_id);
		}
	}
}

static void report(const double *done, int qps, double us)
{
	double sum = 0, squares = 0;
	int i;

	for (i = 0; i < qps; i++) {
		sum += done[i];
		squares += done[i] * done[i];
	}
	printf("MB/s %.1f\n", sum * SIZE / us);
	printf("jain %.3f\n", squares ? sum * sum / (qps * squares) : 0);
}

int main(int argc, char **argv)
{
	int i, qps = argc == 6 ? atoi(argv[5]) : 0;
	double *done = calloc(qps + 1, sizeof(*done));
	double began;
	struct end a, b;

	check(qps > 0 && done, "usage: fair DEVICE GID-INDEX DEVICE GID-INDEX QPS");
	create_end(&a, argv + 1, qps, memory[0]);
	create_end(&b, argv + 3, qps, memory[1]);
	connect_ends(&a, &b, qps);
	for (i = 0; i < qps * DEPTH; i++)
		write_from(&a, &b, i % qps);
	go_on(&a, &b, WARM_US, done);
	memset(done, 0, qps * sizeof(*done));
	began = now_us();
	go_on(&a, &b, MEASURED_US, done);
	report(done, qps, now_us() - began);
	return 0;
}
