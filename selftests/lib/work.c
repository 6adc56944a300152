// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <string.h>

#include "tap.h"
#include "wc.h"
#include "work.h"

struct ibv_sge end_sge(const struct end *end, uint32_t size)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)msg(end),
		.length = size,
		.lkey = end->mr->lkey,
	};
}

void fill(uint8_t *at, size_t size)
{
	static uint64_t seed;
	uint64_t x = ++seed * 0x9e3779b97f4a7c15ull;
	size_t i;

	for (i = 0; i < size; i += sizeof(x)) {
		size_t n = size - i < sizeof(x) ? size - i : sizeof(x);

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(at + i, &x, n);
	}
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

struct ibv_send_wr work(const struct ends *e, enum ibv_wr_opcode opcode,
			struct ibv_sge *sge)
{
	struct ibv_send_wr wr = {
		.wr_id = opcode,
		.opcode = opcode,
		.sg_list = sge,
		.num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(0x5eed0000u + opcode),
	};

	if (e->a.ah) {
		wr.wr.ud.ah = e->a.ah;
		wr.wr.ud.remote_qpn = e->b.qp->qp_num;
		wr.wr.ud.remote_qkey = UD_QKEY;
	} else if (is_atomic(opcode)) {
		wr.wr.atomic.remote_addr = (uintptr_t)msg(&e->b);
		wr.wr.atomic.rkey = e->b.mr->rkey;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)msg(&e->b);
		wr.wr.rdma.rkey = e->b.mr->rkey;
	}
	return wr;
}

int post(struct end *end, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(end->qp, wr, &bad);
}

int post_recv(struct end *end, uint64_t wr_id, struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = sge,
		.num_sge = n,
	};

	return ibv_post_recv(end->qp, &wr, &bad);
}

bool write_arrives(struct ends *e, uint32_t size)
{
	struct ibv_sge sge = end_sge(&e->a, size);
	struct ibv_send_wr wr = work(e, IBV_WR_RDMA_WRITE, &sge);

	fill(msg(&e->a), size);
	CHECK(!post(&e->a, &wr), "post_send");
	return expect_wc(e->a.scq, wr.wr_id, IBV_WC_SUCCESS) &&
	       !memcmp(msg(&e->a), msg(&e->b), size);
}

void receive(struct end *end, uint64_t wr_id, uint32_t size)
{
	struct ibv_sge sge = end_sge(end, size);
	int err = post_recv(end, wr_id, &sge, 1);

	if (err)
		tap_bail("post_recv: %s", strerror(err));
}
