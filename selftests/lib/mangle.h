/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands to the kernel that no library gives: made of chance, and the library's
 * own, changed on their way. For the second, this file defines ioctl() in place of
 * the C library's.
 */
#ifndef SELFTESTS_MANGLE_H
#define SELFTESTS_MANGLE_H

#include <stddef.h>
#include <infiniband/verbs.h>

#include "dice.h"

/**
 * struct mangle - what commands are made of
 * @dice: of this thread
 * @one_in: so many of the library's calls are left alone for one that is changed; 0:
 *	leave all of them alone
 * @memory: which commands may have the kernel read, write and register
 * @size: of it
 */
struct mangle {
	struct dice dice;
	unsigned int one_in;
	uint8_t *memory;
	size_t size;
};

/* Of the calling thread, from now on; NULL: none */
void mangle_begin(struct mangle *m);

/* A command by write(), and one by ioctl() */
void mangle_write(struct mangle *m, struct ibv_context *ctx);
void mangle_ioctl(struct mangle *m, struct ibv_context *ctx);

#endif
