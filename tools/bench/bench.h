/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that the programs share */
#ifndef BENCH_H
#define BENCH_H

#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static struct ibv_pd *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;
	struct ibv_pd *pd;

	check(!!list, "device list");
	while (*list && strcmp(ibv_get_device_name(*list), name))
		list++;
	check(!!*list, name);
	ctx = ibv_open_device(*list);
	check(!!ctx, "open");
	pd = ibv_alloc_pd(ctx);
	check(!!pd, "PD");
	return pd;
}

/* Return: number of completions in @wc, which holds @most of them. None has failed. */
static inline int poll_good(struct ibv_cq *cq, struct ibv_wc *wc, int most)
{
	int i, n = ibv_poll_cq(cq, most, wc);

	check(n >= 0, "poll_cq");
	for (i = 0; i < n; i++)
		check(wc[i].status == IBV_WC_SUCCESS,
		      ibv_wc_status_str(wc[i].status));
	return n;
}

/* Connect @qp with the QP @peer of the port that has @gid. */
static inline void connect_qp(struct ibv_qp *qp, unsigned int peer,
			      const union ibv_gid *gid, int gid_index,
			      enum ibv_mtu mtu)
{
	enum { PSN = 1000 };
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	}, rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu,
		.dest_qp_num = peer,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .dgid = *gid, .sgid_index = gid_index,
				 .hop_limit = 64 },
		},
	}, rts = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = PSN,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	check(!ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "to INIT");
	check(!ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			     IBV_QP_MIN_RNR_TIMER), "to RTR");
	check(!ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN |
			     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
	      "to RTS");
}

#endif
