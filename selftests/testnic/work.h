/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Marks around the work that hardware would do, for tools/bench/insns.c. They are
 * instructions without an effect: nopl with a displacement that no compiler generates.
 */
#ifndef VERVE_TESTNIC_WORK_H
#define VERVE_TESTNIC_WORK_H

#define WORK_BEGINS	0x0f, 0x1f, 0x80, 0x76, 0x72, 0x77, 0x62
#define WORK_ENDS	0x0f, 0x1f, 0x80, 0x76, 0x72, 0x77, 0x65

#ifdef __KERNEL__
#include <linux/stringify.h>

#ifdef CONFIG_X86_64
#define WORK_MARK(...)	asm volatile(".byte " __stringify(__VA_ARGS__) ::: "memory")
#else
#define WORK_MARK(...)	barrier()
#endif

/* From here on, this CPU does what hardware would do. */
static inline void nic_work_begins(void)
{
	WORK_MARK(WORK_BEGINS);
}

/* From here on, this CPU does the host's work. */
static inline void nic_work_ends(void)
{
	WORK_MARK(WORK_ENDS);
}
#endif

#endif
