/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets to a QP, as its peer might send them who means no good: most of them
 * would be right but for a field or two.
 */
#ifndef SELFTESTS_FORGE_H
#define SELFTESTS_FORGE_H

#include "canary.h"
#include "dice.h"
#include "ends.h"
#include "packet.h"

/**
 * struct forger - who sends them
 * @dice: what he does next
 * @peer: end of the connection that he pretends to be
 * @victim: end whose QP he sends to
 * @memory: of the victim's: he knows all of its keys
 * @service: of the QP
 * @under_way: the opcode he sent last, if its message goes on
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
