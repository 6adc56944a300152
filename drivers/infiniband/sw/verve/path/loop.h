/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Loopback
 *
 * Two RC QPs that run as a pair (transport/pair.h) need no packets. The
 * engine of one hands a burst to the engine of the other as one arrival, and the payload
 * is copied from memory to memory. PSNs, acknowledgements, RNR NAKs and errors are the
 * same as on the wire. The owner of one engine also owns the other for its round
 * (transport/pair.c).
 *
 * The module parameter loopback=N sends packets instead, for tcpdump to see.
 */
#ifndef VERVE_PATH_LOOP_H
#define VERVE_PATH_LOOP_H

#include "path.h"

struct verve_train;

enum {
	/* ACKs and NAKs that can wait. In practice there is one ACK, and seldom a NAK. */
	VERVE_LOOP_ACKS		= 4,
};

/**
 * struct verve_loop - state that two engines share in a round
 * @sending: one engine is in the middle of sending a request
 * @num_acks: acknowledgements that wait until @sending is over
 * @acks: the waiting acknowledgements, oldest first
 */
struct verve_loop {
	bool sending;
	u32 num_acks;
	struct verve_pdu acks[VERVE_LOOP_ACKS];
};

/**
 * struct verve_handover - a burst as an arrival
 * @arrival: the arrival
 * @packets: number of packets that it stands for
 * @payload: payload of the burst, or NULL
 * @error: error of @payload when the memory could not be read, or 0
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
 * verve_loop_send() - hand a burst over to the peer
 * @train: train of the sender, with a peer
 * @burst: as for verve_train_add()
 *
 * The burst is lost when memory for it is absent at the peer.
 *
 * Context: BH off; both engines locked.
 * Return: 0, or the error of the payload iterator, when nothing was handed over.
 */
int verve_loop_send(struct verve_train *train, const struct verve_burst *burst);

/* Hand over the waiting acknowledgements. Both engines are locked and send no request. */
void verve_loop_flush(struct verve_train *train);

/*
 * Copy the first @len bytes of payload. Return: 0; the error of @to; or -ECANCELED when
 * the sender's memory cannot be read: verve_loop_send() reports that to the sender.
 */
int verve_loop_copy(struct verve_handover *handover, struct verve_iter *to,
		    u32 len);

/* Is loopback without packets enabled? */
bool verve_loop_is_on(void);

#endif
