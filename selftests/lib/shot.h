/* SPDX-License-Identifier: GPL-2.0-only */
/* One forged packet to an end of a connection, which says what the test wants. */
#ifndef SELFTESTS_SHOT_H
#define SELFTESTS_SHOT_H

#include "ends.h"
#include "packet.h"

/**
 * struct shot - a packet
 * @at: whose QP it is for
 * @from: the end that it pretends to be of
 * @opcode: of the BTH
 * @psn: likewise; counted modulo 2^24
 * @length: of payload; of a READ, what it asks for
 * @va: address
 * @rkey: key
 * @syndrome: of the AETH
 * @payload: or NULL: bytes that nobody has sent
 */
struct shot {
	const struct end *at, *from;
	uint8_t opcode;
	uint32_t psn, length;
	uint64_t va;
	uint32_t rkey;
	uint8_t syndrome;
	const uint8_t *payload;
};

/* @fd: packet_socket() in the network namespace of @s->from */
void shoot(int fd, const struct shot *s);

#endif
