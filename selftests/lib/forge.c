// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "forge.h"
#include "tap.h"

enum {
	SEND_FIRST	= 0x00,
	SEND_MIDDLE	= 0x01,
	WRITE_FIRST	= 0x06,
	RC_OPCODES	= 0x1e,
	UC		= 0x20,
	UC_OPCODES	= 0x0c,
	UD		= 0x64,
	CNP		= 0x81,
	/* Responses, whose PSNs are those of the requester */
	ANSWER_FIRST	= 0x0d,
	ANSWER_LAST	= 0x12,
	GSI_QKEY	= 0x80010000,
	CE		= 3,
	LONGEST		= 8192,
};

/* ---------------------------------------------------------------- BTH */

static uint8_t own_opcode(struct forger *f)
{
	switch (f->service) {
	case IBV_QPT_RC:
		return dice_roll(&f->dice, RC_OPCODES);
	case IBV_QPT_UC:
		return UC + dice_roll(&f->dice, UC_OPCODES);
	default:
		return UD + dice_roll(&f->dice, 2);
	}
}

static uint8_t any_opcode(struct forger *f)
{
	static const uint8_t known[] = { 0x04, 0x0a, 0x11, 0x24, 0x2a, UD, CNP };

	return dice_one_in(&f->dice, 3) ? dice_any(&f->dice) :
					  dice_pick(&f->dice, known);
}

/* Often continue a message that was begun, with Middle or Last. */
static uint8_t next_opcode(struct forger *f)
{
	uint8_t opcode = f->under_way, op = opcode & 0x1f;

	if (opcode == CNP || !dice_roll(&f->dice, 3)) {
		opcode = dice_one_in(&f->dice, 8) ? any_opcode(f) :
						    own_opcode(f);
		op = opcode & 0x1f;
	} else if (op == SEND_FIRST || op == WRITE_FIRST) {
		opcode += 1 + dice_roll(&f->dice, 3);
		op = opcode & 0x1f;
	} else {
		opcode += dice_roll(&f->dice, 3);
		op = opcode & 0x1f;
	}
	f->under_way = opcode < UD && (op < 2 || op == 6 || op == 7) ? opcode :
								      CNP;
	return opcode;
}

static void live_psns(const struct end *end, struct ibv_qp_attr *attr)
{
	struct ibv_qp_init_attr init;

	if (ibv_query_qp(end->qp, attr, IBV_QP_RQ_PSN | IBV_QP_SQ_PSN, &init))
		tap_bail("device %s: query_qp: %s", end->name, strerror(errno));
}

static uint32_t next_psn(struct forger *f, uint8_t opcode)
{
	struct dice *d = &f->dice;
	struct ibv_qp_attr attr;
	uint32_t psn;

	live_psns(f->victim, &attr);
	psn = attr.rq_psn;
	if (opcode >= ANSWER_FIRST && opcode <= ANSWER_LAST)
		psn = attr.sq_psn - dice_roll(d, 16);
	switch (dice_roll(d, 10)) {
	case 0:
		return psn + dice_roll(d, 17) - 8;
	case 1:
		return psn + dice_roll(d, 600) - 300;
	case 2:
		return psn + (1 << 23) + dice_roll(d, 5) - 2;
	case 3:
		return dice_any(d);
	default:
		return psn;
	}
}

static uint32_t next_qpn(struct forger *f)
{
	static const uint32_t special[] = { 0, 1, 2, 0xffffff };

	switch (dice_roll(&f->dice, 24)) {
	case 0:
		return dice_pick(&f->dice, special);
	case 1:
		return dice_any(&f->dice) & 0xffffff;
	default:
		return f->victim->qp->qp_num;
	}
}

static void add_bth(struct forger *f, struct packet *p, uint8_t opcode,
		    uint32_t qpn, uint32_t payload)
{
	struct dice *d = &f->dice;
	uint8_t pad = dice_one_in(d, 16) ? dice_roll(d, 4) : -payload & 3;
	uint8_t version = dice_one_in(d, 64) ? dice_roll(d, 16) : 0;
	uint32_t reserved = dice_one_in(d, 8) ? dice_any(d) & 0x7f : 0;
	uint32_t notes = dice_one_in(d, 8) ? dice_any(d) & 0xff : 0;
	struct {
		uint8_t opcode, flags;
		uint16_t pkey;
		uint32_t qpn, psn;
	} bth = {
		.opcode = opcode,
		.flags = (dice_any(d) & 0xc0) | pad << 4 | version,
		.pkey = htons(dice_one_in(d, 64) ? dice_any(d) : 0xffff),
		.qpn = htonl(notes << 24 | qpn),
		.psn = htonl((next_psn(f, opcode) & 0xffffff) |
			     (dice_roll(d, 2) << 7 | reserved) << 24),
	};

	packet_add(p, &bth, sizeof(bth));
}

/* ---------------------------------------------------------------- extended headers */

static uint32_t next_key(struct forger *f, enum area area)
{
	uint32_t key = f->memory->mr[area]->rkey;

	switch (dice_roll(&f->dice, 16)) {
	case 0:
		return key ^ 1 << dice_roll(&f->dice, 32);
	case 1:
		return dice_edge(&f->dice);
	default:
		return key;
	}
}

/* An address within the key's area, around its ends, or far away */
static uint64_t next_va(struct forger *f, enum area which, uint32_t len)
{
	struct dice *d = &f->dice;
	uint64_t at = (uintptr_t)canary_area(f->memory, which);

	switch (dice_roll(d, 8)) {
	case 0:
		return at + AREA_SIZE - len + dice_roll(d, 9) - 4;
	case 1:
		return at - dice_roll(d, 64);
	case 2:
		return dice_edge(d);
	default:
		return at + dice_roll(d, AREA_SIZE - LONGEST) / 8 * 8;
	}
}

static enum area next_area(struct forger *f)
{
	return dice_roll(&f->dice, 4) ? AREA_OPEN :
					dice_roll(&f->dice, NUM_AREAS);
}

static void add_reth(struct forger *f, struct packet *p, uint32_t payload)
{
	struct dice *d = &f->dice;
	enum area area = next_area(f);
	uint32_t len = payload;
	struct {
		uint64_t va;
		uint32_t rkey, len;
	} reth;

	if (dice_one_in(d, 3))
		len = dice_one_in(d, 4) ? dice_edge(d) : dice_roll(d, 20000);
	reth.va = htobe64(next_va(f, area, len));
	reth.rkey = htonl(next_key(f, area));
	reth.len = htonl(len);
	packet_add(p, &reth, sizeof(reth));
}

static void add_atomiceth(struct forger *f, struct packet *p)
{
	enum area area = next_area(f);
	uint64_t va = htobe64(next_va(f, area, 8));
	uint32_t rkey = htonl(next_key(f, area));
	uint64_t swap_compare[2] = {
		dice_edge(&f->dice), dice_edge(&f->dice),
	};

	packet_add(p, &va, sizeof(va));
	packet_add(p, &rkey, sizeof(rkey));
	packet_add(p, swap_compare, sizeof(swap_compare));
}

static void add_deth(struct forger *f, struct packet *p, uint32_t qpn)
{
	struct dice *d = &f->dice;
	uint32_t qkey = qpn == 1 ? GSI_QKEY : UD_QKEY;
	uint32_t deth[2] = {
		htonl(dice_one_in(d, 8) ? dice_edge(d) : qkey),
		htonl(dice_roll(d, 2) ? f->peer->qp->qp_num : dice_any(d)),
	};

	packet_add(p, deth, sizeof(deth));
}

/* Mostly syndromes of ACKs, RNR NAKs and NAKs, and sometimes any value */
static void add_aeth(struct forger *f, struct packet *p)
{
	static const uint8_t types[] = { 0x00, 0x1f, 0x20, 0x2c, 0x60, 0x61,
					 0x62, 0x63, 0x64, 0x40 };
	struct dice *d = &f->dice;
	uint8_t syndrome = dice_one_in(d, 4) ? dice_any(d) :
					       dice_pick(d, types);
	uint32_t aeth = htonl(syndrome << 24 | (dice_any(d) & 0xffffff));

	packet_add(p, &aeth, sizeof(aeth));
}

static void add_word(struct packet *p, uint32_t word)
{
	word = htonl(word);
	packet_add(p, &word, sizeof(word));
}

static void add_feth(struct forger *f, struct packet *p)
{
	add_word(p, dice_one_in(&f->dice, 2) ? dice_any(&f->dice) :
					       dice_roll(&f->dice, 64));
}

static void add_parts(struct forger *f, struct packet *p, unsigned int parts,
		      uint32_t qpn, uint32_t payload)
{
	uint8_t rest[16];

	memset(rest, dice_any(&f->dice), sizeof(rest));
	if (parts & PART_DETH)
		add_deth(f, p, qpn);
	if (parts & PART_FETH)
		add_feth(f, p);
	if (parts & PART_RETH)
		add_reth(f, p, payload);
	if (parts & PART_ATOMICETH)
		add_atomiceth(f, p);
	if (parts & PART_AETH)
		add_aeth(f, p);
	if (parts & PART_ATOMICACK)
		packet_add(p, rest, 8);
	if (parts & PART_IMM)
		add_word(p, dice_any(&f->dice));
	if (parts & PART_IETH)
		add_word(p, next_key(f, next_area(f)));
	if (parts & PART_CNP)
		packet_add(p, rest, 16);
}

/* ---------------------------------------------------------------- payload */

static uint32_t payload_len(struct forger *f, unsigned int parts)
{
	uint32_t mtu = mtu_bytes(f->victim->active_mtu);
	struct dice *d = &f->dice;

	if (parts && !(parts & PART_PAYLOAD))
		return dice_one_in(d, 16) ? dice_roll(d, 64) : 0;
	switch (dice_roll(d, 10)) {
	case 0:
		return 0;
	case 1:
		return mtu + 4 * (dice_roll(d, 5) - 2);
	case 2:
		return dice_roll(d, LONGEST);
	case 3:
	case 4:
	case 5:
		return mtu;
	case 6:
		return 8;
	default:
		return 1 + dice_roll(d, mtu);
	}
}

/* Fill in the header of a management datagram, so that QP 1 does not drop it at once. */
static void make_mad(struct forger *f, uint8_t *payload)
{
	static const uint8_t classes[] = { 0x01, 0x03, 0x04, 0x07, 0x81, 0x30 };
	static const uint8_t methods[] = { 0x01, 0x02, 0x03, 0x81, 0x92 };

	payload[0] = 1;
	payload[1] = dice_pick(&f->dice, classes);
	payload[2] = dice_roll(&f->dice, 3);
	payload[3] = dice_pick(&f->dice, methods);
	payload[17] = dice_roll(&f->dice, 0x20);
}

static void add_payload(struct forger *f, struct packet *p, uint32_t qpn,
			uint32_t len)
{
	uint8_t bytes[LONGEST + 64];
	uint64_t any = dice_any(&f->dice);
	uint32_t i;

	for (i = 0; i < len; i++)
		bytes[i] = any >> i % 57;
	if (qpn == 1 && len >= 256 && !dice_one_in(&f->dice, 8)) {
		len = 256;
		make_mad(f, bytes);
	}
	memset(bytes + len, 0, 4);
	packet_add(p, bytes, len + (-len & 3));
}

/* ---------------------------------------------------------------- the whole */

static void begin(struct forger *f, struct packet *p)
{
	union ibv_gid from = f->peer->gid;

	if (dice_one_in(&f->dice, 32))
		from.raw[15] += 70;
	packet_begin(p, &from, &f->victim->gid);
	if (dice_one_in(&f->dice, 8))
		packet_mark(p, dice_one_in(&f->dice, 2) ? CE :
						   dice_any(&f->dice));
}

/* Change a bit of the byte at that distance from the end. */
static void flip(struct forger *f, struct packet *p, unsigned int from_end)
{
	p->bytes[p->len - 1 - from_end] ^= 1 << dice_roll(&f->dice, 8);
}

/*
 * Change the complete packet, whose checks then fail: a bit, or the length of UDP. With a
 * bit of the UDP header changed, UDP might drop the packet.
 */
static void spoil(struct forger *f, struct packet *p)
{
	unsigned int behind_udp = p->len - p->ip_len - UDP_LEN;
	struct dice *d = &f->dice;

	switch (dice_roll(d, 48)) {
	case 0:
		flip(f, p, dice_roll(d, behind_udp < 8 ? behind_udp : 8));
		break;
	case 1:
		flip(f, p, dice_roll(d, behind_udp));
		break;
	case 2:
		packet_shrink(p, 1 + dice_roll(d, p->len));
		break;
	}
}

void forge(struct forger *f, struct packet *p)
{
	uint8_t opcode = next_opcode(f);
	unsigned int parts = packet_parts(opcode);
	uint32_t len = payload_len(f, parts), qpn = next_qpn(f);
	unsigned int whole;

	begin(f, p);
	if (dice_one_in(&f->dice, 64))
		packet_options(p, 1 + dice_roll(&f->dice, 10));
	whole = p->len;
	add_bth(f, p, opcode, qpn, len);
	add_parts(f, p, parts, qpn, len);
	add_payload(f, p, qpn, len);
	if (dice_one_in(&f->dice, 24))
		p->len -= dice_roll(&f->dice, p->len - whole + 1);
	packet_end(p);
	spoil(f, p);
}
