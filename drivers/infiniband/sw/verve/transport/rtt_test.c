// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retransmission timeouts: never too early for a path with steady round-trip
 * times, and always bounded
 */
#include <kunit/test.h>
#include "rtt.c"

static void answer(struct verve_rtt *rtt, u64 ns)
{
	verve_rtt_start(rtt, 0, NSEC_PER_SEC);
	verve_rtt_sample(rtt, NSEC_PER_SEC + ns);
}

static void rtt_unknown(struct kunit *test)
{
	const struct verve_rtt rtt = {};

	KUNIT_EXPECT_EQ(test, verve_rtt_timeout(&rtt), TIMEOUT_FIRST_NS);
}

static void rtt_short_path(struct kunit *test)
{
	struct verve_rtt rtt = {};
	int i;

	for (i = 0; i < 100; i++)
		answer(&rtt, 20 * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, verve_rtt_timeout(&rtt), TIMEOUT_MIN_NS);
}

static void rtt_long_path(struct kunit *test)
{
	const u64 ns = 50 * NSEC_PER_MSEC;
	struct verve_rtt rtt = {};
	int i;

	answer(&rtt, ns);
	KUNIT_EXPECT_EQ(test, verve_rtt_timeout(&rtt), 3 * ns);
	for (i = 0; i < 100; i++) {
		answer(&rtt, ns);
		KUNIT_EXPECT_TRUE(test, verve_rtt_timeout(&rtt) >= ns - 8);
	}
	/* On a steady path the timeout is less than twice the round-trip time. */
	KUNIT_EXPECT_TRUE(test, verve_rtt_timeout(&rtt) < 2 * ns);
}

static void rtt_jitter(struct kunit *test)
{
	struct verve_rtt rtt = {};
	int i;

	for (i = 0; i < 200; i++) {
		answer(&rtt, (i & 1 ? 5 : 15) * NSEC_PER_MSEC);
		if (i > 20)
			KUNIT_EXPECT_TRUE(test, verve_rtt_timeout(&rtt) >
						15 * NSEC_PER_MSEC);
	}
}

static void rtt_follows(struct kunit *test)
{
	struct verve_rtt rtt = {};
	int i;

	for (i = 0; i < 100; i++)
		answer(&rtt, 80 * NSEC_PER_MSEC);
	for (i = 0; i < 100; i++)
		answer(&rtt, 20 * NSEC_PER_USEC);
	KUNIT_EXPECT_TRUE(test, verve_rtt_timeout(&rtt) < 2 * NSEC_PER_MSEC);
}

static void rtt_backs_off(struct kunit *test)
{
	struct verve_rtt rtt = {};
	u64 last = verve_rtt_timeout(&rtt);
	int i;

	for (i = 0; i < 1000; i++) {
		u64 ns;

		verve_rtt_missed(&rtt);
		ns = verve_rtt_timeout(&rtt);
		KUNIT_EXPECT_EQ(test, ns, min_t(u64, 2 * last, TIMEOUT_MAX_NS));
		last = ns;
	}
	/* A timed answer ends the backoff. */
	answer(&rtt, NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, verve_rtt_timeout(&rtt), 3 * NSEC_PER_MSEC);
}

/* A packet is lost again and again, and each time its repeat is answered once. */
static void rtt_forgives_loss(struct kunit *test)
{
	struct verve_rtt rtt = {};
	int i;

	answer(&rtt, 20 * NSEC_PER_USEC);
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_EQ(test, verve_rtt_timeout(&rtt), TIMEOUT_MIN_NS);
		verve_rtt_missed(&rtt);
		verve_rtt_progress(&rtt);
	}
}

/*
 * The path has become longer than the timeout, so each answer looks like one to
 * the probe before it. Then one to the probe comes as well. The estimate must grow beyond
 * the path after a while.
 */
static void rtt_path_grows(struct kunit *test)
{
	const u64 path = 60 * NSEC_PER_MSEC;
	struct verve_rtt rtt = {};
	int i;

	answer(&rtt, 20 * NSEC_PER_USEC);
	for (i = 0; i < 10 && verve_rtt_timeout(&rtt) <= path; i++) {
		u64 waited = 0;

		verve_rtt_start(&rtt, 0, NSEC_PER_SEC);
		while (waited + verve_rtt_timeout(&rtt) < path) {
			waited += verve_rtt_timeout(&rtt);
			verve_rtt_missed(&rtt);
			verve_rtt_doubt(&rtt, 0);
			verve_rtt_too_early(&rtt);
		}
		verve_rtt_progress(&rtt);
		verve_rtt_sample(&rtt, NSEC_PER_SEC + path);
		KUNIT_EXPECT_EQ(test, rtt.latest, path);
	}
	KUNIT_EXPECT_TRUE(test, verve_rtt_timeout(&rtt) > path);
}

/*
 * The packet is sent again at 4, 8 and 16 ms, and the path takes 100 ms. Each answer to a
 * copy shows that an answer takes no less than the time since the last copy.
 */
static void rtt_late_answers(struct kunit *test)
{
	static const u64 copies[] = { 0, 4, 8, 16 };
	const u64 path = 100 * NSEC_PER_MSEC;
	u64 last = NSEC_PER_SEC + copies[3] * NSEC_PER_MSEC;
	struct verve_rtt rtt = {};
	int i;

	verve_rtt_start(&rtt, 0, NSEC_PER_SEC);
	for (i = 1; i < ARRAY_SIZE(copies); i++) {
		verve_rtt_missed(&rtt);
		verve_rtt_doubt(&rtt, NSEC_PER_SEC + copies[i] * NSEC_PER_MSEC);
	}
	verve_rtt_sample(&rtt, NSEC_PER_SEC + path);
	KUNIT_EXPECT_EQ(test, rtt.smooth, 0);
	for (i = 1; i < ARRAY_SIZE(copies); i++) {
		verve_rtt_late(&rtt, NSEC_PER_SEC + path +
				     copies[i] * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, rtt.smooth,
				path - (16 - copies[i]) * NSEC_PER_MSEC);
	}
	KUNIT_EXPECT_TRUE(test, verve_rtt_timeout(&rtt) > path);
	/* An answer that is later than the first one shows no more than that did. */
	rtt.smooth = 0;
	verve_rtt_late(&rtt, last + 2 * path);
	KUNIT_EXPECT_EQ(test, rtt.smooth, path);
	/* A forged answer comes at any time. */
	rtt.smooth = 0;
	verve_rtt_late(&rtt, last + 3 * path);
	verve_rtt_late(&rtt, last + path);
	KUNIT_EXPECT_EQ(test, rtt.smooth, 0);
}

/* Where each answer is in doubt, those to repeats that were asked for must do. */
static void rtt_repeats(struct kunit *test)
{
	struct verve_rtt rtt = {};

	verve_rtt_start(&rtt, 0, NSEC_PER_SEC);
	verve_rtt_doubt(&rtt, 2ULL * NSEC_PER_SEC);
	verve_rtt_missed(&rtt);
	verve_rtt_sample_repeat(&rtt, 2ULL * NSEC_PER_SEC + NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, rtt.smooth, NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, verve_rtt_timeout(&rtt), 3 * NSEC_PER_MSEC);
}

/* After an answer without doubt, no copy is on its way. */
static void rtt_late_for_nothing(struct kunit *test)
{
	struct verve_rtt rtt = {};
	u64 before;

	answer(&rtt, NSEC_PER_MSEC);
	before = rtt.smooth;
	verve_rtt_late(&rtt, rtt.repeated + NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, rtt.smooth, before);
}

/* A clock that stands still, or answers after an hour */
static void rtt_extremes(struct kunit *test)
{
	struct verve_rtt rtt = {};

	answer(&rtt, 0);
	KUNIT_EXPECT_EQ(test, rtt.smooth, 1);
	answer(&rtt, 3600ULL * NSEC_PER_SEC);
	KUNIT_EXPECT_TRUE(test, rtt.smooth <= SAMPLE_MAX_NS);
	KUNIT_EXPECT_EQ(test, verve_rtt_timeout(&rtt), TIMEOUT_MAX_NS);
	KUNIT_EXPECT_EQ(test, rtt.since, 0);
}

static struct kunit_case verve_rtt_cases[] = {
	KUNIT_CASE(rtt_unknown),
	KUNIT_CASE(rtt_short_path),
	KUNIT_CASE(rtt_long_path),
	KUNIT_CASE(rtt_jitter),
	KUNIT_CASE(rtt_follows),
	KUNIT_CASE(rtt_backs_off),
	KUNIT_CASE(rtt_forgives_loss),
	KUNIT_CASE(rtt_path_grows),
	KUNIT_CASE(rtt_late_answers),
	KUNIT_CASE(rtt_repeats),
	KUNIT_CASE(rtt_late_for_nothing),
	KUNIT_CASE(rtt_extremes),
	{}
};

static struct kunit_suite verve_rtt_suite = {
	.name = "verve_rtt",
	.test_cases = verve_rtt_cases,
};

kunit_test_suite(verve_rtt_suite);
