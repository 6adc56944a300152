// SPDX-License-Identifier: GPL-2.0-only
/*
 * BTH opcodes (IBTA vol. 1, 9.2.1, table 38; FLUSH and ATOMIC WRITE: Annex
 * A19; CNP: Annex A17.9.3)
 *
 * Verve does not implement reliable datagrams, XRC and vendor opcodes. Their
 * rows stay zero, which means unknown.
 */
#include "headers.h"

#define HEADER(flags, flag, type) ((flags) & (flag) ? sizeof(type) : 0)

#define HDR_LEN(flags)							\
	(sizeof(struct verve_bth_hdr) +					\
	 HEADER(flags, VERVE_OP_DETH, struct verve_deth_hdr) +		\
	 HEADER(flags, VERVE_OP_FETH, struct verve_feth_hdr) +		\
	 HEADER(flags, VERVE_OP_RETH, struct verve_reth_hdr) +		\
	 HEADER(flags, VERVE_OP_ATOMICETH, struct verve_atomiceth_hdr) + \
	 HEADER(flags, VERVE_OP_AETH, struct verve_aeth_hdr) +		\
	 HEADER(flags, VERVE_OP_ATOMICACKETH,				\
		struct verve_atomicacketh_hdr) +			\
	 HEADER(flags, VERVE_OP_IMM, struct verve_immdt_hdr) +		\
	 HEADER(flags, VERVE_OP_IETH, struct verve_ieth_hdr) +		\
	 HEADER(flags, VERVE_OP_CNP, struct verve_cnp_hdr))

#define OPCODE(flags_) { .flags = (flags_), .hdr_len = HDR_LEN(flags_) }

/* Shorthands of this table: service, operation, place, headers */
#define RC(flags)	OPCODE(VERVE_OP_RC | (flags))
#define UC(flags)	OPCODE(VERVE_OP_UC | (flags))
#define UD(flags)	OPCODE(VERVE_OP_UD | VERVE_OP_DETH | (flags))
#define SEND		(VERVE_OP_SEND | VERVE_OP_PAYLOAD)
#define RDMA_WRITE		(VERVE_OP_WRITE | VERVE_OP_PAYLOAD)
#define READ_RESP	(VERVE_OP_READ_RESP | VERVE_OP_PAYLOAD)
#define ATOMIC		(VERVE_OP_ATOMIC | VERVE_OP_ATOMICETH)
#define FIRST		VERVE_OP_FIRST
#define MIDDLE		0
#define LAST		VERVE_OP_LAST
#define ONLY		VERVE_OP_ONLY
#define FETH		VERVE_OP_FETH
#define RETH		VERVE_OP_RETH
#define AETH		VERVE_OP_AETH
#define IMM		VERVE_OP_IMM
#define IETH		VERVE_OP_IETH

const struct verve_opcode verve_opcodes[256] = {
	[IB_OPCODE_RC_SEND_FIRST]		= RC(SEND | FIRST),
	[IB_OPCODE_RC_SEND_MIDDLE]		= RC(SEND | MIDDLE),
	[IB_OPCODE_RC_SEND_LAST]		= RC(SEND | LAST),
	[IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE]	= RC(SEND | LAST | IMM),
	[IB_OPCODE_RC_SEND_ONLY]		= RC(SEND | ONLY),
	[IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE]	= RC(SEND | ONLY | IMM),
	[IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE] = RC(SEND | LAST | IETH),
	[IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE] = RC(SEND | ONLY | IETH),

	[IB_OPCODE_RC_RDMA_WRITE_FIRST]		= RC(RDMA_WRITE | FIRST | RETH),
	[IB_OPCODE_RC_RDMA_WRITE_MIDDLE]	= RC(RDMA_WRITE | MIDDLE),
	[IB_OPCODE_RC_RDMA_WRITE_LAST]		= RC(RDMA_WRITE | LAST),
	[IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE] =
						  RC(RDMA_WRITE | LAST | IMM),
	[IB_OPCODE_RC_RDMA_WRITE_ONLY]		= RC(RDMA_WRITE | ONLY | RETH),
	[IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] =
						  RC(RDMA_WRITE | ONLY | RETH | IMM),

	[IB_OPCODE_RC_RDMA_READ_REQUEST]	= RC(VERVE_OP_READ | ONLY | RETH),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST]	= RC(READ_RESP | FIRST | AETH),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE] = RC(READ_RESP | MIDDLE),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST]	= RC(READ_RESP | LAST | AETH),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY]	= RC(READ_RESP | ONLY | AETH),

	[IB_OPCODE_RC_COMPARE_SWAP]		= RC(ATOMIC | ONLY),
	[IB_OPCODE_RC_FETCH_ADD]		= RC(ATOMIC | ONLY),
	[IB_OPCODE_RC_ACKNOWLEDGE]		= RC(VERVE_OP_ACK | ONLY | AETH),
	[IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE]	=
		RC(VERVE_OP_ATOMIC_ACK | ONLY | AETH | VERVE_OP_ATOMICACKETH),

	[IB_OPCODE_RC_FLUSH]			=
		RC(VERVE_OP_FLUSH | ONLY | FETH | RETH),
	[IB_OPCODE_RC_ATOMIC_WRITE]		=
		RC(VERVE_OP_ATOMIC_WRITE | VERVE_OP_PAYLOAD | ONLY | RETH),

	[IB_OPCODE_UC_SEND_FIRST]		= UC(SEND | FIRST),
	[IB_OPCODE_UC_SEND_MIDDLE]		= UC(SEND | MIDDLE),
	[IB_OPCODE_UC_SEND_LAST]		= UC(SEND | LAST),
	[IB_OPCODE_UC_SEND_LAST_WITH_IMMEDIATE]	= UC(SEND | LAST | IMM),
	[IB_OPCODE_UC_SEND_ONLY]		= UC(SEND | ONLY),
	[IB_OPCODE_UC_SEND_ONLY_WITH_IMMEDIATE]	= UC(SEND | ONLY | IMM),

	[IB_OPCODE_UC_RDMA_WRITE_FIRST]		= UC(RDMA_WRITE | FIRST | RETH),
	[IB_OPCODE_UC_RDMA_WRITE_MIDDLE]	= UC(RDMA_WRITE | MIDDLE),
	[IB_OPCODE_UC_RDMA_WRITE_LAST]		= UC(RDMA_WRITE | LAST),
	[IB_OPCODE_UC_RDMA_WRITE_LAST_WITH_IMMEDIATE] =
						  UC(RDMA_WRITE | LAST | IMM),
	[IB_OPCODE_UC_RDMA_WRITE_ONLY]		= UC(RDMA_WRITE | ONLY | RETH),
	[IB_OPCODE_UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] =
						  UC(RDMA_WRITE | ONLY | RETH | IMM),

	[IB_OPCODE_UD_SEND_ONLY]		= UD(SEND | ONLY),
	[IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE]	= UD(SEND | ONLY | IMM),

	[VERVE_OPCODE_CNP]			= OPCODE(VERVE_OP_CNP),
};

/* A message of any number of packets. @last_ and @only_ name its end. */
#define RUN(op, last_, only_) {						\
	.first	= IB_OPCODE_ ## op ## _FIRST,				\
	.middle	= IB_OPCODE_ ## op ## _MIDDLE,				\
	.last	= IB_OPCODE_ ## op ## _ ## last_,			\
	.only	= IB_OPCODE_ ## op ## _ ## only_,			\
}

/* A message that is always one packet. Its opcode does not depend on the place. */
#define SINGLE(op) {							\
	.first	= IB_OPCODE_ ## op,					\
	.middle	= IB_OPCODE_ ## op,					\
	.last	= IB_OPCODE_ ## op,					\
	.only	= IB_OPCODE_ ## op,					\
}

const struct verve_op_seq verve_op_seqs[VERVE_NUM_SEQ] = {
	[VERVE_SEQ_RC_SEND]	 = RUN(RC_SEND, LAST, ONLY),
	[VERVE_SEQ_RC_SEND_IMM]	 =
		RUN(RC_SEND, LAST_WITH_IMMEDIATE, ONLY_WITH_IMMEDIATE),
	[VERVE_SEQ_RC_SEND_INV]	 =
		RUN(RC_SEND, LAST_WITH_INVALIDATE, ONLY_WITH_INVALIDATE),
	[VERVE_SEQ_RC_WRITE]	 = RUN(RC_RDMA_WRITE, LAST, ONLY),
	[VERVE_SEQ_RC_WRITE_IMM] =
		RUN(RC_RDMA_WRITE, LAST_WITH_IMMEDIATE, ONLY_WITH_IMMEDIATE),
	[VERVE_SEQ_RC_READ]	 = SINGLE(RC_RDMA_READ_REQUEST),
	[VERVE_SEQ_RC_READ_RESP] = RUN(RC_RDMA_READ_RESPONSE, LAST, ONLY),
	[VERVE_SEQ_RC_CMP_SWP]	 = SINGLE(RC_COMPARE_SWAP),
	[VERVE_SEQ_RC_FETCH_ADD] = SINGLE(RC_FETCH_ADD),
	[VERVE_SEQ_RC_FLUSH]	 = SINGLE(RC_FLUSH),
	[VERVE_SEQ_RC_ATOMIC_WRITE] = SINGLE(RC_ATOMIC_WRITE),
	[VERVE_SEQ_RC_ACK]	 = SINGLE(RC_ACKNOWLEDGE),
	[VERVE_SEQ_RC_ATOMIC_ACK] = SINGLE(RC_ATOMIC_ACKNOWLEDGE),
	[VERVE_SEQ_UC_SEND]	 = RUN(UC_SEND, LAST, ONLY),
	[VERVE_SEQ_UC_SEND_IMM]	 =
		RUN(UC_SEND, LAST_WITH_IMMEDIATE, ONLY_WITH_IMMEDIATE),
	[VERVE_SEQ_UC_WRITE]	 = RUN(UC_RDMA_WRITE, LAST, ONLY),
	[VERVE_SEQ_UC_WRITE_IMM] =
		RUN(UC_RDMA_WRITE, LAST_WITH_IMMEDIATE, ONLY_WITH_IMMEDIATE),
	[VERVE_SEQ_UD_SEND]	 = SINGLE(UD_SEND_ONLY),
	[VERVE_SEQ_UD_SEND_IMM]	 = SINGLE(UD_SEND_ONLY_WITH_IMMEDIATE),
	[VERVE_SEQ_CNP]		 = {
		.first	= VERVE_OPCODE_CNP,
		.middle	= VERVE_OPCODE_CNP,
		.last	= VERVE_OPCODE_CNP,
		.only	= VERVE_OPCODE_CNP,
	},
};

static bool has(const struct verve_op_seq *seq, u8 opcode)
{
	return opcode == seq->first || opcode == seq->middle ||
	       opcode == seq->last || opcode == seq->only;
}

bool verve_opcode_kind(u8 opcode, enum verve_op_kind *kind)
{
	unsigned int i;

	for (i = 0; i < VERVE_NUM_SEQ; i++) {
		const struct verve_op_seq *seq = &verve_op_seqs[i];

		if (seq->first != seq->only && has(seq, opcode)) {
			*kind = i;
			return true;
		}
	}
	return false;
}
