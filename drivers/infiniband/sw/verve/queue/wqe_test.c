// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of send requests: legal opcodes of each QP type, each field of the
 * private copy, and its bounds with hostile ring contents
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "opdef.c"
#include "wqe.c"

enum {
	TEST_MAX_SGE	= 4,
	TEST_MAX_INLINE	= 100,
	TEST_MTU	= 1024,
};

static struct verve_wqe_limits limits_for(enum ib_qp_type type)
{
	return (struct verve_wqe_limits) {
		.qp_type = type,
		.max_sge = TEST_MAX_SGE,
		.max_inline = TEST_MAX_INLINE,
		.mtu = TEST_MTU,
	};
}

/* A ring element that user space has written, and its private copy */
struct pair {
	struct rxe_send_wqe *wqe;
	struct verve_swqe *out;
};

/*
 * librxe does not write all fields, so fill the element with garbage. Exact sizes
 * let KASAN or ASan catch an access beyond the end.
 */
static struct pair pair_alloc(struct kunit *test)
{
	size_t wqe_size = verve_send_wqe_size(TEST_MAX_SGE, TEST_MAX_INLINE);
	size_t out_size = verve_swqe_size(TEST_MAX_SGE, TEST_MAX_INLINE);
	struct pair p = {
		.wqe = kunit_kmalloc(test, wqe_size, GFP_KERNEL),
		.out = kunit_kmalloc(test, out_size, GFP_KERNEL),
	};

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p.wqe);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p.out);
	memset(p.wqe, 0xa5, wqe_size);
	memset(p.out, 0x5a, out_size);
	p.wqe->wr.send_flags = 0;
	p.wqe->dma.num_sge = 0;
	return p;
}

static void add_sge(struct rxe_send_wqe *wqe, u64 addr, u32 length, u32 lkey)
{
	wqe->dma.sge[wqe->dma.num_sge++] = (struct rxe_sge) {
		.addr = addr, .length = length, .lkey = lkey,
	};
}

/* Validate @p as a request of @opcode to a queue of @type. Return: out->error. */
static u8 take(struct pair *p, enum ib_qp_type type, u32 opcode)
{
	struct verve_wqe_limits limits = limits_for(type);

	p->wqe->wr.opcode = opcode;
	verve_wqe_from_user(&limits, p->wqe, p->out);
	return p->out->error;
}

static const enum ib_qp_type qp_types[] = {
	IB_QPT_RC, IB_QPT_UC, IB_QPT_UD, IB_QPT_GSI,
};

/* Letters of the services that take an opcode (IBTA vol. 1, 10.2.2) */
static const char *services_of(u32 opcode, bool is_user)
{
	switch (opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return "RUDG";
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_LOCAL_INV:
		return "RU";
	case IB_WR_BIND_MW:
		return is_user ? "RU" : "";
	case IB_WR_REG_MR:
		return is_user ? "" : "RU";
	case IB_WR_RDMA_READ:
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_SEND_WITH_INV:
		return "R";
	case IB_WR_FLUSH:
	case IB_WR_ATOMIC_WRITE:
		return is_user ? "R" : "";
	default:
		return "";
	}
}

static bool is_legal(enum ib_qp_type type, u32 opcode, bool is_user)
{
	char letter = type == IB_QPT_RC ? 'R' : type == IB_QPT_UC ? 'U' :
		      type == IB_QPT_UD ? 'D' : 'G';

	return strchr(services_of(opcode, is_user), letter);
}

static void wqe_from_user__legal_opcodes_of_each_qp_type(struct kunit *test)
{
	struct pair p = pair_alloc(test);
	u32 opcode;
	int i;

	add_sge(p.wqe, 0x1000, 8, 1);
	p.wqe->dma.length = 8;
	/* Sets a legal type and level of a FLUSH: see struct flush_wr. */
	p.wqe->wr.wr.atomic.swap = 0x0101010101010101;
	for (i = 0; i < ARRAY_SIZE(qp_types); i++)
		for (opcode = 0; opcode < 300; opcode++)
			KUNIT_EXPECT_EQ_MSG(test, take(&p, qp_types[i], opcode),
					    is_legal(qp_types[i], opcode, true) ?
					    0 : IB_WC_LOC_QP_OP_ERR,
					    "type %d opcode %u", qp_types[i], opcode);
}

static void wqe_from_user__huge_opcodes_are_illegal(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RC, U32_MAX), IB_WC_LOC_QP_OP_ERR);
	/* IB_WR_SEND, if truncated to eight bits */
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RC, 0x100 | IB_WR_SEND),
			IB_WC_LOC_QP_OP_ERR);
}

static void wqe_from_user__other_qp_types_take_nothing(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RAW_PACKET, IB_WR_SEND), IB_WC_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_SMI, IB_WR_SEND), IB_WC_LOC_QP_OP_ERR);
}

static void wqe_from_user__length_is_the_sum_whatever_dma_says(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	add_sge(p.wqe, 0x1000, 10, 1);
	add_sge(p.wqe, 0x2000, 0, 2);
	add_sge(p.wqe, 0x3000, 30, 3);
	p.wqe->dma.length = 3 * 10;	/* rdma-core 56 fills in this value */
	KUNIT_ASSERT_EQ(test, take(&p, IB_QPT_RC, IB_WR_SEND), 0);
	KUNIT_EXPECT_EQ(test, p.out->length, 40);
	KUNIT_ASSERT_EQ(test, p.out->num_sge, 3);
	KUNIT_EXPECT_EQ(test, p.out->sge[0].addr, 0x1000);
	KUNIT_EXPECT_EQ(test, p.out->sge[0].length, 10);
	KUNIT_EXPECT_EQ(test, p.out->sge[0].lkey, 1);
	KUNIT_EXPECT_EQ(test, p.out->sge[2].addr, 0x3000);
	KUNIT_EXPECT_EQ(test, p.out->sge[2].length, 30);
	KUNIT_EXPECT_EQ(test, p.out->sge[2].lkey, 3);
}

static void wqe_from_user__no_segments_is_an_empty_message(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	KUNIT_ASSERT_EQ(test, take(&p, IB_QPT_RC, IB_WR_RDMA_WRITE), 0);
	KUNIT_EXPECT_EQ(test, p.out->length, 0);
	KUNIT_EXPECT_EQ(test, p.out->num_sge, 0);
}

static void wqe_from_user__stale_ring_contents_do_not_matter(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	p.wqe->wr.wr_id = 0x1122334455667788;
	p.wqe->wr.send_flags = IB_SEND_SIGNALED;
	KUNIT_ASSERT_EQ(test, take(&p, IB_QPT_RC, IB_WR_SEND), 0);
	KUNIT_EXPECT_EQ(test, p.out->wr_id, 0x1122334455667788);
	KUNIT_EXPECT_EQ(test, p.out->opcode, IB_WR_SEND);
	KUNIT_EXPECT_EQ(test, p.out->flags, IB_SEND_SIGNALED);
	KUNIT_EXPECT_EQ(test, p.out->state, 0);
	KUNIT_EXPECT_EQ(test, p.out->first_psn, 0);
	KUNIT_EXPECT_EQ(test, p.out->last_psn, 0);
	KUNIT_EXPECT_EQ(test, p.out->inv_rkey, 0);
	KUNIT_EXPECT_EQ(test, p.out->raddr, 0);
	KUNIT_EXPECT_EQ(test, p.out->rkey, 0);
	KUNIT_EXPECT_FALSE(test, p.out->is_inline);
}

static void wqe_from_user__unknown_flags_are_dropped(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	p.wqe->wr.send_flags = ~(u32)IB_SEND_INLINE;
	KUNIT_ASSERT_EQ(test, take(&p, IB_QPT_RC, IB_WR_SEND), 0);
	KUNIT_EXPECT_EQ(test, p.out->flags,
			IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED);
}

static void wqe_from_user__immediate_keeps_its_order(struct kunit *test)
{
	static const u8 bytes[4] = { 1, 2, 3, 4 };
	struct pair p = pair_alloc(test);

	memcpy(&p.wqe->wr.ex.imm_data, bytes, sizeof(bytes));
	KUNIT_ASSERT_EQ(test, take(&p, IB_QPT_UC, IB_WR_RDMA_WRITE_WITH_IMM), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&p.out->imm, bytes, sizeof(bytes)), 0);
}

static void wqe_from_user__rdma_operands(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	p.wqe->wr.wr.rdma.remote_addr = 0xfedcba9876543210;
	p.wqe->wr.wr.rdma.rkey = 0x4711;
	KUNIT_ASSERT_EQ(test, take(&p, IB_QPT_RC, IB_WR_RDMA_READ), 0);
	KUNIT_EXPECT_EQ(test, p.out->raddr, 0xfedcba9876543210);
	KUNIT_EXPECT_EQ(test, p.out->rkey, 0x4711);
}

static void wqe_from_user__atomic_operands(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	add_sge(p.wqe, 0x1000, 8, 1);
	p.wqe->wr.wr.atomic.remote_addr = 0x1000;
	p.wqe->wr.wr.atomic.compare_add = 0x1111111111111111;
	p.wqe->wr.wr.atomic.swap = 0x2222222222222222;
	p.wqe->wr.wr.atomic.rkey = 0x4712;
	KUNIT_ASSERT_EQ(test, take(&p, IB_QPT_RC, IB_WR_ATOMIC_CMP_AND_SWP), 0);
	KUNIT_EXPECT_EQ(test, p.out->raddr, 0x1000);
	KUNIT_EXPECT_EQ(test, p.out->compare_add, 0x1111111111111111);
	KUNIT_EXPECT_EQ(test, p.out->swap, 0x2222222222222222);
	KUNIT_EXPECT_EQ(test, p.out->rkey, 0x4712);
}

static void wqe_from_user__datagram_operands(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	p.wqe->wr.wr.ud.remote_qpn = 0x123456;
	p.wqe->wr.wr.ud.remote_qkey = 0x80010000;
	p.wqe->wr.wr.ud.pkey_index = 3;
	p.wqe->wr.wr.ud.ah_num = 42;
	KUNIT_ASSERT_EQ(test, take(&p, IB_QPT_UD, IB_WR_SEND), 0);
	KUNIT_EXPECT_EQ(test, p.out->rqpn, 0x123456);
	KUNIT_EXPECT_EQ(test, p.out->rqkey, 0x80010000);
	KUNIT_EXPECT_EQ(test, p.out->pkey_index, 3);
	KUNIT_EXPECT_EQ(test, p.out->ah_num, 42);
}

static void wqe_from_user__too_many_segments(struct kunit *test)
{
	static const u32 counts[] = { TEST_MAX_SGE + 1, 256, 0x80000000, U32_MAX };
	struct pair p = pair_alloc(test);
	int i;

	for (i = 0; i < TEST_MAX_SGE; i++)
		add_sge(p.wqe, 0x1000, 8, 1);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RC, IB_WR_SEND), 0);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		p.wqe->dma.num_sge = counts[i];
		KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RC, IB_WR_SEND),
				IB_WC_LOC_LEN_ERR);
		KUNIT_EXPECT_EQ(test, p.out->num_sge, 0);
		KUNIT_EXPECT_EQ(test, p.out->length, 0);
	}
}

static void wqe_from_user__longest_message(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	add_sge(p.wqe, 0, 0x7fffffff, 1);
	add_sge(p.wqe, 0, 1, 1);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RC, IB_WR_RDMA_READ), 0);
	KUNIT_EXPECT_EQ(test, p.out->length, 0x80000000);
	add_sge(p.wqe, 0, 1, 1);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RC, IB_WR_RDMA_READ), IB_WC_LOC_LEN_ERR);
}

static void wqe_from_user__sums_do_not_wrap(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	add_sge(p.wqe, 0, U32_MAX, 1);
	add_sge(p.wqe, 0, 9, 1);	/* 8, if truncated to 32 bits */
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RC, IB_WR_SEND), IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_UD, IB_WR_SEND), IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RC, IB_WR_ATOMIC_FETCH_AND_ADD),
			IB_WC_LOC_LEN_ERR);
}

static void wqe_from_user__datagrams_fit_into_the_mtu(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	add_sge(p.wqe, 0x1000, TEST_MTU, 1);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_UD, IB_WR_SEND), 0);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_GSI, IB_WR_SEND), 0);
	add_sge(p.wqe, 0x1000, 1, 1);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_UD, IB_WR_SEND), IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_GSI, IB_WR_SEND), IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_UC, IB_WR_SEND), 0);
}

static void wqe_from_user__atomics_are_8_bytes(struct kunit *test)
{
	static const u32 wrong[] = { 0, 4, 7, 9, 16 };
	struct pair p = pair_alloc(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		p.wqe->dma.num_sge = 0;
		add_sge(p.wqe, 0x1000, wrong[i], 1);
		KUNIT_EXPECT_EQ_MSG(test, take(&p, IB_QPT_RC, IB_WR_ATOMIC_CMP_AND_SWP),
				    IB_WC_LOC_LEN_ERR, "%u bytes", wrong[i]);
	}
	p.wqe->dma.num_sge = 0;
	add_sge(p.wqe, 0x1000, 4, 1);
	add_sge(p.wqe, 0x2000, 4, 1);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RC, IB_WR_ATOMIC_CMP_AND_SWP), 0);
}

static void fill_inline(struct rxe_send_wqe *wqe, u32 length)
{
	u32 i;

	wqe->wr.send_flags |= IB_SEND_INLINE;
	wqe->dma.length = length;
	for (i = 0; i < min_t(u32, length, TEST_MAX_INLINE); i++)
		wqe->dma.inline_data[i] = i * 7;
}

static void wqe_from_user__inline_data_is_copied(struct kunit *test)
{
	static const u32 lengths[] = { 0, 1, 63, TEST_MAX_INLINE };
	struct pair p = pair_alloc(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		fill_inline(p.wqe, lengths[i]);
		p.wqe->dma.num_sge = U32_MAX;	/* ignored with inline data */
		KUNIT_ASSERT_EQ(test, take(&p, IB_QPT_RC, IB_WR_RDMA_WRITE), 0);
		KUNIT_EXPECT_TRUE(test, p.out->is_inline);
		KUNIT_EXPECT_EQ(test, p.out->length, lengths[i]);
		KUNIT_EXPECT_EQ(test, p.out->num_sge, 0);
		KUNIT_EXPECT_EQ(test, memcmp(p.out->inline_data, p.wqe->dma.inline_data,
					     lengths[i]), 0);
	}
}

static void wqe_from_user__inline_data_too_long(struct kunit *test)
{
	static const u32 lengths[] = { TEST_MAX_INLINE + 1, 0x80000000, U32_MAX };
	struct pair p = pair_alloc(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		fill_inline(p.wqe, lengths[i]);
		KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RC, IB_WR_SEND),
				IB_WC_LOC_LEN_ERR);
		KUNIT_EXPECT_EQ(test, p.out->length, 0);
	}
}

static void wqe_from_user__nothing_is_read_into_inline_data(struct kunit *test)
{
	struct pair p = pair_alloc(test);

	fill_inline(p.wqe, 8);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RC, IB_WR_RDMA_READ), IB_WC_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, take(&p, IB_QPT_RC, IB_WR_ATOMIC_CMP_AND_SWP),
			IB_WC_LOC_QP_OP_ERR);
}

static void wqe_from_user__random_rings_stay_in_bounds(struct kunit *test)
{
	size_t size = verve_send_wqe_size(TEST_MAX_SGE, TEST_MAX_INLINE), i;
	struct pair p = pair_alloc(test);
	u32 state = 0x57514531;
	int round;

	for (round = 0; round < 20000; round++) {
		for (i = 0; i < size; i++) {
			state ^= state << 13;
			state ^= state >> 17;
			state ^= state << 5;
			((u8 *)p.wqe)[i] = state;
		}
		if (round & 1)
			p.wqe->dma.num_sge &= 7;
		if (round & 2)
			p.wqe->dma.length &= 0xff;
		if (take(&p, qp_types[round % 3], p.wqe->wr.opcode & 15))
			continue;
		if (p.out->is_inline && p.out->opcode != IB_WR_ATOMIC_WRITE)
			KUNIT_EXPECT_LE(test, p.out->length, TEST_MAX_INLINE);
		KUNIT_EXPECT_LE(test, p.out->num_sge, TEST_MAX_SGE);
		KUNIT_EXPECT_LE(test, p.out->length, VERVE_MAX_MSG);
	}
}

static void wqe_sizes__hold_the_larger_of_segments_and_inline(struct kunit *test)
{
	size_t head = offsetof(struct verve_swqe, sge);

	/* Each size has room for the value of an ATOMIC_WRITE. */
	KUNIT_EXPECT_EQ(test, verve_send_wqe_size(0, 0), 208 + 8);
	KUNIT_EXPECT_EQ(test, verve_swqe_size(0, 0), head + 8);
	KUNIT_EXPECT_EQ(test, verve_send_wqe_size(2, 0), 208 + 32);
	KUNIT_EXPECT_EQ(test, verve_send_wqe_size(2, 33), 208 + 33);
	KUNIT_EXPECT_EQ(test, verve_swqe_size(3, 0), head + 48);
	KUNIT_EXPECT_EQ(test, verve_swqe_size(3, 48), head + 48);
	KUNIT_EXPECT_EQ(test, verve_swqe_size(3, 49), head + 56);
}

/* Requests of kernel users */

static struct verve_swqe *swqe_alloc(struct kunit *test)
{
	struct verve_swqe *out = kunit_kmalloc(test, verve_swqe_size(TEST_MAX_SGE,
								     TEST_MAX_INLINE),
					       GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, out);
	return out;
}

static void wqe_from_kernel__legal_opcodes_of_each_qp_type(struct kunit *test)
{
	struct ib_ah *ah = kunit_kzalloc(test, sizeof(*ah), GFP_KERNEL);
	struct verve_swqe *out = swqe_alloc(test);
	struct ib_sge sge = { .length = 8 };
	union {
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
		struct ib_ud_wr ud;
	} wr = {};
	struct ib_send_wr *base = &wr.ud.wr;
	u32 opcode;
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ah);
	wr.ud.ah = ah;
	base->sg_list = &sge;
	base->num_sge = 1;
	for (i = 0; i < ARRAY_SIZE(qp_types); i++) {
		struct verve_wqe_limits limits = limits_for(qp_types[i]);

		for (opcode = 0; opcode < 300; opcode++) {
			base->opcode = opcode;
			KUNIT_EXPECT_EQ_MSG(test, verve_wqe_from_kernel(&limits, base, 0, out),
					    is_legal(qp_types[i], opcode, false) ? 0 : -EINVAL,
					    "type %d opcode %u", qp_types[i], opcode);
		}
	}
}

static void wqe_from_kernel__operands_and_segments(struct kunit *test)
{
	struct verve_wqe_limits limits = limits_for(IB_QPT_RC);
	struct verve_swqe *out = swqe_alloc(test);
	struct ib_sge sge[2] = {
		{ .addr = 0x1000, .length = 3, .lkey = 1 },
		{ .addr = 0x2000, .length = 5, .lkey = 2 },
	};
	struct ib_atomic_wr wr = {
		.wr = {
			.opcode = IB_WR_ATOMIC_CMP_AND_SWP,
			.wr_id = 77, .send_flags = IB_SEND_SIGNALED,
			.sg_list = sge, .num_sge = 2,
		},
		.remote_addr = 0x3000, .rkey = 0x4711,
		.compare_add = 11, .swap = 12,
	};

	KUNIT_ASSERT_EQ(test, verve_wqe_from_kernel(&limits, &wr.wr, 0, out), 0);
	KUNIT_EXPECT_EQ(test, out->wr_id, 77);
	KUNIT_EXPECT_EQ(test, out->flags, IB_SEND_SIGNALED);
	KUNIT_EXPECT_EQ(test, out->raddr, 0x3000);
	KUNIT_EXPECT_EQ(test, out->rkey, 0x4711);
	KUNIT_EXPECT_EQ(test, out->compare_add, 11);
	KUNIT_EXPECT_EQ(test, out->swap, 12);
	KUNIT_EXPECT_EQ(test, out->length, 8);
	KUNIT_EXPECT_EQ(test, out->num_sge, 2);
	KUNIT_EXPECT_EQ(test, out->sge[1].addr, 0x2000);
	KUNIT_EXPECT_EQ(test, out->sge[1].length, 5);
	KUNIT_EXPECT_EQ(test, out->sge[1].lkey, 2);
}

static void wqe_from_kernel__datagram_needs_an_address(struct kunit *test)
{
	struct verve_wqe_limits limits = limits_for(IB_QPT_GSI);
	struct ib_ah *ah = kunit_kzalloc(test, sizeof(*ah), GFP_KERNEL);
	struct verve_swqe *out = swqe_alloc(test);
	struct ib_ud_wr wr = {
		.wr.opcode = IB_WR_SEND,
		.remote_qpn = 1, .remote_qkey = 0x80010000, .pkey_index = 5,
	};

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ah);
	KUNIT_EXPECT_EQ(test, verve_wqe_from_kernel(&limits, &wr.wr, 0, out), -EINVAL);
	wr.ah = ah;
	KUNIT_ASSERT_EQ(test, verve_wqe_from_kernel(&limits, &wr.wr, 42, out), 0);
	KUNIT_EXPECT_EQ(test, out->ah_num, 42);
	KUNIT_EXPECT_EQ(test, out->rqpn, 1);
	KUNIT_EXPECT_EQ(test, out->rqkey, 0x80010000);
	KUNIT_EXPECT_EQ(test, out->pkey_index, 5);
}

static void wqe_from_kernel__inline_data_is_gathered(struct kunit *test)
{
	struct verve_wqe_limits limits = limits_for(IB_QPT_RC);
	struct verve_swqe *out = swqe_alloc(test);
	u8 text[] = "gathered from three";
	struct ib_sge sge[3] = {
		{ .addr = (uintptr_t)text, .length = 9 },
		{ .addr = (uintptr_t)text, .length = 0 },
		{ .addr = (uintptr_t)text + 9, .length = 10 },
	};
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND, .send_flags = IB_SEND_INLINE,
		.sg_list = sge, .num_sge = 3,
	};

	KUNIT_ASSERT_EQ(test, verve_wqe_from_kernel(&limits, &wr, 0, out), 0);
	KUNIT_EXPECT_TRUE(test, out->is_inline);
	KUNIT_EXPECT_EQ(test, out->length, 19);
	KUNIT_EXPECT_EQ(test, out->num_sge, 0);
	KUNIT_EXPECT_EQ(test, memcmp(out->inline_data, text, 19), 0);
}

static void wqe_from_kernel__what_is_too_much(struct kunit *test)
{
	struct verve_wqe_limits limits = limits_for(IB_QPT_RC);
	struct verve_swqe *out = swqe_alloc(test);
	struct ib_sge sge[TEST_MAX_SGE + 1] = {
		{ .length = TEST_MAX_INLINE + 1 },
	};
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = sge };

	wr.num_sge = TEST_MAX_SGE;
	KUNIT_EXPECT_EQ(test, verve_wqe_from_kernel(&limits, &wr, 0, out), 0);
	wr.num_sge = TEST_MAX_SGE + 1;
	KUNIT_EXPECT_EQ(test, verve_wqe_from_kernel(&limits, &wr, 0, out), -EINVAL);
	wr.num_sge = -1;
	KUNIT_EXPECT_EQ(test, verve_wqe_from_kernel(&limits, &wr, 0, out), -EINVAL);
	wr.num_sge = 1;
	wr.send_flags = IB_SEND_INLINE;
	KUNIT_EXPECT_EQ(test, verve_wqe_from_kernel(&limits, &wr, 0, out), -EINVAL);
	wr.send_flags = 0;
	sge[0].length = VERVE_MAX_MSG;
	KUNIT_EXPECT_EQ(test, verve_wqe_from_kernel(&limits, &wr, 0, out), 0);
	sge[0].length = VERVE_MAX_MSG + 1;
	KUNIT_EXPECT_EQ(test, verve_wqe_from_kernel(&limits, &wr, 0, out), -EINVAL);
}

static struct kunit_case wqe_cases[] = {
	KUNIT_CASE(wqe_from_user__legal_opcodes_of_each_qp_type),
	KUNIT_CASE(wqe_from_user__huge_opcodes_are_illegal),
	KUNIT_CASE(wqe_from_user__other_qp_types_take_nothing),
	KUNIT_CASE(wqe_from_user__length_is_the_sum_whatever_dma_says),
	KUNIT_CASE(wqe_from_user__no_segments_is_an_empty_message),
	KUNIT_CASE(wqe_from_user__stale_ring_contents_do_not_matter),
	KUNIT_CASE(wqe_from_user__unknown_flags_are_dropped),
	KUNIT_CASE(wqe_from_user__immediate_keeps_its_order),
	KUNIT_CASE(wqe_from_user__rdma_operands),
	KUNIT_CASE(wqe_from_user__atomic_operands),
	KUNIT_CASE(wqe_from_user__datagram_operands),
	KUNIT_CASE(wqe_from_user__too_many_segments),
	KUNIT_CASE(wqe_from_user__longest_message),
	KUNIT_CASE(wqe_from_user__sums_do_not_wrap),
	KUNIT_CASE(wqe_from_user__datagrams_fit_into_the_mtu),
	KUNIT_CASE(wqe_from_user__atomics_are_8_bytes),
	KUNIT_CASE(wqe_from_user__inline_data_is_copied),
	KUNIT_CASE(wqe_from_user__inline_data_too_long),
	KUNIT_CASE(wqe_from_user__nothing_is_read_into_inline_data),
	KUNIT_CASE(wqe_from_user__random_rings_stay_in_bounds),
	KUNIT_CASE(wqe_sizes__hold_the_larger_of_segments_and_inline),
	KUNIT_CASE(wqe_from_kernel__legal_opcodes_of_each_qp_type),
	KUNIT_CASE(wqe_from_kernel__operands_and_segments),
	KUNIT_CASE(wqe_from_kernel__datagram_needs_an_address),
	KUNIT_CASE(wqe_from_kernel__inline_data_is_gathered),
	KUNIT_CASE(wqe_from_kernel__what_is_too_much),
	{}
};

static struct kunit_suite wqe_suite = {
	.name = "verve-wqe",
	.test_cases = wqe_cases,
};

kunit_test_suite(wqe_suite);
