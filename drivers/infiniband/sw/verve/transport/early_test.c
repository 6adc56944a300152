// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that came early: each comes out once, in its turn, or is given back
 */
#include <kunit/test.h>

/* The path's; here it only counts. */
#define verve_arrival_free early_test_arrival_free
#define verve_arrival_repeats early_test_arrival_repeats
#include "early.c"

enum { MANY = VERVE_MAX_EARLY + VERVE_EARLY_OWN + 2 };

static unsigned int freed;

void early_test_arrival_free(struct verve_arrival *arrival)
{
	freed++;
}

/* Here the address tells whether two are the same. */
bool early_test_arrival_repeats(const struct verve_arrival *arrival,
				const struct verve_arrival *other)
{
	return arrival->pdu.va == other->pdu.va;
}

static struct verve_arrival *arrivals(struct kunit *test)
{
	struct verve_arrival *all;

	all = kunit_kzalloc(test, MANY * sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, all);
	freed = 0;
	atomic_set(&kept_by_all, 0);
	return all;
}

static bool keep(struct verve_early *early, struct verve_arrival *arrival,
		 u32 psn)
{
	arrival->pdu.psn = psn & VERVE_PSN_MASK;
	return verve_early_keep(early, arrival) == VERVE_EARLY_KEPT;
}

/* Whatever the order they came in, also across the end of the PSNs */
static void early_in_any_order(struct kunit *test)
{
	const u32 base = 0xfffffe;
	static const u8 orders[][5] = {
		{ 0, 1, 2, 3, 4 }, { 4, 3, 2, 1, 0 }, { 2, 4, 0, 3, 1 },
		{ 4, 0, 1, 3, 2 }, { 1, 0, 4, 2, 3 },
	};
	struct verve_arrival *all = arrivals(test);
	struct verve_early early = {};
	u32 i, j, psn;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		for (j = 0; j < 5; j++)
			KUNIT_EXPECT_TRUE(test, keep(&early, &all[orders[i][j]],
						     base + orders[i][j]));
		for (j = 0; j < 5; j++) {
			psn = verve_psn_add(base, j);
			KUNIT_EXPECT_TRUE(test, verve_early_take(&early, psn) == &all[j]);
		}
		KUNIT_EXPECT_EQ(test, early.count, 0);
	}
	KUNIT_EXPECT_EQ(test, freed, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_by_all), 0);
}

static void early_not_due(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_early early = {};

	KUNIT_EXPECT_TRUE(test, !verve_early_take(&early, 7));
	KUNIT_EXPECT_TRUE(test, keep(&early, &all[0], 9));
	KUNIT_EXPECT_TRUE(test, !verve_early_take(&early, 7));
	KUNIT_EXPECT_TRUE(test, !verve_early_take(&early, 8));
	KUNIT_EXPECT_EQ(test, early.count, 1);
	KUNIT_EXPECT_TRUE(test, verve_early_take(&early, 9) == &all[0]);
}

/* What has come again meanwhile is given back. */
static void early_too_late(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_early early = {};
	u32 i;

	for (i = 0; i < 5; i++)
		keep(&early, &all[i], 0xfffffe + i);
	KUNIT_EXPECT_TRUE(test, verve_early_take(&early, 1) == &all[3]);
	KUNIT_EXPECT_EQ(test, freed, 3);
	KUNIT_EXPECT_TRUE(test, !verve_early_take(&early, 3));
	KUNIT_EXPECT_EQ(test, freed, 4);
	KUNIT_EXPECT_EQ(test, early.count, 0);
	/* Empty, it begins anew. */
	KUNIT_EXPECT_TRUE(test, keep(&early, &all[0], 100));
	KUNIT_EXPECT_TRUE(test, verve_early_take(&early, 100) == &all[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_by_all), 0);
}

static void early_twice(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_early early = {};
	u32 i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, keep(&early, &all[i], 10 + i));
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_FALSE(test, keep(&early, &all[3], 10 + i));
	KUNIT_EXPECT_EQ(test, early.count, 3);
	verve_early_drop(&early);
	KUNIT_EXPECT_EQ(test, freed, 3);
}

/* Neither of two that contradict each other, wherever they belong, is believed. */
static void early_contradicted(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	u32 i, j;

	for (i = 0; i < 4; i++) {
		struct verve_early early = {};

		freed = 0;
		for (j = 0; j < 4; j++)
			KUNIT_EXPECT_TRUE(test, keep(&early, &all[j], 10 + j));
		all[4].pdu.psn = 10 + i;
		all[4].pdu.va = 1;
		KUNIT_EXPECT_EQ(test, verve_early_keep(&early, &all[4]),
				VERVE_EARLY_CONTRADICTED);
		KUNIT_EXPECT_EQ(test, freed, 1);
		KUNIT_EXPECT_EQ(test, early.count, 3);
		/* The peer's is kept again. */
		KUNIT_EXPECT_TRUE(test, keep(&early, &all[4], 10 + i));
		KUNIT_EXPECT_TRUE(test, keep(&early, &all[5], 14));
		for (j = 0; j < 5; j++)
			KUNIT_EXPECT_TRUE(test, verve_early_take(&early, 10 + j) ==
					  &all[j == i ? 4 : j == 4 ? 5 : j]);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_by_all), 0);
}

/* It waits for one interval at least, and for two at most. */
static void early_ages(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_early early = {};

	KUNIT_EXPECT_EQ(test, verve_early_age(&early), 0);
	keep(&early, &all[0], 10);
	keep(&early, &all[2], 12);
	KUNIT_EXPECT_EQ(test, verve_early_age(&early), 0);
	keep(&early, &all[1], 11);
	KUNIT_EXPECT_EQ(test, verve_early_age(&early), 2);
	KUNIT_EXPECT_EQ(test, early.count, 1);
	/* It has become the last one. */
	KUNIT_EXPECT_TRUE(test, keep(&early, &all[3], 13));
	KUNIT_EXPECT_TRUE(test, verve_early_take(&early, 11) == &all[1]);
	KUNIT_EXPECT_TRUE(test, all[1].pdu.wait == VERVE_WAIT_OLD);
	KUNIT_EXPECT_EQ(test, verve_early_age(&early), 0);
	KUNIT_EXPECT_EQ(test, verve_early_age(&early), 1);
	KUNIT_EXPECT_EQ(test, early.count, 0);
	KUNIT_EXPECT_TRUE(test, keep(&early, &all[4], 20));
	KUNIT_EXPECT_TRUE(test, keep(&early, &all[5], 21));
	KUNIT_EXPECT_TRUE(test, verve_early_take(&early, 20) == &all[4]);
	KUNIT_EXPECT_TRUE(test, verve_early_take(&early, 21) == &all[5]);
	KUNIT_EXPECT_EQ(test, freed, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_by_all), 0);
}

/* However many fill what there is, each of the others keeps a few. */
static void early_limits(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test), *more = all + VERVE_MAX_EARLY;
	struct verve_early early = {}, other = {};
	u32 i;

	for (i = 0; i <= VERVE_MAX_EARLY; i++)
		KUNIT_EXPECT_EQ(test, keep(&early, &all[i], i),
				i < VERVE_MAX_EARLY);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_by_all),
			VERVE_MAX_EARLY - VERVE_EARLY_OWN);
	atomic_set(&kept_by_all, VERVE_MAX_EARLY_TOTAL - 1);
	for (i = 0; i < VERVE_EARLY_OWN + 2; i++)
		KUNIT_EXPECT_EQ(test, keep(&other, &more[i], i),
				i <= VERVE_EARLY_OWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_by_all), VERVE_MAX_EARLY_TOTAL);
	verve_early_drop(&other);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_by_all),
			VERVE_MAX_EARLY_TOTAL - 1);
	verve_early_drop(&early);
	KUNIT_EXPECT_EQ(test, freed, VERVE_MAX_EARLY + VERVE_EARLY_OWN + 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_by_all),
			VERVE_MAX_EARLY_TOTAL - 1 - VERVE_MAX_EARLY +
			VERVE_EARLY_OWN);
}

/* Its memory is its sender's, for the moment only. */
static void early_loopback(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_early early = {};

	all[0].pdu.flags = VERVE_PDU_LOOP;
	KUNIT_EXPECT_FALSE(test, keep(&early, &all[0], 1));
	KUNIT_EXPECT_EQ(test, early.count, 0);
}

static struct kunit_case verve_early_cases[] = {
	KUNIT_CASE(early_in_any_order),
	KUNIT_CASE(early_not_due),
	KUNIT_CASE(early_too_late),
	KUNIT_CASE(early_twice),
	KUNIT_CASE(early_contradicted),
	KUNIT_CASE(early_ages),
	KUNIT_CASE(early_limits),
	KUNIT_CASE(early_loopback),
	{}
};

static struct kunit_suite verve_early_suite = {
	.name = "verve_early",
	.test_cases = verve_early_cases,
};

kunit_test_suite(verve_early_suite);
