// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runner of all suites that are linked in, and mocks of kernel functions
 */
#include <stdarg.h>
#include <stdio.h>
#include <kunit/test.h>

struct kunit_block {
	struct kunit_block *next;
	void *memory;
};

static struct kunit_suite *suites;

void unit_suite_add(struct kunit_suite *suite)
{
	struct kunit_suite **link = &suites;

	/* Sorted by name, independent of the order of linking */
	while (*link && strcmp((*link)->name, suite->name) < 0)
		link = &(*link)->next;
	suite->next = *link;
	*link = suite;
}

void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	struct kunit_block *block = malloc(sizeof(*block));

	(void)gfp;
	block->memory = calloc(1, size);
	block->next = test->blocks;
	test->blocks = block;
	return block->memory;
}

void *kunit_kmalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	return memset(kunit_kzalloc(test, size, gfp), 0x6b, size);
}

static void free_blocks(struct kunit *test)
{
	struct kunit_block *block;

	while ((block = test->blocks)) {
		test->blocks = block->next;
		free(block->memory);
		free(block);
	}
}

void unit_fail(struct kunit *test, const char *file, int line,
	       const char *condition, const long long values[2],
	       const char *fmt, ...)
{
	va_list args;

	test->failed = true;
	printf("# %s:%d: expected %s, have %lld (%#llx) and %lld (%#llx) ",
	       file, line, condition, values[0], values[0], values[1], values[1]);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

void shim_unexpected(const char *file, int line, const char *what)
{
	printf("# %s:%d: not so: %s\n", file, line, what);
	abort();
}

u32 crc32_le(u32 crc, const void *data, size_t len)
{
	static u32 table[256];
	const u8 *byte = data;
	u32 i, bit;

	for (i = 0; !table[255] && i < 256; i++) {
		table[i] = i;
		for (bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1) * 0xedb88320;
	}
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *byte++) & 0xff];
	return crc;
}

bool ib_modify_qp_is_ok(enum ib_qp_state cur, enum ib_qp_state next,
			enum ib_qp_type type, int mask)
{
	(void)type;
	switch (next) {
	case IB_QPS_RESET:
	case IB_QPS_ERR:
		return !(mask & ~IB_QP_STATE);
	case IB_QPS_INIT:
		return cur == IB_QPS_RESET || cur == IB_QPS_INIT;
	case IB_QPS_RTR:
		return cur == IB_QPS_INIT;
	case IB_QPS_RTS:
		return cur >= IB_QPS_RTR && cur <= IB_QPS_SQE;
	case IB_QPS_SQD:
		return cur == IB_QPS_RTS || cur == IB_QPS_SQD;
	default:
		return false;
	}
}

static bool run_case(const struct kunit_case *test_case)
{
	struct kunit test = {};

	if (!setjmp(test.leave))
		test_case->run_case(&test);
	free_blocks(&test);
	return !test.failed;
}

static int count_cases(void)
{
	const struct kunit_suite *suite;
	const struct kunit_case *c;
	int n = 0;

	for (suite = suites; suite; suite = suite->next)
		for (c = suite->test_cases; c->run_case; c++)
			n++;
	return n;
}

int main(void)
{
	struct kunit_suite *suite;
	const struct kunit_case *c;
	int n = 0, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%d\n", count_cases());
	for (suite = suites; suite; suite = suite->next) {
		bool ready = !suite->suite_init || !suite->suite_init(suite);

		for (c = suite->test_cases; c->run_case; c++) {
			bool ok = ready && run_case(c);

			failed += !ok;
			printf("%s %d %s.%s\n", ok ? "ok" : "not ok", ++n,
			       suite->name, c->name);
		}
		if (ready && suite->suite_exit)
			suite->suite_exit(suite);
	}
	return failed || !n;
}
