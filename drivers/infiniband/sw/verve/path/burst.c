// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bursts: what their packets say. Values in, values out; no locks, no memory.
 */
#include "../limits.h"
#include "../wire/headers.h"
#include "path.h"

void verve_burst_pdu(const struct verve_burst *burst, u32 first, u32 packets,
		     u32 length, struct verve_pdu *pdu)
{
	bool last = first + packets == burst->packets;
	bool ends = last && burst->ends;

	*pdu = burst->pdu;
	pdu->psn = burst->pdu.psn + first;
	pdu->opcode = verve_opcode_at(burst->kind, !first && burst->starts,
				      ends);
	pdu->hdr_len = verve_opcodes[pdu->opcode].hdr_len;
	pdu->pkey = VERVE_DEFAULT_PKEY;
	pdu->length = length;
	if (!ends)
		pdu->flags &= ~VERVE_PDU_SOLICITED;
	if (!last)
		pdu->flags &= ~VERVE_PDU_ACKREQ;
}

void verve_burst_truncate(struct verve_burst *burst, u32 packets)
{
	burst->packets = packets;
	burst->length = packets * burst->mtu;
	burst->ends = false;
}
