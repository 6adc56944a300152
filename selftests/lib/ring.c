// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "ring.h"
#include "tap.h"

/* struct rxe_queue_buf: the head of each ring */
enum {
	RING_LOG2_SIZE	= 0,
	RING_MASK	= 4,
	RING_PRODUCER	= 128,
	RING_DATA	= 384,
};

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* The slot that is filled next, if it holds this request. */
static uint8_t *find(uint8_t *ring, size_t size, uint64_t wr_id)
{
	uint32_t slot = word(ring + RING_PRODUCER) & word(ring + RING_MASK);
	size_t offset = RING_DATA + ((size_t)slot << word(ring));
	uint8_t *wqe = ring + offset;

	if (word(ring) > 16 || offset + WQE_PAYLOAD > size)
		return NULL;
	return memcmp(wqe, &wr_id, sizeof(wr_id)) ? NULL : wqe;
}

uint8_t *ring_request(uint64_t wr_id)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	uint8_t *wqe = NULL;
	char line[512];

	while (maps && !wqe && fgets(line, sizeof(line), maps))
		if (strstr(line, "/infiniband/uverbs") &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2)
			wqe = find((uint8_t *)from, to - from, wr_id);
	if (maps)
		fclose(maps);
	if (!wqe)
		tap_bail("no ring has the request");
	return wqe;
}
