// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit test of DDP: when placed payload is accepted, and when the NIC is stopped
 */
#include <kunit/test.h>

/* Mocks of the NIC and of memory */
#define verve_nic_has_placed ddp_test_has_placed
#define verve_nic_is_stopped ddp_test_is_stopped
#define verve_nic_is_placing ddp_test_is_placing
#define verve_nic_is_passed ddp_test_is_passed
#define verve_nic_rx_after ddp_test_rx_after
#define verve_nic_start ddp_test_start
#define verve_nic_stop ddp_test_stop
#define verve_rc_offload_is_due ddp_test_is_rc_due
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

enum { LENGTH = 1024, EPSN = 0, AFTER = 4096 };

static struct {
	bool has_placed, is_passed, refuses, is_in_place, stalls, is_rc_due;
	enum { STOPPED, STARTING, PLACING, STOPPING } state;
	u32 passed_psn, after;
	unsigned int starts, stops, count_rx_drop_ddp;
	u64 count_rx_ddp_pkts, count_rx_ddp_bytes, skipped;
} nic;

#include "ddp.c"

bool ddp_test_has_placed(const struct verve_qp *qp)
{
	return nic.has_placed;
}

bool ddp_test_is_stopped(const struct verve_qp *qp)
{
	return nic.state == STOPPED;
}

bool ddp_test_is_placing(const struct verve_qp *qp)
{
	return nic.state == PLACING;
}

bool ddp_test_is_passed(struct verve_qp *qp, u32 psn)
{
	nic.passed_psn = psn;
	return nic.is_passed;
}

u32 ddp_test_rx_after(const struct verve_qp *qp)
{
	return nic.after;
}

bool ddp_test_is_rc_due(const struct verve_qp *qp)
{
	return nic.is_rc_due;
}

bool ddp_test_start(struct verve_qp *qp)
{
	nic.starts++;
	if (nic.refuses)
		return false;
	nic.state = STARTING;
	return true;
}

void ddp_test_stop(struct verve_qp *qp)
{
	nic.stops++;
	nic.state = STOPPING;
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

/* A QP in the middle of a WRITE, and a NIC that could place its payload */
static struct verve_qp *new_qp(struct kunit *test)
{
	struct verve_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qp);
	qp->state = IB_QPS_RTS;
	qp->attr.retry_cnt = 7;
	qp->resp.message.op = VERVE_OP_WRITE;
	qp->resp.epsn = EPSN;
	memset(&nic, 0, sizeof(nic));
	nic.has_placed = true;
	nic.is_passed = true;
	nic.is_in_place = true;
	nic.after = AFTER;
	return qp;
}

static const struct verve_arrival plain = { .pdu.length = LENGTH };
static const struct verve_arrival placed = {
	.pdu.length = LENGTH,
	.pdu.flags = VERVE_PDU_PLACED,
};

static enum verve_ddp_payload take(struct verve_qp *qp,
				   const struct verve_arrival *arrival)
{
	enum verve_ddp_payload payload = VERVE_DDP_LOST;

	if (verve_ddp_admits(qp, arrival))
		payload = verve_ddp_place(qp, arrival);
	if (payload == VERVE_DDP_NOT_PLACED)
		verve_ddp_copied(qp, &arrival->pdu);
	return payload;
}

static void end_round(struct verve_qp *qp)
{
	verve_ddp_answer(qp);
	verve_ddp_round_end(qp);
}

static void copy(struct verve_qp *qp, unsigned int packets)
{
	while (packets--)
		take(qp, &plain);
	end_round(qp);
}

/* The NIC is asked to begin a run, and does. */
static struct verve_qp *new_run(struct kunit *test)
{
	struct verve_qp *qp = new_qp(test);

	copy(qp, AFTER / LENGTH);
	KUNIT_ASSERT_EQ(test, nic.state, STARTING);
	nic.state = PLACING;
	return qp;
}

static bool has_nak(struct verve_qp *qp)
{
	bool has = qp->resp.ack.nak_due;

	qp->resp.ack.nak_due = false;
	return has;
}

/* No NAK before the NIC has stopped, and then one */
static void expect_nak_after_stop(struct kunit *test, struct verve_qp *qp)
{
	end_round(qp);
	KUNIT_EXPECT_FALSE(test, has_nak(qp));
	nic.state = STOPPED;
	end_round(qp);
	KUNIT_EXPECT_TRUE(test, has_nak(qp));
}

static void ddp_without_a_nic(struct kunit *test)
{
	struct verve_qp *qp = new_qp(test);

	nic.has_placed = false;
	nic.after = 0;
	copy(qp, 100);
	KUNIT_EXPECT_EQ(test, take(qp, &plain), VERVE_DDP_NOT_PLACED);
	KUNIT_EXPECT_EQ(test, take(qp, &placed), VERVE_DDP_NOT_PLACED);
	KUNIT_EXPECT_TRUE(test, verve_ddp_keeps(qp, &placed));
	verve_ddp_stop(qp);
	KUNIT_EXPECT_TRUE(test, verve_ddp_is_over(qp));
	KUNIT_EXPECT_EQ(test, nic.starts + nic.stops, 0);
	KUNIT_EXPECT_EQ(test, nic.count_rx_drop_ddp, 0);
}

static void ddp_in_a_run(struct kunit *test)
{
	struct verve_qp *qp = new_run(test);

	KUNIT_EXPECT_EQ(test, take(qp, &placed), VERVE_DDP_PLACED);
	KUNIT_EXPECT_EQ(test, nic.skipped, LENGTH);
	KUNIT_EXPECT_EQ(test, nic.count_rx_ddp_pkts, 1);
	KUNIT_EXPECT_EQ(test, nic.count_rx_ddp_bytes, LENGTH);
	KUNIT_EXPECT_FALSE(test, verve_ddp_is_over(qp));
	KUNIT_EXPECT_EQ(test, nic.stops, 0);
}

/* Software executes nothing before the answer, after which the peer repeats it. */
static void ddp_while_it_begins(struct kunit *test)
{
	const struct verve_arrival later = { .pdu.psn = EPSN + 3 };
	struct verve_qp *qp = new_run(test);

	nic.state = STARTING;
	KUNIT_EXPECT_EQ(test, take(qp, &plain), VERVE_DDP_LOST);
	KUNIT_EXPECT_FALSE(test, verve_ddp_keeps(qp, &later));
	KUNIT_EXPECT_EQ(test, nic.count_rx_drop_ddp, 2);
	end_round(qp);
	KUNIT_EXPECT_FALSE(test, has_nak(qp));
	nic.state = PLACING;
	qp->resp.ack.nak_sent = true;
	end_round(qp);
	KUNIT_EXPECT_TRUE(test, has_nak(qp));
	KUNIT_EXPECT_EQ(test, qp->resp.ack.nak_psn, EPSN + 3);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.nak_sent);
	end_round(qp);
	KUNIT_EXPECT_FALSE(test, has_nak(qp));
	KUNIT_EXPECT_EQ(test, nic.stops, 0);
}

/* The NIC has ended the run, in front of a packet that it cannot place. */
static void ddp_after_a_run(struct kunit *test)
{
	struct verve_qp *qp = new_run(test);

	nic.state = STOPPED;
	KUNIT_EXPECT_EQ(test, take(qp, &placed), VERVE_DDP_PLACED);
	KUNIT_EXPECT_EQ(test, take(qp, &plain), VERVE_DDP_NOT_PLACED);
	KUNIT_EXPECT_EQ(test, nic.stops, 0);
	/* The copy may have overwritten it. */
	KUNIT_EXPECT_EQ(test, take(qp, &placed), VERVE_DDP_LOST);
	KUNIT_EXPECT_FALSE(test, verve_ddp_keeps(qp, &placed));
	KUNIT_EXPECT_TRUE(test, has_nak(qp));
	KUNIT_EXPECT_TRUE(test, verve_ddp_keeps(qp, &plain));
	KUNIT_EXPECT_EQ(test, nic.count_rx_drop_ddp, 2);
}

/* The first may have passed the NIC before the run began. */
static void ddp_is_stopped_for_a_packet(struct kunit *test)
{
	struct verve_qp *qp = new_run(test);

	KUNIT_EXPECT_EQ(test, take(qp, &plain), VERVE_DDP_LOST);
	KUNIT_EXPECT_TRUE(test, has_nak(qp));
	KUNIT_EXPECT_EQ(test, nic.stops, 0);
	KUNIT_EXPECT_EQ(test, take(qp, &plain), VERVE_DDP_LOST);
	KUNIT_EXPECT_EQ(test, take(qp, &plain), VERVE_DDP_LOST);
	KUNIT_EXPECT_EQ(test, nic.stops, 1);
	end_round(qp);
	KUNIT_EXPECT_FALSE(test, has_nak(qp));
	/* Packets that the NIC placed before are still good. */
	KUNIT_EXPECT_EQ(test, take(qp, &placed), VERVE_DDP_PLACED);
	nic.state = STOPPED;
	end_round(qp);
	KUNIT_EXPECT_TRUE(test, has_nak(qp));
	KUNIT_EXPECT_EQ(test, take(qp, &plain), VERVE_DDP_NOT_PLACED);
	KUNIT_EXPECT_EQ(test, take(qp, &placed), VERVE_DDP_LOST);
}

static void ddp_is_stopped_in_a_run(struct kunit *test)
{
	struct verve_qp *qp = new_run(test);

	KUNIT_EXPECT_EQ(test, take(qp, &placed), VERVE_DDP_PLACED);
	KUNIT_EXPECT_EQ(test, take(qp, &plain), VERVE_DDP_LOST);
	KUNIT_EXPECT_EQ(test, nic.stops, 1);
	KUNIT_EXPECT_FALSE(test, has_nak(qp));
}

/* A packet behind a gap: the NIC will place it when it comes again. */
static void ddp_in_a_gap(struct kunit *test)
{
	const struct verve_arrival later = { .pdu.psn = EPSN + 3 };
	struct verve_qp *qp = new_run(test);

	KUNIT_EXPECT_FALSE(test, verve_ddp_keeps(qp, &later));
	KUNIT_EXPECT_TRUE(test, has_nak(qp));
	KUNIT_EXPECT_EQ(test, qp->resp.ack.nak_psn, EPSN + 3);
	KUNIT_EXPECT_EQ(test, nic.stops, 0);
}

/* The gap is behind the NIC. */
static void ddp_lost_behind(struct kunit *test)
{
	struct verve_qp *qp = new_run(test);

	KUNIT_EXPECT_FALSE(test, verve_ddp_keeps(qp, &placed));
	KUNIT_EXPECT_EQ(test, nic.stops, 1);
	expect_nak_after_stop(test, qp);
}

/* Another NIC may run the QP then. */
static void ddp_is_over(struct kunit *test)
{
	struct verve_qp *qp = new_run(test);

	KUNIT_EXPECT_FALSE(test, verve_ddp_is_over(qp));
	verve_ddp_stop(qp);
	KUNIT_EXPECT_EQ(test, take(qp, &placed), VERVE_DDP_LOST);
	nic.state = STOPPED;
	KUNIT_EXPECT_FALSE(test, verve_ddp_is_over(qp));
	qp->resp.ack.rnr_due = true;
	end_round(qp);
	KUNIT_EXPECT_FALSE(test, has_nak(qp));
	KUNIT_EXPECT_TRUE(test, qp->resp.ack.rnr_due);
	KUNIT_EXPECT_TRUE(test, verve_ddp_is_over(qp));
}

static void ddp_elsewhere(struct kunit *test)
{
	struct verve_qp *qp = new_run(test);

	nic.is_in_place = false;
	KUNIT_EXPECT_EQ(test, take(qp, &placed), VERVE_DDP_LOST);
	KUNIT_EXPECT_EQ(test, nic.stops, 1);
	KUNIT_EXPECT_EQ(test, nic.skipped, 0);
	KUNIT_EXPECT_FALSE(test, has_nak(qp));
	expect_nak_after_stop(test, qp);
}

/* Only the payload of a WRITE has a destination before the responder executes it. */
static void ddp_writes_only(struct kunit *test)
{
	struct verve_qp *qp = new_run(test);

	qp->resp.message.op = VERVE_OP_SEND;
	KUNIT_EXPECT_EQ(test, take(qp, &placed), VERVE_DDP_NOT_PLACED);
	KUNIT_EXPECT_EQ(test, nic.skipped, 0);
}

/* A run begins after AFTER bytes of WRITEs in a row, also in the middle of one. */
static void ddp_begins(struct kunit *test)
{
	struct verve_qp *qp = new_qp(test);

	copy(qp, 3);
	KUNIT_EXPECT_EQ(test, nic.starts, 0);
	qp->resp.message.op = VERVE_OP_SEND;
	copy(qp, 3);
	qp->resp.message.op = VERVE_OP_WRITE;
	copy(qp, 3);
	KUNIT_EXPECT_EQ(test, nic.starts, 0);
	nic.refuses = true;
	copy(qp, 1);
	KUNIT_EXPECT_EQ(test, nic.starts, 1);
	KUNIT_EXPECT_TRUE(test, verve_ddp_is_over(qp));
	nic.refuses = false;
	qp->state = IB_QPS_RTR;
	qp->attr.retry_cnt = 0;
	copy(qp, 4);
	KUNIT_EXPECT_EQ(test, nic.starts, 2);
	KUNIT_EXPECT_FALSE(test, verve_ddp_is_over(qp));
}

static bool begins(struct verve_qp *qp)
{
	qp->resp.ddp.copied = AFTER;
	end_round(qp);
	return nic.starts;
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
	qp->resp.message.op = 0;
	nic.is_passed = false;
	qp->resp.ddp.is_ahead = true;
	KUNIT_EXPECT_FALSE(test, begins(qp));
	KUNIT_EXPECT_EQ(test, nic.passed_psn, VERVE_PSN_MASK);
	nic.is_passed = true;
	nic.is_rc_due = true;
	KUNIT_EXPECT_FALSE(test, begins(qp));
	nic.is_rc_due = false;
	/* Its peer may repeat nothing. */
	qp->attr.retry_cnt = 0;
	KUNIT_EXPECT_FALSE(test, begins(qp));
	qp->attr.retry_cnt = 7;
	qp->resp.ddp.is_active = true;
	nic.state = STOPPING;
	KUNIT_EXPECT_FALSE(test, begins(qp));
	nic.state = STOPPED;
#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
	nic.stalls = true;
	KUNIT_EXPECT_FALSE(test, begins(qp));
	nic.stalls = false;
#endif
	KUNIT_EXPECT_TRUE(test, begins(qp));
}

/* Short runs make the next one rarer, up to a limit; a long one ends that. */
static void ddp_pays(struct kunit *test)
{
	struct verve_qp *qp = new_run(test);
	unsigned int i, starts;

	for (i = 1; i <= 20; i++) {
		take(qp, &placed);
		nic.state = STOPPED;
		copy(qp, 1);
		KUNIT_EXPECT_EQ(test, qp->resp.ddp.doublings, min(i, 6U));
		starts = nic.starts;
		copy(qp, (AFTER / LENGTH << min(i, 6U)) - 2);
		KUNIT_EXPECT_EQ(test, nic.starts, starts);
		copy(qp, 1);
		KUNIT_EXPECT_EQ(test, nic.starts, starts + 1);
	}
	for (i = 0; i < 4 * (AFTER / LENGTH << 6); i++)
		take(qp, &placed);
	nic.state = STOPPED;
	take(qp, &plain);
	KUNIT_EXPECT_EQ(test, qp->resp.ddp.doublings, 0);
}

static struct kunit_case verve_ddp_cases[] = {
	KUNIT_CASE(ddp_without_a_nic),
	KUNIT_CASE(ddp_in_a_run),
	KUNIT_CASE(ddp_while_it_begins),
	KUNIT_CASE(ddp_after_a_run),
	KUNIT_CASE(ddp_is_stopped_for_a_packet),
	KUNIT_CASE(ddp_is_stopped_in_a_run),
	KUNIT_CASE(ddp_in_a_gap),
	KUNIT_CASE(ddp_lost_behind),
	KUNIT_CASE(ddp_is_over),
	KUNIT_CASE(ddp_elsewhere),
	KUNIT_CASE(ddp_writes_only),
	KUNIT_CASE(ddp_begins),
	KUNIT_CASE(ddp_does_not_begin),
	KUNIT_CASE(ddp_pays),
	{}
};

static struct kunit_suite verve_ddp_suite = {
	.name = "verve_ddp",
	.test_cases = verve_ddp_cases,
};

kunit_test_suite(verve_ddp_suite);
