/* SPDX-License-Identifier: GPL-2.0-only */
/* A single forged packet to an end of a connection, with fields set by the test */
#ifndef SELFTESTS_SHOT_H
#define SELFTESTS_SHOT_H

#include "ends.h"
#include "packet.h"

/**
 * struct shot - a forged packet
 * @at: end whose QP gets the packet
 * @from: end that seems to have sent the packet
 * @opcode: opcode of the BTH
 * @psn: PSN of the BTH, modulo 2^24
 * @length: bytes of payload; of a READ, bytes requested
 * @va: address
 * @rkey: key
 * @syndrome: syndrome of the AETH
 * @payload: payload; NULL: bytes that no test sends
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

/* Send the packet. @fd is a packet_socket() in the network namespace of @s->from. */
void shoot(int fd, const struct shot *s);

#endif
