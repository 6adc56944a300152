// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of QP attributes at their limits and beyond
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "qp_state.c"

/* Attribute masks of the transitions that set up a connection */
enum {
	TO_INIT	= IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
		  IB_QP_ACCESS_FLAGS,
	TO_RTR	= IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
		  IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
		  IB_QP_MIN_RNR_TIMER,
	TO_RTS	= IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
		  IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC,
};

/* Legal attributes for these transitions, without the state */
static const struct ib_qp_attr good = {
	.pkey_index		= 0,
	.port_num		= 1,
	.qp_access_flags	= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
				  IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC,
	.path_mtu		= IB_MTU_1024,
	.dest_qp_num		= 17,
	.rq_psn			= 1,
	.sq_psn			= 2,
	.max_dest_rd_atomic	= 16,
	.max_rd_atomic		= 16,
	.min_rnr_timer		= 12,
	.timeout		= 14,
	.retry_cnt		= 7,
	.rnr_retry		= 7,
};

/* A test needs many struct ib_qp_attr, which are too large for its stack. */
static struct ib_qp_attr *good_attr(struct kunit *test)
{
	struct ib_qp_attr *attr = kunit_kmalloc(test, sizeof(*attr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, attr);
	*attr = good;
	return attr;
}

static int move_rc(struct ib_qp_attr *attr, enum ib_qp_state from,
		   enum ib_qp_state to, int mask)
{
	attr->qp_state = to;
	return verve_qp_attr_check(IB_QPT_RC, from, IB_MTU_4096, attr, mask);
}

static int to_init(struct ib_qp_attr *attr)
{
	return move_rc(attr, IB_QPS_RESET, IB_QPS_INIT, TO_INIT);
}

static int to_rtr(struct ib_qp_attr *attr)
{
	return move_rc(attr, IB_QPS_INIT, IB_QPS_RTR, TO_RTR);
}

static int to_rts(struct ib_qp_attr *attr)
{
	return move_rc(attr, IB_QPS_RTR, IB_QPS_RTS, TO_RTS);
}

/* Check a transition with legal attributes, but for one member. */
#define EXPECT_WITH(test, edge, member, value, result)			\
do {									\
	struct ib_qp_attr *attr_ = good_attr(test);			\
									\
	attr_->member = (value);					\
	KUNIT_EXPECT_EQ(test, edge(attr_), result);			\
} while (0)

static void qp_attr__a_connection_is_set_up(struct kunit *test)
{
	struct ib_qp_attr *attr = good_attr(test);

	KUNIT_EXPECT_EQ(test, to_init(attr), 0);
	KUNIT_EXPECT_EQ(test, to_rtr(attr), 0);
	KUNIT_EXPECT_EQ(test, to_rts(attr), 0);
	KUNIT_EXPECT_EQ(test, move_rc(attr, IB_QPS_RTS, IB_QPS_ERR, IB_QP_STATE), 0);
	KUNIT_EXPECT_EQ(test, move_rc(attr, IB_QPS_ERR, IB_QPS_RESET, IB_QP_STATE), 0);
}

static void qp_attr__states_cannot_be_skipped(struct kunit *test)
{
	struct ib_qp_attr *attr = good_attr(test);

	KUNIT_EXPECT_EQ(test, move_rc(attr, IB_QPS_RESET, IB_QPS_RTS, TO_RTS), -EINVAL);
	KUNIT_EXPECT_EQ(test, move_rc(attr, IB_QPS_RESET, IB_QPS_RTR, TO_RTR), -EINVAL);
	KUNIT_EXPECT_EQ(test, move_rc(attr, IB_QPS_INIT, IB_QPS_RTS, TO_RTS), -EINVAL);
	KUNIT_EXPECT_EQ(test, move_rc(attr, IB_QPS_ERR, IB_QPS_INIT, TO_INIT), -EINVAL);
}

static void qp_attr__current_state_must_be_known_right(struct kunit *test)
{
	struct ib_qp_attr *attr = good_attr(test);
	int mask = IB_QP_STATE | IB_QP_CUR_STATE;

	attr->cur_qp_state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, move_rc(attr, IB_QPS_RTS, IB_QPS_RTS, mask), 0);
	attr->cur_qp_state = IB_QPS_SQE;
	KUNIT_EXPECT_EQ(test, move_rc(attr, IB_QPS_RTS, IB_QPS_RTS, mask), -EINVAL);
}

static void qp_attr__nothing_changed_without_a_state(struct kunit *test)
{
	struct ib_qp_attr *attr = good_attr(test);

	attr->qp_state = IB_QPS_RESET;	/* ignored without IB_QP_STATE */
	KUNIT_EXPECT_EQ(test, verve_qp_attr_check(IB_QPT_RC, IB_QPS_RTS, IB_MTU_4096,
						  attr, IB_QP_MIN_RNR_TIMER), 0);
}

static void qp_attr__what_is_not_supported(struct kunit *test)
{
	struct ib_qp_attr *attr = good_attr(test);

	KUNIT_EXPECT_EQ(test, move_rc(attr, IB_QPS_INIT, IB_QPS_RTR,
				      TO_RTR | IB_QP_ALT_PATH), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, move_rc(attr, IB_QPS_RTR, IB_QPS_RTS,
				      TO_RTS | IB_QP_RATE_LIMIT), -EOPNOTSUPP);
}

static void qp_attr__values_for_init(struct kunit *test)
{
	EXPECT_WITH(test, to_init, port_num, 0, -EINVAL);
	EXPECT_WITH(test, to_init, port_num, 2, -EINVAL);
	EXPECT_WITH(test, to_init, pkey_index, 1, -EINVAL);
	EXPECT_WITH(test, to_init, pkey_index, 0xffff, -EINVAL);
	EXPECT_WITH(test, to_init, qp_access_flags, 0, 0);
	EXPECT_WITH(test, to_init, qp_access_flags, IB_ACCESS_FLUSH_GLOBAL, 0);
	EXPECT_WITH(test, to_init, qp_access_flags, IB_ACCESS_MW_BIND, 0);
	EXPECT_WITH(test, to_init, qp_access_flags, IB_ACCESS_ON_DEMAND, 0);
	EXPECT_WITH(test, to_init, qp_access_flags, 1 << 5, -EINVAL);
	EXPECT_WITH(test, to_init, qp_access_flags, -1, -EINVAL);
}

static void qp_attr__values_for_ready_to_receive(struct kunit *test)
{
	EXPECT_WITH(test, to_rtr, path_mtu, IB_MTU_256, 0);
	EXPECT_WITH(test, to_rtr, path_mtu, IB_MTU_4096, 0);
	EXPECT_WITH(test, to_rtr, path_mtu, 0, -EINVAL);
	EXPECT_WITH(test, to_rtr, path_mtu, IB_MTU_4096 + 1, -EINVAL);
	EXPECT_WITH(test, to_rtr, dest_qp_num, 0xffffff, 0);
	EXPECT_WITH(test, to_rtr, dest_qp_num, 0x1000000, -EINVAL);
	EXPECT_WITH(test, to_rtr, max_dest_rd_atomic, 0, 0);
	EXPECT_WITH(test, to_rtr, max_dest_rd_atomic, 128, 0);
	EXPECT_WITH(test, to_rtr, max_dest_rd_atomic, 129, -EINVAL);
	EXPECT_WITH(test, to_rtr, min_rnr_timer, 31, 0);
	EXPECT_WITH(test, to_rtr, min_rnr_timer, 32, -EINVAL);
}

static void qp_attr__values_for_ready_to_send(struct kunit *test)
{
	EXPECT_WITH(test, to_rts, timeout, 0, 0);
	EXPECT_WITH(test, to_rts, timeout, 31, 0);
	EXPECT_WITH(test, to_rts, timeout, 32, -EINVAL);
	EXPECT_WITH(test, to_rts, retry_cnt, 8, -EINVAL);
	EXPECT_WITH(test, to_rts, rnr_retry, 8, -EINVAL);
	EXPECT_WITH(test, to_rts, max_rd_atomic, 0, 0);
	EXPECT_WITH(test, to_rts, max_rd_atomic, 128, 0);
	EXPECT_WITH(test, to_rts, max_rd_atomic, 129, -EINVAL);
}

static void qp_attr__path_mtu_is_the_ports_at_most(struct kunit *test)
{
	struct ib_qp_attr *attr = good_attr(test);

	attr->qp_state = IB_QPS_RTR;
	KUNIT_EXPECT_EQ(test, verve_qp_attr_check(IB_QPT_RC, IB_QPS_INIT, IB_MTU_1024,
						  attr, TO_RTR), 0);
	KUNIT_EXPECT_EQ(test, verve_qp_attr_check(IB_QPT_RC, IB_QPS_INIT, IB_MTU_512,
						  attr, TO_RTR), -EINVAL);
}

static void qp_attr__values_outside_the_mask_do_not_matter(struct kunit *test)
{
	struct ib_qp_attr *attr = good_attr(test);

	memset(attr, 0xff, sizeof(*attr));
	KUNIT_EXPECT_EQ(test, move_rc(attr, IB_QPS_RTS, IB_QPS_ERR, IB_QP_STATE), 0);
}

static struct kunit_case qp_state_cases[] = {
	KUNIT_CASE(qp_attr__a_connection_is_set_up),
	KUNIT_CASE(qp_attr__states_cannot_be_skipped),
	KUNIT_CASE(qp_attr__current_state_must_be_known_right),
	KUNIT_CASE(qp_attr__nothing_changed_without_a_state),
	KUNIT_CASE(qp_attr__what_is_not_supported),
	KUNIT_CASE(qp_attr__values_for_init),
	KUNIT_CASE(qp_attr__values_for_ready_to_receive),
	KUNIT_CASE(qp_attr__values_for_ready_to_send),
	KUNIT_CASE(qp_attr__path_mtu_is_the_ports_at_most),
	KUNIT_CASE(qp_attr__values_outside_the_mask_do_not_matter),
	{}
};

static struct kunit_suite qp_state_suite = {
	.name = "verve-qp-state",
	.test_cases = qp_state_cases,
};

kunit_test_suite(qp_state_suite);
