// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trust in a device that segments: a right device keeps it unless eight watched packets
 * in a row lose something, and one that spoils packets loses it.
 */
#include <kunit/test.h>
#include "trust.c"

enum { NOW = 1000 };

/* A packet that stands for @packets, the first of which the peer lacks */
static bool fail(struct verve_trust *trust, u32 psn, u32 packets)
{
	verve_trust_watch(trust, psn, packets);
	return verve_trust_lost(trust, psn, NOW);
}

static void bar(struct kunit *test, struct verve_trust *trust)
{
	int i;

	for (i = 1; i < MOST_FAILURES; i++)
		KUNIT_EXPECT_FALSE(test, fail(trust, 100 * i, 40));
	KUNIT_EXPECT_TRUE(test, fail(trust, 100 * i, 40));
}

static void trust__ends_after_failures(struct kunit *test)
{
	struct verve_trust trust = {};

	KUNIT_EXPECT_TRUE(test, verve_trust_allows(&trust, NOW));
	bar(test, &trust);
	KUNIT_EXPECT_FALSE(test, verve_trust_allows(&trust, NOW));
	KUNIT_EXPECT_FALSE(test, verve_trust_allows(&trust, NOW + PAUSE - 1));
}

/* Each failure counts once, and only those of watched packets */
static void trust__survives_losses_elsewhere(struct kunit *test)
{
	struct verve_trust trust = {};
	int i;

	verve_trust_watch(&trust, 100, 40);
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_FALSE(test, verve_trust_lost(&trust, 99, NOW));
		KUNIT_EXPECT_FALSE(test, verve_trust_lost(&trust, 140, NOW));
	}
	KUNIT_EXPECT_EQ(test, trust.failures, 0);
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_FALSE(test, verve_trust_lost(&trust, 139, NOW));
	KUNIT_EXPECT_EQ(test, trust.failures, 1);
}

/* One that arrives between them clears all failures before it. */
static void trust__returns_with_an_ack(struct kunit *test)
{
	struct verve_trust trust = {};
	int i, k;

	for (k = 0; k < 10; k++) {
		for (i = 1; i < MOST_FAILURES; i++)
			KUNIT_EXPECT_FALSE(test, fail(&trust, 0xfffff0, 40));
		verve_trust_watch(&trust, 0xfffff0, 40);
		verve_trust_acknowledged(&trust, 23);
		KUNIT_EXPECT_EQ(test, trust.failures, MOST_FAILURES - 1);
		verve_trust_acknowledged(&trust, 24);
		KUNIT_EXPECT_EQ(test, trust.failures, 0);
	}
}

/*
 * A probe repeats the oldest packet, and its ACK shows that the next one is absent. That
 * still counts, for it is all that a device with one message out ever shows.
 */
static void trust__ends_by_probes(struct kunit *test)
{
	struct verve_trust trust = {};
	bool is_barred;
	int i;

	for (i = 1; i <= MOST_FAILURES; i++) {
		verve_trust_watch(&trust, 10 * i, 2);
		verve_trust_repeated(&trust, 10 * i + 1);
		is_barred = verve_trust_lost(&trust, 10 * i + 1, NOW);
		KUNIT_EXPECT_EQ(test, is_barred, i == MOST_FAILURES);
	}
}

/* The last packet of each is bad, and nothing follows. Only probes notice that. */
static void trust__ends_by_late_probes(struct kunit *test)
{
	struct verve_trust trust = {};
	int i;

	for (i = 1; i <= MOST_FAILURES; i++) {
		u32 first = 0xffffffU - 10 * i;

		verve_trust_watch(&trust, first, 8);
		KUNIT_EXPECT_FALSE(test, verve_trust_is_in_doubt(&trust, first));
		verve_trust_repeated(&trust, first + 1);
		KUNIT_EXPECT_TRUE(test, verve_trust_is_in_doubt(&trust, first + 7));
		KUNIT_EXPECT_EQ(test, verve_trust_lost(&trust, first + 7, NOW),
				i == MOST_FAILURES);
		KUNIT_EXPECT_FALSE(test, verve_trust_is_in_doubt(&trust, first + 7));
	}
}

/* Packets that were all sent again prove nothing, neither lost nor acknowledged. */
static void trust__ignores_repeated_packets(struct kunit *test)
{
	struct verve_trust trust = {};

	fail(&trust, 0, 40);
	verve_trust_watch(&trust, 100, 40);
	verve_trust_repeated(&trust, 100);
	KUNIT_EXPECT_EQ(test, trust.packets, 40);
	verve_trust_repeated(&trust, 139);
	KUNIT_EXPECT_EQ(test, trust.packets, 1);
	verve_trust_repeated(&trust, 140);
	KUNIT_EXPECT_EQ(test, trust.packets, 0);
	verve_trust_acknowledged(&trust, 140);
	KUNIT_EXPECT_FALSE(test, verve_trust_lost(&trust, 139, NOW));
	KUNIT_EXPECT_EQ(test, trust.failures, 1);
}

/* The first packet of a burst is often a short one, and a device may spoil long ones. */
static void trust__watches_the_longest(struct kunit *test)
{
	struct verve_trust trust = {};

	verve_trust_watch(&trust, 0, 2);
	verve_trust_watch(&trust, 2, 40);
	verve_trust_watch(&trust, 42, 40);
	KUNIT_EXPECT_EQ(test, trust.first, 2);
	/* Its rest still counts as that long. */
	verve_trust_repeated(&trust, 32);
	verve_trust_watch(&trust, 82, 39);
	KUNIT_EXPECT_EQ(test, trust.first, 32);
	KUNIT_EXPECT_EQ(test, trust.packets, 10);
}

static void trust__is_tried_again(struct kunit *test)
{
	unsigned long later = NOW + PAUSE + 1;
	struct verve_trust trust = {};

	bar(test, &trust);
	KUNIT_EXPECT_TRUE(test, verve_trust_is_on_trial(&trust));
	KUNIT_EXPECT_TRUE(test, verve_trust_allows(&trust, later));
	verve_trust_watch(&trust, 0, 4);
	KUNIT_EXPECT_FALSE(test, verve_trust_allows(&trust, later));
	/* One failure bars it again, and is not reported again. */
	KUNIT_EXPECT_FALSE(test, verve_trust_lost(&trust, 3, later));
	KUNIT_EXPECT_FALSE(test, verve_trust_allows(&trust, later));
	later += PAUSE + 1;
	KUNIT_EXPECT_TRUE(test, verve_trust_allows(&trust, later));
	verve_trust_watch(&trust, 4, 4);
	verve_trust_acknowledged(&trust, 8);
	KUNIT_EXPECT_FALSE(test, verve_trust_is_on_trial(&trust));
	KUNIT_EXPECT_TRUE(test, verve_trust_allows(&trust, later));
}

static struct kunit_case verve_trust_cases[] = {
	KUNIT_CASE(trust__ends_after_failures),
	KUNIT_CASE(trust__survives_losses_elsewhere),
	KUNIT_CASE(trust__returns_with_an_ack),
	KUNIT_CASE(trust__ends_by_probes),
	KUNIT_CASE(trust__ends_by_late_probes),
	KUNIT_CASE(trust__ignores_repeated_packets),
	KUNIT_CASE(trust__watches_the_longest),
	KUNIT_CASE(trust__is_tried_again),
	{}
};

static struct kunit_suite verve_trust_suite = {
	.name = "verve_trust",
	.test_cases = verve_trust_cases,
};

kunit_test_suite(verve_trust_suite);
