// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send work requests: validation, and the private copy
 */
#include <linux/align.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "../wire/headers.h"
#include "opdef.h"
#include "wqe.h"

/* Member of the union for FLUSH in librxe. The header of Linux 6.1 lacks it. */
struct flush_wr {
	u64 remote_addr;
	u32 length;	/* unused; librxe sets dma.length */
	u32 rkey;
	u8 type;
	u8 level;
};

/* Values of flush_wr.level */
enum {
	FLUSH_RANGE,
	FLUSH_MR,
};

#define ATOMIC_BYTES	8

#define KNOWN_FLAGS	(IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED)

static u8 service_of(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_RC:
		return VERVE_SERVICE_RC;
	case IB_QPT_UC:
		return VERVE_SERVICE_UC;
	case IB_QPT_UD:
	case IB_QPT_GSI:
		return VERVE_SERVICE_UD;
	default:
		return 0;
	}
}

/* Return: enum operands, or 0 for an opcode that is illegal in this queue. */
static u16 operands_of(const struct verve_wqe_limits *limits, u32 opcode,
		       bool is_inline)
{
	const struct verve_opdef *def;

	if (opcode >= VERVE_NUM_OPDEFS)
		return 0;
	def = &verve_opdefs[opcode];
	if (!(def->services & service_of(limits->qp_type)))
		return 0;
	if (is_inline && !(def->flags & VERVE_WR_OUTBOUND))
		return 0;
	return def->flags;
}

/* Return: true if a request with these operands may have this length. */
static bool length_is_legal(const struct verve_wqe_limits *limits,
			    const struct verve_swqe *swqe, u16 operands,
			    u64 length)
{
	if (operands & (VERVE_WR_ATOMIC | VERVE_WR_VALUE))
		return length == ATOMIC_BYTES;
	if (swqe->is_inline && length > limits->max_inline)
		return false;
	if (service_of(limits->qp_type) == VERVE_SERVICE_UD &&
	    length > limits->mtu)
		return false;
	return length <= VERVE_MAX_MSG;
}

static size_t operand_bytes(u32 max_sge, u32 max_inline)
{
	return max3(max_sge * sizeof(struct verve_sge), (size_t)max_inline,
		    (size_t)ATOMIC_BYTES);
}

size_t verve_swqe_size(u32 max_sge, u32 max_inline)
{
	return ALIGN(offsetof(struct verve_swqe, sge) +
		     operand_bytes(max_sge, max_inline),
		     __alignof__(struct verve_swqe));
}

size_t verve_send_wqe_size(u32 max_sge, u32 max_inline)
{
	return sizeof(struct rxe_send_wqe) + operand_bytes(max_sge, max_inline);
}

size_t verve_wqe_tail(const struct verve_wqe_limits *limits,
		      const struct rxe_send_wqe *wqe)
{
	if (wqe->wr.opcode == IB_WR_ATOMIC_WRITE)
		return ATOMIC_BYTES;
	if (wqe->wr.send_flags & IB_SEND_INLINE)
		return min(wqe->dma.length, limits->max_inline);
	return min(wqe->dma.num_sge, limits->max_sge) * sizeof(struct rxe_sge);
}

static void copy_flush(const struct flush_wr *flush, struct verve_swqe *out)
{
	out->raddr = flush->remote_addr;
	out->rkey = flush->rkey;
	out->feth = flush->type;
	if (flush->level == FLUSH_MR)
		out->feth |= VERVE_FETH_MR;
	if (!flush->type || flush->level > FLUSH_MR ||
	    flush->type & ~(VERVE_FETH_GLOBAL | VERVE_FETH_PERSISTENT))
		out->error = IB_WC_LOC_QP_OP_ERR;
}

static void copy_user_operands(const struct verve_wqe_limits *limits,
			       const struct rxe_send_wr *wr, u16 operands,
			       struct verve_swqe *out)
{
	if (operands & VERVE_WR_IMM)
		out->imm = wr->ex.imm_data;
	if (operands & VERVE_WR_INV)
		out->inv_rkey = wr->ex.invalidate_rkey;

	if (operands & VERVE_WR_RDMA) {
		out->raddr = wr->wr.rdma.remote_addr;
		out->rkey = wr->wr.rdma.rkey;
	} else if (operands & VERVE_WR_FLUSH) {
		copy_flush((const void *)&wr->wr, out);
	} else if (operands & VERVE_WR_ATOMIC) {
		out->raddr = wr->wr.atomic.remote_addr;
		out->compare_add = wr->wr.atomic.compare_add;
		out->swap = wr->wr.atomic.swap;
		out->rkey = wr->wr.atomic.rkey;
	} else if (operands & VERVE_WR_BIND) {
		out->addr = wr->wr.mw.addr;
		out->bytes = wr->wr.mw.length;
		out->mr_lkey = wr->wr.mw.mr_lkey;
		out->mw_rkey = wr->wr.mw.mw_rkey;
		out->key = wr->wr.mw.rkey;
		out->access = wr->wr.mw.access;
	} else if (service_of(limits->qp_type) == VERVE_SERVICE_UD) {
		out->ah_num = wr->wr.ud.ah_num;
		out->rqpn = wr->wr.ud.remote_qpn;
		out->rqkey = wr->wr.ud.remote_qkey;
		out->pkey_index = wr->wr.ud.pkey_index;
	}
}

/* Copy the segments or inline data. Return: false when the length is illegal. */
static bool copy_user_payload(const struct verve_wqe_limits *limits,
			      const struct rxe_dma_info *dma, u16 operands,
			      struct verve_swqe *out)
{
	u64 length = 0;
	u32 i;

	if (verve_swqe_is_local(out))
		return true;
	if (out->is_inline || operands & VERVE_WR_FLUSH) {
		length = dma->length;
	} else {
		if (dma->num_sge > limits->max_sge)
			return false;
		for (i = 0; i < dma->num_sge; i++)
			length += dma->sge[i].length;
	}
	if (!length_is_legal(limits, out, operands, length))
		return false;

	out->length = length;
	if (out->is_inline) {
		memcpy(out->inline_data, dma->inline_data, length);
		return true;
	}
	if (operands & VERVE_WR_FLUSH)
		return true;
	out->num_sge = dma->num_sge;
	for (i = 0; i < dma->num_sge; i++)
		out->sge[i] = (struct verve_sge) {
			.addr	= dma->sge[i].addr,
			.length	= dma->sge[i].length,
			.lkey	= dma->sge[i].lkey,
		};
	return true;
}

void verve_wqe_from_user(const struct verve_wqe_limits *limits,
			 const struct rxe_send_wqe *wqe,
			 struct verve_swqe *out)
{
	const struct rxe_send_wr *wr = &wqe->wr;
	u16 operands;

	memset(out, 0, offsetof(struct verve_swqe, sge));
	out->wr_id = wr->wr_id;
	out->flags = wr->send_flags & KNOWN_FLAGS;
	out->is_inline = wr->send_flags & IB_SEND_INLINE;
	operands = operands_of(limits, wr->opcode, out->is_inline);
	if (!operands || operands & VERVE_WR_REGISTER) {
		out->error = IB_WC_LOC_QP_OP_ERR;
		return;
	}
	out->opcode = wr->opcode;
	out->is_inline |= !!(operands & VERVE_WR_VALUE);
	copy_user_operands(limits, wr, operands, out);
	if (!copy_user_payload(limits, &wqe->dma, operands, out))
		out->error = IB_WC_LOC_LEN_ERR;
}

static void copy_kernel_operands(const struct verve_wqe_limits *limits,
				 const struct ib_send_wr *wr, u16 operands,
				 u32 ah_num, struct verve_swqe *out)
{
	if (operands & VERVE_WR_IMM)
		out->imm = wr->ex.imm_data;
	if (operands & VERVE_WR_INV)
		out->inv_rkey = wr->ex.invalidate_rkey;

	if (operands & VERVE_WR_RDMA) {
		out->raddr = rdma_wr(wr)->remote_addr;
		out->rkey = rdma_wr(wr)->rkey;
	} else if (operands & VERVE_WR_ATOMIC) {
		out->raddr = atomic_wr(wr)->remote_addr;
		out->compare_add = atomic_wr(wr)->compare_add;
		out->swap = atomic_wr(wr)->swap;
		out->rkey = atomic_wr(wr)->rkey;
	} else if (operands & VERVE_WR_REGISTER) {
		out->mr = reg_wr(wr)->mr;
		out->key = reg_wr(wr)->key;
		out->access = reg_wr(wr)->access;
	} else if (service_of(limits->qp_type) == VERVE_SERVICE_UD) {
		out->ah_num = ah_num;
		out->rqpn = ud_wr(wr)->remote_qpn;
		out->rqkey = ud_wr(wr)->remote_qkey;
		out->pkey_index = ud_wr(wr)->pkey_index;
	}
}

static void gather_inline(const struct ib_send_wr *wr, u8 *to)
{
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		memcpy(to, (const void *)(uintptr_t)sge->addr, sge->length);
		to += sge->length;
	}
}

static bool copy_kernel_payload(const struct verve_wqe_limits *limits,
				const struct ib_send_wr *wr, u16 operands,
				struct verve_swqe *out)
{
	u64 length = 0;
	int i;

	if (verve_swqe_is_local(out))
		return true;
	if ((u32)wr->num_sge > limits->max_sge)
		return false;
	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	if (!length_is_legal(limits, out, operands, length))
		return false;

	out->length = length;
	if (out->is_inline) {
		gather_inline(wr, out->inline_data);
		return true;
	}
	out->num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++)
		out->sge[i] = (struct verve_sge) {
			.addr	= wr->sg_list[i].addr,
			.length	= wr->sg_list[i].length,
			.lkey	= wr->sg_list[i].lkey,
		};
	return true;
}

int verve_wqe_from_kernel(const struct verve_wqe_limits *limits,
			  const struct ib_send_wr *wr, u32 ah_num,
			  struct verve_swqe *out)
{
	u16 operands;

	memset(out, 0, offsetof(struct verve_swqe, sge));
	out->wr_id = wr->wr_id;
	out->flags = wr->send_flags & KNOWN_FLAGS;
	out->is_inline = wr->send_flags & IB_SEND_INLINE;
	operands = operands_of(limits, wr->opcode, out->is_inline);
	if (!operands || operands & (VERVE_WR_BIND | VERVE_WR_FLUSH | VERVE_WR_VALUE))
		return -EINVAL;
	out->opcode = wr->opcode;
	if (service_of(limits->qp_type) == VERVE_SERVICE_UD && !ud_wr(wr)->ah)
		return -EINVAL;
	copy_kernel_operands(limits, wr, operands, ah_num, out);
	if (!copy_kernel_payload(limits, wr, operands, out))
		return -EINVAL;
	return 0;
}
