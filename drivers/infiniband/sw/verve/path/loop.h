/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Loopback
 *
 * Two RC QPs of one device that are connected with each other need no packets:
 * a burst is handed from the one engine to the other as one arrival, and its
 * payload is copied from memory to memory. Everything else is as on the wire:
 * PSNs, acknowledgements, RNR NAKs, errors. The owner of one engine owns the
 * other with it for its round (transport/pair.c).
 *
 * The module's parameter loopback=N sends packets instead, which tcpdump sees.
 */
#ifndef VERVE_PATH_LOOP_H
#define VERVE_PATH_LOOP_H

#include "path.h"

struct verve_train;

enum {
	/* Acknowledgements that can wait; there is one, and seldom a NAK. */
	VERVE_LOOP_ACKS		= 4,
};

/**
 * struct verve_loop - what passes between two engines in a round
 * @sending: one of them is in the middle of a request
 * @has_responded: a response has been handed to one of them
 * @num_acks: acknowledgements that wait until @sending is over
 * @acks: those, the oldest first
 */
struct verve_loop {
	bool sending;
	bool has_responded;
	u32 num_acks;
	struct verve_pdu acks[VERVE_LOOP_ACKS];
};

/**
 * struct verve_handover - a burst as an arrival
 * @arrival: to whoever takes it in
 * @packets: that it stands for
 * @payload: where the payload is; NULL when there is none
 * @error: what @payload said when it could not be read, or 0
 */
struct verve_handover {
	struct verve_arrival arrival;
	u32 packets;
	struct verve_iter *payload;
	int error;
};

static inline struct verve_handover *
to_handover(const struct verve_arrival *arrival)
{
	return container_of(arrival, struct verve_handover, arrival);
}

/**
 * verve_loop_send() - hand a burst over
 * @train: of the sender, with a peer
 * @burst: as for verve_train_add()
 *
 * A burst that the peer cannot take in because its memory is absent is lost.
 *
 * Context: BH off; both engines locked.
 * Return: 0, or the payload iterator's error: then nothing has happened.
 */
int verve_loop_send(struct verve_train *train, const struct verve_burst *burst);

/* Hand over what waits. Context: as above, and no request is being sent. */
void verve_loop_flush(struct verve_train *train);

/*
 * Copy @len bytes of payload, from the first on. Return: 0; the error of @to;
 * or -ECANCELED: the sender's memory cannot be read, which is his affair.
 */
int verve_loop_copy(struct verve_handover *handover, struct verve_iter *to,
		    u32 len);

/* Shall QPs of one device do without packets? */
bool verve_loop_is_on(void);

#endif
