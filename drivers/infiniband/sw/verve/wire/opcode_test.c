// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test of the opcode table against IBTA vol. 1, table 38. The numbers and lengths
 * below are literals, so that an error in the driver's constants shows.
 */
#include <kunit/test.h>
#include "opcode.c"

/**
 * struct spec_row - one opcode in the specification
 * @opcode: BTH.OpCode
 * @hdr_len: BTH 12, RETH 16, AtomicETH 28, DETH 8, AETH 4, AtomicAckETH 8,
 *	FETH 4, ImmDt 4, IETH 4; CNP 16 reserved
 * @place: F(irst), M(iddle), L(ast), O(nly); 0 for a CNP
 * @op: S(end), W(rite), R(ead request), A(tomic), P (read response),
 *	K (acknowledge), T (atomic acknowledge), F(lush), X (atomic write), C(NP)
 * @payload: the packet may carry payload
 * @headers: extended headers in their order: D(ETH), R(ETH), T (AtomicETH),
 *	A(ETH), K (AtomicAckETH), I(mmediate), V (IETH), F(ETH)
 */
struct spec_row {
	u8 opcode;
	u8 hdr_len;
	char place;
	char op;
	bool payload;
	const char *headers;
};

static const struct spec_row spec[] = {
	/* Reliable connection */
	{ 0x00, 12, 'F', 'S', true, "" },
	{ 0x01, 12, 'M', 'S', true, "" },
	{ 0x02, 12, 'L', 'S', true, "" },
	{ 0x03, 16, 'L', 'S', true, "I" },
	{ 0x04, 12, 'O', 'S', true, "" },
	{ 0x05, 16, 'O', 'S', true, "I" },
	{ 0x06, 28, 'F', 'W', true, "R" },
	{ 0x07, 12, 'M', 'W', true, "" },
	{ 0x08, 12, 'L', 'W', true, "" },
	{ 0x09, 16, 'L', 'W', true, "I" },
	{ 0x0a, 28, 'O', 'W', true, "R" },
	{ 0x0b, 32, 'O', 'W', true, "RI" },
	{ 0x0c, 28, 'O', 'R', false, "R" },
	{ 0x0d, 16, 'F', 'P', true, "A" },
	{ 0x0e, 12, 'M', 'P', true, "" },
	{ 0x0f, 16, 'L', 'P', true, "A" },
	{ 0x10, 16, 'O', 'P', true, "A" },
	{ 0x11, 16, 'O', 'K', false, "A" },
	{ 0x12, 24, 'O', 'T', false, "AK" },
	{ 0x13, 40, 'O', 'A', false, "T" },
	{ 0x14, 40, 'O', 'A', false, "T" },
	{ 0x16, 16, 'L', 'S', true, "V" },
	{ 0x17, 16, 'O', 'S', true, "V" },
	{ 0x1c, 32, 'O', 'F', false, "FR" },
	{ 0x1d, 28, 'O', 'X', true, "R" },
	/* Unreliable connection */
	{ 0x20, 12, 'F', 'S', true, "" },
	{ 0x21, 12, 'M', 'S', true, "" },
	{ 0x22, 12, 'L', 'S', true, "" },
	{ 0x23, 16, 'L', 'S', true, "I" },
	{ 0x24, 12, 'O', 'S', true, "" },
	{ 0x25, 16, 'O', 'S', true, "I" },
	{ 0x26, 28, 'F', 'W', true, "R" },
	{ 0x27, 12, 'M', 'W', true, "" },
	{ 0x28, 12, 'L', 'W', true, "" },
	{ 0x29, 16, 'L', 'W', true, "I" },
	{ 0x2a, 28, 'O', 'W', true, "R" },
	{ 0x2b, 32, 'O', 'W', true, "RI" },
	/* Unreliable datagram */
	{ 0x64, 20, 'O', 'S', true, "D" },
	{ 0x65, 24, 'O', 'S', true, "DI" },
	/* Congestion notification */
	{ 0x81, 28, 0, 'C', false, "" },
};

static u32 place_flags(char place)
{
	switch (place) {
	case 'F':
		return VERVE_OP_FIRST;
	case 'L':
		return VERVE_OP_LAST;
	case 'O':
		return VERVE_OP_FIRST | VERVE_OP_LAST;
	default:
		return 0;
	}
}

static u32 op_flag(char op)
{
	switch (op) {
	case 'S':
		return VERVE_OP_SEND;
	case 'W':
		return VERVE_OP_WRITE;
	case 'R':
		return VERVE_OP_READ;
	case 'A':
		return VERVE_OP_ATOMIC;
	case 'P':
		return VERVE_OP_READ_RESP;
	case 'K':
		return VERVE_OP_ACK;
	case 'T':
		return VERVE_OP_ATOMIC_ACK;
	case 'F':
		return VERVE_OP_FLUSH;
	case 'X':
		return VERVE_OP_ATOMIC_WRITE;
	default:
		return VERVE_OP_CNP;
	}
}

static u32 header_flag(char header)
{
	switch (header) {
	case 'D':
		return VERVE_OP_DETH;
	case 'R':
		return VERVE_OP_RETH;
	case 'T':
		return VERVE_OP_ATOMICETH;
	case 'A':
		return VERVE_OP_AETH;
	case 'K':
		return VERVE_OP_ATOMICACKETH;
	case 'I':
		return VERVE_OP_IMM;
	case 'F':
		return VERVE_OP_FETH;
	default:
		return VERVE_OP_IETH;
	}
}

/* The upper three bits of an opcode are the transport service. */
static u32 service_flag(u8 opcode)
{
	switch (opcode >> 5) {
	case 0:
		return VERVE_OP_RC;
	case 1:
		return VERVE_OP_UC;
	case 3:
		return VERVE_OP_UD;
	default:
		return 0;
	}
}

static void opcodes__flags_are_the_specifications(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(spec); i++) {
		const struct spec_row *row = &spec[i];
		u32 flags = service_flag(row->opcode) | op_flag(row->op) |
			    place_flags(row->place);
		const char *header;

		if (row->payload)
			flags |= VERVE_OP_PAYLOAD;
		for (header = row->headers; *header; header++)
			flags |= header_flag(*header);
		KUNIT_EXPECT_EQ_MSG(test, verve_opcode_flags(row->opcode),
				    flags, "opcode %#x", row->opcode);
	}
}

static void opcodes__header_lengths_are_the_specifications(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(spec); i++)
		KUNIT_EXPECT_EQ_MSG(test, verve_opcodes[spec[i].opcode].hdr_len,
				    spec[i].hdr_len, "opcode %#x",
				    spec[i].opcode);
}

static void opcodes__all_others_are_unknown(struct kunit *test)
{
	bool known[256] = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(spec); i++)
		known[spec[i].opcode] = true;
	for (i = 0; i < 256; i++)
		if (!known[i]) {
			KUNIT_EXPECT_EQ_MSG(test, verve_opcodes[i].flags, 0,
					    "opcode %#x", i);
			KUNIT_EXPECT_EQ_MSG(test, verve_opcodes[i].hdr_len, 0,
					    "opcode %#x", i);
		}
}

/* First, Middle, Last and Only of each kind of message */
static const u8 spec_seqs[VERVE_NUM_SEQ][4] = {
	[VERVE_SEQ_RC_SEND]		= { 0x00, 0x01, 0x02, 0x04 },
	[VERVE_SEQ_RC_SEND_IMM]		= { 0x00, 0x01, 0x03, 0x05 },
	[VERVE_SEQ_RC_SEND_INV]		= { 0x00, 0x01, 0x16, 0x17 },
	[VERVE_SEQ_RC_WRITE]		= { 0x06, 0x07, 0x08, 0x0a },
	[VERVE_SEQ_RC_WRITE_IMM]	= { 0x06, 0x07, 0x09, 0x0b },
	[VERVE_SEQ_RC_READ]		= { 0x0c, 0x0c, 0x0c, 0x0c },
	[VERVE_SEQ_RC_READ_RESP]	= { 0x0d, 0x0e, 0x0f, 0x10 },
	[VERVE_SEQ_RC_CMP_SWP]		= { 0x13, 0x13, 0x13, 0x13 },
	[VERVE_SEQ_RC_FETCH_ADD]	= { 0x14, 0x14, 0x14, 0x14 },
	[VERVE_SEQ_RC_FLUSH]		= { 0x1c, 0x1c, 0x1c, 0x1c },
	[VERVE_SEQ_RC_ATOMIC_WRITE]	= { 0x1d, 0x1d, 0x1d, 0x1d },
	[VERVE_SEQ_RC_ACK]		= { 0x11, 0x11, 0x11, 0x11 },
	[VERVE_SEQ_RC_ATOMIC_ACK]	= { 0x12, 0x12, 0x12, 0x12 },
	[VERVE_SEQ_UC_SEND]		= { 0x20, 0x21, 0x22, 0x24 },
	[VERVE_SEQ_UC_SEND_IMM]		= { 0x20, 0x21, 0x23, 0x25 },
	[VERVE_SEQ_UC_WRITE]		= { 0x26, 0x27, 0x28, 0x2a },
	[VERVE_SEQ_UC_WRITE_IMM]	= { 0x26, 0x27, 0x29, 0x2b },
	[VERVE_SEQ_UD_SEND]		= { 0x64, 0x64, 0x64, 0x64 },
	[VERVE_SEQ_UD_SEND_IMM]		= { 0x65, 0x65, 0x65, 0x65 },
	[VERVE_SEQ_CNP]			= { 0x81, 0x81, 0x81, 0x81 },
};

static void opcode_at__every_kind_and_place(struct kunit *test)
{
	int kind;

	for (kind = 0; kind < VERVE_NUM_SEQ; kind++) {
		const u8 *seq = spec_seqs[kind];

		KUNIT_EXPECT_EQ_MSG(test, verve_opcode_at(kind, true, false),
				    seq[0], "kind %d", kind);
		KUNIT_EXPECT_EQ_MSG(test, verve_opcode_at(kind, false, false),
				    seq[1], "kind %d", kind);
		KUNIT_EXPECT_EQ_MSG(test, verve_opcode_at(kind, false, true),
				    seq[2], "kind %d", kind);
		KUNIT_EXPECT_EQ_MSG(test, verve_opcode_at(kind, true, true),
				    seq[3], "kind %d", kind);
	}
}

static struct kunit_case opcode_cases[] = {
	KUNIT_CASE(opcodes__flags_are_the_specifications),
	KUNIT_CASE(opcodes__header_lengths_are_the_specifications),
	KUNIT_CASE(opcodes__all_others_are_unknown),
	KUNIT_CASE(opcode_at__every_kind_and_place),
	{}
};

static struct kunit_suite opcode_suite = {
	.name = "verve-opcode",
	.test_cases = opcode_cases,
};

kunit_test_suite(opcode_suite);
