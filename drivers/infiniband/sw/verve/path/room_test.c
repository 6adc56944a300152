// SPDX-License-Identifier: GPL-2.0-only
/*
 * verve_train_room() for every kind of gso_max_size that a netdev can have
 */
#include <kunit/test.h>
#include "room.h"

static void train_room__fits_netdev_and_ip(struct kunit *test)
{
	static const struct {
		u32 most, reserved, room;
	} rows[] = {
		{ 65536, 16, 65519 },
		{ 65535, 16, 65518 },
		{ 1 << 19, 16, 65519 },		/* BIG TCP */
		{ 0xffffffff, 16, 65519 },
		{ 16000, 96, 15903 },
		{ 18, 16, 1 },
		{ 17, 16, 0 },
		{ 16, 16, 0 },
		{ 8, 16, 0 },
		{ 1, 0, 0 },
		{ 0, 0, 0 },
		{ 0, 16, 0 },
		{ 65536, 65535, 0 },
		{ 65536, 0xffffffff, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    verve_train_room(rows[i].most,
						     rows[i].reserved),
				    rows[i].room, "row %d", i);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(train_room__fits_netdev_and_ip),
	{}
};

static struct kunit_suite suite = {
	.name = "verve-room",
	.test_cases = cases,
};

kunit_test_suite(suite);
