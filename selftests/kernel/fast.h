/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fast registration: its work requests, and the use of what was registered. All
 * but mapping and describing wait for the completion; regions are end b's.
 */
#ifndef SELFTESTS_FAST_H
#define SELFTESTS_FAST_H

#include "memory.h"

extern struct pair pair; /* of the module */

bool memory_map(struct memory *m);
/* Maps and registers, with a key that differs from the last one. */
bool memory_register(struct memory *m, int access);
/* The request for REG_MR with the region's present key */
struct ib_reg_wr reg(struct op *op, struct memory *m, int access);
/* LOCAL_INV. Return: status, or -1. */
int invalidate(struct side *side, u32 rkey);
/* READ or WRITE of a between its buffer and b's region. Return: status, or -1. */
int access_at(enum ib_wr_opcode opcode, u32 rkey, u64 va, u32 bytes);
/* All of it likewise */
int access_all(enum ib_wr_opcode opcode, struct memory *m);
/* The peer refused, and both QPs are in error now: begin anew. */
bool is_refused(int status);
/* What is at fault here fails with @wanted, and the QP with it: begin anew. */
bool has_failed(int status, int wanted);

#endif
