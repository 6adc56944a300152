// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fault aborts the program, and libFuzzer keeps the input.
 */
#include <stdarg.h>
#include "../model/world.h"

void shim_unexpected(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

void broken(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}
