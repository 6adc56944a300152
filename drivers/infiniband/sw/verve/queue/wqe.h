/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Send work requests: the private copies that the engine executes, and the
 * validation of the requests of users.
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
	VERVE_WQE_POSTED,	/* no PSNs assigned yet */
	VERVE_WQE_STARTED,
};

/**
 * struct verve_swqe - private copy of a send work request
 * @wr_id: the user's work request ID
 * @wr_cqe: kernel users: in place of @wr_id
 * @opcode: enum ib_wr_opcode, of verve_opdefs
 * @flags: enum ib_send_flags
 * @num_sge: number of segments; 0 with inline data
 * @is_inline: @inline_data holds @length bytes
 * @error: 0, or the enum ib_wc_status with which a bad request completes after all
 *	requests before it
 * @again: READ: part of the request was sent again; false when posted
 * @rd_atomic: outstanding READ or atomic packets of the request; 0 when posted
 * @length: bytes of the message
 * @imm: SEND and WRITE with immediate
 * @inv_rkey: SEND_WITH_INV, LOCAL_INV
 * @raddr: RDMA, atomics and FLUSH: remote address
 * @rkey: RDMA, atomics and FLUSH: remote key
 * @compare_add: atomics
 * @swap: atomics
 * @feth: FLUSH: enum verve_feth
 * @ah_num: UD: number of the address handle
 * @rqpn: UD: destination QP
 * @rqkey: UD: Q_Key
 * @pkey_index: GSI
 * @addr: BIND_MW: address of the window's first byte
 * @bytes: BIND_MW: size of the window
 * @mr_lkey: BIND_MW: region to which the window is bound
 * @mw_rkey: BIND_MW: present key of the window
 * @mr: REG_MR
 * @key: REG_MR, BIND_MW: new key
 * @access: REG_MR, BIND_MW: new access rights
 * @first_psn: first PSN, assigned when transmission starts; of a local request, the
 *	first PSN of the next request
 * @last_psn: last PSN, of a READ that of its last response; of a local request, the
 *	last PSN of the request before
 * @state: enum verve_wqe_state
 * @sge: segments, up to the queue's max_sge
 * @inline_data: inline data, in place of segments
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
 * struct verve_wqe_limits - limits of requests in a send queue
 * @qp_type: RC, UC, UD or GSI
 * @max_sge: segments of a request
 * @max_inline: bytes of inline data
 * @mtu: payload bytes of a packet, the limit of a UD message
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

/* Return: true for a request that only changes a key, and sends no packet. */
static inline bool verve_swqe_is_local(const struct verve_swqe *wqe)
{
	return verve_swqe_def(wqe)->flags & VERVE_WR_LOCAL;
}

/* Bytes of a private copy with @max_sge segments or @max_inline bytes of data */
size_t verve_swqe_size(u32 max_sge, u32 max_inline);
/* Bytes of a ring element with as much, before rounding */
size_t verve_send_wqe_size(u32 max_sge, u32 max_inline);

/**
 * verve_wqe_tail() - compute how much data follows the header of a user's request
 * @limits: limits of the queue
 * @wqe: private copy of the header up to its operands, and of its DMA information,
 *	not yet validated
 *
 * Context: any. Pure.
 * Return: bytes of inline data or segments, within the ring's element.
 */
size_t verve_wqe_tail(const struct verve_wqe_limits *limits,
		      const struct rxe_send_wqe *wqe);

/**
 * verve_wqe_from_user() - validate a user's send request
 * @limits: limits of the queue
 * @wqe: private copy of the ring's element, never the element itself
 * @out: filled; verve_swqe_size() bytes
 *
 * dma.length counts for inline data and FLUSH only. librxe may fill it in wrong
 * otherwise, so the length of other messages is the sum of their segments.
 *
 * A bad request gets the status of its completion in @out->error (11.6.2):
 *
 * - IB_WC_LOC_QP_OP_ERR: the opcode is unknown or illegal for the QP type; a READ,
 *   atomic or FLUSH, which send no payload, has inline data; a FLUSH has no
 *   placement type; REG_MR, which is for kernel users only;
 * - IB_WC_LOC_LEN_ERR: too many segments or too much inline data; a message longer
 *   than VERVE_MAX_MSG, or on UD than @limits->mtu; an atomic or ATOMIC_WRITE that
 *   is not 8 bytes long.
 *
 * Segments of local requests are ignored.
 *
 * Context: any. Pure.
 */
void verve_wqe_from_user(const struct verve_wqe_limits *limits,
			 const struct rxe_send_wqe *wqe,
			 struct verve_swqe *out);

/**
 * verve_wqe_from_kernel() - validate a request of ib_post_send()
 * @limits: limits of the queue
 * @wr: request; segments of inline data are kernel addresses
 * @ah_num: UD: number of the address handle
 * @out: filled; verve_swqe_size() bytes
 *
 * Context: any.
 * Return: 0, or -EINVAL for a request that verve_wqe_from_user() would mark as bad,
 * for BIND_MW, which is for user space only, and for FLUSH and ATOMIC_WRITE, for
 * whose operands struct ib_send_wr has no fields.
 */
int verve_wqe_from_kernel(const struct verve_wqe_limits *limits,
			  const struct ib_send_wr *wr, u32 ah_num,
			  struct verve_swqe *out);

#endif
