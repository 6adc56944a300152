/* SPDX-License-Identifier: GPL-2.0-only */
/* A program that can do several things: its script says in CASE which. */
#ifndef SELFTESTS_CASES_H
#define SELFTESTS_CASES_H

#include <stdlib.h>
#include <string.h>

enum { NO_SUCH_CASE = 2 };

struct named_case {
	const char *name;
	int (*run)(void);	/* Return: an exit code */
};

/* Of a list that ends with an empty one; without CASE, the first. */
static inline int case_run(const struct named_case *cases)
{
	const char *name = getenv("CASE");

	for (; cases->name; cases++)
		if (!name || !strcmp(name, cases->name))
			return cases->run();
	return NO_SUCH_CASE;
}

#endif
