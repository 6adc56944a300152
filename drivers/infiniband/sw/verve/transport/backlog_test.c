// SPDX-License-Identifier: GPL-2.0-only
/* Backlogs: bound of the inbox, and room for expected packets */
#include <kunit/test.h>
#include "backlog.h"

/* Add packets of @memory until there is no room. Return: memory in use then. */
static u32 fill(u32 waiting, u32 memory, bool is_expected)
{
	while (verve_backlog_has_room(waiting, is_expected))
		waiting += memory;
	return waiting;
}

static void backlog__is_bounded(struct kunit *test)
{
	u32 waiting = fill(0, VERVE_BACKLOG_LEAST, true);

	KUNIT_EXPECT_EQ(test, waiting, (u32)VERVE_MAX_BACKLOG);
	KUNIT_EXPECT_FALSE(test, verve_backlog_has_room(waiting, false));
	KUNIT_EXPECT_LE(test, fill(0, VERVE_BACKLOG_MOST, true),
			(u32)VERVE_MAX_BACKLOG);
}

/* Windows of both requests and responses */
static void backlog__has_room_for_all_windows_twice(struct kunit *test)
{
	u32 windows = 2 * VERVE_MAX_UNACKED * VERVE_BACKLOG_LEAST;

	KUNIT_EXPECT_LE(test, 2 * windows, (u32)VERVE_MAX_BACKLOG);
}

static void backlog__of_others_leaves_room(struct kunit *test)
{
	u32 waiting = fill(0, VERVE_BACKLOG_LEAST, false);
	u32 windows = 2 * VERVE_MAX_UNACKED * VERVE_BACKLOG_LEAST;

	KUNIT_EXPECT_FALSE(test, verve_backlog_has_room(waiting, false));
	KUNIT_EXPECT_LE(test, waiting + windows,
			fill(waiting, VERVE_BACKLOG_LEAST, true));
}

static void backlog__knows_what_is_under_way(struct kunit *test)
{
	static const u32 dues[] = { 0, 1, 0x7fffff, 0x800000, 0xffffff };
	static const struct {
		s32 ahead;
		bool is_near;
	} rows[] = {
		{ 0, true },
		{ VERVE_MAX_UNACKED, true },
		{ VERVE_NEAR_PSNS - 1, true },
		{ VERVE_NEAR_PSNS, false },
		{ -VERVE_NEAR_PSNS, true },
		{ -VERVE_NEAR_PSNS - 1, false },
		{ 1 << 23, false },
	};
	int i, j;

	for (i = 0; i < ARRAY_SIZE(dues); i++) {
		for (j = 0; j < ARRAY_SIZE(rows); j++) {
			u32 psn = verve_psn_add(dues[i], rows[j].ahead);
			bool is_near = verve_backlog_is_near(psn, dues[i]);

			KUNIT_EXPECT_EQ_MSG(test, is_near, rows[j].is_near,
					    "row %d, due %#x", j, dues[i]);
		}
	}
}

static struct kunit_case backlog_cases[] = {
	KUNIT_CASE(backlog__is_bounded),
	KUNIT_CASE(backlog__has_room_for_all_windows_twice),
	KUNIT_CASE(backlog__of_others_leaves_room),
	KUNIT_CASE(backlog__knows_what_is_under_way),
	{}
};

static struct kunit_suite backlog_suite = {
	.name = "verve-backlog",
	.test_cases = backlog_cases,
};

kunit_test_suite(backlog_suite);
