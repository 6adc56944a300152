/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A storm: WRITEs that do not end by themselves, by a thread with a connection
 * of its own, on another CPU than the test. Who takes the memory away from them
 * sees whether one of them is still at it afterwards.
 */
#ifndef SELFTESTS_STORM_H
#define SELFTESTS_STORM_H

#include <pthread.h>
#include <stdatomic.h>
#include "ends.h"

/**
 * struct storm - one storm
 * @e: its connection, on the devices, PDs and memory of the test's
 * @to: memory of end b that it writes, as the process has it
 * @va: that, as the key has it
 * @size: bytes of each WRITE
 * @rkey: key
 * @thread: that sends the WRITEs
 * @stop: end it, even if nothing has failed
 * @written: how many WRITEs have succeeded
 */
struct storm {
	struct ends e;
	uint8_t *to;
	uint64_t va;
	uint32_t size;
	uint32_t rkey;
	pthread_t thread;
	atomic_bool stop;
	atomic_uint written;
};

/* Returns when it blows; ends the program if it cannot. */
void storm_begin(struct storm *s, const struct ends *like, uint8_t *to,
		 uint64_t va, uint32_t size, uint32_t rkey);

/*
 * Nobody may write by @rkey any more. Return: whether nobody does, which is
 * looked at until the last of the WRITEs has failed.
 */
bool storm_is_over(struct storm *s);

/* Ends it, if nothing else did. */
void storm_end(struct storm *s);

#endif
