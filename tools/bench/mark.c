// SPDX-License-Identifier: GPL-2.0-only
/* Executes the instruction that insns.c looks for. */
#include "mark.h"

#define WORDS(...)	#__VA_ARGS__
#define STRING(...)	WORDS(__VA_ARGS__)

int main(void)
{
	__asm__ volatile(".byte " STRING(MARK_CODE));
	return 0;
}
