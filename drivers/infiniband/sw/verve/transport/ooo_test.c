// SPDX-License-Identifier: GPL-2.0-only
/* Packets out of order: each is returned once, in its turn, or is freed */
#include <kunit/test.h>

/* Stand-ins for the path's functions, which only count */
#define verve_arrival_free ooo_test_arrival_free
#define verve_arrival_repeats ooo_test_arrival_repeats
#include "ooo.c"

enum { MANY = VERVE_MAX_OOO + VERVE_MIN_OOO + 2 };

static unsigned int freed;

void ooo_test_arrival_free(struct verve_arrival *arrival)
{
	freed++;
}

/* Two packets are the same if they have the same address. */
bool ooo_test_arrival_repeats(const struct verve_arrival *arrival,
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
	atomic_set(&kept_total, 0);
	return all;
}

static bool keep(struct verve_ooo *ooo, struct verve_arrival *arrival, u32 psn)
{
	arrival->pdu.psn = psn & VERVE_PSN_MASK;
	return verve_ooo_keep(ooo, arrival) == VERVE_OOO_KEPT;
}

/* Any order of arrival, also across the wrap of the PSNs */
static void ooo_in_any_order(struct kunit *test)
{
	const u32 base = 0xfffffe;
	static const u8 orders[][5] = {
		{ 0, 1, 2, 3, 4 }, { 4, 3, 2, 1, 0 }, { 2, 4, 0, 3, 1 },
		{ 4, 0, 1, 3, 2 }, { 1, 0, 4, 2, 3 },
	};
	struct verve_arrival *all = arrivals(test);
	struct verve_ooo ooo = {};
	u32 i, j, psn;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		for (j = 0; j < 5; j++)
			KUNIT_EXPECT_TRUE(test, keep(&ooo, &all[orders[i][j]],
						     base + orders[i][j]));
		for (j = 0; j < 5; j++) {
			psn = verve_psn_add(base, j);
			KUNIT_EXPECT_TRUE(test,
					  verve_ooo_take(&ooo, psn) == &all[j]);
		}
		KUNIT_EXPECT_EQ(test, ooo.count, 0);
	}
	KUNIT_EXPECT_EQ(test, freed, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_total), 0);
}

static void ooo_not_due(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_ooo ooo = {};

	KUNIT_EXPECT_TRUE(test, !verve_ooo_take(&ooo, 7));
	KUNIT_EXPECT_TRUE(test, keep(&ooo, &all[0], 9));
	KUNIT_EXPECT_TRUE(test, !verve_ooo_take(&ooo, 7));
	KUNIT_EXPECT_TRUE(test, !verve_ooo_take(&ooo, 8));
	KUNIT_EXPECT_EQ(test, ooo.count, 1);
	KUNIT_EXPECT_TRUE(test, verve_ooo_take(&ooo, 9) == &all[0]);
}

/* Packets behind the expected PSN are freed. */
static void ooo_too_late(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_ooo ooo = {};
	u32 i;

	for (i = 0; i < 5; i++)
		keep(&ooo, &all[i], 0xfffffe + i);
	KUNIT_EXPECT_TRUE(test, verve_ooo_take(&ooo, 1) == &all[3]);
	KUNIT_EXPECT_EQ(test, freed, 3);
	KUNIT_EXPECT_TRUE(test, !verve_ooo_take(&ooo, 3));
	KUNIT_EXPECT_EQ(test, freed, 4);
	KUNIT_EXPECT_EQ(test, ooo.count, 0);
	/* An empty list starts again. */
	KUNIT_EXPECT_TRUE(test, keep(&ooo, &all[0], 100));
	KUNIT_EXPECT_TRUE(test, verve_ooo_take(&ooo, 100) == &all[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_total), 0);
}

static void ooo_twice(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_ooo ooo = {};
	u32 i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, keep(&ooo, &all[i], 10 + i));
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_FALSE(test, keep(&ooo, &all[3], 10 + i));
	KUNIT_EXPECT_EQ(test, ooo.count, 3);
	verve_ooo_drop(&ooo);
	KUNIT_EXPECT_EQ(test, freed, 3);
}

/* Two contradicting packets are both dropped, at any position. */
static void ooo_contradicted(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	u32 i, j;

	for (i = 0; i < 4; i++) {
		struct verve_ooo ooo = {};

		freed = 0;
		for (j = 0; j < 4; j++)
			KUNIT_EXPECT_TRUE(test, keep(&ooo, &all[j], 10 + j));
		all[4].pdu.psn = 10 + i;
		all[4].pdu.va = 1;
		KUNIT_EXPECT_EQ(test, verve_ooo_keep(&ooo, &all[4]),
				VERVE_OOO_CONFLICT);
		KUNIT_EXPECT_EQ(test, freed, 1);
		KUNIT_EXPECT_EQ(test, ooo.count, 3);
		/* The next packet with that PSN is kept again. */
		KUNIT_EXPECT_TRUE(test, keep(&ooo, &all[4], 10 + i));
		KUNIT_EXPECT_TRUE(test, keep(&ooo, &all[5], 14));
		for (j = 0; j < 5; j++)
			KUNIT_EXPECT_TRUE(test, verve_ooo_take(&ooo, 10 + j) ==
					  &all[j == i ? 4 : j == 4 ? 5 : j]);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_total), 0);
}

/* Nothing moves: a packet waits for at least one interval, and at most two. */
static void ooo_ages(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_ooo ooo = {};

	KUNIT_EXPECT_EQ(test, verve_ooo_age(&ooo), 0);
	keep(&ooo, &all[0], 10);
	keep(&ooo, &all[2], 12);
	KUNIT_EXPECT_EQ(test, verve_ooo_age(&ooo), 0);
	keep(&ooo, &all[1], 11);
	KUNIT_EXPECT_EQ(test, verve_ooo_age(&ooo), 2);
	KUNIT_EXPECT_EQ(test, ooo.count, 1);
	/* The remaining packet is the last one now. */
	KUNIT_EXPECT_TRUE(test, keep(&ooo, &all[3], 13));
	KUNIT_EXPECT_TRUE(test, verve_ooo_take(&ooo, 11) == &all[1]);
	KUNIT_EXPECT_TRUE(test, all[1].pdu.ooo == VERVE_OOO_OLD);
	KUNIT_EXPECT_EQ(test, verve_ooo_age(&ooo), 0);
	KUNIT_EXPECT_EQ(test, verve_ooo_age(&ooo), 0);
	KUNIT_EXPECT_EQ(test, verve_ooo_age(&ooo), 1);
	KUNIT_EXPECT_EQ(test, ooo.count, 0);
	KUNIT_EXPECT_TRUE(test, keep(&ooo, &all[4], 20));
	KUNIT_EXPECT_TRUE(test, keep(&ooo, &all[5], 21));
	KUNIT_EXPECT_TRUE(test, verve_ooo_take(&ooo, 20) == &all[4]);
	KUNIT_EXPECT_TRUE(test, verve_ooo_take(&ooo, 21) == &all[5]);
	KUNIT_EXPECT_EQ(test, freed, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_total), 0);
}

/* A packet comes out of order and gets its turn. Return: result of verve_ooo_age(). */
static u32 age_after_turn(struct verve_ooo *ooo, struct verve_arrival *arrival)
{
	arrival->pdu.psn = 1;
	verve_ooo_keep(ooo, arrival);
	verve_ooo_take(ooo, 1);
	return verve_ooo_age(ooo);
}

/* Gaps are closed one by one: a packet waits on, but not for ever. */
static void ooo_ages_while_others_move(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_ooo ooo = {};
	u32 i;

	keep(&ooo, &all[0], 100);
	for (i = 0; i < VERVE_MAX_OOO_EXTENSIONS; i++)
		KUNIT_EXPECT_EQ(test, age_after_turn(&ooo, &all[1]), 0);
	KUNIT_EXPECT_TRUE(test, all[0].pdu.ooo == VERVE_OOO_NEW);
	for (i = 0; i <= VERVE_MAX_OOO_EXTENSIONS; i++)
		KUNIT_EXPECT_EQ(test, age_after_turn(&ooo, &all[1]), 0);
	KUNIT_EXPECT_TRUE(test, all[0].pdu.ooo == VERVE_OOO_OLD);
	KUNIT_EXPECT_EQ(test, verve_ooo_age(&ooo), 1);
	KUNIT_EXPECT_EQ(test, ooo.count, 0);
	KUNIT_EXPECT_EQ(test, freed, 1);
}

/* A turn long ago does not count, nor do extensions. */
static void ooo_ages_after_a_rest(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_ooo ooo = {};
	u32 i;

	for (i = 0; i < VERVE_MAX_OOO_EXTENSIONS; i++)
		KUNIT_EXPECT_EQ(test, age_after_turn(&ooo, &all[1]), 0);
	keep(&ooo, &all[0], 100);
	KUNIT_EXPECT_EQ(test, age_after_turn(&ooo, &all[1]), 0);
	KUNIT_EXPECT_TRUE(test, all[0].pdu.ooo == VERVE_OOO_NEW);
	KUNIT_EXPECT_EQ(test, verve_ooo_age(&ooo), 0);
	KUNIT_EXPECT_EQ(test, verve_ooo_age(&ooo), 1);
}

/* However many QPs use up the common limit, each QP keeps its reserve. */
static void ooo_limits(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test), *more = all + VERVE_MAX_OOO;
	struct verve_ooo ooo = {}, other = {};
	u32 i;

	for (i = 0; i <= VERVE_MAX_OOO; i++)
		KUNIT_EXPECT_EQ(test, keep(&ooo, &all[i], i),
				i < VERVE_MAX_OOO);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_total),
			VERVE_MAX_OOO - VERVE_MIN_OOO);
	atomic_set(&kept_total, VERVE_MAX_OOO_TOTAL - 1);
	for (i = 0; i < VERVE_MIN_OOO + 2; i++)
		KUNIT_EXPECT_EQ(test, keep(&other, &more[i], i),
				i <= VERVE_MIN_OOO);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_total), VERVE_MAX_OOO_TOTAL);
	verve_ooo_drop(&other);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_total),
			VERVE_MAX_OOO_TOTAL - 1);
	verve_ooo_drop(&ooo);
	KUNIT_EXPECT_EQ(test, freed, VERVE_MAX_OOO + VERVE_MIN_OOO + 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_total),
			VERVE_MAX_OOO_TOTAL - 1 - VERVE_MAX_OOO +
			VERVE_MIN_OOO);
}

/* A QP leaves to others as much of the common limit as it takes. */
static void ooo_shares(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_ooo ooo = {}, other = {};
	u32 i;

	atomic_set(&kept_total, VERVE_MAX_OOO_TOTAL - 64);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, keep(&ooo, &all[i], i),
				i < VERVE_MIN_OOO + 32);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, keep(&other, &all[64 + i], i),
				i < VERVE_MIN_OOO + 16);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_total),
			VERVE_MAX_OOO_TOTAL - 16);
	verve_ooo_drop(&ooo);
	verve_ooo_drop(&other);
	KUNIT_EXPECT_EQ(test, atomic_read(&kept_total),
			VERVE_MAX_OOO_TOTAL - 64);
}

/* A looped packet is not kept, because its payload is in the sender's memory. */
static void ooo_loopback(struct kunit *test)
{
	struct verve_arrival *all = arrivals(test);
	struct verve_ooo ooo = {};

	all[0].pdu.flags = VERVE_PDU_LOOP;
	KUNIT_EXPECT_FALSE(test, keep(&ooo, &all[0], 1));
	KUNIT_EXPECT_EQ(test, ooo.count, 0);
}

static struct kunit_case verve_ooo_cases[] = {
	KUNIT_CASE(ooo_in_any_order),
	KUNIT_CASE(ooo_not_due),
	KUNIT_CASE(ooo_too_late),
	KUNIT_CASE(ooo_twice),
	KUNIT_CASE(ooo_contradicted),
	KUNIT_CASE(ooo_ages),
	KUNIT_CASE(ooo_ages_while_others_move),
	KUNIT_CASE(ooo_ages_after_a_rest),
	KUNIT_CASE(ooo_limits),
	KUNIT_CASE(ooo_shares),
	KUNIT_CASE(ooo_loopback),
	{}
};

static struct kunit_suite verve_ooo_suite = {
	.name = "verve_ooo",
	.test_cases = verve_ooo_cases,
};

kunit_test_suite(verve_ooo_suite);
