/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit's interface, as far as Verve's tests use it. The runner in user space prints a
 * line of TAP for each case.
 */
#ifndef UNIT_KUNIT_TEST_H
#define UNIT_KUNIT_TEST_H

#include <setjmp.h>
#include <verbs.h>

struct kunit_block;

/**
 * struct kunit - a running case
 * @failed: an expectation was not met
 * @leave: target of the jump from a failed assertion
 * @blocks: memory to free at the end of the case
 */
struct kunit {
	bool failed;
	jmp_buf leave;
	struct kunit_block *blocks;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	int (*suite_init)(struct kunit_suite *suite);
	void (*suite_exit)(struct kunit_suite *suite);
	struct kunit_case *test_cases;
	struct kunit_suite *next;
};

#define KUNIT_CASE(function)	{ .run_case = function, .name = #function }

void unit_suite_add(struct kunit_suite *suite);

#define kunit_test_suite(suite)						\
static void __attribute__((constructor)) add_##suite(void)		\
{									\
	unit_suite_add(&(suite));					\
}									\
struct kunit_suite

/* Exactly @size bytes, so that AddressSanitizer sees an access to the next one. */
void *kunit_kmalloc(struct kunit *test, size_t size, gfp_t gfp);
void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp);

/* Print the place and the reason of a failure. */
__attribute__((format(printf, 6, 7)))
void unit_fail(struct kunit *test, const char *file, int line,
	       const char *condition, const long long values[2],
	       const char *fmt, ...);

#define UNIT_COMPARE(test, left, op, right, fatal, fmt, ...)		\
do {									\
	const long long values_[2] = {					\
		(long long)(left), (long long)(right)			\
	};								\
									\
	if (!(values_[0] op values_[1])) {				\
		unit_fail(test, __FILE__, __LINE__,			\
			  #left " " #op " " #right, values_,		\
			  fmt, ##__VA_ARGS__);				\
		if (fatal)						\
			longjmp((test)->leave, 1);			\
	}								\
} while (0)

#define KUNIT_EXPECT_EQ(test, left, right) \
	UNIT_COMPARE(test, left, ==, right, false, "%s", "")
#define KUNIT_EXPECT_EQ_MSG(test, left, right, fmt, ...) \
	UNIT_COMPARE(test, left, ==, right, false, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_NE(test, left, right) \
	UNIT_COMPARE(test, left, !=, right, false, "%s", "")
#define KUNIT_EXPECT_LE(test, left, right) \
	UNIT_COMPARE(test, left, <=, right, false, "%s", "")
#define KUNIT_EXPECT_TRUE(test, condition) \
	UNIT_COMPARE(test, !!(condition), ==, true, false, "%s", "")
#define KUNIT_EXPECT_FALSE(test, condition) \
	UNIT_COMPARE(test, !!(condition), ==, false, false, "%s", "")
#define KUNIT_ASSERT_EQ(test, left, right) \
	UNIT_COMPARE(test, left, ==, right, true, "%s", "")
#define KUNIT_ASSERT_EQ_MSG(test, left, right, fmt, ...) \
	UNIT_COMPARE(test, left, ==, right, true, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr) \
	UNIT_COMPARE(test, (uintptr_t)(ptr), !=, 0, true, "%s", "")

#endif
