// SPDX-License-Identifier: GPL-2.0-only
/* DCQCN: rates stay in bounds, sink with CNPs, and recover without */
#include <kunit/test.h>
#include "dcqcn.c"

#define MS	((u64)NSEC_PER_MSEC)

static struct verve_cc_params defaults(void)
{
	struct verve_cc_params params;
	u32 i;

	for (i = 0; i < VERVE_NUM_CC_PARAMS; i++)
		params.value[i] = verve_cc_limits[i].initial;
	return params;
}

static struct verve_dcqcn begun(const struct verve_cc_params *params, u32 rate)
{
	struct verve_dcqcn flow;

	verve_dcqcn_begin(&flow, params, rate, MS);
	return flow;
}

/*
 * The first CNP nearly halves the rate, because alpha is nearly 1. rp_min_dec_fac
 * bounds the cut.
 */
static void dcqcn_halves(struct kunit *test)
{
	struct verve_cc_params params = defaults();
	struct verve_dcqcn flow = begun(&params, 1000000);

	verve_dcqcn_cut(&flow, &params, 0, 2 * MS);
	KUNIT_EXPECT_EQ(test, flow.rate, 750000);
	params.value[VERVE_CC_RP_MIN_DEC_FAC] = 50;
	flow = begun(&params, 1000000);
	verve_dcqcn_cut(&flow, &params, 0, 2 * MS);
	KUNIT_EXPECT_EQ(test, flow.rate, 500489);
	KUNIT_EXPECT_EQ(test, flow.target, 1000000);
}

/* CNPs within the reaction time of a cut count as one. */
static void dcqcn_once_a_round_trip(struct kunit *test)
{
	struct verve_cc_params params = defaults();
	struct verve_dcqcn flow = begun(&params, 1000000);
	u32 rate;

	verve_dcqcn_cut(&flow, &params, MS, 2 * MS);
	rate = flow.rate;
	verve_dcqcn_cut(&flow, &params, MS, 3 * MS - 1);
	KUNIT_EXPECT_EQ(test, flow.rate, rate);
	verve_dcqcn_cut(&flow, &params, MS, 3 * MS);
	KUNIT_EXPECT_TRUE(test, flow.rate < rate);
}

static void dcqcn_lowest(struct kunit *test)
{
	struct verve_cc_params params = defaults();
	struct verve_dcqcn flow = begun(&params, U32_MAX);
	u64 now = MS;
	int i;

	KUNIT_EXPECT_EQ(test, flow.rate, 25000 * 1000);
	for (i = 0; i < 1000; i++)
		verve_dcqcn_cut(&flow, &params, 0, now += MS);
	KUNIT_EXPECT_EQ(test, flow.rate, 1000);
	KUNIT_EXPECT_TRUE(test, flow.alpha <= 1 << ALPHA_SHIFT);
}

/* No CNP cuts the rate below rp_min_dec_fac percent. */
static void dcqcn_decrease_bounded(struct kunit *test)
{
	struct verve_cc_params params = defaults();
	struct verve_dcqcn flow;

	params.value[VERVE_CC_RP_GD] = 0;
	params.value[VERVE_CC_RP_MIN_DEC_FAC] = 80;
	flow = begun(&params, 1000000);
	verve_dcqcn_cut(&flow, &params, 0, 2 * MS);
	KUNIT_EXPECT_EQ(test, flow.rate, 800000);
}

/*
 * Fast recovery returns to the former rate by halves. Then the rate rises
 * further.
 */
static void dcqcn_recovers(struct kunit *test)
{
	struct verve_cc_params params = defaults();
	struct verve_dcqcn flow = begun(&params, 1000000);
	u64 now = 2 * MS, step = 300 * (u64)NSEC_PER_USEC;
	u32 last, cut;
	int i;

	verve_dcqcn_cut(&flow, &params, 0, now);
	cut = flow.rate;
	KUNIT_EXPECT_TRUE(test,
			  verve_dcqcn_advance(&flow, &params, 0, 0, 0, now + step - 1));
	KUNIT_EXPECT_EQ(test, flow.rate, cut);
	KUNIT_EXPECT_TRUE(test,
			  verve_dcqcn_advance(&flow, &params, 0, 0, 0, now + step));
	KUNIT_EXPECT_EQ(test, flow.rate, (cut + 1000000 + 1) / 2);
	KUNIT_EXPECT_EQ(test, flow.target, 1000000);
	for (i = 2; i < 20; i++) {
		last = flow.rate;
		verve_dcqcn_advance(&flow, &params, 0, 0, 0, now + i * step);
		KUNIT_EXPECT_TRUE(test, flow.rate > last);
	}
	KUNIT_EXPECT_TRUE(test, flow.target > 1000000);
}

/* A step waits for the reaction time, and a CNP restarts the wait. */
static void dcqcn_steps_once_a_round_trip(struct kunit *test)
{
	struct verve_cc_params params = defaults();
	struct verve_dcqcn flow = begun(&params, 1000000);
	u32 cut;

	verve_dcqcn_cut(&flow, &params, 10 * MS, 2 * MS);
	cut = flow.rate;
	verve_dcqcn_cut(&flow, &params, 10 * MS, 7 * MS);
	verve_dcqcn_advance(&flow, &params, 0, 10 * MS, 0, 17 * MS - 1);
	KUNIT_EXPECT_EQ(test, flow.rate, cut);
	verve_dcqcn_advance(&flow, &params, 0, 10 * MS, 0, 17 * MS);
	KUNIT_EXPECT_TRUE(test, flow.rate > cut);
}

/* A flow that hardly sends has no evidence for a higher rate. */
static void dcqcn_steps_if_used(struct kunit *test)
{
	struct verve_cc_params params = defaults();
	struct verve_dcqcn flow = begun(&params, 1000000);
	u64 now = 2 * MS;
	u32 cut;
	int i;

	verve_dcqcn_cut(&flow, &params, 0, now);
	cut = flow.rate;
	for (i = 0; i < 9; i++)
		verve_dcqcn_advance(&flow, &params, 100, 0, 1000, now += MS);
	KUNIT_EXPECT_EQ(test, flow.rate, cut);
	verve_dcqcn_advance(&flow, &params, 100, 0, 1000, now += MS);
	KUNIT_EXPECT_TRUE(test, flow.rate > cut);
	/* The same holds for the next step. A CNP starts the count again. */
	cut = flow.rate;
	verve_dcqcn_advance(&flow, &params, 999, 0, 1000, now += MS);
	KUNIT_EXPECT_EQ(test, flow.rate, cut);
	verve_dcqcn_cut(&flow, &params, 0, now);
	cut = flow.rate;
	verve_dcqcn_advance(&flow, &params, 999, 0, 1000, now += MS);
	KUNIT_EXPECT_EQ(test, flow.rate, cut);
}

/* After many CNPs, recovery returns to the rate before the last one. */
static void dcqcn_wins_back_the_last(struct kunit *test)
{
	struct verve_cc_params params = defaults();
	struct verve_dcqcn flow = begun(&params, 1000000);
	u64 now = 2 * MS;
	u32 before = 0;
	int i;

	for (i = 0; i < 5; i++) {
		before = flow.rate;
		verve_dcqcn_cut(&flow, &params, 0, now += MS);
	}
	verve_dcqcn_advance(&flow, &params, 0, 0, 0, now += MS);
	KUNIT_EXPECT_TRUE(test, flow.rate < before);
	params.value[VERVE_CC_RP_CLAMP_TGT_RATE] = 0;
	flow = begun(&params, 1000000);
	for (i = 0; i < 5; i++)
		verve_dcqcn_cut(&flow, &params, 0, now += MS);
	KUNIT_EXPECT_EQ(test, flow.target, 1000000);
}

/* Steps by both time and bytes: hyper increase, until the limit ends */
static void dcqcn_ends(struct kunit *test)
{
	struct verve_cc_params params = defaults();
	struct verve_dcqcn flow = begun(&params, 1000000);
	u64 now = 2 * MS;
	int i;

	verve_dcqcn_cut(&flow, &params, 0, now);
	for (i = 0; i < 10000; i++) {
		now += MS;
		if (!verve_dcqcn_advance(&flow, &params, 32767 * 64, 0, 0, now))
			break;
	}
	KUNIT_EXPECT_TRUE(test, i < 200);
	KUNIT_EXPECT_EQ(test, flow.rate, 25000 * 1000);
}

/* The work after an hour, and after the largest byte count, is bounded. */
static void dcqcn_long_silence(struct kunit *test)
{
	struct verve_cc_params params = defaults();
	struct verve_dcqcn flow = begun(&params, 1000);
	u64 hour = 3600ULL * NSEC_PER_SEC;

	params.value[VERVE_CC_RP_TIME_RESET] = 1;
	params.value[VERVE_CC_RP_DCE_TCP_RTT] = 1;
	params.value[VERVE_CC_RP_BYTE_RESET] = 1;
	verve_dcqcn_cut(&flow, &params, 0, 2 * MS);
	verve_dcqcn_advance(&flow, &params, U32_MAX, 0, 0, 2 * MS + hour);
	KUNIT_EXPECT_EQ(test, flow.alpha, 0);
	KUNIT_EXPECT_EQ(test, flow.timed, 1);
	KUNIT_EXPECT_TRUE(test, flow.counted <= MOST_STEPS);
	KUNIT_EXPECT_TRUE(test, flow.rate <= 25000 * 1000);
}

static void dcqcn_delay(struct kunit *test)
{
	struct verve_dcqcn flow = { .rate = 1000000 };

	KUNIT_EXPECT_EQ(test, verve_dcqcn_delay(&flow, 125), 1000);
	flow.rate = 1000;
	KUNIT_EXPECT_EQ(test, verve_dcqcn_delay(&flow, 4096), 32768 * 1000);
	KUNIT_EXPECT_EQ(test, verve_dcqcn_delay(&flow, U32_MAX) / NSEC_PER_SEC,
			34359);
}

static struct kunit_case verve_dcqcn_cases[] = {
	KUNIT_CASE(dcqcn_halves),
	KUNIT_CASE(dcqcn_once_a_round_trip),
	KUNIT_CASE(dcqcn_lowest),
	KUNIT_CASE(dcqcn_decrease_bounded),
	KUNIT_CASE(dcqcn_recovers),
	KUNIT_CASE(dcqcn_steps_once_a_round_trip),
	KUNIT_CASE(dcqcn_steps_if_used),
	KUNIT_CASE(dcqcn_wins_back_the_last),
	KUNIT_CASE(dcqcn_ends),
	KUNIT_CASE(dcqcn_long_silence),
	KUNIT_CASE(dcqcn_delay),
	{}
};

static struct kunit_suite verve_dcqcn_suite = {
	.name = "verve_dcqcn",
	.test_cases = verve_dcqcn_cases,
};

kunit_test_suite(verve_dcqcn_suite);
