// SPDX-License-Identifier: GPL-2.0-only
/*
 * Header fields of RC frames, and the QPs of frames
 */
#include <linux/etherdevice.h>
#include <linux/unaligned.h>
#include "nic.h"

enum {
	ETH		= 14,
	UDP		= 8,
	BTH		= 12,
	RETH		= 16,
	IMM		= 4,
	AETH		= 4,
};

/* Extended headers of the RC opcodes up to ACK */
static const u8 extended[] = {
	0, 0, 0, IMM, 0, IMM,
	RETH, 0, 0, IMM, RETH, RETH + IMM,
	RETH, AETH, 0, AETH, AETH, AETH,
};

static bool has_reth(u8 opcode)
{
	return opcode < ARRAY_SIZE(extended) && extended[opcode] >= RETH;
}

bool nic_read_packet(const u8 *frame, struct nic_packet *p)
{
	bool is_v6 = frame[p->ip] >> 4 == 6;
	const u8 *bth = frame + p->ip + UDP + (is_v6 ? 40 : 20);
	unsigned int pad = bth[1] >> 4 & 3;

	p->ecn = (is_v6 ? frame[p->ip + 1] >> 4 : frame[p->ip + 1]) & 3;
	p->opcode = bth[0];
	p->is_solicited = bth[1] & 0x80;
	p->qpn = get_unaligned_be32(bth + 4) & 0xffffff;
	p->asks_ack = bth[8] & 0x80;
	p->psn = get_unaligned_be32(bth + 8) & 0xffffff;
	p->payload = bth + BTH - frame;
	if (bth[1] & 15 || (get_unaligned_be16(bth + 2) & 0x7fff) != 0x7fff)
		return false;
	if (p->opcode < ARRAY_SIZE(extended))
		p->payload += extended[p->opcode];
	if (p->end < p->payload + pad)
		return false;
	if (has_reth(p->opcode)) {
		p->va = get_unaligned_be64(bth + 12);
		p->rkey = get_unaligned_be32(bth + 20);
		p->dmalen = get_unaligned_be32(bth + 24);
	}
	p->len = p->end - p->payload - pad;
	return true;
}

static bool is_address(const u8 *bytes, const struct in6_addr *addr, bool is_v6)
{
	if (is_v6)
		return !memcmp(bytes, addr, sizeof(*addr));
	return ipv6_addr_v4mapped(addr) &&
	       !memcmp(bytes, &addr->s6_addr32[3], sizeof(__be32));
}

/* Would the stack deliver the frame to the QP? */
static bool is_for(const struct roce_offload_qp *qp, const u8 *frame,
		   const struct nic_packet *p)
{
	bool is_v6 = frame[p->ip] >> 4 == 6;
	unsigned int tags = (p->ip - ETH) / 4;
	const u8 *ip = frame + p->ip;
	u16 vlan = ROCE_OFFLOAD_NO_VLAN;

	if (tags == 1)
		vlan = get_unaligned_be16(frame + ETH) & 0xfff;
	return tags <= 1 && vlan == qp->vlan &&
	       ether_addr_equal_unaligned(frame, qp->mac) &&
	       is_address(ip + (is_v6 ? 8 : 12), &qp->peer, is_v6) &&
	       is_address(ip + (is_v6 ? 24 : 16), &qp->local, is_v6);
}

struct known_qp *nic_find_qp(struct nic *nic, const u8 *frame,
			     const struct nic_packet *p)
{
	struct known_qp *known;

	list_for_each_entry(known, &nic->qps, entry) {
		if (known->qp->qpn == p->qpn)
			return is_for(known->qp, frame, p) ? known : NULL;
	}
	return NULL;
}
