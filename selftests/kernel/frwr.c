// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fast registration as kernel users do it: memory is described, gets a key by REG_MR, is
 * read and written by the peer byte for byte, and loses the key by LOCAL_INV or by the
 * peer's SEND_WITH_INV.
 *
 * The module runs its tests when it is loaded, and reports in TAP to the kernel's log.
 *
 *	modprobe verve_frwr device=vta gid_index=1
 */
#define pr_fmt(fmt)	KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "fast.h"

#define ALL_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

static char *device = "verve0";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "RDMA device");
static int gid_index;
module_param(gid_index, int, 0444);
MODULE_PARM_DESC(gid_index, "index of a GID of its port 1");

struct pair pair;

static bool read_and_write(struct memory *m)
{
	int status;
	u8 *copy;
	bool same;

	get_random_bytes(pair.b.buf, m->bytes);
	memory_copy(m, pair.b.buf, false);
	memset(pair.a.buf, 0, m->bytes);
	status = access_all(IB_WR_RDMA_READ, m);
	CHECK(status == IB_WC_SUCCESS, "READ: %d", status);
	CHECK(!memcmp(pair.a.buf, pair.b.buf, m->bytes), "READ other bytes");

	get_random_bytes(pair.a.buf, m->bytes);
	status = access_all(IB_WR_RDMA_WRITE, m);
	CHECK(status == IB_WC_SUCCESS, "WRITE: %d", status);
	copy = kmalloc(m->bytes, GFP_KERNEL);
	CHECK(copy, "no memory");
	memory_copy(m, copy, true);
	same = !memcmp(copy, pair.a.buf, m->bytes);
	kfree(copy);
	CHECK(same, "WRITE put other bytes");
	return true;
}

/* READs of growing length at odd offsets, so that all edges of pieces are crossed */
static bool read_parts(struct memory *m)
{
	u32 at, bytes;

	get_random_bytes(pair.b.buf, m->bytes);
	memory_copy(m, pair.b.buf, false);
	for (at = 0, bytes = 1; at + bytes <= m->bytes; at += 97, bytes += 13) {
		int status = access_at(IB_WR_RDMA_READ, m->mr->rkey,
				       m->mr->iova + at, bytes);

		CHECK(status == IB_WC_SUCCESS, "READ %u at %u: %d", bytes, at,
		      status);
		CHECK(!memcmp(pair.a.buf, pair.b.buf + at, bytes),
		      "READ %u at %u: other bytes", bytes, at);
	}
	return true;
}

static bool test_data(struct memory *m)
{
	return memory_register(m, ALL_ACCESS) && read_and_write(m) &&
	       read_parts(m);
}

/* Memory around the pieces stays unchanged. */
static bool test_edges(struct memory *m)
{
	u32 skip, bytes;
	int i, status;
	u32 k;

	for (i = 0; i < PIECES; i++)
		memset(m->piece[i], 0xa5, PIECE_BYTES);
	memset(pair.a.buf, 0, m->bytes);
	if (!memory_register(m, ALL_ACCESS))
		return false;
	status = access_all(IB_WR_RDMA_WRITE, m);
	CHECK(status == IB_WC_SUCCESS, "WRITE: %d", status);
	for (i = 0; i < PIECES; i++) {
		memory_piece(i, m->mr->type == IB_MR_TYPE_SG_GAPS, &skip, &bytes);
		for (k = 0; k < PIECE_BYTES; k++)
			CHECK(m->piece[i][k] == (k - skip < bytes ? 0 : 0xa5),
			      "piece %d, byte %u", i, k);
	}
	return true;
}

/* The lkey works as the source of b's WRITE and as the target of its READ. */
static bool test_local_key(struct memory *m)
{
	static struct op op;
	struct ib_sge sge = { .length = m->bytes };
	struct ib_rdma_wr wr = {
		.wr = {
			.opcode = IB_WR_SEND,
			.wr_cqe = &op.cqe,
			.send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		},
	};
	static struct op got;
	int status;

	op_init(&op);
	op_init(&got);
	get_random_bytes(pair.b.buf, m->bytes);
	memory_copy(m, pair.b.buf, false);
	if (!memory_register(m, IB_ACCESS_LOCAL_WRITE))
		return false;
	sge.addr = m->mr->iova;
	sge.lkey = m->mr->lkey;
	CHECK(!side_recv(&pair, &pair.a, &got), "receive is not taken");
	CHECK(!side_send(&pair.b, &wr.wr), "SEND is not taken");
	status = op_wait(&op);
	CHECK(status == IB_WC_SUCCESS, "SEND: %d", status);
	status = op_wait(&got);
	CHECK(status == IB_WC_SUCCESS && got.wc.byte_len == m->bytes,
	      "receive: %d, %u bytes", status, got.wc.byte_len);
	CHECK(!memcmp(pair.a.buf, pair.b.buf, m->bytes), "other bytes");
	/* The region has no remote access. */
	return is_refused(access_all(IB_WR_RDMA_READ, m));
}

static bool test_access(struct memory *m)
{
	if (!memory_register(m, IB_ACCESS_REMOTE_READ))
		return false;
	CHECK(access_all(IB_WR_RDMA_READ, m) == IB_WC_SUCCESS, "READ");
	if (!is_refused(access_all(IB_WR_RDMA_WRITE, m)))
		return false;
	return is_refused(access_at(IB_WR_RDMA_READ, m->mr->rkey ^ 1,
				    m->mr->iova, 1));
}

static bool test_range(struct memory *m)
{
	u64 va;

	if (!memory_register(m, ALL_ACCESS))
		return false;
	va = m->mr->iova;
	return is_refused(access_at(IB_WR_RDMA_READ, m->mr->rkey, va,
				    m->bytes + 1)) &&
	       is_refused(access_at(IB_WR_RDMA_READ, m->mr->rkey, va - 1, 1)) &&
	       is_refused(access_at(IB_WR_RDMA_WRITE, m->mr->rkey,
				    va + m->bytes, 1));
}

static bool test_local_invalidation(struct memory *m)
{
	int i;

	for (i = 0; i < 3; i++) {
		u32 old = m->mr->rkey;

		if (!memory_register(m, ALL_ACCESS) || !read_and_write(m))
			return false;
		if (!is_refused(access_at(IB_WR_RDMA_READ, old, m->mr->iova, 1)))
			return false;
		CHECK(invalidate(&pair.b, m->mr->rkey) == IB_WC_SUCCESS,
		      "LOCAL_INV");
		if (!is_refused(access_all(IB_WR_RDMA_READ, m)))
			return false;
	}
	/* A second LOCAL_INV succeeds; one of another key fails. */
	CHECK(invalidate(&pair.b, m->mr->rkey) == IB_WC_SUCCESS, "free");
	return has_failed(invalidate(&pair.b, m->mr->rkey ^ 1),
			  IB_WC_MW_BIND_ERR);
}

/* Return: status of b's receive, or of a's SEND if that fails */
static int invalidate_remotely(u32 rkey, struct op *got)
{
	static struct op op;
	struct ib_sge sge = {
		.addr = pair.a.dma,
		.length = 3000,
		.lkey = pair.pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND_WITH_INV,
		.wr_cqe = &op.cqe,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.ex.invalidate_rkey = rkey,
	};
	int status;

	op_init(&op);
	if (side_recv(&pair, &pair.b, got) || side_send(&pair.a, &wr))
		return -1;
	status = op_wait(got);
	if (status != IB_WC_SUCCESS)
		return op_wait(&op) == IB_WC_SUCCESS ? -1 : status;
	return op_wait(&op);
}

static bool test_remote_invalidation(struct memory *m)
{
	static struct op got;
	int status;

	op_init(&got);
	get_random_bytes(pair.a.buf, 3000);
	if (!memory_register(m, ALL_ACCESS))
		return false;
	CHECK(access_all(IB_WR_RDMA_WRITE, m) == IB_WC_SUCCESS, "WRITE");
	status = invalidate_remotely(m->mr->rkey, &got);
	CHECK(status == IB_WC_SUCCESS, "SEND_WITH_INV: %d", status);
	CHECK(got.wc.wc_flags & IB_WC_WITH_INVALIDATE &&
	      got.wc.ex.invalidate_rkey == m->mr->rkey,
	      "flags %#x, key %#x", got.wc.wc_flags,
	      got.wc.ex.invalidate_rkey);
	CHECK(got.wc.byte_len == 3000 &&
	      !memcmp(pair.a.buf, pair.b.buf, 3000), "other bytes");
	if (!is_refused(access_all(IB_WR_RDMA_READ, m)))
		return false;

	/* A free region can be registered again, and the peer cannot invalidate it. */
	if (!memory_register(m, ALL_ACCESS) || !read_and_write(m))
		return false;
	CHECK(invalidate(&pair.b, m->mr->rkey) == IB_WC_SUCCESS, "LOCAL_INV");
	op_init(&got);
	if (!has_failed(invalidate_remotely(m->mr->rkey, &got),
			IB_WC_REM_INV_REQ_ERR))
		return false;

	/* The peer may not invalidate a key without remote access. */
	if (!memory_register(m, IB_ACCESS_LOCAL_WRITE))
		return false;
	op_init(&got);
	return has_failed(invalidate_remotely(m->mr->rkey, &got),
			  IB_WC_REM_INV_REQ_ERR);
}

static int reg_status(struct ib_reg_wr *wr, struct op *op)
{
	return side_send(&pair.b, &wr->wr) ? -1 : op_wait(op);
}

static bool test_bad_registration(struct memory *m)
{
	static struct op op;
	struct ib_reg_wr wr;

	op_init(&op);
	if (!memory_register(m, ALL_ACCESS))
		return false;
	wr = reg(&op, m, ALL_ACCESS);
	if (!has_failed(reg_status(&wr, &op), IB_WC_MW_BIND_ERR)) /* in use */
		return false;
	CHECK(invalidate(&pair.b, m->mr->rkey) == IB_WC_SUCCESS, "LOCAL_INV");

	op_init(&op);
	wr = reg(&op, m, ALL_ACCESS);
	wr.key += 0x100; /* not its key */
	if (!has_failed(reg_status(&wr, &op), IB_WC_MW_BIND_ERR))
		return false;

	op_init(&op);
	wr = reg(&op, m, IB_ACCESS_REMOTE_WRITE); /* not without local write */
	if (!has_failed(reg_status(&wr, &op), IB_WC_MW_BIND_ERR))
		return false;

	op_init(&op);
	wr = reg(&op, m, IB_ACCESS_MW_BIND); /* not of such a region */
	if (!has_failed(reg_status(&wr, &op), IB_WC_MW_BIND_ERR))
		return false;
	return memory_register(m, ALL_ACCESS) && read_and_write(m);
}

static bool test_other_pd(struct memory *m)
{
	struct ib_pd *pd = pair.pd, *other = ib_alloc_pd(pair.dev, 0);
	static struct op op;
	struct ib_reg_wr wr;
	int err, status;

	op_init(&op);
	CHECK(!IS_ERR(other), "no PD");
	if (!memory_map(m))
		return false;
	/* QPs of another PD than the region's */
	pair_disconnect(&pair);
	pair.pd = other;
	err = pair_connect(&pair);
	CHECK(!err, "connect: %d", err);
	wr = reg(&op, m, ALL_ACCESS);
	status = reg_status(&wr, &op);
	pair_disconnect(&pair);
	pair.pd = pd;
	err = pair_connect(&pair);
	ib_dealloc_pd(other);
	CHECK(!err, "connect: %d", err);
	CHECK(status == IB_WC_MW_BIND_ERR, "status %d", status);
	return true;
}

/* The last key works with the old memory while a new mapping waits for REG_MR. */
static bool test_mapped_ahead(struct memory *m)
{
	static struct op op;
	struct ib_send_wr inv = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = 0,
	};
	struct ib_reg_wr wr;
	int status;

	op_init(&op);
	if (!memory_register(m, ALL_ACCESS))
		return false;
	inv.ex.invalidate_rkey = m->mr->rkey;
	/* Only the first piece is mapped. */
	CHECK(ib_map_mr_sg(m->mr, m->sg, 1, NULL, SZ_4K) == 1, "map");
	status = access_at(IB_WR_RDMA_READ, m->mr->rkey, m->mr->iova, m->bytes);
	CHECK(status == IB_WC_SUCCESS, "READ by the last key: %d", status);
	ib_update_fast_reg_key(m->mr, (u8)(m->mr->rkey + 1));
	wr = reg(&op, m, ALL_ACCESS);
	inv.next = &wr.wr;
	CHECK(!side_send(&pair.b, &inv), "not taken");
	status = op_wait(&op);
	CHECK(status == IB_WC_SUCCESS, "LOCAL_INV, REG_MR: %d", status);
	status = access_at(IB_WR_RDMA_READ, m->mr->rkey, m->mr->iova,
			   m->mr->length);
	CHECK(status == IB_WC_SUCCESS, "READ by the new key: %d", status);
	return is_refused(access_all(IB_WR_RDMA_READ, m));
}

/* REG_MR, WRITE by its lkey and LOCAL_INV, posted again and again, keep their order. */
static bool test_order(struct memory *m)
{
	enum { ROUNDS = 20 };
	struct round {
		struct op reg, write, inv;
		struct ib_reg_wr reg_wr;
		struct ib_rdma_wr write_wr;
		struct ib_send_wr inv_wr;
		struct ib_sge sge;
	} *r, *rounds = kcalloc(ROUNDS, sizeof(*rounds), GFP_KERNEL);
	struct op *last = NULL;
	bool ok = true;
	int i;

	CHECK(rounds && memory_map(m), "no memory");
	for (i = 0; i < ROUNDS; i++) {
		r = &rounds[i];
		op_init(&r->reg);
		op_init(&r->write);
		op_init(&r->inv);
		ib_update_fast_reg_key(m->mr, i);
		r->sge = (struct ib_sge) {
			m->mr->iova, m->bytes, m->mr->lkey
		};
		r->reg_wr = reg(&r->reg, m, IB_ACCESS_LOCAL_WRITE);
		r->write_wr.wr = (struct ib_send_wr) {
			.opcode = IB_WR_SEND,
			.wr_cqe = &r->write.cqe,
			.sg_list = &r->sge,
			.num_sge = 1,
			.send_flags = i % 3 ? IB_SEND_SIGNALED : 0,
		};
		r->inv_wr = (struct ib_send_wr) {
			.opcode = IB_WR_LOCAL_INV,
			.wr_cqe = &r->inv.cqe,
			.send_flags = IB_SEND_SIGNALED,
			.ex.invalidate_rkey = m->mr->rkey,
		};
		r->reg_wr.wr.next = &r->write_wr.wr;
		r->write_wr.wr.next = &r->inv_wr;
		r->inv_wr.next = NULL;
	}
	for (i = 0; i < ROUNDS && ok; i++) {
		static struct op sink;

		op_init(&sink);
		ok = !side_recv(&pair, &pair.a, &sink) &&
		     !side_send(&pair.b, &rounds[i].reg_wr.wr);
	}
	for (i = 0; i < ROUNDS && ok; i++) {
		r = &rounds[i];
		ok = op_wait(&r->reg) == IB_WC_SUCCESS &&
		     op_wait(&r->inv) == IB_WC_SUCCESS &&
		     (!(i % 3) || r->write.wc.status == IB_WC_SUCCESS) &&
		     r->write.done == !!(i % 3) &&
		     (!last || r->reg.order == last->order + 1) &&
		     r->inv.order == r->reg.order + 1 + r->write.done;
		last = &r->inv;
	}
	if (!ok)
		pr_info("# round %d\n", i - 1);
	kfree(rounds);
	return ok;
}

/* Requests of a failing queue are flushed before those posted later. */
static bool test_drain(struct memory *m)
{
	enum { ROUNDS = 16 };
	struct op *ops = kcalloc(2 * ROUNDS, sizeof(*ops), GFP_KERNEL);
	bool ok = true;
	int i, err;

	CHECK(ops && memory_map(m), "no memory");
	/* A SEND without a receive delays the requests behind it. */
	for (i = 0; i < 2 * ROUNDS && ok; i++) {
		struct ib_sge sge = { pair.b.dma, 8, pair.pd->local_dma_lkey };
		struct ib_send_wr send = {
			.opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1,
		};
		struct ib_send_wr inv = {
			.opcode = IB_WR_LOCAL_INV,
			.ex.invalidate_rkey = m->mr->rkey,
		};
		struct ib_send_wr *wr = i & 1 ? &inv : &send;

		op_init(&ops[i]);
		wr->wr_cqe = &ops[i].cqe;
		wr->send_flags = IB_SEND_SIGNALED;
		ok = !side_send(&pair.b, wr);
	}
	ib_drain_qp(pair.b.qp);
	for (i = 0; i < 2 * ROUNDS && ok; i++)
		ok = ops[i].done && ops[i].wc.status == IB_WC_WR_FLUSH_ERR &&
		     (!i || ops[i].order == ops[i - 1].order + 1);
	if (!ok)
		pr_info("# request %d: done %d status %d\n", i - 1,
			ops[i - 1].done, ops[i - 1].wc.status);
	pair_disconnect(&pair);
	err = pair_connect(&pair);
	kfree(ops);
	CHECK(!err, "reconnect: %d", err);
	return ok;
}

static bool test_limits(struct memory *m)
{
	u32 most = pair.dev->attrs.max_fast_reg_page_list_len;
	struct ib_mr *mr;

	CHECK(pair.dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS &&
	      most >= 256, "the device does not have it");
	mr = ib_alloc_mr(pair.pd, IB_MR_TYPE_MEM_REG, most);
	CHECK(!IS_ERR(mr), "alloc_mr: %ld", PTR_ERR(mr));
	CHECK(mr->lkey == mr->rkey, "lkey %#x, rkey %#x", mr->lkey, mr->rkey);
	ib_dereg_mr(mr);
	mr = ib_alloc_mr(pair.pd, IB_MR_TYPE_MEM_REG, most + 1);
	CHECK(IS_ERR(mr), "more than the most");
	mr = ib_alloc_mr(pair.pd, IB_MR_TYPE_MEM_REG, 1);
	CHECK(!IS_ERR(mr), "alloc_mr: %ld", PTR_ERR(mr));
	/* One block is mapped, the rest is unused. */
	CHECK(ib_map_mr_sg(mr, m->sg, m->pieces, NULL, SZ_4K) == 1, "map");
	ib_dereg_mr(mr);
	mr = ib_alloc_mr(pair.pd, IB_MR_TYPE_DM, 1);
	CHECK(IS_ERR(mr), "a type that cannot be");
	return true;
}

static const struct {
	const char *name;
	bool (*run)(struct memory *m);
} tests[] = {
	{ "data", test_data },
	{ "edges", test_edges },
	{ "local key", test_local_key },
	{ "access", test_access },
	{ "range", test_range },
	{ "LOCAL_INV", test_local_invalidation },
	{ "SEND_WITH_INV", test_remote_invalidation },
	{ "registrations that are refused", test_bad_registration },
	{ "another PD", test_other_pd },
	{ "mapped ahead", test_mapped_ahead },
	{ "order of completions", test_order },
	{ "drain", test_drain },
	{ "limits", test_limits },
};

static bool run(unsigned int i, enum ib_mr_type type)
{
	struct memory *m = memory_alloc(&pair, type);
	bool ok;

	CHECK(m, "no memory, or no region of type %d", type);
	ok = tests[i].run(m);
	/* Requests under way may use the region until the QPs are gone. */
	pair_disconnect(&pair);
	memory_free(m);
	if (pair_connect(&pair)) {
		pr_info("# no connection after that\n");
		return false;
	}
	return ok;
}

static int __init frwr_init(void)
{
	static const enum ib_mr_type types[] = {
		IB_MR_TYPE_MEM_REG, IB_MR_TYPE_SG_GAPS,
	};
	unsigned int i, n = 0;
	int err;

	err = pair_open(&pair, device, gid_index);
	if (err)
		return err;
	err = pair_connect(&pair);
	if (err)
		goto close;
	pr_info("TAP version 13\n");
	pr_info("1..%zu\n", 2 * ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(types) * ARRAY_SIZE(tests); i++) {
		unsigned int t = i / ARRAY_SIZE(tests);
		unsigned int k = i % ARRAY_SIZE(tests);

		n++;
		pr_info("%s %u %s: %s\n", run(k, types[t]) ? "ok" : "not ok", n,
			t ? "SG_GAPS" : "MEM_REG", tests[k].name);
	}
	pair_disconnect(&pair);
close:
	pair_close(&pair);
	return err;
}

static void __exit frwr_exit(void)
{
}

module_init(frwr_init);
module_exit(frwr_exit);

MODULE_DESCRIPTION("Test of fast memory registration");
MODULE_LICENSE("GPL");
