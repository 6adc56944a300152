/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-CPU counters of a device, shown in hw_counters.
 *
 * Names are those of rdma_rxe or mlx5 where the meaning is the same. Each dropped
 * packet is counted by one rx_drop_* counter.
 */
#ifndef VERVE_STATS_H
#define VERVE_STATS_H

#include <linux/bottom_half.h>
#include <linux/percpu.h>
#include <linux/types.h>

#define VERVE_COUNTERS(X)		\
	X(sent_pkts)			\
	X(rcvd_pkts)			\
	X(sent_bytes)			\
	X(rcvd_bytes)			\
	X(sent_mcast_pkts)		\
	X(rcvd_mcast_pkts)		\
	X(loopback_pkts)		\
	X(tx_icrc_offload)		\
	X(tx_icrc_fallback)		\
	X(tx_icrc_unsettled)		\
	X(rx_icrc_offload)		\
	X(rx_ddp_pkts)		\
	X(rx_ddp_bytes)		\
	X(offload_distrusted)		\
	X(tx_uso_pkts)			\
	X(tx_uso_skbs)			\
	X(tx_uso_fallback)		\
	X(uso_trial_failed)		\
	X(offload_refused)		\
	X(rc_offloaded)			\
	X(rc_offload_returned)		\
	X(rc_offload_lost)			\
	X(duplicate_request)		\
	X(out_of_seq_request)		\
	X(rx_ooo_kept)		\
	X(rcvd_rnr_err)			\
	X(send_rnr_err)			\
	X(rcvd_seq_err)			\
	X(retry_exceeded_err)		\
	X(retry_rnr_exceeded_err)	\
	X(completer_retry_err)		\
	X(loss_probes)			\
	X(send_err)			\
	X(link_downed)			\
	X(rdma_sends)			\
	X(rdma_recvs)			\
	X(local_ack_timeout_err)	\
	X(packet_seq_err)		\
	X(implied_nak_seq_err)		\
	X(out_of_buffer)		\
	X(rx_write_requests)		\
	X(rx_read_requests)		\
	X(rx_atomic_requests)		\
	X(rx_flush_requests)		\
	X(req_cqe_error)		\
	X(resp_cqe_error)		\
	X(cq_overrun)			\
	X(budget_spent)			\
	X(page_faults)			\
	X(page_invalidations)		\
	X(np_ecn_marked_roce_packets)	\
	X(np_cnp_sent)			\
	X(rp_cnp_handled)		\
	X(rp_cnp_ignored)		\
	X(rx_icrc_encapsulated)		\
	X(rx_drop_length)		\
	X(rx_drop_header)		\
	X(rx_drop_opcode)		\
	X(rx_drop_pkey)			\
	X(rx_drop_qkey)			\
	X(rx_drop_no_qp)		\
	X(rx_drop_qp_state)		\
	X(rx_drop_address)		\
	X(rx_drop_stale)		\
	X(rx_drop_far)			\
	X(rx_drop_ooo)		\
	X(rx_drop_sequence)		\
	X(rx_drop_no_recv)		\
	X(rx_drop_too_long)		\
	X(rx_drop_protocol)		\
	X(rx_drop_memory)		\
	X(rx_drop_backlog)		\
	X(rx_drop_ddp)		\
	X(rx_drop_offloaded)			\
	X(rx_drop_stalled)

enum verve_counter {
#define X(name) VERVE_CNT_##name,
	VERVE_COUNTERS(X)
#undef X
	VERVE_NUM_COUNTERS
};

struct verve_stats {
	u64 counter[VERVE_NUM_COUNTERS];
};

/**
 * struct verve_apart - counters of the QPs bound to one rdma_counter
 * @stats: per-CPU counters
 */
struct verve_apart {
	struct verve_stats __percpu *stats;
};

/*
 * With BH off and outside of hard interrupts, nothing else on this CPU increments a
 * counter, so __this_cpu_add() is enough. With PREEMPT_RT, another engine may preempt
 * this one.
 */
#ifdef CONFIG_PREEMPT_RT
#define verve_stats_add(counter, n)	this_cpu_add(counter, n)
#else
#define verve_stats_add(counter, n)	__this_cpu_add(counter, n)
#endif

/*
 * Add @n to counter @name, e.g. verve_count(qp, sent_pkts, 3). @owner is the QP, or
 * the device for events without a QP.
 *
 * Context: BH off, not in a hard interrupt.
 */
#define verve_count(owner, name, n) \
	verve_stats_add(READ_ONCE((owner)->stats)->counter[VERVE_CNT_##name], \
			(n))

/* Like verve_count(), with BH on. */
#define verve_count_bh(owner, name, n) do {	\
	local_bh_disable();			\
	verve_count(owner, name, n);		\
	local_bh_enable();			\
} while (0)

struct rdma_hw_stats;
struct verve_dev;

/* Add the sums over all CPUs to @values. Context: any. */
void verve_stats_sum(const struct verve_stats __percpu *stats, u64 *values);

/**
 * verve_stats_total() - sum up the counters of a device and its rdma_counters
 * @dev: device
 * @total: set to the sums, including those of deallocated rdma_counters
 *
 * Context: process.
 */
void verve_stats_total(struct verve_dev *dev, struct verve_stats *total);

/* Allocate counters of the core. Context: process. Return: NULL on failure. */
struct rdma_hw_stats *verve_stats_alloc(void);

#endif
