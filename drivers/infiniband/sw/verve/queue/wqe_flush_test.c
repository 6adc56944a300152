// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of send requests of the memory placement extensions, FLUSH and
 * ATOMIC_WRITE, in librxe's format. wqe_test.c includes the code under test.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "../wire/headers.h"
#include "wqe.h"

/* Offsets of a FLUSH's operands in librxe's request, and values from the IBTA */
enum {
	FLUSH_ADDR_AT	= 24,
	FLUSH_RKEY_AT	= 36,
	FLUSH_TYPE_AT	= 40,
	FLUSH_LEVEL_AT	= 41,
	VALUE_AT	= 208,
};

static const struct verve_wqe_limits limits = { .qp_type = IB_QPT_RC };

/* Allocate an element of minimum size, for a queue without segments and inline data. */
static struct rxe_send_wqe *wqe_alloc(struct kunit *test, u32 opcode)
{
	size_t size = verve_send_wqe_size(0, 0);
	struct rxe_send_wqe *wqe = kunit_kmalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, wqe);
	memset(wqe, 0xa5, size);
	wqe->wr.opcode = opcode;
	wqe->wr.send_flags = IB_SEND_SIGNALED;
	wqe->dma.num_sge = 0;
	return wqe;
}

static struct verve_swqe *take(struct kunit *test,
			       const struct verve_wqe_limits *limits,
			       const struct rxe_send_wqe *wqe)
{
	struct verve_swqe *out = kunit_kmalloc(test, verve_swqe_size(0, 0),
					       GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, out);
	verve_wqe_from_user(limits, wqe, out);
	return out;
}

static struct verve_swqe *take_flush(struct kunit *test, u8 type, u8 level,
				     u32 length)
{
	static const u64 addr = 0xfedcba9876543210;
	static const u32 rkey = 0x4714;
	struct rxe_send_wqe *wqe = wqe_alloc(test, IB_WR_FLUSH);
	u8 *bytes = (u8 *)wqe;

	memcpy(bytes + FLUSH_ADDR_AT, &addr, sizeof(addr));
	memcpy(bytes + FLUSH_RKEY_AT, &rkey, sizeof(rkey));
	bytes[FLUSH_TYPE_AT] = type;
	bytes[FLUSH_LEVEL_AT] = level;
	wqe->dma.length = length;
	return take(test, &limits, wqe);
}

static void flush__operands(struct kunit *test)
{
	struct verve_swqe *out = take_flush(test, 3, 1, 0x80000000);

	KUNIT_EXPECT_EQ(test, out->error, 0);
	KUNIT_EXPECT_EQ(test, out->opcode, IB_WR_FLUSH);
	KUNIT_EXPECT_EQ(test, out->raddr, 0xfedcba9876543210);
	KUNIT_EXPECT_EQ(test, out->rkey, 0x4714);
	KUNIT_EXPECT_EQ(test, out->length, 0x80000000);
	KUNIT_EXPECT_EQ(test, out->num_sge, 0);
	KUNIT_EXPECT_FALSE(test, out->is_inline);
	KUNIT_EXPECT_EQ(test, out->feth, VERVE_FETH_GLOBAL |
			VERVE_FETH_PERSISTENT | VERVE_FETH_MR);
	KUNIT_EXPECT_EQ(test, take_flush(test, 1, 0, 8)->feth,
			VERVE_FETH_GLOBAL | VERVE_FETH_RANGE);
}

static void flush__what_is_no_flush(struct kunit *test)
{
	static const struct {
		u8 type, level;
	} wrong[] = {
		{ 0, 0 }, { 0, 1 }, { 4, 0 }, { 5, 0 }, { 0xff, 1 }, { 1, 2 },
		{ 1, 0xff },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    take_flush(test, wrong[i].type,
					       wrong[i].level, 8)->error,
				    IB_WC_LOC_QP_OP_ERR, "row %d", i);
	KUNIT_EXPECT_EQ(test, take_flush(test, 1, 0, 0x80000001)->error,
			IB_WC_LOC_LEN_ERR);
}

static void flush__has_no_inline_data(struct kunit *test)
{
	struct rxe_send_wqe *wqe = wqe_alloc(test, IB_WR_FLUSH);

	wqe->wr.send_flags |= IB_SEND_INLINE;
	KUNIT_EXPECT_EQ(test, take(test, &limits, wqe)->error,
			IB_WC_LOC_QP_OP_ERR);
}

static void atomic_write__operands(struct kunit *test)
{
	static const u8 value[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct rxe_send_wqe *wqe = wqe_alloc(test, IB_WR_ATOMIC_WRITE);
	struct verve_swqe *out;

	wqe->wr.wr.rdma.remote_addr = 0x1008;
	wqe->wr.wr.rdma.rkey = 0x4715;
	wqe->dma.length = 8;
	memcpy((u8 *)wqe + VALUE_AT, value, sizeof(value));
	out = take(test, &limits, wqe);
	KUNIT_EXPECT_EQ(test, out->error, 0);
	KUNIT_EXPECT_EQ(test, out->raddr, 0x1008);
	KUNIT_EXPECT_EQ(test, out->rkey, 0x4715);
	KUNIT_EXPECT_EQ(test, out->length, 8);
	KUNIT_EXPECT_TRUE(test, out->is_inline);
	KUNIT_EXPECT_EQ(test, memcmp(out->inline_data, value, 8), 0);
}

static void atomic_write__is_8_bytes(struct kunit *test)
{
	static const u32 wrong[] = { 0, 4, 7, 9, 16, U32_MAX };
	struct rxe_send_wqe *wqe = wqe_alloc(test, IB_WR_ATOMIC_WRITE);
	int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		wqe->dma.length = wrong[i];
		KUNIT_EXPECT_EQ_MSG(test, take(test, &limits, wqe)->error,
				    IB_WC_LOC_LEN_ERR, "%u bytes", wrong[i]);
	}
}

static void flush__of_rc_only(struct kunit *test)
{
	static const enum ib_qp_type others[] = {
		IB_QPT_UC, IB_QPT_UD, IB_QPT_GSI,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		struct verve_wqe_limits limits = { .qp_type = others[i] };
		struct rxe_send_wqe *wqe;

		wqe = wqe_alloc(test, IB_WR_ATOMIC_WRITE);
		KUNIT_EXPECT_EQ(test, take(test, &limits, wqe)->error,
				IB_WC_LOC_QP_OP_ERR);
		wqe->wr.opcode = IB_WR_FLUSH;
		KUNIT_EXPECT_EQ(test, take(test, &limits, wqe)->error,
				IB_WC_LOC_QP_OP_ERR);
	}
}

static void wqe_tail__stays_in_the_element(struct kunit *test)
{
	struct verve_wqe_limits limits = { .max_sge = 2, .max_inline = 32 };
	struct rxe_send_wqe *wqe = wqe_alloc(test, IB_WR_SEND);

	KUNIT_EXPECT_EQ(test, verve_wqe_tail(&limits, wqe), 0);
	wqe->dma.num_sge = 1;
	KUNIT_EXPECT_EQ(test, verve_wqe_tail(&limits, wqe), 16);
	wqe->dma.num_sge = U32_MAX;
	KUNIT_EXPECT_EQ(test, verve_wqe_tail(&limits, wqe), 32);
	wqe->wr.send_flags = IB_SEND_INLINE;
	wqe->dma.length = 5;
	KUNIT_EXPECT_EQ(test, verve_wqe_tail(&limits, wqe), 5);
	wqe->dma.length = U32_MAX;
	KUNIT_EXPECT_EQ(test, verve_wqe_tail(&limits, wqe), 32);
	wqe->wr.opcode = IB_WR_ATOMIC_WRITE;
	KUNIT_EXPECT_EQ(test, verve_wqe_tail(&limits, wqe), 8);
}

static struct kunit_case wqe_flush_cases[] = {
	KUNIT_CASE(flush__operands),
	KUNIT_CASE(flush__what_is_no_flush),
	KUNIT_CASE(flush__has_no_inline_data),
	KUNIT_CASE(atomic_write__operands),
	KUNIT_CASE(atomic_write__is_8_bytes),
	KUNIT_CASE(flush__of_rc_only),
	KUNIT_CASE(wqe_tail__stays_in_the_element),
	{}
};

static struct kunit_suite wqe_flush_suite = {
	.name = "verve-placement",
	.test_cases = wqe_flush_cases,
};

kunit_test_suite(wqe_flush_suite);
