// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loopback: a burst becomes an arrival of the peer, without packets
 */
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include "../device.h"
#include "../trace.h"
#include "../wire/icrc.h"
#include "loop.h"
#include "receiver.h"
#include "train.h"

static bool loopback = true;
module_param(loopback, bool, 0644);
MODULE_PARM_DESC(loopback,
		 "Copy between connected QPs of one device without packets (default: Y). N sends packets, which tcpdump sees");

bool verve_loop_is_on(void)
{
	return READ_ONCE(loopback);
}

/* Bytes that the counters would show for packets */
static u32 wire_bytes(const struct verve_burst *burst)
{
	const struct verve_op_seq *seq = &verve_op_seqs[burst->kind];
	u32 middle = verve_opcodes[seq->middle].hdr_len;
	u32 bytes = burst->length + burst->packets * (middle + VERVE_ICRC_LEN);
	u8 first = verve_opcode_at(burst->kind, burst->starts,
				   burst->ends && burst->packets == 1);
	u8 last = verve_opcode_at(burst->kind, false, burst->ends);

	bytes += verve_opcodes[first].hdr_len - middle;
	if (burst->packets > 1)
		bytes += verve_opcodes[last].hdr_len - middle;
	return bytes + verve_wire_pad(burst->length);
}

static void count(struct verve_train *train, const struct verve_burst *burst)
{
	u32 bytes = wire_bytes(burst);

	verve_count(train, sent_pkts, burst->packets);
	verve_count(train, sent_bytes, bytes);
	verve_count(train, loopback_pkts, burst->packets);
	verve_stats_add(train->peer_stats->counter[VERVE_CNT_rcvd_pkts],
			burst->packets);
	verve_stats_add(train->peer_stats->counter[VERVE_CNT_rcvd_bytes], bytes);
}

static int deliver(struct verve_train *train, struct verve_handover *handover)
{
	struct verve_loop *loop = train->loop;
	bool is_request = !(verve_opcode_flags(handover->arrival.pdu.opcode) &
			    VERVE_OP_RESPONSE);

	if (is_request)
		loop->sending = true;
	else
		train->has_responded = true;
	verve_pair_receive(train->peer, &handover->arrival);
	if (is_request)
		loop->sending = false;
	return handover->error;
}

/* Keep an ACK for later. Return: false when the queue is full and the ACK is lost. */
static bool queue(struct verve_loop *loop, const struct verve_pdu *pdu)
{
	if (loop->num_acks == ARRAY_SIZE(loop->acks))
		return false;
	loop->acks[loop->num_acks++] = *pdu;
	return true;
}

int verve_loop_send(struct verve_train *train, const struct verve_burst *burst)
{
	struct verve_handover handover = {
		.packets = burst->packets,
		.payload = burst->payload,
	};
	int err;

	trace_verve_burst(train->qpn, burst);
	verve_burst_pdu(burst, 0, burst->packets, burst->length,
			&handover.arrival.pdu);
	handover.arrival.pdu.flags |= VERVE_PDU_LOOP;
	/* The peer is still sending the request that this ACK answers. */
	if (train->loop->sending &&
	    verve_opcode_flags(handover.arrival.pdu.opcode) & VERVE_OP_ACK) {
		if (queue(train->loop, &handover.arrival.pdu))
			count(train, burst);
		else
			verve_count(train, send_err, 1);
		return 0;
	}
	err = deliver(train, &handover);
	if (likely(!err))
		count(train, burst);
	return err;
}

void verve_loop_flush(struct verve_train *train)
{
	struct verve_loop *loop = train->loop;
	u32 i;

	for (i = 0; i < loop->num_acks; i++) {
		struct verve_handover handover = {
			.arrival.pdu = loop->acks[i],
			.packets = 1,
		};

		deliver(train, &handover);
	}
	loop->num_acks = 0;
}

int verve_loop_copy(struct verve_handover *handover, struct verve_iter *to,
		    u32 len)
{
	u32 have = 0, got;
	void *from = NULL;

	for (; len; len -= got) {
		void *buf;

		if (!have)
			from = verve_iter_next(handover->payload, len, &have);
		if (IS_ERR(from)) {
			handover->error = PTR_ERR(from);
			return -ECANCELED;
		}
		buf = verve_iter_next(to, min(len, have), &got);
		if (IS_ERR(buf))
			return PTR_ERR(buf);
		/* Source and destination may overlap. */
		memmove(buf, from, got);
		from += got;
		have -= got;
	}
	return 0;
}
