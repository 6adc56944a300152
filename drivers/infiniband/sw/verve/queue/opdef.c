// SPDX-License-Identifier: GPL-2.0-only
/* Table of operations (see opdef.h) */
#include "../wire/opcode.h"
#include "opdef.h"

#define RC	VERVE_SERVICE_RC
#define UC	VERVE_SERVICE_UC
#define UD	VERVE_SERVICE_UD

const struct verve_opdef verve_opdefs[VERVE_NUM_OPDEFS] = {
	[IB_WR_SEND] = {
		.services = RC | UC | UD,
		.flags = VERVE_WR_OUTBOUND,
		.rc = VERVE_SEQ_RC_SEND,
		.uc = VERVE_SEQ_UC_SEND,
		.ud = VERVE_SEQ_UD_SEND,
		.wc_opcode = IB_WC_SEND,
	},
	[IB_WR_SEND_WITH_IMM] = {
		.services = RC | UC | UD,
		.flags = VERVE_WR_OUTBOUND | VERVE_WR_IMM,
		.rc = VERVE_SEQ_RC_SEND_IMM,
		.uc = VERVE_SEQ_UC_SEND_IMM,
		.ud = VERVE_SEQ_UD_SEND_IMM,
		.wc_opcode = IB_WC_SEND,
	},
	[IB_WR_SEND_WITH_INV] = {
		.services = RC,
		.flags = VERVE_WR_OUTBOUND | VERVE_WR_INV,
		.rc = VERVE_SEQ_RC_SEND_INV,
		.wc_opcode = IB_WC_SEND,
	},
	[IB_WR_RDMA_WRITE] = {
		.services = RC | UC,
		.flags = VERVE_WR_RDMA | VERVE_WR_OUTBOUND,
		.rc = VERVE_SEQ_RC_WRITE,
		.uc = VERVE_SEQ_UC_WRITE,
		.wc_opcode = IB_WC_RDMA_WRITE,
	},
	[IB_WR_RDMA_WRITE_WITH_IMM] = {
		.services = RC | UC,
		.flags = VERVE_WR_RDMA | VERVE_WR_OUTBOUND | VERVE_WR_IMM,
		.rc = VERVE_SEQ_RC_WRITE_IMM,
		.uc = VERVE_SEQ_UC_WRITE_IMM,
		.wc_opcode = IB_WC_RDMA_WRITE,
	},
	[IB_WR_RDMA_READ] = {
		.services = RC,
		.flags = VERVE_WR_RDMA | VERVE_WR_INBOUND | VERVE_WR_RESPONSE,
		.rc = VERVE_SEQ_RC_READ,
		.wc_opcode = IB_WC_RDMA_READ,
	},
	[IB_WR_ATOMIC_CMP_AND_SWP] = {
		.services = RC,
		.flags = VERVE_WR_ATOMIC | VERVE_WR_INBOUND |
			 VERVE_WR_RESPONSE | VERVE_WR_SINGLE,
		.rc = VERVE_SEQ_RC_CMP_SWP,
		.wc_opcode = IB_WC_COMP_SWAP,
	},
	[IB_WR_ATOMIC_FETCH_AND_ADD] = {
		.services = RC,
		.flags = VERVE_WR_ATOMIC | VERVE_WR_INBOUND |
			 VERVE_WR_RESPONSE | VERVE_WR_SINGLE,
		.rc = VERVE_SEQ_RC_FETCH_ADD,
		.wc_opcode = IB_WC_FETCH_ADD,
	},
	[IB_WR_ATOMIC_WRITE] = {
		.services = RC,
		.flags = VERVE_WR_RDMA | VERVE_WR_OUTBOUND | VERVE_WR_VALUE |
			 VERVE_WR_RESPONSE | VERVE_WR_SINGLE,
		.rc = VERVE_SEQ_RC_ATOMIC_WRITE,
		.wc_opcode = IB_WC_ATOMIC_WRITE,
	},
	[IB_WR_FLUSH] = {
		.services = RC,
		.flags = VERVE_WR_FLUSH | VERVE_WR_RESPONSE | VERVE_WR_SINGLE,
		.rc = VERVE_SEQ_RC_FLUSH,
		.wc_opcode = IB_WC_FLUSH,
	},
	[IB_WR_LOCAL_INV] = {
		.services = RC | UC,
		.flags = VERVE_WR_LOCAL | VERVE_WR_INV,
		.wc_opcode = IB_WC_LOCAL_INV,
	},
	[IB_WR_BIND_MW] = {
		.services = RC | UC,
		.flags = VERVE_WR_LOCAL | VERVE_WR_BIND,
		.wc_opcode = IB_WC_BIND_MW,
	},
	[IB_WR_REG_MR] = {
		.services = RC | UC,
		.flags = VERVE_WR_LOCAL | VERVE_WR_REGISTER,
		.wc_opcode = IB_WC_REG_MR,
	},
};
