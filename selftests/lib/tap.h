/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test results in the Test Anything Protocol, in the form of the kernel's selftests:
 * a plan, a line for each test, and exit code 0, 1 (failed) or 4 (skipped).
 */
#ifndef SELFTESTS_TAP_H
#define SELFTESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum tap_exit { TAP_PASS = 0, TAP_FAIL = 1, TAP_SKIP = 4 };

struct tap_counts {
	unsigned int planned, run, failed, skipped;
};

extern struct tap_counts tap;

/* Print a line for the reader, which parsers ignore. */
__attribute__((format(printf, 1, 2)))
void tap_diag(const char *fmt, ...);

void tap_plan(unsigned int tests);

__attribute__((format(printf, 2, 3)))
void tap_result(bool ok, const char *fmt, ...);

__attribute__((format(printf, 2, 3)))
void tap_skip(const char *reason, const char *fmt, ...);

/* Exit because of a broken set-up, after which no test is meaningful. */
__attribute__((format(printf, 1, 2), noreturn))
void tap_bail(const char *fmt, ...);

/* Print the totals. Return: exit code of the program. */
int tap_done(void);

/*
 * For functions that return true on success: print place and reason of a failure, and
 * return false.
 */
#define CHECK(cond, fmt, ...) do {					\
	if (!(cond)) {							\
		tap_diag("%s:%d: " fmt, __func__, __LINE__,		\
			 ##__VA_ARGS__);				\
		return false;						\
	}								\
} while (0)

#endif
