/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fast registration: work requests, and access to registered memory. All functions wait
 * for the completion, except those for mapping and description. Regions belong to end b.
 */
#ifndef SELFTESTS_FAST_H
#define SELFTESTS_FAST_H

#include "memory.h"

extern struct pair pair; /* defined by the module */

bool memory_map(struct memory *m);
/* Map and register memory, with a key that differs from the last one. */
bool memory_register(struct memory *m, int access);
/* The REG_MR request for the present key of a region */
struct ib_reg_wr reg(struct op *op, struct memory *m, int access);
/* Invalidate locally (LOCAL_INV). Return: status, or -1. */
int invalidate(struct side *side, u32 rkey);
/* READ or WRITE from end a, between its buffer and b's region. Return: status, or -1. */
int access_at(enum ib_wr_opcode opcode, u32 rkey, u64 va, u32 bytes);
/* The same, for the whole region */
int access_all(enum ib_wr_opcode opcode, struct memory *m);
/* Did the peer refuse the request? Both QPs failed then, and are connected anew. */
bool is_refused(int status);
/* Did the request fail locally with @wanted? The QP failed, and is connected anew. */
bool has_failed(int status, int wanted);

#endif
