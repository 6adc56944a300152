/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Send work requests: the private copy that the engine works from, and the
 * validation of what users put into their rings.
 */
#ifndef VERVE_QUEUE_WQE_H
#define VERVE_QUEUE_WQE_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include "../limits.h"
#include "../memory/iter.h"
#include "opdef.h"

enum verve_wqe_state {
	VERVE_WQE_POSTED,	/* has no PSNs yet */
	VERVE_WQE_STARTED,
};

/**
 * struct verve_swqe - a send work request, private copy
 * @wr_id: the user's
 * @wr_cqe: kernel users: in place of @wr_id
 * @opcode: enum ib_wr_opcode, of verve_opdefs
 * @flags: enum ib_send_flags
 * @num_sge: of @sge; 0 with inline data
 * @is_inline: @inline_data holds @length bytes
 * @error: the request is bad: 0, or the enum ib_wc_status that it completes
 *	with once everything before it has
 * @again: READ: some of it was asked for more than once; false when posted
 * @rd_atomic: READ or atomic requests under way for it; 0 when posted
 * @length: of the message, bytes
 * @imm: SEND and WRITE with immediate
 * @inv_rkey: SEND_WITH_INV, LOCAL_INV
 * @raddr: RDMA and atomics: remote address
 * @rkey: of it
 * @compare_add: atomics
 * @swap: atomics
 * @feth: FLUSH: enum verve_feth
 * @ah_num: UD
 * @rqpn: UD
 * @rqkey: UD
 * @pkey_index: GSI
 * @addr: BIND_MW: of the window's first byte
 * @bytes: BIND_MW: of the window
 * @mr_lkey: BIND_MW: region that the window is on
 * @mw_rkey: BIND_MW: present key of the window
 * @mr: REG_MR
 * @key: REG_MR, BIND_MW: key from now on
 * @access: REG_MR, BIND_MW: what it allows
 * @first_psn: set when transmission starts; of local requests, of what follows
 * @last_psn: likewise; of READs, the last response's; of local requests, of
 *	what went before
 * @state: enum verve_wqe_state; posted
 * @sge: as many as the queue's max_sge
 * @inline_data: in their place
 */
struct verve_swqe {
	union {
		u64 wr_id;
		struct ib_cqe *wr_cqe;
	};
	u8 opcode;
	u8 flags;
	u8 num_sge;
	u8 error;
	bool is_inline;
	bool again;
	u8 state;
	u16 rd_atomic;
	u32 length;
	union {
		__be32 imm;
		u32 inv_rkey;
	};
	union {
		struct {
			u64 raddr;
			u64 compare_add;
			u64 swap;
			u32 rkey;
			u8 feth;
		};
		struct {
			u32 ah_num;
			u32 rqpn;
			u32 rqkey;
			u16 pkey_index;
		};
		struct {
			union {
				struct ib_mr *mr;
				struct {
					u64 addr;
					u64 bytes;
					u32 mr_lkey;
					u32 mw_rkey;
				};
			};
			u32 key;
			u32 access;
		};
	};
	u32 first_psn;
	u32 last_psn;
	union {
		DECLARE_FLEX_ARRAY(struct verve_sge, sge);
		DECLARE_FLEX_ARRAY(u8, inline_data);
	};
};

/**
 * struct verve_wqe_limits - what a send queue takes
 * @qp_type: RC, UC, UD or GSI
 * @max_sge: per request
 * @max_inline: bytes
 * @mtu: payload bytes of a packet: what a UD message may have at most
 */
struct verve_wqe_limits {
	enum ib_qp_type qp_type;
	u32 max_sge;
	u32 max_inline;
	u32 mtu;
};

static inline const struct verve_opdef *
verve_swqe_def(const struct verve_swqe *wqe)
{
	return &verve_opdefs[wqe->opcode];
}

/* Ends on this side: changes a key, sends no packet, has no data. */
static inline bool verve_swqe_is_local(const struct verve_swqe *wqe)
{
	return verve_swqe_def(wqe)->flags & VERVE_WR_LOCAL;
}

/* Bytes of a private copy with room for @max_sge segments or @max_inline. */
size_t verve_swqe_size(u32 max_sge, u32 max_inline);
/* Bytes of a ring element likewise, before rounding. */
size_t verve_send_wqe_size(u32 max_sge, u32 max_inline);

/**
 * verve_wqe_tail() - how much follows the header of a user's send request
 * @limits: of the queue
 * @wqe: a private copy of the header, 208 bytes; not validated
 *
 * Return: bytes of inline data or segments, never beyond the element.
 */
size_t verve_wqe_tail(const struct verve_wqe_limits *limits,
		      const struct rxe_send_wqe *wqe);

/**
 * verve_wqe_from_user() - validate a user's send request
 * @limits: of the queue
 * @wqe: a private copy of the ring's element (never the ring itself)
 * @out: filled; verve_swqe_size() bytes
 *
 * Knows the defects of librxe: for all but inline data the length is the sum
 * of the segments, whatever dma.length says. A bad request is not lost: it is
 * marked with the status that it must complete with (11.6.2): unknown or
 * illegal opcode for the QP type IB_WC_LOC_QP_OP_ERR; too many segments,
 * inline data too long, sums beyond VERVE_MAX_MSG, UD messages beyond @mtu:
 * IB_WC_LOC_LEN_ERR; an atomic or ATOMIC_WRITE that is not 8 bytes:
 * IB_WC_LOC_LEN_ERR. READs, atomics and FLUSH, which send no payload, cannot
 * have it inline: IB_WC_LOC_QP_OP_ERR; a FLUSH to nowhere likewise. Segments of
 * local requests mean nothing. REG_MR is the kernel's alone, BIND_MW its users'.
 *
 * Context: any. Pure.
 */
void verve_wqe_from_user(const struct verve_wqe_limits *limits,
			 const struct rxe_send_wqe *wqe,
			 struct verve_swqe *out);

/**
 * verve_wqe_from_kernel() - the same for ib_post_send()
 * @limits: of the queue
 * @wr: request; inline data is copied from its segments' kernel addresses
 * @ah_num: UD: of its AH
 * @out: filled; verve_swqe_size() bytes
 *
 * Context: any.
 * Return: 0, or -EINVAL where a user's request would be marked, and for FLUSH
 * and ATOMIC_WRITE, whose operands struct ib_send_wr has no place for.
 */
int verve_wqe_from_kernel(const struct verve_wqe_limits *limits,
			  const struct ib_send_wr *wr, u32 ah_num,
			  struct verve_swqe *out);

#endif
