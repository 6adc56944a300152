/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets to a QP from a malicious peer. Most of them are right but for a field or
 * two.
 */
#ifndef SELFTESTS_FORGE_H
#define SELFTESTS_FORGE_H

#include "canary.h"
#include "dice.h"
#include "ends.h"
#include "packet.h"

/**
 * struct forger - state of a malicious peer
 * @dice: random numbers
 * @peer: end of the connection whose packets are forged
 * @victim: end of the connection that gets the packets
 * @memory: memory of the victim, with all of its keys
 * @service: transport service of the QP
 * @under_way: opcode of the last packet, if its message has not ended
 */
struct forger {
	struct dice dice;
	const struct end *peer, *victim;
	const struct canary *memory;
	enum ibv_qp_type service;
	uint8_t under_way;
};

void forge(struct forger *f, struct packet *p);

#endif
