// SPDX-License-Identifier: GPL-2.0-only
/*
 * Conversion of transport headers to struct verve_pdu and back.
 *
 * Each header is a packed struct of big-endian fields and needs no alignment.
 * read_extended() and write_extended() follow the order of the headers on the
 * wire (IBTA vol. 1, 9.2.1, table 38).
 */
#include <linux/build_bug.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "headers.h"

static void read_bth(const struct verve_bth_hdr *bth, struct verve_pdu *pdu,
		     u32 *qpn)
{
	u32 qpn_word = be32_to_cpu(bth->qpn);
	u32 psn_word = be32_to_cpu(bth->psn);

	pdu->opcode = bth->opcode;
	pdu->pkey = be16_to_cpu(bth->pkey);
	pdu->psn = psn_word & VERVE_24BIT_MASK;
	pdu->flags = (bth->flags & VERVE_BTH_SE ? VERVE_PDU_SOLICITED : 0) |
		     (psn_word & VERVE_BTH_ACKREQ ? VERVE_PDU_ACKREQ : 0) |
		     (qpn_word & VERVE_BTH_FECN ? VERVE_PDU_FECN : 0) |
		     (qpn_word & VERVE_BTH_BECN ? VERVE_PDU_BECN : 0);
	*qpn = qpn_word & VERVE_24BIT_MASK;
}

/* Like NICs, set MigReq in all packets but CNPs, which have no path to migrate. */
static u8 migreq(u8 opcode)
{
	return opcode == VERVE_OPCODE_CNP ? 0 : VERVE_BTH_MIGREQ;
}

static void write_bth(struct verve_bth_hdr *bth, const struct verve_pdu *pdu,
		      u32 qpn)
{
	u8 pad = verve_wire_pad(pdu->length);

	bth->opcode = pdu->opcode;
	bth->flags = migreq(pdu->opcode) | pad << VERVE_BTH_PAD_SHIFT |
		     (pdu->flags & VERVE_PDU_SOLICITED ? VERVE_BTH_SE : 0);
	bth->pkey = cpu_to_be16(pdu->pkey);
	bth->qpn = cpu_to_be32((qpn & VERVE_24BIT_MASK) |
			       (pdu->flags & VERVE_PDU_FECN ? VERVE_BTH_FECN : 0) |
			       (pdu->flags & VERVE_PDU_BECN ? VERVE_BTH_BECN : 0));
	bth->psn = cpu_to_be32(pdu->psn |
			       (pdu->flags & VERVE_PDU_ACKREQ ? VERVE_BTH_ACKREQ : 0));
}

static const u8 *read_address(const u8 *pos, u32 op, struct verve_pdu *pdu)
{
	if (op & VERVE_OP_DETH) {
		const struct verve_deth_hdr *deth = (const void *)pos;

		pdu->qkey = be32_to_cpu(deth->qkey);
		pdu->sqpn = be32_to_cpu(deth->sqpn) & VERVE_24BIT_MASK;
		pos += sizeof(*deth);
	}
	if (op & VERVE_OP_FETH) {
		const struct verve_feth_hdr *feth = (const void *)pos;

		pdu->feth = be32_to_cpu(feth->bits) &
			    (VERVE_FETH_PLACEMENT | VERVE_FETH_SELECTIVITY);
		pos += sizeof(*feth);
	}
	if (op & VERVE_OP_RETH) {
		const struct verve_reth_hdr *reth = (const void *)pos;

		pdu->va = be64_to_cpu(reth->va);
		pdu->rkey = be32_to_cpu(reth->rkey);
		pdu->dmalen = be32_to_cpu(reth->length);
		pos += sizeof(*reth);
	}
	if (op & VERVE_OP_ATOMICETH) {
		const struct verve_atomiceth_hdr *atomic = (const void *)pos;

		pdu->va = be64_to_cpu(atomic->va);
		pdu->rkey = be32_to_cpu(atomic->rkey);
		pdu->swap_add = be64_to_cpu(atomic->swap_add);
		pdu->compare = be64_to_cpu(atomic->compare);
		pos += sizeof(*atomic);
	}
	return pos;
}

static void read_extended(const u8 *pos, u32 op, struct verve_pdu *pdu)
{
	pos = read_address(pos, op, pdu);
	if (op & VERVE_OP_AETH) {
		const struct verve_aeth_hdr *aeth = (const void *)pos;

		pdu->aeth = be32_to_cpu(aeth->syndrome_msn);
		pos += sizeof(*aeth);
	}
	if (op & VERVE_OP_ATOMICACKETH) {
		const struct verve_atomicacketh_hdr *ack = (const void *)pos;

		pdu->orig = be64_to_cpu(ack->orig);
	}
	if (op & VERVE_OP_IMM)
		pdu->imm = ((const struct verve_immdt_hdr *)pos)->imm;
	if (op & VERVE_OP_IETH) {
		const struct verve_ieth_hdr *ieth = (const void *)pos;

		pdu->inv_rkey = be32_to_cpu(ieth->rkey);
	}
}

int verve_wire_parse(const u8 *buf, u32 linear, u32 total,
		     struct verve_pdu *pdu, u32 *qpn)
{
	const struct verve_bth_hdr *bth = (const void *)buf;
	const struct verve_opcode *op;
	u32 hdr_len, pad;

	BUILD_BUG_ON(sizeof(*pdu) != 40);

	if (linear < sizeof(*bth))
		return VERVE_WIRE_SHORT;
	if (bth->flags & VERVE_BTH_TVER_MASK)
		return VERVE_WIRE_VERSION;
	op = &verve_opcodes[bth->opcode];
	if (!op->flags)
		return VERVE_WIRE_OPCODE;

	hdr_len = op->hdr_len;
	pad = (bth->flags & VERVE_BTH_PAD_MASK) >> VERVE_BTH_PAD_SHIFT;
	if (linear < hdr_len || total < hdr_len + pad)
		return VERVE_WIRE_SHORT;
	if (!(op->flags & VERVE_OP_PAYLOAD) && total != hdr_len + pad)
		return VERVE_WIRE_LONG;

	memset(pdu, 0, sizeof(*pdu));
	read_bth(bth, pdu, qpn);
	pdu->hdr_len = hdr_len;
	pdu->length = total - hdr_len - pad;
	read_extended(buf + sizeof(*bth), op->flags, pdu);
	return 0;
}

static u8 *write_address(u8 *pos, u32 op, const struct verve_pdu *pdu)
{
	if (op & VERVE_OP_DETH) {
		struct verve_deth_hdr *deth = (void *)pos;

		deth->qkey = cpu_to_be32(pdu->qkey);
		deth->sqpn = cpu_to_be32(pdu->sqpn & VERVE_24BIT_MASK);
		pos += sizeof(*deth);
	}
	if (op & VERVE_OP_FETH) {
		struct verve_feth_hdr *feth = (void *)pos;

		feth->bits = cpu_to_be32(pdu->feth);
		pos += sizeof(*feth);
	}
	if (op & VERVE_OP_RETH) {
		struct verve_reth_hdr *reth = (void *)pos;

		reth->va = cpu_to_be64(pdu->va);
		reth->rkey = cpu_to_be32(pdu->rkey);
		reth->length = cpu_to_be32(pdu->dmalen);
		pos += sizeof(*reth);
	}
	if (op & VERVE_OP_ATOMICETH) {
		struct verve_atomiceth_hdr *atomic = (void *)pos;

		atomic->va = cpu_to_be64(pdu->va);
		atomic->rkey = cpu_to_be32(pdu->rkey);
		atomic->swap_add = cpu_to_be64(pdu->swap_add);
		atomic->compare = cpu_to_be64(pdu->compare);
		pos += sizeof(*atomic);
	}
	return pos;
}

static void write_extended(u8 *pos, u32 op, const struct verve_pdu *pdu)
{
	pos = write_address(pos, op, pdu);
	if (op & VERVE_OP_AETH) {
		struct verve_aeth_hdr *aeth = (void *)pos;

		aeth->syndrome_msn = cpu_to_be32(pdu->aeth);
		pos += sizeof(*aeth);
	}
	if (op & VERVE_OP_ATOMICACKETH) {
		struct verve_atomicacketh_hdr *ack = (void *)pos;

		ack->orig = cpu_to_be64(pdu->orig);
	}
	if (op & VERVE_OP_IMM)
		((struct verve_immdt_hdr *)pos)->imm = pdu->imm;
	if (op & VERVE_OP_IETH) {
		struct verve_ieth_hdr *ieth = (void *)pos;

		ieth->rkey = cpu_to_be32(pdu->inv_rkey);
	}
	if (op & VERVE_OP_CNP)
		memset(pos, 0, sizeof(struct verve_cnp_hdr));
}

u32 verve_wire_build(u8 *buf, const struct verve_pdu *pdu, u32 qpn)
{
	const struct verve_opcode *op = &verve_opcodes[pdu->opcode];
	struct verve_bth_hdr *bth = (void *)buf;

	write_bth(bth, pdu, qpn);
	write_extended(buf + sizeof(*bth), op->flags, pdu);
	return op->hdr_len;
}

bool verve_pdu_repeats(const struct verve_pdu *pdu,
		       const struct verve_pdu *other)
{
	bool is_response = verve_opcode_flags(pdu->opcode) & VERVE_OP_RESPONSE;

	return pdu->opcode == other->opcode && pdu->psn == other->psn &&
	       pdu->length == other->length && pdu->va == other->va &&
	       pdu->swap_add == other->swap_add &&
	       pdu->compare == other->compare &&
	       (is_response || pdu->rkey == other->rkey) &&
	       !((pdu->flags ^ other->flags) & VERVE_PDU_SOLICITED);
}
