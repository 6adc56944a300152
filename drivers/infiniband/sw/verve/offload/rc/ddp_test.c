// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit test of DDP: when placed payload is accepted, and when the NIC is stopped
 */
#include <kunit/test.h>

/* Mocks of the NIC and of memory */
#define verve_nic_has_placed ddp_test_has_placed
#define verve_nic_wants_sync ddp_test_wants_sync
#define verve_nic_sync ddp_test_sync
#define verve_nic_stop ddp_test_stop
#define verve_arrival_is_in_place ddp_test_is_in_place
#define verve_iter_skip ddp_test_skip
#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
#define verve_stall_is_on ddp_test_stalls
#endif

#include "../../transport/transport.h"

/* Mocks of counters: the module's tracepoints and per-CPU counters are absent here. */
#undef verve_qp_drop
#define verve_qp_drop(qp, reason) ((void)(qp), nic.count_##reason++)
#undef verve_count
#define verve_count(owner, name, n) ((void)(owner), nic.count_##name += (n))

enum { LENGTH = 1024, EPSN = 0 };

static struct {
	bool has_placed, wants_sync, answer, is_in_place, stalls;
	u32 synced_psn;
	unsigned int syncs, stops, count_rx_drop_ddp;
	u64 count_rx_ddp_pkts, count_rx_ddp_bytes, skipped;
} nic;

#include "ddp.c"

bool ddp_test_has_placed(const struct verve_qp *qp)
{
	return nic.has_placed;
}

bool ddp_test_wants_sync(struct verve_qp *qp, u32 psn)
{
	nic.synced_psn = psn;
	return nic.wants_sync;
}

bool ddp_test_sync(struct verve_qp *qp)
{
	nic.syncs++;
	return nic.answer;
}

void ddp_test_stop(struct verve_qp *qp)
{
	nic.stops++;
}

bool ddp_test_is_in_place(const struct verve_arrival *arrival,
			  const struct verve_iter *to, u32 len)
{
	return nic.is_in_place;
}

int ddp_test_skip(struct verve_iter *it, u32 len)
{
	nic.skipped += len;
	return 0;
}

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
bool ddp_test_stalls(const struct verve_qp *qp, enum verve_stall_part part)
{
	return nic.stalls;
}
#endif

/* A QP in the middle of a WRITE, and a NIC that places its payload */
static struct verve_qp *new_qp(struct kunit *test)
{
	struct verve_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qp);
	qp->state = IB_QPS_RTS;
	qp->resp.message.op = VERVE_OP_WRITE;
	qp->resp.epsn = EPSN;
	memset(&nic, 0, sizeof(nic));
	nic.has_placed = true;
	nic.wants_sync = true;
	nic.answer = true;
	nic.is_in_place = true;
	return qp;
}

static const struct verve_arrival plain = { .pdu.length = LENGTH };
static const struct verve_arrival placed = {
	.pdu.length = LENGTH,
	.pdu.flags = VERVE_PDU_PLACED,
};

static void ddp_without_a_nic(struct kunit *test)
{
	struct verve_qp *qp = new_qp(test);

	KUNIT_EXPECT_TRUE(test, verve_ddp_admits(qp, &plain));
	KUNIT_EXPECT_FALSE(test, verve_ddp_skip(qp, &plain));
	nic.has_placed = false;
	KUNIT_EXPECT_FALSE(test, verve_ddp_is_placed(qp, &placed));
	KUNIT_EXPECT_TRUE(test, verve_ddp_admits(qp, &placed));
	KUNIT_EXPECT_FALSE(test, verve_ddp_skip(qp, &placed));
	KUNIT_EXPECT_EQ(test, nic.stops, 0);
	KUNIT_EXPECT_EQ(test, nic.count_rx_drop_ddp, 0);
}

static void ddp_in_a_run(struct kunit *test)
{
	struct verve_qp *qp = new_qp(test);

	qp->resp.in_ddp = true;
	KUNIT_EXPECT_TRUE(test, verve_ddp_admits(qp, &placed));
	KUNIT_EXPECT_TRUE(test, verve_ddp_skip(qp, &placed));
	KUNIT_EXPECT_EQ(test, nic.skipped, LENGTH);
	KUNIT_EXPECT_EQ(test, nic.count_rx_ddp_pkts, 1);
	KUNIT_EXPECT_EQ(test, nic.count_rx_ddp_bytes, LENGTH);
	KUNIT_EXPECT_TRUE(test, qp->resp.in_ddp);
}

/* After a run has ended, the rest of it may have been overwritten. */
static void ddp_after_a_run(struct kunit *test)
{
	struct verve_qp *qp = new_qp(test);

	KUNIT_EXPECT_FALSE(test, verve_ddp_admits(qp, &placed));
	KUNIT_EXPECT_EQ(test, nic.count_rx_drop_ddp, 1);
	KUNIT_EXPECT_TRUE(test, qp->resp.ack.nak_due);
}

static void ddp_ends_by_a_packet(struct kunit *test)
{
	struct verve_qp *qp = new_qp(test);

	qp->resp.in_ddp = true;
	KUNIT_EXPECT_TRUE(test, verve_ddp_admits(qp, &plain));
	KUNIT_EXPECT_FALSE(test, qp->resp.in_ddp);
	KUNIT_EXPECT_EQ(test, nic.stops, 1);
	KUNIT_EXPECT_FALSE(test, verve_ddp_admits(qp, &placed));
	verve_ddp_stop(qp);
	KUNIT_EXPECT_EQ(test, nic.stops, 1);
}

static void ddp_elsewhere(struct kunit *test)
{
	struct verve_qp *qp = new_qp(test);

	qp->resp.in_ddp = true;
	nic.is_in_place = false;
	KUNIT_EXPECT_FALSE(test, verve_ddp_skip(qp, &placed));
	KUNIT_EXPECT_FALSE(test, qp->resp.in_ddp);
	KUNIT_EXPECT_EQ(test, nic.stops, 1);
	KUNIT_EXPECT_EQ(test, nic.skipped, 0);
}

/* Only the payload of a WRITE has a destination before the responder executes it. */
static void ddp_writes_only(struct kunit *test)
{
	struct verve_qp *qp = new_qp(test);

	qp->resp.in_ddp = true;
	qp->resp.message.op = VERVE_OP_SEND;
	KUNIT_EXPECT_FALSE(test, verve_ddp_skip(qp, &placed));
	KUNIT_EXPECT_EQ(test, nic.skipped, 0);
}

static bool begins(struct verve_qp *qp)
{
	qp->resp.in_ddp = false;
	verve_ddp_round_end(qp);
	return qp->resp.in_ddp;
}

static void ddp_begins(struct kunit *test)
{
	struct verve_qp *qp = new_qp(test);

	KUNIT_EXPECT_TRUE(test, begins(qp));
	KUNIT_EXPECT_EQ(test, nic.synced_psn, VERVE_PSN_MASK);
	qp->resp.message.op = 0;
	KUNIT_EXPECT_TRUE(test, begins(qp));
	qp->state = IB_QPS_RTR;
	KUNIT_EXPECT_TRUE(test, begins(qp));
	KUNIT_EXPECT_EQ(test, nic.syncs, 3);
	nic.answer = false;
	KUNIT_EXPECT_FALSE(test, begins(qp));
	KUNIT_EXPECT_EQ(test, nic.syncs, 4);
	nic.wants_sync = false;
	KUNIT_EXPECT_FALSE(test, begins(qp));
	KUNIT_EXPECT_EQ(test, nic.syncs, 4);
}

static void ddp_does_not_begin(struct kunit *test)
{
	struct verve_qp *qp = new_qp(test);

	qp->state = IB_QPS_INIT;
	KUNIT_EXPECT_FALSE(test, begins(qp));
	qp->state = IB_QPS_ERR;
	KUNIT_EXPECT_FALSE(test, begins(qp));
	qp->state = IB_QPS_RTS;
	qp->resp.ooo.count = 1;
	KUNIT_EXPECT_FALSE(test, begins(qp));
	qp->resp.ooo.count = 0;
	qp->resp.ack.fatal_nak = 1;
	KUNIT_EXPECT_FALSE(test, begins(qp));
	qp->resp.ack.fatal_nak = 0;
	qp->resp.message.op = VERVE_OP_SEND;
	KUNIT_EXPECT_FALSE(test, begins(qp));
#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
	qp->resp.message.op = 0;
	nic.stalls = true;
	KUNIT_EXPECT_FALSE(test, begins(qp));
#endif
}

static struct kunit_case verve_ddp_cases[] = {
	KUNIT_CASE(ddp_without_a_nic),
	KUNIT_CASE(ddp_in_a_run),
	KUNIT_CASE(ddp_after_a_run),
	KUNIT_CASE(ddp_ends_by_a_packet),
	KUNIT_CASE(ddp_elsewhere),
	KUNIT_CASE(ddp_writes_only),
	KUNIT_CASE(ddp_begins),
	KUNIT_CASE(ddp_does_not_begin),
	{}
};

static struct kunit_suite verve_ddp_suite = {
	.name = "verve_ddp",
	.test_cases = verve_ddp_cases,
};

kunit_test_suite(verve_ddp_suite);
