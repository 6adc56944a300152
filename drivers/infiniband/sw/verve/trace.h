/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of engines and packets. See Documentation/tracing.rst.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM verve

#if !defined(VERVE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define VERVE_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>
#include "stats.h"

/* Only trace.c needs the complete types. */
struct verve_burst;
struct verve_dev;
struct verve_pdu;
struct verve_qp;

/* Names of enum verve_counter, which include the reasons of drops */
#define X(name) TRACE_DEFINE_ENUM(VERVE_CNT_##name);
VERVE_COUNTERS(X)
#undef X

#define verve_show_counter(reason)					\
	__print_symbolic(reason, VERVE_COUNTERS(VERVE_TRACE_COUNTER)	\
			 { VERVE_NUM_COUNTERS, "" })
#define VERVE_TRACE_COUNTER(name) { VERVE_CNT_##name, #name },

#define verve_show_state(state)						\
	__print_symbolic(state,						\
			 { 0, "RESET" },				\
			 { 1, "INIT" },					\
			 { 2, "RTR" },					\
			 { 3, "RTS" },					\
			 { 4, "SQD" },					\
			 { 5, "SQE" },					\
			 { 6, "ERR" })

/* BTH opcodes of RoCE: service and operation (IBTA vol. 1, 9.2.1) */
#define verve_show_opcode(opcode)					\
	__print_symbolic(opcode,					\
			 { 0x00, "RC_SEND_FIRST" },			\
			 { 0x01, "RC_SEND_MIDDLE" },			\
			 { 0x02, "RC_SEND_LAST" },			\
			 { 0x03, "RC_SEND_LAST_IMM" },			\
			 { 0x04, "RC_SEND_ONLY" },			\
			 { 0x05, "RC_SEND_ONLY_IMM" },			\
			 { 0x06, "RC_WRITE_FIRST" },			\
			 { 0x07, "RC_WRITE_MIDDLE" },			\
			 { 0x08, "RC_WRITE_LAST" },			\
			 { 0x09, "RC_WRITE_LAST_IMM" },			\
			 { 0x0a, "RC_WRITE_ONLY" },			\
			 { 0x0b, "RC_WRITE_ONLY_IMM" },			\
			 { 0x0c, "RC_READ" },				\
			 { 0x0d, "RC_READ_RESP_FIRST" },		\
			 { 0x0e, "RC_READ_RESP_MIDDLE" },		\
			 { 0x0f, "RC_READ_RESP_LAST" },			\
			 { 0x10, "RC_READ_RESP_ONLY" },			\
			 { 0x11, "RC_ACK" },				\
			 { 0x12, "RC_ATOMIC_ACK" },			\
			 { 0x13, "RC_CMP_SWP" },			\
			 { 0x14, "RC_FETCH_ADD" },			\
			 { 0x16, "RC_SEND_LAST_INV" },			\
			 { 0x17, "RC_SEND_ONLY_INV" },			\
			 { 0x1c, "RC_FLUSH" },				\
			 { 0x1d, "RC_ATOMIC_WRITE" },			\
			 { 0x20, "UC_SEND_FIRST" },			\
			 { 0x21, "UC_SEND_MIDDLE" },			\
			 { 0x22, "UC_SEND_LAST" },			\
			 { 0x23, "UC_SEND_LAST_IMM" },			\
			 { 0x24, "UC_SEND_ONLY" },			\
			 { 0x25, "UC_SEND_ONLY_IMM" },			\
			 { 0x26, "UC_WRITE_FIRST" },			\
			 { 0x27, "UC_WRITE_MIDDLE" },			\
			 { 0x28, "UC_WRITE_LAST" },			\
			 { 0x29, "UC_WRITE_LAST_IMM" },			\
			 { 0x2a, "UC_WRITE_ONLY" },			\
			 { 0x2b, "UC_WRITE_ONLY_IMM" },			\
			 { 0x64, "UD_SEND_ONLY" },			\
			 { 0x65, "UD_SEND_ONLY_IMM" },			\
			 { 0x81, "CNP" })

/* AETH syndrome (9.7.5.1.1, 9.7.5.2.8), without the timer of an RNR NAK */
#define verve_show_nak(syndrome)					\
	__print_symbolic(((syndrome) & 0x60) == 0x20 ? 0x20 : (syndrome), \
			 { 0x20, "RNR" },				\
			 { 0x60, "PSN_SEQUENCE" },			\
			 { 0x61, "INVALID_REQUEST" },			\
			 { 0x62, "REMOTE_ACCESS" },			\
			 { 0x63, "REMOTE_OPERATION" },			\
			 { 0x64, "INVALID_RD_REQUEST" })

TRACE_EVENT(verve_qp_state,
	TP_PROTO(const struct verve_qp *qp, enum ib_qp_state to),
	TP_ARGS(qp, to),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		lockdep_assert_held(&qp->lock);
		__entry->qpn = qp->qpn;
		__entry->from = qp->state;
		__entry->to = to;
	),
	TP_printk("dev=%s qpn=0x%06x %s -> %s", __entry->dev, __entry->qpn,
		  verve_show_state(__entry->from),
		  verve_show_state(__entry->to))
);

TRACE_EVENT(verve_burst,
	TP_PROTO(u32 qpn, const struct verve_burst *burst),
	TP_ARGS(qpn, burst),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, dqpn)
		__field(u32, psn)
		__field(u32, packets)
		__field(u32, length)
		__field(u8, opcode)
		__field(u8, flags)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->dqpn = burst->qpn;
		__entry->psn = burst->pdu.psn;
		__entry->packets = burst->packets;
		__entry->length = burst->length;
		__entry->opcode = verve_opcode_at(burst->kind, burst->starts,
						  burst->ends &&
						  burst->packets == 1);
		__entry->flags = burst->pdu.flags;
	),
	TP_printk("qpn=0x%06x dqpn=0x%06x opcode=%s psn=0x%06x packets=%u length=%u%s%s",
		  __entry->qpn, __entry->dqpn,
		  verve_show_opcode(__entry->opcode), __entry->psn,
		  __entry->packets, __entry->length,
		  __entry->flags & VERVE_PDU_ACKREQ ? " ackreq" : "",
		  __entry->flags & VERVE_PDU_SOLICITED ? " solicited" : "")
);

TRACE_EVENT(verve_arrival,
	TP_PROTO(const struct verve_qp *qp, const struct verve_pdu *pdu),
	TP_ARGS(qp, pdu),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, length)
		__field(u8, opcode)
		__field(u8, flags)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->psn = pdu->psn;
		__entry->length = pdu->length;
		__entry->opcode = pdu->opcode;
		__entry->flags = pdu->flags;
	),
	TP_printk("qpn=0x%06x opcode=%s psn=0x%06x length=%u%s%s%s",
		  __entry->qpn, verve_show_opcode(__entry->opcode),
		  __entry->psn, __entry->length,
		  __entry->flags & VERVE_PDU_ACKREQ ? " ackreq" : "",
		  __entry->flags & VERVE_PDU_SOLICITED ? " solicited" : "",
		  __entry->flags & VERVE_PDU_CE ? " ce" : "")
);

DECLARE_EVENT_CLASS(verve_nak,
	TP_PROTO(const struct verve_qp *qp, u8 syndrome, u32 psn),
	TP_ARGS(qp, syndrome, psn),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, syndrome)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->psn = psn;
		__entry->syndrome = syndrome;
	),
	TP_printk("qpn=0x%06x nak=%s syndrome=0x%02x psn=0x%06x", __entry->qpn,
		  verve_show_nak(__entry->syndrome), __entry->syndrome,
		  __entry->psn)
);

/* The responder sends a NAK. */
DEFINE_EVENT(verve_nak, verve_nak_sent,
	TP_PROTO(const struct verve_qp *qp, u8 syndrome, u32 psn),
	TP_ARGS(qp, syndrome, psn));

/* The completer receives a NAK. */
DEFINE_EVENT(verve_nak, verve_nak_received,
	TP_PROTO(const struct verve_qp *qp, u8 syndrome, u32 psn),
	TP_ARGS(qp, syndrome, psn));

DECLARE_EVENT_CLASS(verve_retry,
	TP_PROTO(const struct verve_qp *qp),
	TP_ARGS(qp),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, una)
		__field(u32, psn)
		__field(u8, retries)
		__field(u8, rnr_retries)
	),
	TP_fast_assign(
		lockdep_assert_held(&qp->lock);
		__entry->qpn = qp->qpn;
		__entry->una = qp->req.una;
		__entry->psn = qp->req.psn;
		__entry->retries = qp->req.retries;
		__entry->rnr_retries = qp->req.rnr_retries;
	),
	TP_printk("qpn=0x%06x una=0x%06x psn=0x%06x retries=%u rnr_retries=%u",
		  __entry->qpn, __entry->una, __entry->psn, __entry->retries,
		  __entry->rnr_retries)
);

/* The timer uses up a retry. Emitted before the reaction. */
DEFINE_EVENT(verve_retry, verve_timeout,
	TP_PROTO(const struct verve_qp *qp), TP_ARGS(qp));

/* Packets from una on will be sent again. psn is the next PSN before that. */
DEFINE_EVENT(verve_retry, verve_rewind,
	TP_PROTO(const struct verve_qp *qp), TP_ARGS(qp));

TRACE_EVENT(verve_drop,
	TP_PROTO(const struct verve_dev *dev, u32 qpn,
		 enum verve_counter reason),
	TP_ARGS(dev, qpn, reason),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u32, reason)
	),
	TP_fast_assign(
		strscpy(__entry->dev,
			dev ? dev_name(&dev->ibdev.dev) : "",
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qpn;
		__entry->reason = reason;
	),
	TP_printk("dev=%s qpn=0x%06x reason=%s", __entry->dev, __entry->qpn,
		  verve_show_counter(__entry->reason))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
