// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of each field of local send requests. wqe_test.c tests which QP types
 * take them, and includes the code under test.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "wqe.h"

enum {
	TEST_MAX_SGE	= 2,
};

static const struct verve_wqe_limits limits = {
	.qp_type = IB_QPT_RC,
	.max_sge = TEST_MAX_SGE,
	.mtu = 1024,
};

/* Allocate a ring element of exact size, full of garbage. */
static struct rxe_send_wqe *wqe_alloc(struct kunit *test, u32 opcode)
{
	size_t size = verve_send_wqe_size(TEST_MAX_SGE, 0);
	struct rxe_send_wqe *wqe = kunit_kmalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, wqe);
	memset(wqe, 0xa5, size);
	wqe->wr.opcode = opcode;
	wqe->wr.send_flags = 0;
	return wqe;
}

static struct verve_swqe *swqe_alloc(struct kunit *test)
{
	size_t size = verve_swqe_size(TEST_MAX_SGE, 0);
	struct verve_swqe *out = kunit_kmalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, out);
	memset(out, 0x5a, size);
	return out;
}

static void wqe_from_user__invalidate_operand(struct kunit *test)
{
	static const u32 opcodes[] = { IB_WR_SEND_WITH_INV, IB_WR_LOCAL_INV };
	struct verve_swqe *out = swqe_alloc(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct rxe_send_wqe *wqe = wqe_alloc(test, opcodes[i]);

		wqe->wr.ex.invalidate_rkey = 0x12345678;
		wqe->dma.num_sge = 0;
		verve_wqe_from_user(&limits, wqe, out);
		KUNIT_EXPECT_EQ(test, out->error, 0);
		KUNIT_EXPECT_EQ(test, out->inv_rkey, 0x12345678);
		KUNIT_EXPECT_EQ(test, verve_swqe_is_local(out), i == 1);
	}
}

static void wqe_from_user__bind_operands(struct kunit *test)
{
	struct rxe_send_wqe *wqe = wqe_alloc(test, IB_WR_BIND_MW);
	struct verve_swqe *out = swqe_alloc(test);

	wqe->wr.wr.mw.addr = 0x1122334455667788;
	wqe->wr.wr.mw.length = 0x8877665544332211;
	wqe->wr.wr.mw.mr_lkey = 1;
	wqe->wr.wr.mw.mw_rkey = 2;
	wqe->wr.wr.mw.rkey = 3;
	wqe->wr.wr.mw.access = 4;
	verve_wqe_from_user(&limits, wqe, out);
	KUNIT_ASSERT_EQ(test, out->error, 0);
	KUNIT_EXPECT_TRUE(test, verve_swqe_is_local(out));
	KUNIT_EXPECT_EQ(test, out->addr, 0x1122334455667788);
	KUNIT_EXPECT_EQ(test, out->bytes, 0x8877665544332211);
	KUNIT_EXPECT_EQ(test, out->mr_lkey, 1);
	KUNIT_EXPECT_EQ(test, out->mw_rkey, 2);
	KUNIT_EXPECT_EQ(test, out->key, 3);
	KUNIT_EXPECT_EQ(test, out->access, 4);
}

/* The segments are garbage, in number and length, and must not matter. */
static void wqe_from_user__local_requests_have_no_data(struct kunit *test)
{
	static const u32 opcodes[] = { IB_WR_LOCAL_INV, IB_WR_BIND_MW };
	struct verve_swqe *out = swqe_alloc(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct rxe_send_wqe *wqe = wqe_alloc(test, opcodes[i]);

		verve_wqe_from_user(&limits, wqe, out);
		KUNIT_EXPECT_EQ(test, out->error, 0);
		KUNIT_EXPECT_EQ(test, out->length, 0);
		KUNIT_EXPECT_EQ(test, out->num_sge, 0);
		wqe->wr.send_flags = IB_SEND_INLINE;
		verve_wqe_from_user(&limits, wqe, out);
		KUNIT_EXPECT_EQ(test, out->error, IB_WC_LOC_QP_OP_ERR);
	}
}

static void wqe_from_kernel__register_operands(struct kunit *test)
{
	struct verve_swqe *out = swqe_alloc(test);
	struct ib_mr mr;
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR, .num_sge = -1 },
		.mr = &mr, .key = 0x4711, .access = 7,
	};

	KUNIT_ASSERT_EQ(test, verve_wqe_from_kernel(&limits, &wr.wr, 0, out), 0);
	KUNIT_EXPECT_TRUE(test, verve_swqe_is_local(out));
	KUNIT_EXPECT_TRUE(test, out->mr == &mr);
	KUNIT_EXPECT_EQ(test, out->key, 0x4711);
	KUNIT_EXPECT_EQ(test, out->access, 7);
	KUNIT_EXPECT_EQ(test, out->num_sge, 0);
}

static struct kunit_case wqe_local_cases[] = {
	KUNIT_CASE(wqe_from_user__invalidate_operand),
	KUNIT_CASE(wqe_from_user__bind_operands),
	KUNIT_CASE(wqe_from_user__local_requests_have_no_data),
	KUNIT_CASE(wqe_from_kernel__register_operands),
	{}
};

static struct kunit_suite wqe_local_suite = {
	.name = "verve-wqe-local",
	.test_cases = wqe_local_cases,
};

kunit_test_suite(wqe_local_suite);
