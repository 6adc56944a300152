/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations of send work requests, and the properties that follow from their
 * opcodes
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
 * enum verve_opdef_flags - operands and properties of an operation
 * @VERVE_WR_RDMA: remote address and key, in a RETH on the wire
 * @VERVE_WR_ATOMIC: remote address and key, and the operands of an atomic
 * @VERVE_WR_FLUSH: remote address and key in a RETH, and a FETH
 * @VERVE_WR_IMM: immediate data
 * @VERVE_WR_INV: key to be invalidated
 * @VERVE_WR_BIND: binds a memory window
 * @VERVE_WR_REGISTER: registers a memory region
 * @VERVE_WR_OUTBOUND: sends payload, so inline data is possible
 * @VERVE_WR_INBOUND: the response carries payload into the segments
 * @VERVE_WR_VALUE: the payload is 8 bytes of the request, even without the inline
 *	flag
 * @VERVE_WR_LOCAL: changes a local key; sends no packet and has no data
 * @VERVE_WR_RESPONSE: takes responder resources of the peer; only its own
 *	response acknowledges it (9.7.5.1.2)
 * @VERVE_WR_SINGLE: one request packet and one response packet
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
 * @services: enum verve_service that allow the operation; 0 if the opcode is
 *	unused
 * @flags: enum verve_opdef_flags
 * @rc: enum verve_op_kind of its packets on RC
 * @uc: enum verve_op_kind on UC
 * @ud: enum verve_op_kind on UD
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
