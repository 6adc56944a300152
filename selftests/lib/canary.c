// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "canary.h"
#include "region.h"
#include "tap.h"
#include "work.h"

#define STRIDE	(AREA_SIZE + AREA_GAP)
#define TOTAL	(NUM_AREAS * STRIDE + AREA_GAP)

static const int rights[NUM_AREAS] = {
	[AREA_OPEN]	= ALL_ACCESS,
	[AREA_READ]	= IBV_ACCESS_REMOTE_READ,
	[AREA_LOCAL]	= IBV_ACCESS_LOCAL_WRITE,
	[AREA_FOREIGN]	= ALL_ACCESS,
	[AREA_INBOX]	= IBV_ACCESS_LOCAL_WRITE,
};

uint8_t *canary_area(const struct canary *c, enum area area)
{
	return c->mem + AREA_GAP + area * STRIDE;
}

void canary_new(struct canary *c, struct end *end)
{
	unsigned int i;

	*c = (struct canary){ .end = end };
	c->mem = mmap(NULL, TOTAL, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	c->foreign = ibv_alloc_pd(end->ctx);
	if (c->mem == MAP_FAILED || !c->foreign)
		tap_bail("canary: %s", strerror(errno));
	memset(c->mem, POISON, TOTAL);
	for (i = 0; i < NUM_AREAS; i++) {
		c->mr[i] = ibv_reg_mr(i == AREA_FOREIGN ? c->foreign : end->pd,
				      canary_area(c, i), AREA_SIZE, rights[i]);
		if (!c->mr[i])
			tap_bail("canary: area %u: %s", i, strerror(errno));
	}
}

void canary_free(struct canary *c)
{
	unsigned int i;

	for (i = 0; i < NUM_AREAS; i++)
		if (ibv_dereg_mr(c->mr[i]))
			tap_bail("canary: area %u stays", i);
	if (ibv_dealloc_pd(c->foreign))
		tap_bail("canary: the PD stays");
	munmap(c->mem, TOTAL);
}

int canary_receive(const struct canary *c, uint32_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)canary_area(c, AREA_INBOX) +
			slot % SLOTS * SLOT,
		.length = SLOT_USED,
		.lkey = c->mr[AREA_INBOX]->lkey,
	};

	return post_recv(c->end, slot, &sge, 1);
}

static bool is_untouched(const struct canary *c, const char *what,
			 const uint8_t *from, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		CHECK(from[i] == POISON,
		      "device %s: byte %zu of the canary was written (%s, %zu)",
		      c->end->name, from + i - c->mem, what, i);
	return true;
}

static bool is_inbox_good(const struct canary *c)
{
	const uint8_t *slot = canary_area(c, AREA_INBOX);
	unsigned int i;

	for (i = 0; i < SLOTS; i++, slot += SLOT)
		if (!is_untouched(c, "behind a receive", slot + SLOT_USED,
				  SLOT - SLOT_USED))
			return false;
	return true;
}

bool canary_lives(const struct canary *c)
{
	unsigned int i;

	for (i = 0; i <= NUM_AREAS; i++)
		if (!is_untouched(c, "in no region", c->mem + i * STRIDE,
				  AREA_GAP))
			return false;
	return is_untouched(c, "to be read", canary_area(c, AREA_READ),
			    AREA_SIZE) &&
	       is_untouched(c, "local", canary_area(c, AREA_LOCAL),
			    AREA_SIZE) &&
	       is_untouched(c, "another PD's", canary_area(c, AREA_FOREIGN),
			    AREA_SIZE) &&
	       is_inbox_good(c);
}
