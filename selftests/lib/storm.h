/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A storm: endless WRITEs by a thread with its own connection, on another CPU than the
 * test. A test that withdraws the memory sees whether a WRITE still goes on
 * afterwards.
 */
#ifndef SELFTESTS_STORM_H
#define SELFTESTS_STORM_H

#include <pthread.h>
#include <stdatomic.h>
#include "ends.h"

/**
 * struct storm - endless WRITEs
 * @e: connection of the thread, on the devices, PDs and memory of the test
 * @to: written memory of end b, in the process
 * @va: address of @to in the region
 * @size: bytes of each WRITE
 * @rkey: key
 * @thread: thread that sends the WRITEs
 * @stop: the thread must end, even if no WRITE has failed
 * @written: number of WRITEs that have succeeded
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

/* Start a storm and wait for its first WRITEs. Exits on failure. */
void storm_begin(struct storm *s, const struct ends *like, uint8_t *to,
		 uint64_t va, uint32_t size, uint32_t rkey);

/*
 * Check that no WRITE changes the memory after @rkey was withdrawn, and end the storm.
 * Return: true if none does.
 */
bool storm_is_over(struct storm *s);

/* Stop the thread, if it has not ended, and wait for it. */
void storm_end(struct storm *s);

#endif
