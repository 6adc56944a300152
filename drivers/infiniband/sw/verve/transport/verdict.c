// SPDX-License-Identifier: GPL-2.0-only
/* Decisions about received packets, without side effects */
#include <linux/time64.h>
#include <rdma/ib_verbs.h>
#include "../limits.h"
#include "../wire/psn.h"
#include "verdict.h"

enum verve_psn_class verve_verdict_psn(u32 psn, u32 expected)
{
	s32 diff = verve_psn_diff(psn, expected);

	if (!diff)
		return VERVE_PSN_EXPECTED;
	if (diff < 0)
		return VERVE_PSN_DUPLICATE;
	return diff < VERVE_MAX_AHEAD ? VERVE_PSN_OOO : VERVE_PSN_FAR;
}

bool verve_verdict_is_recent(u32 psn, u32 expected)
{
	return verve_psn_diff(expected, psn) <= VERVE_MAX_UNACKED;
}

/*
 * A message in progress must continue, and a new one must start with its first
 * packet.
 */
static bool in_sequence(const struct verve_expect *expect, u32 flags)
{
	if (!expect->op)
		return flags & VERVE_OP_FIRST;
	return (flags & expect->op) && !(flags & VERVE_OP_FIRST);
}

int verve_verdict_flush_access(u32 feth)
{
	return (feth & VERVE_FETH_GLOBAL ? IB_ACCESS_FLUSH_GLOBAL : 0) |
	       (feth & VERVE_FETH_PERSISTENT ? IB_ACCESS_FLUSH_PERSISTENT : 0);
}

static bool is_allowed(const struct verve_expect *expect, u32 flags,
		       const struct verve_pdu *pdu)
{
	int need = 0;

	if (flags & (VERVE_OP_WRITE | VERVE_OP_ATOMIC_WRITE))
		need = IB_ACCESS_REMOTE_WRITE;
	else if (flags & VERVE_OP_READ)
		need = IB_ACCESS_REMOTE_READ;
	else if (flags & VERVE_OP_ATOMIC)
		need = IB_ACCESS_REMOTE_ATOMIC;
	else if (flags & VERVE_OP_FLUSH)
		need = verve_verdict_flush_access(pdu->feth);
	if ((flags & VERVE_OP_RD_ATOMIC) && !expect->max_read)
		return false;
	return (expect->access & need) == need;
}

/*
 * Placement and selectivity must be non-zero and without reserved bits (Annex
 * A19).
 */
static bool is_flush(u32 feth)
{
	u32 placement = feth & VERVE_FETH_PLACEMENT;
	u32 selectivity = feth & VERVE_FETH_SELECTIVITY;

	return placement &&
	       !(placement & ~(VERVE_FETH_GLOBAL | VERVE_FETH_PERSISTENT)) &&
	       (selectivity == VERVE_FETH_RANGE ||
		selectivity == VERVE_FETH_MR);
}

static bool is_well_formed(u32 flags, const struct verve_pdu *pdu)
{
	if (flags & VERVE_OP_FLUSH)
		return is_flush(pdu->feth);
	if (flags & VERVE_OP_ATOMIC_WRITE)
		return pdu->length == sizeof(u64) &&
		       pdu->dmalen == sizeof(u64);
	return true;
}

/*
 * All packets but the last are full. The last one is empty only in an empty
 * message.
 */
static bool has_packet_length(const struct verve_expect *expect, u32 flags,
			      u32 length)
{
	u32 full = (expect->packets - 1) * expect->mtu;

	if (!(flags & VERVE_OP_LAST))
		return length == full + expect->mtu;
	if (length > full + expect->mtu)
		return false;
	return length > full || (!length && !full && flags & VERVE_OP_FIRST);
}

/* A WRITE must have exactly the length in its RETH. */
static bool has_message_length(const struct verve_expect *expect, u32 flags,
			       const struct verve_pdu *pdu)
{
	u32 left = flags & VERVE_OP_FIRST ? pdu->dmalen : expect->left;

	if (left > VERVE_MAX_MSG)
		return false;
	if (flags & VERVE_OP_LAST)
		return pdu->length == left;
	return pdu->length < left;
}

enum verve_request_verdict
verve_verdict_request(const struct verve_expect *expect,
		      const struct verve_pdu *pdu)
{
	u32 flags = verve_opcode_flags(pdu->opcode);

	if (!in_sequence(expect, flags) || !is_well_formed(flags, pdu) ||
	    !is_allowed(expect, flags, pdu))
		return VERVE_REQUEST_INVALID;
	if (!has_packet_length(expect, flags, pdu->length))
		return VERVE_REQUEST_INVALID;
	if ((flags & VERVE_OP_WRITE) && !has_message_length(expect, flags, pdu))
		return VERVE_REQUEST_INVALID;
	return VERVE_REQUEST_DONE;
}

enum verve_response_verdict
verve_verdict_response(const struct verve_awaited *awaited,
		       const struct verve_pdu *pdu)
{
	u32 flags = verve_opcode_flags(pdu->opcode);
	bool is_first = flags & VERVE_OP_FIRST, is_last = flags & VERVE_OP_LAST;

	if ((flags & VERVE_OP_AETH) &&
	    (pdu->aeth >> 24 & VERVE_AETH_TYPE_MASK) != VERVE_AETH_ACK)
		return VERVE_RESPONSE_BAD;
	if (is_first == awaited->starts && is_last == awaited->ends)
		return VERVE_RESPONSE_GOOD;
	if (!awaited->again)
		return VERVE_RESPONSE_BAD;
	if ((awaited->starts && !is_first) || (awaited->ends && !is_last))
		return VERVE_RESPONSE_STRAY;
	return VERVE_RESPONSE_GOOD;
}

enum verve_ack_class verve_verdict_ack(u32 psn, u32 una, u32 max_psn)
{
	if (verve_psn_before(psn, una))
		return VERVE_ACK_STALE;
	return verve_psn_before(psn, max_psn) ? VERVE_ACK_VALID :
						VERVE_ACK_GHOST;
}

int verve_verdict_nak_status(u8 syndrome)
{
	switch (syndrome) {
	case VERVE_NAK_INV_REQ:
		return IB_WC_REM_INV_REQ_ERR;
	case VERVE_NAK_REM_ACC_ERR:
		return IB_WC_REM_ACCESS_ERR;
	case VERVE_NAK_REM_OP_ERR:
		return IB_WC_REM_OP_ERR;
	default:
		return IB_WC_BAD_RESP_ERR;
	}
}

/* Time in units of 10 us by the AETH's timer code */
static const u32 rnr_timeouts[] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256,
	384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
	24576, 32768, 49152,
};

u64 verve_rnr_timeout_ns(u8 code)
{
	return rnr_timeouts[code & VERVE_AETH_VALUE_MASK] * 10ULL *
	       NSEC_PER_USEC;
}

u64 verve_ack_timeout_ns(u8 code)
{
	code &= 0x1f;
	return code ? 4096ULL << code : 0;
}
