/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hash function of tables with u32 keys. Each packet looks up a QP and regions, and
 * rhashtable's own function, for keys of any length, is not inlined.
 */
#ifndef VERVE_MEMORY_NUMBER_HASH_H
#define VERVE_MEMORY_NUMBER_HASH_H

#include <linux/jhash.h>

static inline u32 verve_number_hash(const void *number, u32 len, u32 seed)
{
	return jhash_1word(*(const u32 *)number, seed);
}

#endif
