/* SPDX-License-Identifier: GPL-2.0-only */
/* A program with several cases. Its script selects one by the variable CASE. */
#ifndef SELFTESTS_CASES_H
#define SELFTESTS_CASES_H

#include <stdlib.h>
#include <string.h>

enum { NO_SUCH_CASE = 2 };

struct named_case {
	const char *name;
	int (*run)(void);	/* Return: an exit code */
};

/* Run a case of a list that an empty one ends; without CASE, the first. */
static inline int case_run(const struct named_case *cases)
{
	const char *name = getenv("CASE");

	for (; cases->name; cases++)
		if (!name || !strcmp(name, cases->name))
			return cases->run();
	return NO_SUCH_CASE;
}

#endif
