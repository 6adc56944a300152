/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the RDMA core. Values come from the headers for user space, or else are
 * those of the core.
 */
#ifndef SHIM_VERBS_H
#define SHIM_VERBS_H

#include "kernel.h"
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

enum ib_qp_type {
	IB_QPT_SMI,
	IB_QPT_GSI,
	IB_QPT_RC		= IB_UVERBS_QPT_RC,
	IB_QPT_UC		= IB_UVERBS_QPT_UC,
	IB_QPT_UD		= IB_UVERBS_QPT_UD,
	IB_QPT_RAW_PACKET	= IB_UVERBS_QPT_RAW_PACKET,
};

enum {
	IB_MGMT_BASE_VERSION	= 1,
	IB_MGMT_MAD_SIZE	= 256,
};

enum ib_qp_state {
	IB_QPS_RESET,
	IB_QPS_INIT,
	IB_QPS_RTR,
	IB_QPS_RTS,
	IB_QPS_SQD,
	IB_QPS_SQE,
	IB_QPS_ERR,
};

enum ib_mtu {
	IB_MTU_256 = 1,
	IB_MTU_512,
	IB_MTU_1024,
	IB_MTU_2048,
	IB_MTU_4096,
};

enum ib_wr_opcode {
	IB_WR_RDMA_WRITE		= IB_UVERBS_WR_RDMA_WRITE,
	IB_WR_RDMA_WRITE_WITH_IMM	= IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
	IB_WR_SEND			= IB_UVERBS_WR_SEND,
	IB_WR_SEND_WITH_IMM		= IB_UVERBS_WR_SEND_WITH_IMM,
	IB_WR_RDMA_READ			= IB_UVERBS_WR_RDMA_READ,
	IB_WR_ATOMIC_CMP_AND_SWP	= IB_UVERBS_WR_ATOMIC_CMP_AND_SWP,
	IB_WR_ATOMIC_FETCH_AND_ADD	= IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	IB_WR_SEND_WITH_INV		= IB_UVERBS_WR_SEND_WITH_INV,
	IB_WR_LOCAL_INV			= IB_UVERBS_WR_LOCAL_INV,
	IB_WR_BIND_MW			= IB_UVERBS_WR_BIND_MW,
	IB_WR_REG_MR			= 0x20,
	/* Not in the headers of Linux 6.1 */
	IB_WR_FLUSH			= 14,
	IB_WR_ATOMIC_WRITE		= 15,
};

enum ib_send_flags {
	IB_SEND_FENCE		= 1 << 0,
	IB_SEND_SIGNALED	= 1 << 1,
	IB_SEND_SOLICITED	= 1 << 2,
	IB_SEND_INLINE		= 1 << 3,
};

enum ib_access_flags {
	IB_ACCESS_LOCAL_WRITE	= IB_UVERBS_ACCESS_LOCAL_WRITE,
	IB_ACCESS_REMOTE_WRITE	= IB_UVERBS_ACCESS_REMOTE_WRITE,
	IB_ACCESS_REMOTE_READ	= IB_UVERBS_ACCESS_REMOTE_READ,
	IB_ACCESS_REMOTE_ATOMIC	= IB_UVERBS_ACCESS_REMOTE_ATOMIC,
	IB_ACCESS_MW_BIND	= IB_UVERBS_ACCESS_MW_BIND,
	IB_ACCESS_ON_DEMAND	= IB_UVERBS_ACCESS_ON_DEMAND,
	/* Not in the headers of Linux 6.1 */
	IB_ACCESS_FLUSH_GLOBAL	= 1 << 8,
	IB_ACCESS_FLUSH_PERSISTENT = 1 << 9,
};

enum ib_wc_status {
	IB_WC_SUCCESS,
	IB_WC_LOC_LEN_ERR,
	IB_WC_LOC_QP_OP_ERR,
	IB_WC_LOC_EEC_OP_ERR,
	IB_WC_LOC_PROT_ERR,
	IB_WC_WR_FLUSH_ERR,
	IB_WC_MW_BIND_ERR,
	IB_WC_BAD_RESP_ERR,
	IB_WC_LOC_ACCESS_ERR,
	IB_WC_REM_INV_REQ_ERR,
	IB_WC_REM_ACCESS_ERR,
	IB_WC_REM_OP_ERR,
	IB_WC_RETRY_EXC_ERR,
	IB_WC_RNR_RETRY_EXC_ERR,
};

enum ib_wc_opcode {
	IB_WC_SEND		= IB_UVERBS_WC_SEND,
	IB_WC_RDMA_WRITE	= IB_UVERBS_WC_RDMA_WRITE,
	IB_WC_RDMA_READ		= IB_UVERBS_WC_RDMA_READ,
	IB_WC_COMP_SWAP		= IB_UVERBS_WC_COMP_SWAP,
	IB_WC_FETCH_ADD		= IB_UVERBS_WC_FETCH_ADD,
	IB_WC_BIND_MW		= IB_UVERBS_WC_BIND_MW,
	IB_WC_LOCAL_INV		= IB_UVERBS_WC_LOCAL_INV,
	/* Not in the headers of Linux 6.1 */
	IB_WC_FLUSH		= 8,
	IB_WC_ATOMIC_WRITE	= 9,
	IB_WC_REG_MR		= 0x20,
	IB_WC_RECV		= 1 << 7,
	IB_WC_RECV_RDMA_WITH_IMM,
};

enum ib_wc_flags {
	IB_WC_GRH			= 1 << 0,
	IB_WC_WITH_IMM			= 1 << 1,
	IB_WC_WITH_INVALIDATE		= 1 << 2,
	IB_WC_WITH_VLAN			= 1 << 5,
	IB_WC_WITH_NETWORK_HDR_TYPE	= 1 << 6,
};

enum ib_event_type {
	IB_EVENT_CQ_ERR,
	IB_EVENT_QP_FATAL,
	IB_EVENT_QP_REQ_ERR,
	IB_EVENT_QP_ACCESS_ERR,
	IB_EVENT_COMM_EST,
	IB_EVENT_SQ_DRAINED,
	IB_EVENT_QP_LAST_WQE_REACHED = 16,
};

enum ib_sig_type {
	IB_SIGNAL_ALL_WR,
	IB_SIGNAL_REQ_WR,
};

enum rdma_network_type {
	RDMA_NETWORK_IPV4 = 2,
	RDMA_NETWORK_IPV6,
};

enum ib_uverbs_advise_mr_advice;
enum ib_mw_type {
	IB_MW_TYPE_1 = 1,
	IB_MW_TYPE_2 = 2,
};

enum ib_mr_type { IB_MR_TYPE_MEM_REG };
enum ib_srq_attr_mask { IB_SRQ_MAX_WR = 1 };
enum ib_cq_notify_flags { IB_CQ_SOLICITED = 1 };
enum rdma_link_layer { IB_LINK_LAYER_ETHERNET = 2 };

enum ib_qp_attr_mask {
	IB_QP_STATE			= 1 << 0,
	IB_QP_CUR_STATE			= 1 << 1,
	IB_QP_ACCESS_FLAGS		= 1 << 3,
	IB_QP_PKEY_INDEX		= 1 << 4,
	IB_QP_PORT			= 1 << 5,
	IB_QP_AV			= 1 << 7,
	IB_QP_PATH_MTU			= 1 << 8,
	IB_QP_TIMEOUT			= 1 << 9,
	IB_QP_RETRY_CNT			= 1 << 10,
	IB_QP_RNR_RETRY			= 1 << 11,
	IB_QP_RQ_PSN			= 1 << 12,
	IB_QP_MAX_QP_RD_ATOMIC		= 1 << 13,
	IB_QP_ALT_PATH			= 1 << 14,
	IB_QP_MIN_RNR_TIMER		= 1 << 15,
	IB_QP_SQ_PSN			= 1 << 16,
	IB_QP_MAX_DEST_RD_ATOMIC	= 1 << 17,
	IB_QP_DEST_QPN			= 1 << 20,
	IB_QP_RATE_LIMIT		= 1 << 25,
	IB_QP_ATTR_STANDARD_BITS	= (1 << 21) - 1,
};

/* Objects and attributes to which Verve's files only pass pointers */
struct ib_cq_init_attr;
struct ib_device_attr;
struct ib_device_modify;
struct ib_device_ops;
struct ib_grh;
struct ib_mad;
struct ib_port_attr;
struct ib_port_immutable;
struct ib_qp_init_attr;
struct ib_srq_attr;
struct ib_srq_init_attr;
struct ib_ucontext;
struct ib_udata;
struct ib_umem;
struct rdma_ah_attr;
struct rdma_ah_init_attr;
struct scatterlist;
struct uverbs_attr_bundle;
union ib_gid;

struct device { int unused; };
struct ib_ah { int unused; };
struct ib_cq { int unused; };
struct ib_mw { int unused; };
struct ib_srq { int unused; };

struct ib_device {
	struct device dev;
	u32 local_dma_lkey;
};

struct ib_pd {
	void *uobject;
};

struct ib_mr {
	struct ib_pd *pd;
};

struct ib_event {
	struct ib_device *device;
	union {
		struct ib_qp *qp;
	} element;
	enum ib_event_type event;
};

struct ib_qp {
	struct ib_pd *pd;
	u32 qp_num;
	void *qp_context;
	void (*event_handler)(struct ib_event *event, void *context);
};

struct ib_wc {
	u64 wr_id;
	enum ib_wc_status status;
	enum ib_wc_opcode opcode;
	u32 byte_len;
	struct ib_qp *qp;
	union {
		__be32 imm_data;
		u32 invalidate_rkey;
	} ex;
	u32 src_qp;
	int wc_flags;
	u8 sl;
	u32 port_num;
	u16 vlan_id;
	u8 network_hdr_type;
};

/* No test here depends on the port. */
static inline u16 rdma_get_udp_sport(u32 fl, u32 lqpn, u32 rqpn)
{
	return 0xc000;
}

struct ib_qp_attr {
	enum ib_qp_state qp_state;
	enum ib_qp_state cur_qp_state;
	enum ib_mtu path_mtu;
	u32 rq_psn;
	u32 sq_psn;
	u32 dest_qp_num;
	u32 qkey;
	int qp_access_flags;
	u16 pkey_index;
	u8 en_sqd_async_notify;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	u8 min_rnr_timer;
	u32 port_num;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
};

/* Check transitions like the core, but only a few of the required attributes. */
bool ib_modify_qp_is_ok(enum ib_qp_state cur, enum ib_qp_state next,
			enum ib_qp_type type, int mask);

struct ib_sge {
	u64 addr;
	u32 length;
	u32 lkey;
};

struct ib_recv_wr {
	struct ib_recv_wr *next;
	u64 wr_id;
	struct ib_sge *sg_list;
	int num_sge;
};

struct ib_cqe;

struct ib_send_wr {
	union {
		u64 wr_id;
		struct ib_cqe *wr_cqe;
	};
	struct ib_sge *sg_list;
	int num_sge;
	enum ib_wr_opcode opcode;
	int send_flags;
	union {
		__be32 imm_data;
		u32 invalidate_rkey;
	} ex;
};

struct ib_rdma_wr {
	struct ib_send_wr wr;
	u64 remote_addr;
	u32 rkey;
};

struct ib_atomic_wr {
	struct ib_send_wr wr;
	u64 remote_addr;
	u64 compare_add;
	u64 swap;
	u32 rkey;
};

struct ib_ud_wr {
	struct ib_send_wr wr;
	struct ib_ah *ah;
	u32 remote_qpn;
	u32 remote_qkey;
	u16 pkey_index;
};

struct ib_reg_wr {
	struct ib_send_wr wr;
	struct ib_mr *mr;
	u32 key;
	int access;
};

#define rdma_wr(base)	container_of(base, struct ib_rdma_wr, wr)
#define atomic_wr(base)	container_of(base, struct ib_atomic_wr, wr)
#define ud_wr(base)	container_of(base, struct ib_ud_wr, wr)
#define reg_wr(base)	container_of(base, struct ib_reg_wr, wr)

/* BTH opcodes of the services that Verve speaks (IBTA vol. 1, table 38) */
enum {
	IB_OPCODE_RC_SEND_FIRST = 0x00,
	IB_OPCODE_RC_SEND_MIDDLE,
	IB_OPCODE_RC_SEND_LAST,
	IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE,
	IB_OPCODE_RC_SEND_ONLY,
	IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE,
	IB_OPCODE_RC_RDMA_WRITE_FIRST,
	IB_OPCODE_RC_RDMA_WRITE_MIDDLE,
	IB_OPCODE_RC_RDMA_WRITE_LAST,
	IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE,
	IB_OPCODE_RC_RDMA_WRITE_ONLY,
	IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE,
	IB_OPCODE_RC_RDMA_READ_REQUEST,
	IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST,
	IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE,
	IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
	IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY,
	IB_OPCODE_RC_ACKNOWLEDGE,
	IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
	IB_OPCODE_RC_COMPARE_SWAP,
	IB_OPCODE_RC_FETCH_ADD,
	IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE = 0x16,
	IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE,
	IB_OPCODE_RC_FLUSH = 0x1c,
	IB_OPCODE_RC_ATOMIC_WRITE,

	IB_OPCODE_UC_SEND_FIRST = 0x20,
	IB_OPCODE_UC_SEND_MIDDLE,
	IB_OPCODE_UC_SEND_LAST,
	IB_OPCODE_UC_SEND_LAST_WITH_IMMEDIATE,
	IB_OPCODE_UC_SEND_ONLY,
	IB_OPCODE_UC_SEND_ONLY_WITH_IMMEDIATE,
	IB_OPCODE_UC_RDMA_WRITE_FIRST,
	IB_OPCODE_UC_RDMA_WRITE_MIDDLE,
	IB_OPCODE_UC_RDMA_WRITE_LAST,
	IB_OPCODE_UC_RDMA_WRITE_LAST_WITH_IMMEDIATE,
	IB_OPCODE_UC_RDMA_WRITE_ONLY,
	IB_OPCODE_UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE,

	IB_OPCODE_UD_SEND_ONLY = 0x64,
	IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE,
};

#endif
