/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packet sequence numbers: 24 bits, compared in a window of half their range
 * (IBTA vol. 1, 9.7.1).
 */
#ifndef VERVE_WIRE_PSN_H
#define VERVE_WIRE_PSN_H

#include <linux/types.h>

#define VERVE_PSN_MASK	0xffffffU

static inline u32 verve_psn_add(u32 psn, u32 n)
{
	return (psn + n) & VERVE_PSN_MASK;
}

/* Signed distance from @b to @a, -2^23 .. 2^23 - 1. */
static inline s32 verve_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

static inline bool verve_psn_before(u32 a, u32 b)
{
	return verve_psn_diff(a, b) < 0;
}

/* Packets in a message of @length bytes. An empty message is one packet. */
static inline u32 verve_psn_count(u32 length, u32 mtu)
{
	return length ? (length - 1) / mtu + 1 : 1;
}

#endif
