// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fast registration: work requests, and access to registered memory
 */
#define pr_fmt(fmt)	KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "fast.h"

bool memory_map(struct memory *m)
{
	unsigned int offset = 0;
	int n = ib_map_mr_sg(m->mr, m->sg, m->pieces, &offset, SZ_4K);

	CHECK(n == m->pieces, "ib_map_mr_sg: %d of %d", n, m->pieces);
	CHECK(m->mr->length == m->bytes, "length %llu, not %u",
	      (unsigned long long)m->mr->length, m->bytes);
	return true;
}

struct ib_reg_wr reg(struct op *op, struct memory *m, int access)
{
	return (struct ib_reg_wr) {
		.wr = {
			.opcode = IB_WR_REG_MR,
			.wr_cqe = &op->cqe,
			.send_flags = IB_SEND_SIGNALED,
		},
		.mr = m->mr,
		.key = m->mr->rkey,
		.access = access,
	};
}

bool memory_register(struct memory *m, int access)
{
	static struct op op;
	struct ib_reg_wr wr;
	int status;

	op_init(&op);
	if (!memory_map(m))
		return false;
	/* A new region has a random key, and this one differs from it. */
	ib_update_fast_reg_key(m->mr, ib_inc_rkey(m->mr->rkey));
	wr = reg(&op, m, access);
	CHECK(!side_send(&pair.b, &wr.wr), "REG_MR is not taken");
	status = op_wait(&op);
	CHECK(status == IB_WC_SUCCESS, "REG_MR: %d", status);
	CHECK(op.wc.opcode == IB_WC_REG_MR, "opcode %d", op.wc.opcode);
	return true;
}

int invalidate(struct side *side, u32 rkey)
{
	static struct op op;
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.wr_cqe = &op.cqe,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = rkey,
	};
	int status;

	op_init(&op);
	if (side_send(side, &wr))
		return -1;
	status = op_wait(&op);
	if (status == IB_WC_SUCCESS && op.wc.opcode != IB_WC_LOCAL_INV)
		return -1;
	return status;
}

int access_at(enum ib_wr_opcode opcode, u32 rkey, u64 va, u32 bytes)
{
	static struct op op;
	struct ib_sge sge = {
		.addr = pair.a.dma,
		.length = bytes,
		.lkey = pair.pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.opcode = opcode,
			.wr_cqe = &op.cqe,
			.send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		},
		.remote_addr = va,
		.rkey = rkey,
	};

	op_init(&op);
	if (side_send(&pair.a, &wr.wr))
		return -1;
	return op_wait(&op);
}

int access_all(enum ib_wr_opcode opcode, struct memory *m)
{
	return access_at(opcode, m->mr->rkey, m->mr->iova, m->bytes);
}

bool is_refused(int status)
{
	int err;

	CHECK(status == IB_WC_REM_ACCESS_ERR, "status %d", status);
	pair_disconnect(&pair);
	err = pair_connect(&pair);
	CHECK(!err, "reconnect: %d", err);
	return true;
}

bool has_failed(int status, int wanted)
{
	int err;

	CHECK(status == wanted, "status %d, not %d", status, wanted);
	pair_disconnect(&pair);
	err = pair_connect(&pair);
	CHECK(!err, "reconnect: %d", err);
	return true;
}
