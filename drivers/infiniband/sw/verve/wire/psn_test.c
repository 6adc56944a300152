// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of sequence numbers: wrap at 2^24, and the edge of the window at 2^23
 */
#include <kunit/test.h>
#include "psn.h"

static void psn_add__wraps_at_24_bits(struct kunit *test)
{
	static const struct {
		u32 psn, n, sum;
	} rows[] = {
		{ 0, 0, 0 },
		{ 0, 1, 1 },
		{ 0xfffffe, 1, 0xffffff },
		{ 0xffffff, 1, 0 },
		{ 0xffffff, 0xffffff, 0xfffffe },
		{ 1, 0xffffffff, 0 },		/* one back */
		{ 0, 0xffffffff, 0xffffff },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, verve_psn_add(rows[i].psn, rows[i].n),
				    rows[i].sum, "row %d", i);
}

static void psn_diff__is_signed_and_wraps(struct kunit *test)
{
	static const struct {
		u32 a, b;
		s32 diff;
	} rows[] = {
		{ 0, 0, 0 },
		{ 1, 0, 1 },
		{ 0, 1, -1 },
		{ 0, 0xffffff, 1 },
		{ 0xffffff, 0, -1 },
		{ 0x7fffff, 0, 8388607 },	/* farthest ahead */
		{ 0x800000, 0, -8388608 },	/* farthest behind */
		{ 0, 0x800000, -8388608 },
		{ 0x3fffff, 0xc00000, 8388607 },
		{ 0x400000, 0xc00000, -8388608 },
		{ 0x123456, 0x123456, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, verve_psn_diff(rows[i].a, rows[i].b),
				    rows[i].diff, "row %d", i);
}

static void psn_diff__undoes_add_everywhere(struct kunit *test)
{
	static const s32 steps[] = {
		0, 1, -1, 2, 255, -256, 65536, -65537, 8388607, -8388608,
	};
	u32 psn;
	int i;

	for (psn = 0; psn <= VERVE_PSN_MASK; psn += 4099)
		for (i = 0; i < ARRAY_SIZE(steps); i++)
			KUNIT_EXPECT_EQ(test, verve_psn_diff(verve_psn_add(psn, steps[i]), psn),
					steps[i]);
}

static void psn_before__is_half_the_range(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, verve_psn_before(5, 5));
	KUNIT_EXPECT_TRUE(test, verve_psn_before(4, 5));
	KUNIT_EXPECT_FALSE(test, verve_psn_before(6, 5));
	KUNIT_EXPECT_TRUE(test, verve_psn_before(0xffffff, 0));
	KUNIT_EXPECT_FALSE(test, verve_psn_before(0, 0xffffff));
	KUNIT_EXPECT_TRUE(test, verve_psn_before(0, 0x7fffff));
	KUNIT_EXPECT_FALSE(test, verve_psn_before(0, 0x800001));
}

static void psn_count__of_lengths_around_the_mtu(struct kunit *test)
{
	static const struct {
		u32 length, mtu, count;
	} rows[] = {
		{ 0, 1024, 1 },			/* empty message */
		{ 1, 1024, 1 },
		{ 1023, 1024, 1 },
		{ 1024, 1024, 1 },
		{ 1025, 1024, 2 },
		{ 2048, 1024, 2 },
		{ 2049, 1024, 3 },
		{ 4096, 256, 16 },
		{ 0x80000000, 4096, 524288 },	/* longest message */
		{ 0x80000000, 256, 8388608 },
		{ 0xffffffff, 4096, 1048576 },	/* no 32-bit overflow */
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, verve_psn_count(rows[i].length, rows[i].mtu),
				    rows[i].count, "row %d", i);
}

static struct kunit_case psn_cases[] = {
	KUNIT_CASE(psn_add__wraps_at_24_bits),
	KUNIT_CASE(psn_diff__is_signed_and_wraps),
	KUNIT_CASE(psn_diff__undoes_add_everywhere),
	KUNIT_CASE(psn_before__is_half_the_range),
	KUNIT_CASE(psn_count__of_lengths_around_the_mtu),
	{}
};

static struct kunit_suite psn_suite = {
	.name = "verve-psn",
	.test_cases = psn_cases,
};

kunit_test_suite(psn_suite);
