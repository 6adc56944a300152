// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receives of an offloaded QP: each is completed once, in order, by the NIC or by
 * software.
 */
#include <kunit/test.h>
#include "recvs.h"

/* Add receives until there are @n. They are numbered from @first. */
static void fill(struct verve_rc_recvs *recvs, u64 first, u32 n)
{
	struct verve_recv *room;

	while (verve_rc_recvs_held(recvs) < n) {
		room = verve_rc_recvs_room(recvs);
		room->wr_id = first++;
		verve_rc_recvs_add(recvs);
	}
}

static u32 post_all(struct verve_rc_recvs *recvs)
{
	u32 n = 0;

	for (; verve_rc_recvs_next(recvs); n++)
		verve_rc_recvs_post(recvs);
	return n;
}

static struct verve_rc_recvs *alloc(struct kunit *test, u32 at)
{
	struct verve_rc_recvs *recvs =
		kunit_kzalloc(test, sizeof(*recvs), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, recvs);
	recvs->head = at;
	recvs->posted = at;
	recvs->tail = at;
	return recvs;
}

/* From before the indices wrap until they have */
static void recvs__in_order(struct kunit *test)
{
	struct verve_rc_recvs *recvs = alloc(test, -40);
	const struct verve_recv *recv;
	u64 wanted = 0;
	int round;

	for (round = 0; round < 20; round++) {
		fill(recvs, wanted, 5);
		KUNIT_EXPECT_EQ(test, post_all(recvs), 5);
		while ((recv = verve_rc_recvs_complete(recvs)))
			KUNIT_EXPECT_EQ(test, recv->wr_id, wanted++);
	}
	KUNIT_EXPECT_EQ(test, wanted, 100);
}

static void recvs__room_for_all(struct kunit *test)
{
	struct verve_rc_recvs *recvs = alloc(test, -3);

	fill(recvs, 0, VERVE_RC_RECVS);
	KUNIT_EXPECT_FALSE(test, verve_rc_recvs_room(recvs));
	KUNIT_EXPECT_FALSE(test, verve_rc_recvs_room_first(recvs));
	KUNIT_EXPECT_EQ(test, post_all(recvs), VERVE_RC_RECVS);
	KUNIT_EXPECT_TRUE(test, verve_rc_recvs_complete(recvs));
	KUNIT_EXPECT_TRUE(test, verve_rc_recvs_room(recvs));
}

/* A NIC completes only what it was given. */
static void recvs__not_posted(struct kunit *test)
{
	struct verve_rc_recvs *recvs = alloc(test, 0);

	KUNIT_EXPECT_FALSE(test, verve_rc_recvs_complete(recvs));
	fill(recvs, 0, 2);
	KUNIT_EXPECT_FALSE(test, verve_rc_recvs_complete(recvs));
	verve_rc_recvs_post(recvs);
	KUNIT_EXPECT_TRUE(test, verve_rc_recvs_complete(recvs));
	KUNIT_EXPECT_FALSE(test, verve_rc_recvs_complete(recvs));
	KUNIT_EXPECT_EQ(test, verve_rc_recvs_held(recvs), 1);
}

/* Software has completed some of those that were left, and begun to fill one more. */
static void recvs__left_and_posted_again(struct kunit *test)
{
	struct verve_rc_recvs *recvs = alloc(test, 0);
	struct verve_recv *room;
	u64 wanted;

	fill(recvs, 0, 8);
	post_all(recvs);
	for (wanted = 0; wanted < 3; wanted++) {
		KUNIT_EXPECT_EQ(test, verve_rc_recvs_first(recvs)->wr_id, wanted);
		verve_rc_recvs_take(recvs);
	}
	room = verve_rc_recvs_room_first(recvs);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, room);
	room->wr_id = 2;
	verve_rc_recvs_add_first(recvs);
	verve_rc_recvs_unpost(recvs);
	KUNIT_EXPECT_EQ(test, verve_rc_recvs_posted(recvs), 0);
	KUNIT_EXPECT_EQ(test, post_all(recvs), 6);
	for (wanted = 2; wanted < 8; wanted++)
		KUNIT_EXPECT_EQ(test, verve_rc_recvs_complete(recvs)->wr_id, wanted);
	KUNIT_EXPECT_EQ(test, verve_rc_recvs_held(recvs), 0);
}

static void recvs__none_after_reset(struct kunit *test)
{
	struct verve_rc_recvs *recvs = alloc(test, -2);

	fill(recvs, 0, 7);
	verve_rc_recvs_post(recvs);
	verve_rc_recvs_clear(recvs);
	KUNIT_EXPECT_FALSE(test, verve_rc_recvs_first(recvs));
	KUNIT_EXPECT_FALSE(test, verve_rc_recvs_next(recvs));
	KUNIT_EXPECT_EQ(test, verve_rc_recvs_posted(recvs), 0);
}

static struct kunit_case verve_rc_recvs_cases[] = {
	KUNIT_CASE(recvs__in_order),
	KUNIT_CASE(recvs__room_for_all),
	KUNIT_CASE(recvs__not_posted),
	KUNIT_CASE(recvs__left_and_posted_again),
	KUNIT_CASE(recvs__none_after_reset),
	{}
};

static struct kunit_suite verve_rc_recvs_suite = {
	.name = "verve_rc_recvs",
	.test_cases = verve_rc_recvs_cases,
};

kunit_test_suite(verve_rc_recvs_suite);
