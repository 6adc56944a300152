/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of an end of which a peer may write one part, while all other parts show
 * by their bytes whether he did: what no key covers, and what the keys that he has
 * do not allow him to write.
 */
#ifndef SELFTESTS_CANARY_H
#define SELFTESTS_CANARY_H

#include "ends.h"

enum area {
	AREA_OPEN,	/* every access */
	AREA_READ,	/* remote READs only */
	AREA_LOCAL,	/* no remote access */
	AREA_FOREIGN,	/* every access, in another PD */
	AREA_INBOX,	/* receives, no remote access */
	NUM_AREAS,
};

#define AREA_SIZE	65536u
#define AREA_GAP	4096u
/* Of each slot of the inbox, the last bytes are not received into. */
#define SLOTS		8u
#define SLOT		(AREA_SIZE / SLOTS)
#define SLOT_USED	(SLOT - 96)

struct canary {
	struct end *end;
	struct ibv_pd *foreign;
	uint8_t *mem;
	struct ibv_mr *mr[NUM_AREAS];
};

/* Ends the program if it cannot. */
void canary_new(struct canary *c, struct end *end);
void canary_free(struct canary *c);

uint8_t *canary_area(const struct canary *c, enum area area);

/* Posts a receive into slot @slot. Return: 0, or what ibv_post_recv() said. */
int canary_receive(const struct canary *c, uint32_t slot);

/* Return: whether nothing was written that nobody may write; it says where. */
bool canary_lives(const struct canary *c);

#endif
