// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the transport headers with packets of hardware, with layouts written
 * by hand from IBTA vol. 1, 9.2 and 9.3, and with hostile input
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "headers.c"

/*
 * BTH and extended headers of captured packets, from the test data of scapy's
 * RoCE support. A ConnectX-4 Lx sent the CNP, other Mellanox NICs the UC and RC
 * packets.
 */
static const u8 hw_cnp[28] = {
	0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00,
};

static const u8 hw_uc_send_only[12] = {
	0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10,
};

static const u8 hw_rc_write_only[28] = {
	0x0a, 0x70, 0xff, 0xff, 0x00, 0x00, 0x01, 0x0a, 0x80, 0xa7, 0x88, 0xbc,
	0x00, 0x00, 0x55, 0xd4, 0xc0, 0x72, 0x60, 0x00, 0x00, 0x00, 0x47, 0xb3,
	0x00, 0x00, 0x00, 0x05,
};

static const u8 hw_rc_ack[16] = {
	0x11, 0x40, 0xff, 0xff, 0x00, 0x00, 0x01, 0x09, 0x00, 0xa7, 0x88, 0xc0,
	0x00, 0x00, 0x00, 0x05,
};

/**
 * struct layout - headers of a packet as values and as bytes
 * @name: name in messages
 * @qpn: destination QP
 * @pdu: values, including @pdu.hdr_len
 * @bytes: the same headers on the wire
 */
struct layout {
	const char *name;
	u32 qpn;
	struct verve_pdu pdu;
	const u8 *bytes;
};

static const u8 write_only_imm[32] = {
	0x0b, 0xd0, 0x80, 0x01, 0x00, 0xab, 0xcd, 0xef, 0x80, 0x12, 0x34, 0x56,
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x11, 0x12, 0x13, 0x14,
	0x21, 0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34,
};

static const u8 compare_swap[40] = {
	0x13, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x80, 0xff, 0xff, 0xff,
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x11, 0x12, 0x13, 0x14,
	0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8,
	0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8,
};

static const u8 atomic_acknowledge[24] = {
	0x12, 0x40, 0xff, 0xff, 0x80, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x01,
	0x1f, 0x00, 0x00, 0x07, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8,
};

static const u8 read_response_first[16] = {
	0x0d, 0x40, 0xff, 0xff, 0x40, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x01,
	0x1f, 0xab, 0xcd, 0xef,
};

static const u8 send_last_invalidate[16] = {
	0x16, 0xe0, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x80, 0x00, 0x00, 0x02,
	0xd1, 0xd2, 0xd3, 0xd4,
};

static const u8 ud_send_only_imm[24] = {
	0x65, 0x50, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x09,
	0x80, 0x01, 0x00, 0x00, 0x00, 0xfe, 0xdc, 0xba, 0xe1, 0xe2, 0xe3, 0xe4,
};

static const u8 flush[32] = {
	0x1c, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x03,
	0x00, 0x00, 0x00, 0x13,
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x11, 0x12, 0x13, 0x14,
	0x21, 0x22, 0x23, 0x24,
};

static const u8 atomic_write[28] = {
	0x1d, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x04,
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x11, 0x12, 0x13, 0x14,
	0x00, 0x00, 0x00, 0x08,
};

static const struct layout layouts[] = {
	{
		.name = "hardware's UC SEND Only", .bytes = hw_uc_send_only,
		.qpn = 0xd3,
		.pdu = {
			.opcode = 0x24, .hdr_len = 12, .length = 18,
			.pkey = 0xffff, .psn = 0xcf1710,
		},
	}, {
		.name = "hardware's RC WRITE Only", .bytes = hw_rc_write_only,
		.qpn = 0x10a,
		.pdu = {
			.opcode = 0x0a, .hdr_len = 28, .length = 5,
			.pkey = 0xffff, .psn = 0xa788bc,
			.flags = VERVE_PDU_ACKREQ, .va = 0x55d4c0726000,
			.rkey = 0x47b3, .dmalen = 5,
		},
	}, {
		.name = "hardware's RC ACK", .bytes = hw_rc_ack,
		.qpn = 0x109,
		.pdu = {
			.opcode = 0x11, .hdr_len = 16,
			.pkey = 0xffff, .psn = 0xa788c0, .aeth = 5,
		},
	}, {
		.name = "RC WRITE Only with immediate", .bytes = write_only_imm,
		.qpn = 0xabcdef,
		.pdu = {
			.opcode = 0x0b, .hdr_len = 32, .length = 7,
			.pkey = 0x8001, .psn = 0x123456,
			.flags = VERVE_PDU_SOLICITED | VERVE_PDU_ACKREQ,
			.va = 0x0102030405060708, .rkey = 0x11121314,
			.dmalen = 0x21222324,
			.imm = cpu_to_be32(0x31323334),
		},
	}, {
		.name = "RC CmpSwap", .bytes = compare_swap,
		.qpn = 0x11,
		.pdu = {
			.opcode = 0x13, .hdr_len = 40,
			.pkey = 0xffff, .psn = 0xffffff,
			.flags = VERVE_PDU_ACKREQ,
			.va = 0x0102030405060708, .rkey = 0x11121314,
			.swap_add = 0xa1a2a3a4a5a6a7a8,
			.compare = 0xb1b2b3b4b5b6b7b8,
		},
	}, {
		.name = "RC FLUSH", .bytes = flush,
		.qpn = 0x11,
		.pdu = {
			.opcode = 0x1c, .hdr_len = 32,
			.pkey = 0xffff, .psn = 3,
			.va = 0x0102030405060708, .rkey = 0x11121314,
			.dmalen = 0x21222324,
			.feth = VERVE_FETH_GLOBAL | VERVE_FETH_PERSISTENT |
				VERVE_FETH_MR,
		},
	}, {
		.name = "RC ATOMIC WRITE", .bytes = atomic_write,
		.qpn = 0x11,
		.pdu = {
			.opcode = 0x1d, .hdr_len = 28, .length = 8,
			.pkey = 0xffff, .psn = 4,
			.va = 0x0102030405060708, .rkey = 0x11121314,
			.dmalen = 8,
		},
	}, {
		.name = "RC atomic acknowledge", .bytes = atomic_acknowledge,
		.qpn = 0x11,
		.pdu = {
			.opcode = 0x12, .hdr_len = 24,
			.pkey = 0xffff, .psn = 1, .flags = VERVE_PDU_FECN,
			.aeth = 0x1f000007, .orig = 0xc1c2c3c4c5c6c7c8,
		},
	}, {
		.name = "RC READ response First", .bytes = read_response_first,
		.qpn = 0x11,
		.pdu = {
			.opcode = 0x0d, .hdr_len = 16, .length = 4096,
			.pkey = 0xffff, .psn = 1, .flags = VERVE_PDU_BECN,
			.aeth = 0x1fabcdef,
		},
	}, {
		.name = "RC SEND Last with invalidate",
		.bytes = send_last_invalidate,
		.qpn = 0x11,
		.pdu = {
			.opcode = 0x16, .hdr_len = 16, .length = 2,
			.pkey = 0xffff, .psn = 2,
			.flags = VERVE_PDU_SOLICITED | VERVE_PDU_ACKREQ,
			.inv_rkey = 0xd1d2d3d4,
		},
	}, {
		.name = "UD SEND Only with immediate",
		.bytes = ud_send_only_imm,
		.qpn = 1,
		.pdu = {
			.opcode = 0x65, .hdr_len = 24, .length = 255,
			.pkey = 0xffff, .psn = 9,
			.qkey = 0x80010000, .sqpn = 0xfedcba,
			.imm = cpu_to_be32(0xe1e2e3e4),
		},
	},
};

static u32 next_random(u32 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void fill_random(u8 *buf, u32 len, u32 *state)
{
	while (len--)
		*buf++ = next_random(state);
}

static u32 on_the_wire(const struct verve_pdu *pdu)
{
	return pdu->hdr_len + pdu->length + verve_wire_pad(pdu->length);
}

static void wire_parse__layouts_by_hand(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct layout *l = &layouts[i];
		struct verve_pdu pdu;
		u32 qpn = 0;

		memset(&pdu, 0xa5, sizeof(pdu));
		KUNIT_ASSERT_EQ_MSG(test, verve_wire_parse(l->bytes, l->pdu.hdr_len,
							   on_the_wire(&l->pdu),
							   &pdu, &qpn),
				    0, "%s", l->name);
		KUNIT_EXPECT_EQ_MSG(test, qpn, l->qpn, "%s", l->name);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&pdu, &l->pdu, sizeof(pdu)), 0,
				    "%s", l->name);
	}
}

static void wire_build__layouts_by_hand(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct layout *l = &layouts[i];
		u8 *buf = kunit_kzalloc(test, l->pdu.hdr_len, GFP_KERNEL);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
		KUNIT_EXPECT_EQ_MSG(test, verve_wire_build(buf, &l->pdu, l->qpn),
				    (u32)l->pdu.hdr_len, "%s", l->name);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(buf, l->bytes, l->pdu.hdr_len), 0,
				    "%s", l->name);
	}
}

static void wire_parse__cnp_of_hardware(struct kunit *test)
{
	struct verve_pdu pdu;
	u32 qpn;

	KUNIT_ASSERT_EQ(test, verve_wire_parse(hw_cnp, 28, 28, &pdu, &qpn), 0);
	KUNIT_EXPECT_EQ(test, (u32)pdu.opcode, VERVE_OPCODE_CNP);
	KUNIT_EXPECT_EQ(test, qpn, 0x118);
	KUNIT_EXPECT_EQ(test, pdu.flags, VERVE_PDU_BECN);
	KUNIT_EXPECT_EQ(test, pdu.length, 0);
	KUNIT_EXPECT_EQ(test, (u32)pdu.hdr_len, 28);
}

static void wire_build__cnp_of_hardware(struct kunit *test)
{
	struct verve_pdu pdu = {
		.opcode = VERVE_OPCODE_CNP,
		.pkey = 0xffff,
		.flags = VERVE_PDU_BECN,
	};
	u8 buf[28];

	memset(buf, 0xa5, sizeof(buf));
	KUNIT_EXPECT_EQ(test, verve_wire_build(buf, &pdu, 0x118), 28);
	KUNIT_EXPECT_EQ(test, memcmp(buf, hw_cnp, sizeof(buf)), 0);
}

static void wire_build__wide_values_stay_in_their_fields(struct kunit *test)
{
	struct verve_pdu pdu = {
		.opcode = IB_OPCODE_UD_SEND_ONLY,
		.sqpn = 0xff000002,
	};
	u8 buf[20];

	verve_wire_build(buf, &pdu, 0xff000003);
	KUNIT_EXPECT_EQ(test, buf[4], 0);
	KUNIT_EXPECT_EQ(test, buf[7], 3);
	KUNIT_EXPECT_EQ(test, buf[16], 0);
	KUNIT_EXPECT_EQ(test, buf[19], 2);
}

/* Set derived and reserved bits to the values that verve_wire_build() writes. */
static void make_canonical(u8 *buf, u32 length)
{
	u32 op = verve_opcode_flags(buf[0]);

	buf[1] &= VERVE_BTH_SE;
	buf[1] |= verve_wire_pad(length) << 4;
	if (!(op & VERVE_OP_CNP))
		buf[1] |= VERVE_BTH_MIGREQ;
	buf[4] &= 0xc0;
	buf[8] &= 0x80;
	if (op & VERVE_OP_DETH)
		buf[16] = 0;
	if (op & VERVE_OP_FETH) {
		memset(buf + 12, 0, 3);
		buf[15] &= 0x3f;
	}
	if (op & VERVE_OP_CNP)
		memset(buf + 12, 0, 16);
}

static void wire_build__undoes_parse_for_every_opcode(struct kunit *test)
{
	u32 seed = 0x56455256, qpn, length;
	struct verve_pdu pdu;
	u8 in[40], out[40];
	int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		const struct verve_opcode *op = &verve_opcodes[opcode];

		for (length = 0; op->flags && length < 9; length++) {
			if (length && !(op->flags & VERVE_OP_PAYLOAD))
				break;
			fill_random(in, sizeof(in), &seed);
			in[0] = opcode;
			make_canonical(in, length);
			KUNIT_ASSERT_EQ_MSG(test, verve_wire_parse(in, op->hdr_len,
								   op->hdr_len + length +
								   verve_wire_pad(length),
								   &pdu, &qpn),
					    0, "opcode %#x", opcode);
			KUNIT_EXPECT_EQ(test, pdu.length, length);
			KUNIT_EXPECT_EQ(test, (u32)pdu.hdr_len, op->hdr_len);
			KUNIT_EXPECT_EQ(test, verve_wire_build(out, &pdu, qpn),
					op->hdr_len);
			KUNIT_EXPECT_EQ_MSG(test, memcmp(in, out, op->hdr_len), 0,
					    "opcode %#x", opcode);
		}
	}
}

/* A buffer of exactly @len bytes lets KASAN or ASan catch a read beyond them. */
static int parse_exactly(struct kunit *test, u8 opcode, u32 len, u32 total)
{
	u8 *buf = kunit_kzalloc(test, max(len, 1U), GFP_KERNEL);
	struct verve_pdu pdu;
	u32 qpn;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	buf[0] = opcode;
	return verve_wire_parse(buf, len, total, &pdu, &qpn);
}

static void wire_parse__every_truncation_is_refused(struct kunit *test)
{
	int opcode;
	u32 len;

	for (opcode = 0; opcode < 256; opcode++) {
		u32 hdr_len = verve_opcodes[opcode].hdr_len;

		for (len = 0; len < hdr_len; len++) {
			/* the packet ends after @len bytes */
			KUNIT_EXPECT_EQ_MSG(test, parse_exactly(test, opcode, len, len),
					    VERVE_WIRE_SHORT, "%#x/%u", opcode, len);
			/* the rest of the headers is not linear */
			KUNIT_EXPECT_EQ_MSG(test, parse_exactly(test, opcode, len, hdr_len),
					    VERVE_WIRE_SHORT, "%#x/%u", opcode, len);
		}
	}
}

static void wire_parse__total_below_linear_is_believed(struct kunit *test)
{
	u8 buf[28] = { IB_OPCODE_RC_RDMA_WRITE_ONLY };
	struct verve_pdu pdu;
	u32 qpn;

	KUNIT_EXPECT_EQ(test, verve_wire_parse(buf, 28, 27, &pdu, &qpn), VERVE_WIRE_SHORT);
	KUNIT_EXPECT_EQ(test, verve_wire_parse(buf, 28, 11, &pdu, &qpn), VERVE_WIRE_SHORT);
	KUNIT_EXPECT_EQ(test, verve_wire_parse(buf, 28, 28, &pdu, &qpn), 0);
}

static void wire_parse__pad_beyond_the_payload_is_refused(struct kunit *test)
{
	u8 buf[12] = { IB_OPCODE_RC_SEND_ONLY, VERVE_BTH_PAD_MASK };
	struct verve_pdu pdu;
	u32 qpn;

	KUNIT_EXPECT_EQ(test, verve_wire_parse(buf, 12, 12, &pdu, &qpn), VERVE_WIRE_SHORT);
	KUNIT_EXPECT_EQ(test, verve_wire_parse(buf, 12, 14, &pdu, &qpn), VERVE_WIRE_SHORT);
	KUNIT_EXPECT_EQ(test, verve_wire_parse(buf, 12, 15, &pdu, &qpn), 0);
	KUNIT_EXPECT_EQ(test, pdu.length, 0);
	KUNIT_EXPECT_EQ(test, verve_wire_parse(buf, 12, 16, &pdu, &qpn), 0);
	KUNIT_EXPECT_EQ(test, pdu.length, 1);
}

static void wire_parse__payload_where_none_belongs_is_refused(struct kunit *test)
{
	static const u8 bare[] = { 0x0c, 0x11, 0x12, 0x13, 0x14, 0x1c, 0x81 };
	int i;

	for (i = 0; i < ARRAY_SIZE(bare); i++) {
		u32 hdr_len = verve_opcodes[bare[i]].hdr_len;

		KUNIT_EXPECT_EQ(test, parse_exactly(test, bare[i], hdr_len, hdr_len), 0);
		KUNIT_EXPECT_EQ(test, parse_exactly(test, bare[i], hdr_len, hdr_len + 1),
				VERVE_WIRE_LONG);
		KUNIT_EXPECT_EQ(test, parse_exactly(test, bare[i], hdr_len, hdr_len + 4),
				VERVE_WIRE_LONG);
	}
}

static void wire_parse__only_version_0_is_known(struct kunit *test)
{
	u8 buf[12] = { IB_OPCODE_RC_SEND_ONLY };
	struct verve_pdu pdu;
	u32 qpn;
	int tver;

	for (tver = 1; tver < 16; tver++) {
		buf[1] = VERVE_BTH_MIGREQ | tver;
		KUNIT_EXPECT_EQ(test, verve_wire_parse(buf, 12, 12, &pdu, &qpn),
				VERVE_WIRE_VERSION);
	}
}

static void wire_parse__unknown_opcodes_are_refused(struct kunit *test)
{
	int opcode;

	for (opcode = 0; opcode < 256; opcode++)
		if (!verve_opcodes[opcode].flags)
			KUNIT_EXPECT_EQ_MSG(test, parse_exactly(test, opcode, 64, 64),
					    VERVE_WIRE_OPCODE, "%#x", opcode);
}

static void wire_parse__reserved_bits_do_not_matter(struct kunit *test)
{
	u8 buf[20] = {
		0x64, 0x40, 0xff, 0xff, 0x3f, 0x00, 0x00, 0x05,
		0x7f, 0x00, 0x00, 0x06, 0x11, 0x11, 0x11, 0x11,
		0xff, 0x00, 0x00, 0x07,
	};
	struct verve_pdu pdu;
	u32 qpn;

	KUNIT_ASSERT_EQ(test, verve_wire_parse(buf, 20, 20, &pdu, &qpn), 0);
	KUNIT_EXPECT_EQ(test, qpn, 5);
	KUNIT_EXPECT_EQ(test, (u32)pdu.psn, 6);
	KUNIT_EXPECT_EQ(test, pdu.sqpn, 7);
	KUNIT_EXPECT_EQ(test, pdu.flags, 0);
}

static void wire_parse__longest_packet_does_not_overflow(struct kunit *test)
{
	u8 buf[12] = { IB_OPCODE_RC_SEND_MIDDLE, VERVE_BTH_PAD_MASK };
	struct verve_pdu pdu;
	u32 qpn;

	KUNIT_ASSERT_EQ(test, verve_wire_parse(buf, 12, U32_MAX, &pdu, &qpn), 0);
	KUNIT_EXPECT_EQ(test, pdu.length, U32_MAX - 15);
}

static void check_random_packet(struct kunit *test, const u8 *buf, u32 linear,
				u32 total)
{
	struct verve_pdu pdu;
	u32 qpn, pad;

	if (verve_wire_parse(buf, linear, total, &pdu, &qpn))
		return;
	pad = buf[1] >> 4 & 3;
	KUNIT_EXPECT_NE(test, verve_opcode_flags(buf[0]), 0);
	KUNIT_EXPECT_EQ(test, pdu.hdr_len + pdu.length + pad, total);
	KUNIT_EXPECT_LE(test, (u32)pdu.hdr_len, linear);
	KUNIT_EXPECT_LE(test, qpn, VERVE_24BIT_MASK);
}

static void wire_parse__random_bytes_stay_within_linear(struct kunit *test)
{
	u32 seed = 0x52444d41, linear;
	int round;

	for (linear = 0; linear <= 64; linear++) {
		u8 *buf = kunit_kmalloc(test, max(linear, 1U), GFP_KERNEL);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
		for (round = 0; round < 2000; round++) {
			fill_random(buf, linear, &seed);
			/* Random versions and opcodes are mostly refused at once. */
			if (linear > 1 && round & 1) {
				buf[0] &= 0x37;
				buf[1] &= 0xf0;
			}
			check_random_packet(test, buf, linear, linear);
			check_random_packet(test, buf, linear,
					    next_random(&seed) & 0x1fff);
		}
	}
}

/* Any change makes another packet, but for AckReq, the P_Key and a response's AETH. */
static void pdu_repeats__only_what_says_the_same(struct kunit *test)
{
	const struct verve_pdu pdu = {
		.opcode = IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE,
		.psn = 5, .length = 8, .va = 0x1000, .dmalen = 8, .rkey = 7,
		.flags = VERVE_PDU_SOLICITED, .pkey = 0xffff,
	};
	struct verve_pdu others[7];
	int i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		others[i] = pdu;
	others[0].opcode = IB_OPCODE_RC_RDMA_WRITE_ONLY;
	others[1].psn++;
	others[2].length--;
	others[3].va++;
	others[4].dmalen++;
	others[5].rkey++;
	others[6].flags = 0;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_FALSE(test, verve_pdu_repeats(&pdu, &others[i]));
	others[0] = pdu;
	others[0].flags |= VERVE_PDU_ACKREQ;
	others[0].pkey = 0x7fff;
	KUNIT_EXPECT_TRUE(test, verve_pdu_repeats(&pdu, &others[0]));
	others[0].opcode = IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY;
	others[1] = others[0];
	others[1].aeth++;
	KUNIT_EXPECT_TRUE(test, verve_pdu_repeats(&others[0], &others[1]));
}

static struct kunit_case headers_cases[] = {
	KUNIT_CASE(wire_parse__layouts_by_hand),
	KUNIT_CASE(wire_build__layouts_by_hand),
	KUNIT_CASE(wire_parse__cnp_of_hardware),
	KUNIT_CASE(wire_build__cnp_of_hardware),
	KUNIT_CASE(wire_build__wide_values_stay_in_their_fields),
	KUNIT_CASE(wire_build__undoes_parse_for_every_opcode),
	KUNIT_CASE(wire_parse__every_truncation_is_refused),
	KUNIT_CASE(wire_parse__total_below_linear_is_believed),
	KUNIT_CASE(wire_parse__pad_beyond_the_payload_is_refused),
	KUNIT_CASE(wire_parse__payload_where_none_belongs_is_refused),
	KUNIT_CASE(wire_parse__only_version_0_is_known),
	KUNIT_CASE(wire_parse__unknown_opcodes_are_refused),
	KUNIT_CASE(wire_parse__reserved_bits_do_not_matter),
	KUNIT_CASE(wire_parse__longest_packet_does_not_overflow),
	KUNIT_CASE(wire_parse__random_bytes_stay_within_linear),
	KUNIT_CASE(pdu_repeats__only_what_says_the_same),
	{}
};

static struct kunit_suite headers_suite = {
	.name = "verve-headers",
	.test_cases = headers_cases,
};

kunit_test_suite(headers_suite);
