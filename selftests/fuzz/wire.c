// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a packet: an accepted packet can be built again with the same fields.
 */
#include <kernel.h>
#include "../../drivers/infiniband/sw/verve/wire/headers.h"
#include "fuzz.h"

static void build_again(const struct verve_pdu *pdu, u32 qpn)
{
	u32 hdr = verve_opcodes[pdu->opcode].hdr_len;
	u8 *bytes = malloc(hdr), *again = malloc(hdr);
	struct verve_pdu copy;
	u32 total = hdr + pdu->length + verve_wire_pad(pdu->length);
	u32 to;

	must(verve_wire_build(bytes, pdu, qpn) == hdr);
	must(!verve_wire_parse(bytes, hdr, total, &copy, &to));
	must(to == qpn);
	must(!memcmp(&copy, pdu, sizeof(copy)));
	must(verve_wire_build(again, &copy, to) == hdr);
	must(!memcmp(bytes, again, hdr));
	free(bytes);
	free(again);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct verve_pdu pdu;
	u32 linear, qpn;
	u8 *bytes;

	/* The first byte chooses the length of the linear part. */
	if (!size)
		return 0;
	linear = min_t(u32, data[0], size - 1);
	bytes = malloc(linear);
	memcpy(bytes, data + 1, linear);
	if (!verve_wire_parse(bytes, linear, size - 1, &pdu, &qpn)) {
		must(pdu.hdr_len <= linear);
		must(pdu.hdr_len + pdu.length <= size - 1);
		must(pdu.hdr_len + pdu.length + 3 >= size - 1);
		must(verve_opcode_flags(pdu.opcode));
		build_again(&pdu, qpn);
	}
	free(bytes);
	return 0;
}
