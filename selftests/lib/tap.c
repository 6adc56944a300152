// SPDX-License-Identifier: GPL-2.0-only
#include "tap.h"

struct tap_counts tap;

static void line(const char *head, const char *fmt, va_list args,
		 const char *tail)
{
	fputs(head, stdout);
	vprintf(fmt, args);
	puts(tail);
	fflush(stdout);
}

void tap_diag(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	line("# ", fmt, args, "");
	va_end(args);
}

void tap_plan(unsigned int tests)
{
	tap.planned = tests;
	printf("TAP version 13\n1..%u\n", tests);
	fflush(stdout);
}

void tap_result(bool ok, const char *fmt, ...)
{
	char head[32];
	va_list args;

	tap.run++;
	tap.failed += !ok;
	snprintf(head, sizeof(head), "%s %u ", ok ? "ok" : "not ok", tap.run);
	va_start(args, fmt);
	line(head, fmt, args, "");
	va_end(args);
}

void tap_skip(const char *reason, const char *fmt, ...)
{
	char head[32], tail[128];
	va_list args;

	tap.run++;
	tap.skipped++;
	snprintf(head, sizeof(head), "ok %u ", tap.run);
	snprintf(tail, sizeof(tail), " # SKIP %s", reason);
	va_start(args, fmt);
	line(head, fmt, args, tail);
	va_end(args);
}

void tap_bail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	line("Bail out! ", fmt, args, "");
	va_end(args);
	exit(TAP_FAIL);
}

int tap_done(void)
{
	if (tap.run != tap.planned) {
		tap_diag("planned %u tests, ran %u", tap.planned, tap.run);
		tap.failed++;
	}
	tap_diag("Totals: pass:%u fail:%u skip:%u",
		 tap.run - tap.failed - tap.skipped, tap.failed, tap.skipped);
	if (tap.failed)
		return TAP_FAIL;
	return tap.run && tap.run == tap.skipped ? TAP_SKIP : TAP_PASS;
}
