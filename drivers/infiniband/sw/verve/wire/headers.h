/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Transport headers on the wire (IBTA vol. 1, 9.2 and 9.3), and struct verve_pdu,
 * their contents in host order. These functions take no lock, allocate nothing
 * and read no clock.
 */
#ifndef VERVE_WIRE_HEADERS_H
#define VERVE_WIRE_HEADERS_H

#include <linux/types.h>
#include "opcode.h"

/* Base transport header, 9.2 */
struct verve_bth_hdr {
	u8	opcode;
	u8	flags;		/* SE, MigReq, PadCnt, TVer */
	__be16	pkey;
	__be32	qpn;		/* FECN, BECN, reserved: 8; destination QP: 24 */
	__be32	psn;		/* AckReq: 1, reserved: 7, PSN: 24 */
} __packed;

enum verve_bth_flags {
	VERVE_BTH_SE		= 0x80,
	VERVE_BTH_MIGREQ	= 0x40,
	VERVE_BTH_PAD_SHIFT	= 4,
	VERVE_BTH_PAD_MASK	= 0x30,
	VERVE_BTH_TVER_MASK	= 0x0f,
};

/* Bits of the words that hold QPN and PSN. Bit 31 does not fit an enum's int. */
#define VERVE_BTH_FECN		0x80000000U
#define VERVE_BTH_BECN		0x40000000U
#define VERVE_BTH_ACKREQ	0x80000000U
#define VERVE_24BIT_MASK	0xffffffU

/* Destination QP of all multicast packets, 10.5.2 */
#define VERVE_MULTICAST_QPN	0xffffff

/* Datagram, 9.3.1 */
struct verve_deth_hdr {
	__be32	qkey;
	__be32	sqpn;
} __packed;

/* Flush, Annex A19. The FETH precedes the RETH. */
struct verve_feth_hdr {
	__be32	bits;		/* reserved: 26, selectivity: 2, placement: 4 */
} __packed;

/* RDMA, 9.3.3 */
struct verve_reth_hdr {
	__be64	va;
	__be32	rkey;
	__be32	length;
} __packed;

/* Atomic, 9.3.4 */
struct verve_atomiceth_hdr {
	__be64	va;
	__be32	rkey;
	__be64	swap_add;
	__be64	compare;
} __packed;

/* Acknowledge, 9.3.5 */
struct verve_aeth_hdr {
	__be32	syndrome_msn;	/* syndrome: 8, MSN: 24 */
} __packed;

/* Atomic acknowledge, 9.5.3 */
struct verve_atomicacketh_hdr {
	__be64	orig;
} __packed;

/* Immediate data, 9.3.6. The transport does not interpret or swap it. */
struct verve_immdt_hdr {
	__be32	imm;
} __packed;

/* Invalidate, 9.3.7 */
struct verve_ieth_hdr {
	__be32	rkey;
} __packed;

/* Reserved bytes after the BTH of a CNP, Annex A17.9.3 */
struct verve_cnp_hdr {
	u8	reserved[16];
} __packed;

/* AETH syndrome, 9.7.5.2.1 */
enum verve_aeth {
	VERVE_AETH_TYPE_MASK	= 0xe0,
	VERVE_AETH_ACK		= 0x00,
	VERVE_AETH_RNR_NAK	= 0x20,
	VERVE_AETH_NAK		= 0x60,
	VERVE_AETH_VALUE_MASK	= 0x1f,
	/* The responder gives no end-to-end credits. */
	VERVE_AETH_CREDIT_UNLIMITED = 0x1f,

	VERVE_NAK_PSN_SEQ_ERR	= VERVE_AETH_NAK | 0,
	VERVE_NAK_INV_REQ	= VERVE_AETH_NAK | 1,
	VERVE_NAK_REM_ACC_ERR	= VERVE_AETH_NAK | 2,
	VERVE_NAK_REM_OP_ERR	= VERVE_AETH_NAK | 3,
	VERVE_NAK_INV_RD_REQ	= VERVE_AETH_NAK | 4,
};

/* Selectivity and placement type of a FLUSH: pdu.feth */
enum verve_feth {
	VERVE_FETH_GLOBAL	= 0x01,	/* global visibility */
	VERVE_FETH_PERSISTENT	= 0x02,	/* persistence */
	VERVE_FETH_RANGE	= 0x00,
	VERVE_FETH_MR		= 0x10,	/* the whole region of the rkey */
	VERVE_FETH_PLACEMENT	= 0x0f,
	VERVE_FETH_SELECTIVITY	= 0x30,
};

enum verve_pdu_flags {
	VERVE_PDU_SOLICITED	= 1 << 0,
	VERVE_PDU_ACKREQ	= 1 << 1,
	VERVE_PDU_BECN		= 1 << 2,
	VERVE_PDU_FECN		= 1 << 3,
	/* The IP header carried an ECN CE mark. The path sets this flag. */
	VERVE_PDU_CE		= 1 << 4,
	/* The packet was sent to a multicast group of the QP. */
	VERVE_PDU_MULTICAST	= 1 << 5,
	/* The burst comes from a QP of this device through memory: path/loop.h */
	VERVE_PDU_LOOP		= 1 << 6,
	/* A NIC has written the payload to pages of a region (DDP). */
	VERVE_PDU_PLACED	= 1 << 7,
};

/**
 * struct verve_pdu - transport headers of one packet, in host order
 * @va: RETH, AtomicETH: address
 * @orig: AtomicAckETH: original value
 * @qkey: DETH
 * @sqpn: DETH: source QP
 * @swap_add: AtomicETH
 * @dmalen: RETH: length of the message in bytes
 * @imm: immediate data
 * @inv_rkey: IETH: key to invalidate
 * @feth: FETH: enum verve_feth
 * @compare: AtomicETH
 * @rkey: RETH, AtomicETH
 * @aeth: AETH: syndrome << 24 | MSN
 * @psn: BTH
 * @opcode: BTH
 * @length: payload bytes without pad
 * @flags: enum verve_pdu_flags
 * @hdr_len: bytes of BTH and extended headers
 * @ooo: not a header field: the packet came out of order (transport/ooo.h)
 * @pkey: BTH
 *
 * The flags of the opcode tell which fields are valid. verve_wire_parse() sets
 * the others to 0. The struct has 40 bytes, so that struct verve_arrival fits
 * into an skb's control block.
 */
struct verve_pdu {
	union {
		u64	va;
		u64	orig;
		struct {
			u32	qkey;
			u32	sqpn;
		};
	};
	union {
		u64	swap_add;
		struct {
			u32	dmalen;
			union {
				__be32	imm;
				u32	inv_rkey;
				u32	feth;
			};
		};
	};
	u64	compare;
	union {
		u32	rkey;
		u32	aeth;
	};
	u32	psn : 24;
	u32	opcode : 8;
	u32	length;
	u8	flags;
	u8	hdr_len : 6;
	u8	ooo : 2;
	u16	pkey;
};

enum verve_wire_error {
	VERVE_WIRE_SHORT = 1,	/* too short for its headers and pad */
	VERVE_WIRE_VERSION,	/* TVer is not 0 */
	VERVE_WIRE_OPCODE,	/* unknown opcode */
	VERVE_WIRE_LONG,	/* payload with an opcode that carries none */
};

/**
 * verve_wire_parse() - read the transport headers of a packet
 * @buf: BTH, in linear memory
 * @linear: bytes that may be read at @buf
 * @total: bytes from BTH to the end of the packet, without ICRC
 * @pdu: filled with the headers
 * @qpn: set to the destination QP
 *
 * The function reads nothing beyond @linear. All headers must be linear.
 *
 * Context: any. Pure.
 * Return: 0 or an enum verve_wire_error.
 */
int verve_wire_parse(const u8 *buf, u32 linear, u32 total,
		     struct verve_pdu *pdu, u32 *qpn);

/**
 * verve_wire_build() - write the transport headers of a packet
 * @buf: room for the headers of @pdu->opcode
 * @pdu: the packet; @pdu->length gives the pad
 * @qpn: destination QP
 *
 * MigReq is set in all packets but CNPs. Reserved bits are 0.
 *
 * Context: any. Pure.
 * Return: bytes written, which is verve_opcodes[opcode].hdr_len.
 */
u32 verve_wire_build(u8 *buf, const struct verve_pdu *pdu, u32 qpn);

/**
 * verve_pdu_repeats() - compare the headers of a packet and its repetition
 * @pdu: parsed packet
 * @other: parsed packet
 *
 * A repetition may differ in AckReq, P_Key and congestion bits. A repeated
 * response may also carry another AETH, which tells of a later state.
 *
 * Context: any. Pure.
 * Return: true if all other fields are equal.
 */
bool verve_pdu_repeats(const struct verve_pdu *pdu,
		       const struct verve_pdu *other);

/* Pad bytes after @length bytes of payload (9.2.3). */
static inline u32 verve_wire_pad(u32 length)
{
	return -length & 3;
}

#endif
