/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands to the kernel that no library sends: random ones, and changed commands of
 * the library. To change these, mangle.c defines ioctl() in place of the C library's.
 */
#ifndef SELFTESTS_MANGLE_H
#define SELFTESTS_MANGLE_H

#include <stddef.h>
#include <infiniband/verbs.h>

#include "dice.h"

/**
 * struct mangle - state of a thread that sends such commands
 * @dice: random numbers of the thread
 * @one_in: one of so many calls of the library is changed; 0: none
 * @memory: memory that commands may have the kernel read, write and register
 * @size: bytes of @memory
 */
struct mangle {
	struct dice dice;
	unsigned int one_in;
	uint8_t *memory;
	size_t size;
};

/* Change commands of the calling thread from now on; NULL: no longer */
void mangle_begin(struct mangle *m);

/* Send a random command by write(), or by ioctl(). */
void mangle_write(struct mangle *m, struct ibv_context *ctx);
void mangle_ioctl(struct mangle *m, struct ibv_context *ctx);

#endif
