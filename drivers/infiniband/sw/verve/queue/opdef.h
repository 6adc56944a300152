/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations of send work requests: all that their opcodes decide
 */
#ifndef VERVE_QUEUE_OPDEF_H
#define VERVE_QUEUE_OPDEF_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

enum verve_service {
	VERVE_SERVICE_RC	= 1 << 0,
	VERVE_SERVICE_UC	= 1 << 1,
	VERVE_SERVICE_UD	= 1 << 2,
};

/**
 * enum verve_opdef_flags - operands of an operation, and what it does with them
 * @VERVE_WR_RDMA: remote address and key; on the wire, a RETH
 * @VERVE_WR_ATOMIC: the same, and the values of an atomic
 * @VERVE_WR_FLUSH: remote address and key, and a FETH beside the RETH
 * @VERVE_WR_IMM: immediate data
 * @VERVE_WR_INV: a key to be invalidated
 * @VERVE_WR_BIND: a window is bound
 * @VERVE_WR_REGISTER: a region is registered
 * @VERVE_WR_OUTBOUND: payload leaves this side: inline data has a meaning
 * @VERVE_WR_INBOUND: payload comes back, into the segments
 * @VERVE_WR_VALUE: the payload is 8 bytes of the request, whatever its flags say
 * @VERVE_WR_LOCAL: changes a key here, sends no packet, has no data
 * @VERVE_WR_RESPONSE: takes responder resources of the peer: a response of its own
 *	acknowledges it, and nothing else does (9.7.5.1.2)
 * @VERVE_WR_SINGLE: one packet there and one back
 */
enum verve_opdef_flags {
	VERVE_WR_RDMA		= 1 << 0,
	VERVE_WR_ATOMIC		= 1 << 1,
	VERVE_WR_FLUSH		= 1 << 2,
	VERVE_WR_IMM		= 1 << 3,
	VERVE_WR_INV		= 1 << 4,
	VERVE_WR_BIND		= 1 << 5,
	VERVE_WR_REGISTER	= 1 << 6,
	VERVE_WR_OUTBOUND	= 1 << 7,
	VERVE_WR_INBOUND	= 1 << 8,
	VERVE_WR_VALUE		= 1 << 9,
	VERVE_WR_LOCAL		= 1 << 10,
	VERVE_WR_RESPONSE	= 1 << 11,
	VERVE_WR_SINGLE		= 1 << 12,
};

/**
 * struct verve_opdef - an operation (IBTA vol. 1, 10.2.2)
 * @services: enum verve_service: where it may be posted; 0 when there is none such
 * @flags: enum verve_opdef_flags
 * @rc: enum verve_op_kind: its packets, on RC
 * @uc: on UC
 * @ud: on UD
 * @wc_opcode: enum ib_wc_opcode of its completion
 */
struct verve_opdef {
	u8 services;
	u16 flags;
	u8 rc;
	u8 uc;
	u8 ud;
	u8 wc_opcode;
};

#define VERVE_NUM_OPDEFS	(IB_WR_REG_MR + 1)

extern const struct verve_opdef verve_opdefs[VERVE_NUM_OPDEFS];

#endif
