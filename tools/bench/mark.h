/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nopl 0x76657276(%rax) does nothing, and no compiler generates it with this
 * displacement.
 */
#define MARK_CODE 0x0f, 0x1f, 0x80, 0x76, 0x72, 0x65, 0x76
