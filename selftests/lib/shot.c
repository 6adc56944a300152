// SPDX-License-Identifier: GPL-2.0-only
#include <endian.h>
#include <string.h>

#include "shot.h"

static void add_bth(struct packet *p, const struct shot *s, uint32_t pad)
{
	uint32_t words[3] = {
		htobe32((uint32_t)s->opcode << 24 | pad << 20 | 0xffff),
		htobe32(s->at->qp->qp_num),
		htobe32(s->psn & 0xffffff),
	};

	packet_add(p, words, sizeof(words));
}

static void add_reth(struct packet *p, const struct shot *s)
{
	uint64_t va = htobe64(s->va);
	uint32_t rkey = htobe32(s->rkey), length = htobe32(s->length);

	packet_add(p, &va, sizeof(va));
	packet_add(p, &rkey, sizeof(rkey));
	packet_add(p, &length, sizeof(length));
}

static void add_atomic(struct packet *p, const struct shot *s)
{
	uint64_t va = htobe64(s->va), operands[2] = {};
	uint32_t rkey = htobe32(s->rkey);

	packet_add(p, &va, sizeof(va));
	packet_add(p, &rkey, sizeof(rkey));
	packet_add(p, operands, sizeof(operands));
}

static void add_headers(struct packet *p, const struct shot *s)
{
	unsigned int parts = packet_parts(s->opcode);
	uint32_t aeth = htobe32((uint32_t)s->syndrome << 24);
	uint32_t key = htobe32(s->rkey);
	uint64_t orig = 0;

	if (parts & PART_RETH)
		add_reth(p, s);
	if (parts & PART_ATOMICETH)
		add_atomic(p, s);
	if (parts & PART_AETH)
		packet_add(p, &aeth, sizeof(aeth));
	if (parts & PART_ATOMICACK)
		packet_add(p, &orig, sizeof(orig));
	if (parts & PART_IETH)
		packet_add(p, &key, sizeof(key));
}

void shoot(int fd, const struct shot *s)
{
	static const uint8_t zeros[4];
	bool carries = packet_parts(s->opcode) & PART_PAYLOAD;
	uint32_t length = carries ? s->length : 0, pad = -length & 3;
	uint8_t junk[4096];
	struct packet p;

	memset(junk, 0xee, sizeof(junk));
	packet_begin(&p, &s->from->gid, &s->at->gid);
	add_bth(&p, s, pad);
	add_headers(&p, s);
	packet_add(&p, s->payload ? s->payload : junk, length);
	packet_add(&p, zeros, pad);
	packet_end(&p);
	packet_send(fd, &p);
}
