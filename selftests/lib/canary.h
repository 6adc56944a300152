/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of an end with one part that a peer may write. The bytes of all other parts
 * show whether a peer has written them: parts without a key, and parts whose keys do
 * not allow it.
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
/* The receive of a slot does not cover the slot's last bytes. */
#define SLOTS		8u
#define SLOT		(AREA_SIZE / SLOTS)
#define SLOT_USED	(SLOT - 96)

struct canary {
	struct end *end;
	struct ibv_pd *foreign;
	uint8_t *mem;
	struct ibv_mr *mr[NUM_AREAS];
};

/* Exits on failure. */
void canary_new(struct canary *c, struct end *end);
void canary_free(struct canary *c);

uint8_t *canary_area(const struct canary *c, enum area area);

/* Post a receive into slot @slot. Return: result of ibv_post_recv(). */
int canary_receive(const struct canary *c, uint32_t slot);

/* Return: true if all forbidden parts are unchanged. Prints where they are not. */
bool canary_lives(const struct canary *c);

#endif
