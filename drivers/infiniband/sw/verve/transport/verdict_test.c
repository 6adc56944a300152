// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decisions about packets, compared with tables written by hand from IBTA vol. 1,
 * 9.7
 */
#include <kunit/test.h>
#include "verdict.c"

enum {
	TEST_MTU	= 1024,
	ALL_ACCESS	= IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
			  IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_FLUSH_GLOBAL |
			  IB_ACCESS_FLUSH_PERSISTENT,
};

/* Packets as they come from the network */
#define ONE_PACKET .mtu = TEST_MTU, .packets = 1

static void verdict_psn__order_turns_round_at_half_the_range(struct kunit *test)
{
	static const struct {
		u32 psn, expected;
		enum verve_psn_class place;
	} rows[] = {
		{ 100, 100, VERVE_PSN_EXPECTED },
		{ 99, 100, VERVE_PSN_DUPLICATE },
		{ 101, 100, VERVE_PSN_OOO },
		{ 0xffffff, 0, VERVE_PSN_DUPLICATE },
		{ 0, 0xffffff, VERVE_PSN_OOO },
		{ 0, 1 - VERVE_MAX_AHEAD, VERVE_PSN_OOO },
		{ VERVE_MAX_AHEAD - 1, 0, VERVE_PSN_OOO },
		{ VERVE_MAX_AHEAD, 0, VERVE_PSN_FAR },
		{ 1, 1 - VERVE_MAX_AHEAD, VERVE_PSN_FAR },
		{ 0x7fffff, 0, VERVE_PSN_FAR },
		{ 0x800000, 0, VERVE_PSN_DUPLICATE },
		{ 0x800001, 0, VERVE_PSN_DUPLICATE },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, verve_verdict_psn(rows[i].psn, rows[i].expected),
				    rows[i].place, "row %d", i);
}

static void verdict_is_recent__what_may_be_unacknowledged(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, verve_verdict_is_recent(99, 100));
	KUNIT_EXPECT_TRUE(test, verve_verdict_is_recent(0xfffffe, 1));
	KUNIT_EXPECT_TRUE(test, verve_verdict_is_recent(1000, 1000 + VERVE_MAX_UNACKED));
	KUNIT_EXPECT_FALSE(test, verve_verdict_is_recent(1000, 1001 + VERVE_MAX_UNACKED));
	KUNIT_EXPECT_FALSE(test, verve_verdict_is_recent(0x800001, 0));
}

/* Return: verdict on a packet that is valid except, perhaps, for its place. */
static u8 verdict_in(u32 under_way, u8 opcode)
{
	u32 flags = verve_opcode_flags(opcode);
	struct verve_expect expect = {
		.op = under_way,
		ONE_PACKET,
		.access = ALL_ACCESS,
		.max_read = 1,
	};
	struct verve_pdu pdu = { .opcode = opcode };

	if (flags & VERVE_OP_FLUSH)
		pdu.feth = VERVE_FETH_GLOBAL;
	if (flags & VERVE_OP_ATOMIC_WRITE)
		pdu.length = 8;
	else if (flags & VERVE_OP_PAYLOAD)
		pdu.length = TEST_MTU;
	if (flags & VERVE_OP_LAST) {
		pdu.dmalen = pdu.length;
		expect.left = pdu.length;
	} else {
		pdu.dmalen = 3 * TEST_MTU;
		expect.left = 2 * TEST_MTU;
	}
	return verve_verdict_request(&expect, &pdu);
}

static void verdict_request__what_may_follow_what(struct kunit *test)
{
	/* RC request opcodes that each state accepts */
	static const u8 begins[] = {
		0x00, 0x04, 0x05, 0x06, 0x0a, 0x0b, 0x0c, 0x13, 0x14, 0x17,
		0x1c, 0x1d,
	};
	static const u8 sends_on[] = { 0x01, 0x02, 0x03, 0x16 };
	static const u8 writes_on[] = { 0x07, 0x08, 0x09 };
	static const struct {
		u32 under_way;
		const u8 *takes;
		int n;
	} states[] = {
		{ 0, begins, ARRAY_SIZE(begins) },
		{ VERVE_OP_SEND, sends_on, ARRAY_SIZE(sends_on) },
		{ VERVE_OP_WRITE, writes_on, ARRAY_SIZE(writes_on) },
	};
	int i, opcode;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		for (opcode = 0; opcode <= 0x1d; opcode++) {
			bool takes = memchr(states[i].takes, opcode, states[i].n);

			if (opcode >= 0x0d && opcode <= 0x12)
				continue;	/* responses */
			KUNIT_EXPECT_EQ_MSG(test, verdict_in(states[i].under_way, opcode),
					    takes ? VERVE_REQUEST_DONE :
						    VERVE_REQUEST_INVALID,
					    "state %d opcode %#x", i, opcode);
		}
}

static void verdict_request__uc_is_judged_alike(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, verdict_in(0, 0x20), VERVE_REQUEST_DONE);
	KUNIT_EXPECT_EQ(test, verdict_in(0, 0x21), VERVE_REQUEST_INVALID);
	KUNIT_EXPECT_EQ(test, verdict_in(VERVE_OP_SEND, 0x21), VERVE_REQUEST_DONE);
	KUNIT_EXPECT_EQ(test, verdict_in(VERVE_OP_SEND, 0x27), VERVE_REQUEST_INVALID);
	KUNIT_EXPECT_EQ(test, verdict_in(VERVE_OP_WRITE, 0x28), VERVE_REQUEST_DONE);
	KUNIT_EXPECT_EQ(test, verdict_in(VERVE_OP_WRITE, 0x26), VERVE_REQUEST_INVALID);
}

static void verdict_request__rights_of_the_qp(struct kunit *test)
{
	static const struct {
		u8 opcode;
		int needs;
	} rows[] = {
		{ 0x04, 0 },
		{ 0x0a, IB_ACCESS_REMOTE_WRITE },
		{ 0x0c, IB_ACCESS_REMOTE_READ },
		{ 0x13, IB_ACCESS_REMOTE_ATOMIC },
		{ 0x14, IB_ACCESS_REMOTE_ATOMIC },
		{ 0x1c, IB_ACCESS_FLUSH_GLOBAL },
		{ 0x1d, IB_ACCESS_REMOTE_WRITE },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct verve_expect expect = { ONE_PACKET, .max_read = 1 };
		struct verve_pdu pdu = { .opcode = rows[i].opcode };

		if (pdu.opcode == 0x1c)
			pdu.feth = VERVE_FETH_GLOBAL;
		if (pdu.opcode == 0x1d) {
			pdu.length = 8;
			pdu.dmalen = 8;
		}
		expect.access = rows[i].needs;
		KUNIT_EXPECT_EQ_MSG(test, verve_verdict_request(&expect, &pdu),
				    VERVE_REQUEST_DONE,
				    "row %d", i);
		expect.access = ALL_ACCESS & ~rows[i].needs;
		KUNIT_EXPECT_EQ_MSG(test, verve_verdict_request(&expect, &pdu),
				    rows[i].needs ? VERVE_REQUEST_INVALID :
						    VERVE_REQUEST_DONE,
				    "row %d", i);
	}
}

static void verdict_request__no_resources_for_reads(struct kunit *test)
{
	static const u8 opcodes[] = { 0x0c, 0x13, 0x14, 0x1c, 0x1d };
	struct verve_expect expect = { ONE_PACKET, .access = ALL_ACCESS };
	int i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct verve_pdu pdu = { .opcode = opcodes[i] };

		if (pdu.opcode == 0x1c)
			pdu.feth = VERVE_FETH_GLOBAL;
		if (pdu.opcode == 0x1d) {
			pdu.length = 8;
			pdu.dmalen = 8;
		}
		KUNIT_EXPECT_EQ(test, verve_verdict_request(&expect, &pdu),
				VERVE_REQUEST_INVALID);
	}
}

static void verdict_request__packet_lengths_of_a_send(struct kunit *test)
{
	static const struct {
		u32 under_way;
		u8 opcode;
		u32 length;
		bool right;
	} rows[] = {
		{ 0, 0x00, TEST_MTU, true },
		{ 0, 0x00, TEST_MTU - 1, false },
		{ 0, 0x00, TEST_MTU + 1, false },
		{ 0, 0x00, 0, false },
		{ VERVE_OP_SEND, 0x01, TEST_MTU, true },
		{ VERVE_OP_SEND, 0x01, TEST_MTU - 4, false },
		{ VERVE_OP_SEND, 0x01, TEST_MTU + 4, false },
		{ VERVE_OP_SEND, 0x02, 0, false },
		{ VERVE_OP_SEND, 0x02, 1, true },
		{ VERVE_OP_SEND, 0x02, TEST_MTU, true },
		{ VERVE_OP_SEND, 0x02, TEST_MTU + 1, false },
		{ 0, 0x04, 0, true },
		{ 0, 0x04, TEST_MTU, true },
		{ 0, 0x04, TEST_MTU + 1, false },
		{ 0, 0x04, U32_MAX, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct verve_expect expect = {
			.op = rows[i].under_way, ONE_PACKET,
		};
		struct verve_pdu pdu = {
			.opcode = rows[i].opcode, .length = rows[i].length,
		};

		KUNIT_EXPECT_EQ_MSG(test, verve_verdict_request(&expect, &pdu),
				    rows[i].right ? VERVE_REQUEST_DONE :
						    VERVE_REQUEST_INVALID,
				    "row %d", i);
	}
}

static void verdict_request__lengths_of_several_packets(struct kunit *test)
{
	static const struct {
		u8 opcode;
		u32 packets;
		u32 length;
		bool right;
	} rows[] = {
		{ 0x00, 3, 3 * TEST_MTU, true },
		{ 0x00, 3, 3 * TEST_MTU - 1, false },
		{ 0x00, 3, 2 * TEST_MTU, false },
		{ 0x04, 3, 2 * TEST_MTU + 1, true },
		{ 0x04, 3, 3 * TEST_MTU, true },
		{ 0x04, 3, 3 * TEST_MTU + 1, false },
		{ 0x04, 3, 2 * TEST_MTU, false },	/* fits in two packets */
		{ 0x04, 3, 0, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct verve_expect expect = {
			.mtu = TEST_MTU, .packets = rows[i].packets,
		};
		struct verve_pdu pdu = {
			.opcode = rows[i].opcode, .length = rows[i].length,
		};

		KUNIT_EXPECT_EQ_MSG(test, verve_verdict_request(&expect, &pdu),
				    rows[i].right ? VERVE_REQUEST_DONE :
						    VERVE_REQUEST_INVALID,
				    "row %d", i);
	}
}

static void verdict_request__a_write_is_as_long_as_it_said(struct kunit *test)
{
	static const struct {
		u8 opcode;
		u32 said;	/* length in the RETH, or bytes left */
		u32 length;
		bool right;
	} rows[] = {
		{ 0x0a, 0, 0, true },
		{ 0x0a, 5, 5, true },
		{ 0x0a, 5, 4, false },
		{ 0x0a, 5, 6, false },
		{ 0x0a, TEST_MTU + 1, TEST_MTU, false },
		{ 0x06, TEST_MTU + 1, TEST_MTU, true },
		{ 0x06, TEST_MTU, TEST_MTU, false },	/* must be Only */
		{ 0x06, 0, TEST_MTU, false },
		{ 0x06, 0x80000000, TEST_MTU, true },
		{ 0x06, 0x80000001, TEST_MTU, false },	/* longer than any message */
		{ 0x07, TEST_MTU + 1, TEST_MTU, true },
		{ 0x07, TEST_MTU, TEST_MTU, false },	/* must be Last */
		{ 0x07, 1, TEST_MTU, false },
		{ 0x08, 7, 7, true },
		{ 0x08, 8, 7, false },
		{ 0x08, 6, 7, false },
		{ 0x09, TEST_MTU, TEST_MTU, true },
		{ 0x09, TEST_MTU + 1, TEST_MTU, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bool first = verve_opcode_flags(rows[i].opcode) & VERVE_OP_FIRST;
		struct verve_expect expect = {
			.op = first ? 0 : VERVE_OP_WRITE,
			ONE_PACKET,
			.access = IB_ACCESS_REMOTE_WRITE,
			.left = first ? 0xdeadbeef : rows[i].said,
		};
		struct verve_pdu pdu = {
			.opcode = rows[i].opcode, .length = rows[i].length,
		};

		if (first)
			pdu.dmalen = rows[i].said;
		KUNIT_EXPECT_EQ_MSG(test, verve_verdict_request(&expect, &pdu),
				    rows[i].right ? VERVE_REQUEST_DONE :
						    VERVE_REQUEST_INVALID,
				    "row %d", i);
	}
}

static void verdict_request__what_a_flush_may_say(struct kunit *test)
{
	static const struct {
		u8 feth;
		int access;
		bool right;
	} rows[] = {
		{ 0x01, IB_ACCESS_FLUSH_GLOBAL, true },
		{ 0x11, IB_ACCESS_FLUSH_GLOBAL, true },
		{ 0x02, IB_ACCESS_FLUSH_PERSISTENT, true },
		{ 0x03, ALL_ACCESS, true },
		{ 0x13, ALL_ACCESS, true },
		{ 0x01, ALL_ACCESS & ~IB_ACCESS_FLUSH_GLOBAL, false },
		{ 0x02, ALL_ACCESS & ~IB_ACCESS_FLUSH_PERSISTENT, false },
		{ 0x03, ALL_ACCESS & ~IB_ACCESS_FLUSH_PERSISTENT, false },
		{ 0x00, ALL_ACCESS, false },	/* no placement */
		{ 0x10, ALL_ACCESS, false },
		{ 0x05, ALL_ACCESS, false },	/* reserved placements */
		{ 0x08, ALL_ACCESS, false },
		{ 0x21, ALL_ACCESS, false },	/* reserved selectivities */
		{ 0x31, ALL_ACCESS, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct verve_expect expect = {
			ONE_PACKET, .max_read = 1,
			.access = rows[i].access,
		};
		struct verve_pdu pdu = {
			.opcode = 0x1c, .feth = rows[i].feth,
			.dmalen = U32_MAX,
		};

		KUNIT_EXPECT_EQ_MSG(test, verve_verdict_request(&expect, &pdu),
				    rows[i].right ? VERVE_REQUEST_DONE :
						    VERVE_REQUEST_INVALID,
				    "row %d", i);
	}
}

static void verdict_request__an_atomic_write_is_8_bytes(struct kunit *test)
{
	static const struct {
		u32 length, dmalen;
	} wrong[] = {
		{ 0, 8 }, { 8, 0 }, { 4, 8 }, { 4, 4 }, { 16, 16 }, { 9, 8 },
		{ 8, 9 },
	};
	struct verve_expect expect = {
		ONE_PACKET, .max_read = 1,
		.access = IB_ACCESS_REMOTE_WRITE,
	};
	struct verve_pdu pdu = { .opcode = 0x1d, .length = 8, .dmalen = 8 };
	int i;

	KUNIT_EXPECT_EQ(test, verve_verdict_request(&expect, &pdu),
			VERVE_REQUEST_DONE);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		pdu.length = wrong[i].length;
		pdu.dmalen = wrong[i].dmalen;
		KUNIT_EXPECT_EQ_MSG(test, verve_verdict_request(&expect, &pdu),
				    VERVE_REQUEST_INVALID, "row %d", i);
	}
}

static void verdict_ack__within_and_beside_the_window(struct kunit *test)
{
	static const struct {
		u32 psn, una, max_psn;
		enum verve_ack_class place;
	} rows[] = {
		{ 10, 10, 20, VERVE_ACK_VALID },
		{ 19, 10, 20, VERVE_ACK_VALID },
		{ 20, 10, 20, VERVE_ACK_GHOST },
		{ 9, 10, 20, VERVE_ACK_STALE },
		{ 10, 10, 10, VERVE_ACK_GHOST },	/* nothing is outstanding */
		{ 9, 10, 10, VERVE_ACK_STALE },
		{ 0xffffff, 0xfffff0, 0x10, VERVE_ACK_VALID },
		{ 0xf, 0xfffff0, 0x10, VERVE_ACK_VALID },
		{ 0x10, 0xfffff0, 0x10, VERVE_ACK_GHOST },
		{ 0xffffef, 0xfffff0, 0x10, VERVE_ACK_STALE },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    verve_verdict_ack(rows[i].psn, rows[i].una,
						      rows[i].max_psn),
				    rows[i].place, "row %d", i);
}

/* READ responses: First, Middle, Last and Only, by the awaited packet */
static void verdict_response__order(struct kunit *test)
{
	enum { GOOD = VERVE_RESPONSE_GOOD, STRAY = VERVE_RESPONSE_STRAY,
	       BAD = VERVE_RESPONSE_BAD };
	static const u8 opcodes[] = { 0x0d, 0x0e, 0x0f, 0x10 };
	static const struct {
		struct verve_awaited awaited;
		u8 verdicts[4];
	} rows[] = {
		{ { true, false, false }, { GOOD, BAD, BAD, BAD } },
		{ { false, false, false }, { BAD, GOOD, BAD, BAD } },
		{ { false, true, false }, { BAD, BAD, GOOD, BAD } },
		{ { true, true, false }, { BAD, BAD, BAD, GOOD } },
		/*
		 * A part may have been requested again, from or up to this
		 * packet.
		 */
		{ { true, false, true }, { GOOD, STRAY, STRAY, GOOD } },
		{ { false, false, true }, { GOOD, GOOD, GOOD, GOOD } },
		{ { false, true, true }, { STRAY, STRAY, GOOD, GOOD } },
		{ { true, true, true }, { STRAY, STRAY, STRAY, GOOD } },
	};
	int i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (j = 0; j < ARRAY_SIZE(opcodes); j++) {
			struct verve_pdu pdu = { .opcode = opcodes[j] };

			KUNIT_EXPECT_EQ_MSG(test,
					    verve_verdict_response(&rows[i].awaited, &pdu),
					    rows[i].verdicts[j],
					    "row %d opcode %#x", i, opcodes[j]);
		}
}

/*
 * Only READ responses with an AETH and atomic responses have a syndrome. It must
 * be an ACK's.
 */
static void verdict_response__syndrome(struct kunit *test)
{
	static const struct {
		u8 opcode;
		struct verve_awaited awaited;
		bool has_aeth;
	} rows[] = {
		{ 0x0d, { true, false, false }, true },
		{ 0x0e, { false, false, false }, false },
		{ 0x0f, { false, true, false }, true },
		{ 0x10, { true, true, false }, true },
		{ 0x12, { true, true, false }, true },
	};
	int i, syndrome;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (syndrome = 0; syndrome < 256; syndrome++) {
			bool good = !rows[i].has_aeth || (syndrome & 0xe0) == 0;
			struct verve_pdu pdu = {
				.opcode = rows[i].opcode,
				.aeth = (u32)syndrome << 24,
			};

			KUNIT_EXPECT_EQ_MSG(test,
					    verve_verdict_response(&rows[i].awaited, &pdu),
					    good ? VERVE_RESPONSE_GOOD :
						   VERVE_RESPONSE_BAD,
					    "opcode %#x syndrome %#x",
					    rows[i].opcode, syndrome);
		}
}

static void verdict_nak_status__of_every_syndrome(struct kunit *test)
{
	int syndrome;

	for (syndrome = 0; syndrome < 256; syndrome++) {
		int status = IB_WC_BAD_RESP_ERR;

		if (syndrome == 0x61)
			status = IB_WC_REM_INV_REQ_ERR;
		else if (syndrome == 0x62)
			status = IB_WC_REM_ACCESS_ERR;
		else if (syndrome == 0x63)
			status = IB_WC_REM_OP_ERR;
		KUNIT_EXPECT_EQ_MSG(test, verve_verdict_nak_status(syndrome), status,
				    "syndrome %#x", syndrome);
	}
}

/* IBTA vol. 1, table 45, in microseconds */
static const u32 spec_rnr_us[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120,
	160, 240, 320, 480, 640, 960, 1280, 1920,
	2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720,
	40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

static void rnr_timeout__every_code_of_the_table(struct kunit *test)
{
	int code;

	for (code = 0; code < 256; code++)
		KUNIT_EXPECT_EQ_MSG(test, verve_rnr_timeout_ns(code),
				    spec_rnr_us[code & 31] * 1000ULL, "code %d", code);
}

static void ack_timeout__is_4096_ns_doubled(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, verve_ack_timeout_ns(0), 0);
	KUNIT_EXPECT_EQ(test, verve_ack_timeout_ns(1), 8192);
	KUNIT_EXPECT_EQ(test, verve_ack_timeout_ns(14), 67108864);
	KUNIT_EXPECT_EQ(test, verve_ack_timeout_ns(31), 8796093022208ULL);
	KUNIT_EXPECT_EQ(test, verve_ack_timeout_ns(32), 0);	/* five bits only */
	KUNIT_EXPECT_EQ(test, verve_ack_timeout_ns(255), 8796093022208ULL);
}

static struct kunit_case verdict_cases[] = {
	KUNIT_CASE(verdict_psn__order_turns_round_at_half_the_range),
	KUNIT_CASE(verdict_is_recent__what_may_be_unacknowledged),
	KUNIT_CASE(verdict_request__what_may_follow_what),
	KUNIT_CASE(verdict_request__uc_is_judged_alike),
	KUNIT_CASE(verdict_request__rights_of_the_qp),
	KUNIT_CASE(verdict_request__no_resources_for_reads),
	KUNIT_CASE(verdict_request__packet_lengths_of_a_send),
	KUNIT_CASE(verdict_request__lengths_of_several_packets),
	KUNIT_CASE(verdict_request__a_write_is_as_long_as_it_said),
	KUNIT_CASE(verdict_request__what_a_flush_may_say),
	KUNIT_CASE(verdict_request__an_atomic_write_is_8_bytes),
	KUNIT_CASE(verdict_ack__within_and_beside_the_window),
	KUNIT_CASE(verdict_response__order),
	KUNIT_CASE(verdict_response__syndrome),
	KUNIT_CASE(verdict_nak_status__of_every_syndrome),
	KUNIT_CASE(rnr_timeout__every_code_of_the_table),
	KUNIT_CASE(ack_timeout__is_4096_ns_doubled),
	{}
};

static struct kunit_suite verdict_suite = {
	.name = "verve-verdict",
	.test_cases = verdict_cases,
};

kunit_test_suite(verdict_suite);
