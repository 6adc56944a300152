/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BTH opcodes: operation, place in the message and extended headers of each
 * (IBTA vol. 1, 9.2.1).
 */
#ifndef VERVE_WIRE_OPCODE_H
#define VERVE_WIRE_OPCODE_H

#include <linux/types.h>
#include <rdma/ib_pack.h>

/* CNP, Annex A17.9.3. ib_pack.h does not define this opcode. */
#define VERVE_OPCODE_CNP	0x81

enum verve_opcode_flags {
	VERVE_OP_SEND		= 1 << 0,
	VERVE_OP_WRITE		= 1 << 1,
	VERVE_OP_READ		= 1 << 2,	/* READ request */
	VERVE_OP_ATOMIC		= 1 << 3,	/* CMP_SWP, FETCH_ADD request */
	VERVE_OP_READ_RESP	= 1 << 4,
	VERVE_OP_ACK		= 1 << 5,	/* ACKNOWLEDGE (and NAK) */
	VERVE_OP_ATOMIC_ACK	= 1 << 6,
	VERVE_OP_CNP		= 1 << 7,

	/* Place in a message. An Only packet has both flags. */
	VERVE_OP_FIRST		= 1 << 8,
	VERVE_OP_LAST		= 1 << 9,

	VERVE_OP_PAYLOAD	= 1 << 10,	/* may carry payload */

	/* Extended headers, in wire order */
	VERVE_OP_DETH		= 1 << 11,
	VERVE_OP_RETH		= 1 << 12,
	VERVE_OP_ATOMICETH	= 1 << 13,
	VERVE_OP_AETH		= 1 << 14,
	VERVE_OP_ATOMICACKETH	= 1 << 15,
	VERVE_OP_IMM		= 1 << 16,
	VERVE_OP_IETH		= 1 << 17,

	/* Transport service */
	VERVE_OP_RC		= 1 << 18,
	VERVE_OP_UC		= 1 << 19,
	VERVE_OP_UD		= 1 << 20,

	/* Memory placement extensions, Annex A19 */
	VERVE_OP_FLUSH		= 1 << 21,
	VERVE_OP_ATOMIC_WRITE	= 1 << 22,
	VERVE_OP_FETH		= 1 << 23,	/* before the RETH */

	VERVE_OP_ONLY		= VERVE_OP_FIRST | VERVE_OP_LAST,
	/* Requests that use responder resources. */
	VERVE_OP_RD_ATOMIC	= VERVE_OP_READ | VERVE_OP_ATOMIC |
				  VERVE_OP_FLUSH | VERVE_OP_ATOMIC_WRITE,
	VERVE_OP_REQUEST	= VERVE_OP_SEND | VERVE_OP_WRITE |
				  VERVE_OP_RD_ATOMIC,
	VERVE_OP_RESPONSE	= VERVE_OP_READ_RESP | VERVE_OP_ACK |
				  VERVE_OP_ATOMIC_ACK,
};

/**
 * struct verve_opcode - one BTH opcode
 * @flags: enum verve_opcode_flags; 0 for an unknown opcode
 * @hdr_len: bytes of BTH and extended headers
 */
struct verve_opcode {
	u32 flags;
	u8 hdr_len;
};

/**
 * struct verve_op_seq - opcodes of the packets of a message
 * @first: first of several packets
 * @middle: neither first nor last
 * @last: last of several packets
 * @only: single packet
 */
struct verve_op_seq {
	u8 first;
	u8 middle;
	u8 last;
	u8 only;
};

/* Kinds of messages, by service and operation: index of verve_op_seqs[] */
enum verve_op_kind {
	VERVE_SEQ_RC_SEND,
	VERVE_SEQ_RC_SEND_IMM,
	VERVE_SEQ_RC_SEND_INV,
	VERVE_SEQ_RC_WRITE,
	VERVE_SEQ_RC_WRITE_IMM,
	VERVE_SEQ_RC_READ,
	VERVE_SEQ_RC_READ_RESP,
	VERVE_SEQ_RC_CMP_SWP,
	VERVE_SEQ_RC_FETCH_ADD,
	VERVE_SEQ_RC_FLUSH,
	VERVE_SEQ_RC_ATOMIC_WRITE,
	VERVE_SEQ_RC_ACK,
	VERVE_SEQ_RC_ATOMIC_ACK,
	VERVE_SEQ_UC_SEND,
	VERVE_SEQ_UC_SEND_IMM,
	VERVE_SEQ_UC_WRITE,
	VERVE_SEQ_UC_WRITE_IMM,
	VERVE_SEQ_UD_SEND,
	VERVE_SEQ_UD_SEND_IMM,
	VERVE_SEQ_CNP,
	VERVE_NUM_SEQ
};

extern const struct verve_opcode verve_opcodes[256];
extern const struct verve_op_seq verve_op_seqs[VERVE_NUM_SEQ];

/**
 * verve_opcode_at() - opcode of a packet by its place in the message
 * @kind: kind of the message
 * @first: the packet is the first of the message
 * @last: the packet is the last of the message
 *
 * Context: any. Pure.
 * Return: the BTH opcode.
 */
static inline u8 verve_opcode_at(enum verve_op_kind kind, bool first, bool last)
{
	const struct verve_op_seq *seq = &verve_op_seqs[kind];

	if (first)
		return last ? seq->only : seq->first;
	return last ? seq->last : seq->middle;
}

static inline u32 verve_opcode_flags(u8 opcode)
{
	return verve_opcodes[opcode].flags;
}

/* Tell the two atomics apart: CMP_SWP (true) or FETCH_ADD (false). */
static inline bool verve_op_is_cmp_swp(u8 opcode)
{
	return opcode == IB_OPCODE_RC_COMPARE_SWAP;
}

#endif
