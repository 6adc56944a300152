// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: scale DEVICE GID-INDEX QPS, an even number
 *
 * Measures the cost of many QPs on one device, in pairs that are connected with each
 * other. Prints "setup_us US", to create and connect one; "memory_bytes BYTES" of the
 * machine that one takes, including rings and the objects of the RDMA core; "write_us
 * US" for a WRITE of 8 bytes, with the QPs in turn; and "destroy_us US" to destroy one.
 */
#include "bench.h"

enum { AT_ONCE = 64, MESSAGES = 65536 };

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static union ibv_gid gid;
static int gid_index;
static char memory[4096];

static double free_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	double kib = 0;

	check(!!file, "meminfo");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemFree: %lf", &kib) == 1)
			break;
	fclose(file);
	return kib * 1024;
}

static void prepare(const char *name)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	pd = open_device(name);
	check(!ibv_query_gid(pd->context, 1, gid_index, &gid), "GID");
	cq = ibv_create_cq(pd->context, 2 * AT_ONCE, NULL, NULL, 0);
	srq = ibv_create_srq(pd, &attr);
	mr = ibv_reg_mr(pd, memory, sizeof(memory),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	check(cq && srq && mr, "CQ, SRQ, MR");
}

static struct ibv_qp *create(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	check(!!qp, "create_qp");
	return qp;
}

static void write_once(struct ibv_qp *qp)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { (uintptr_t)memory + 64, mr->rkey },
	}, *bad;

	check(!ibv_post_send(qp, &wr, &bad), "post_send");
}

static void wait_for(int messages)
{
	struct ibv_wc wc[AT_ONCE];

	while (messages)
		messages -= poll_good(cq, wc, AT_ONCE);
}

static void write_all(struct ibv_qp **qps, int n, int messages)
{
	int at_once = n < AT_ONCE ? n : AT_ONCE;
	int i, sent;

	for (sent = 0; sent < messages; sent += at_once) {
		for (i = 0; i < at_once; i++)
			write_once(qps[(sent + i) % n]);
		wait_for(at_once);
	}
}

int main(int argc, char **argv)
{
	int i, n = argc == 4 ? atoi(argv[3]) : 0;
	struct ibv_qp **qps = calloc(n, sizeof(*qps));
	double begin, unused;

	check(n && n % 2 == 0 && qps, "usage: scale DEVICE GID-INDEX QPS");
	gid_index = atoi(argv[2]);
	prepare(argv[1]);
	unused = free_bytes();
	begin = now_us();
	for (i = 0; i < n; i++)
		qps[i] = create();
	for (i = 0; i < n; i++)
		connect_qp(qps[i], qps[i ^ 1]->qp_num, &gid, gid_index, IBV_MTU_1024);
	printf("setup_us %.1f\n", (now_us() - begin) / n);
	printf("memory_bytes %.0f\n", (unused - free_bytes()) / n);
	/* The first touch of a ring is a page fault. */
	write_all(qps, n, n);
	begin = now_us();
	write_all(qps, n, MESSAGES);
	printf("write_us %.2f\n", (now_us() - begin) / MESSAGES);
	begin = now_us();
	for (i = 0; i < n; i++)
		check(!ibv_destroy_qp(qps[i]), "destroy_qp");
	printf("destroy_us %.1f\n", (now_us() - begin) / n);
	return 0;
}
