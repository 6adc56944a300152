// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: containers_talk DEVICE DEVICE...
 *
 * Connects each device to the next one by a QP of RC, and sends a message in each
 * direction of each connection. Exits with 0 if all messages came, whole.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <infiniband/verbs.h>

enum { SIZE = 64, DEPTH = 4, PSN = 1000, WAIT_SECONDS = 30, PREVIOUS = 0, NEXT = 1 };

/* A device, with a QP to the previous and one to the next device */
struct station {
	const char *name;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp[2];
	union ibv_gid gid;
	int gid_index;
	/* Of each direction: what is sent, what has come */
	char out[2][SIZE], in[2][SIZE];
};

static void check(int good, const struct station *at, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s: %s\n", at->name, what, strerror(errno));
	exit(1);
}

static int is_ipv4(const struct ibv_gid_entry *entry)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

	return entry->gid_type == IBV_GID_TYPE_ROCE_V2 &&
	       !memcmp(entry->gid.raw, mapped, sizeof(mapped));
}

static int has_address(struct station *s)
{
	struct ibv_gid_entry entries[256];
	int i, n;

	n = ibv_query_gid_table(s->ctx, entries, 256, 0);
	for (i = 0; i < n; i++) {
		if (!is_ipv4(&entries[i]))
			continue;
		s->gid = entries[i].gid;
		s->gid_index = entries[i].gid_index;
		return 1;
	}
	return 0;
}

/* The core adds the GID of an address some time after the device. */
static void find_gid(struct station *s)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	time_t end = time(NULL) + WAIT_SECONDS;

	while (!has_address(s)) {
		check(time(NULL) < end, s, "no IPv4 GID");
		nanosleep(&pause, NULL);
	}
}

static struct ibv_qp *create_qp(struct station *s)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = 1, .max_send_sge = 1,
			 .max_recv_wr = 1, .max_recv_sge = 1 },
	};

	return ibv_create_qp(s->pd, &attr);
}

static void open_station(struct station *s, struct ibv_device **list)
{
	while (*list && strcmp(ibv_get_device_name(*list), s->name))
		list++;
	check(!!*list, s, "no such device");
	s->ctx = ibv_open_device(*list);
	check(!!s->ctx, s, "open");
	s->pd = ibv_alloc_pd(s->ctx);
	check(!!s->pd, s, "PD");
	s->cq = ibv_create_cq(s->ctx, DEPTH, NULL, NULL, 0);
	check(!!s->cq, s, "CQ");
	s->mr = ibv_reg_mr(s->pd, s, sizeof(*s), IBV_ACCESS_LOCAL_WRITE);
	check(!!s->mr, s, "MR");
	s->qp[PREVIOUS] = create_qp(s);
	s->qp[NEXT] = create_qp(s);
	check(s->qp[PREVIOUS] && s->qp[NEXT], s, "QP");
	find_gid(s);
}

static void connect_qp(struct station *s, int side, const struct station *peer)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
	}, rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp[!side]->qp_num,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .dgid = peer->gid, .hop_limit = 64,
				 .sgid_index = s->gid_index },
		},
	}, rts = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = PSN,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	check(!ibv_modify_qp(s->qp[side], &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), s, "INIT");
	check(!ibv_modify_qp(s->qp[side], &rtr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), s, "RTR");
	check(!ibv_modify_qp(s->qp[side], &rts, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			     IBV_QP_MAX_QP_RD_ATOMIC), s, "RTS");
}

static void receive(struct station *s, int side)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)s->in[side],
		.length = SIZE,
		.lkey = s->mr->lkey,
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	check(!ibv_post_recv(s->qp[side], &wr, &bad), s, "receive");
}

static void send_name(struct station *s, int side)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)s->out[side],
		.length = SIZE,
		.lkey = s->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
	}, *bad;

	snprintf(s->out[side], SIZE, "from %s, %d", s->name, side);
	check(!ibv_post_send(s->qp[side], &wr, &bad), s, "send");
}

/* Take the completions of both ends' send and receive. */
static void complete(struct station *s)
{
	time_t end = time(NULL) + WAIT_SECONDS;
	struct ibv_wc wc;
	int left = 2;

	while (left) {
		if (!ibv_poll_cq(s->cq, 1, &wc)) {
			check(time(NULL) < end, s, "no completion");
			continue;
		}
		if (wc.status)
			fprintf(stderr, "%s\n", ibv_wc_status_str(wc.status));
		check(!wc.status, s, "completion");
		left--;
	}
}

/*
 * The core waits a second for the answer to an ARP request that comes before it waits,
 * as over a veth. So all devices connect at once.
 */
static void *connect_to_next(void *station)
{
	struct station *s = station;

	connect_qp(s, NEXT, s + 1);
	connect_qp(s + 1, PREVIOUS, s);
	return NULL;
}

static void connect_all(struct station *stations, int count)
{
	pthread_t *threads = calloc(count, sizeof(*threads));
	int i;

	check(!!threads, stations, "memory");
	for (i = 0; i + 1 < count; i++)
		check(!pthread_create(&threads[i], NULL, connect_to_next, &stations[i]),
		      &stations[i], "thread");
	for (i = 0; i + 1 < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void talk(struct station *s, struct station *next)
{
	receive(s, NEXT);
	receive(next, PREVIOUS);
	send_name(s, NEXT);
	send_name(next, PREVIOUS);
	complete(s);
	complete(next);
	check(!memcmp(next->in[PREVIOUS], s->out[NEXT], SIZE), next, "data");
	check(!memcmp(s->in[NEXT], next->out[PREVIOUS], SIZE), s, "data");
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct station *stations;
	int i, count = argc - 1;

	if (count < 2 || !list) {
		fprintf(stderr, "usage: containers_talk DEVICE DEVICE...\n");
		return 1;
	}
	stations = calloc(count, sizeof(*stations));
	if (!stations)
		return 1;
	for (i = 0; i < count; i++) {
		stations[i].name = argv[i + 1];
		open_station(&stations[i], list);
	}
	connect_all(stations, count);
	for (i = 0; i + 1 < count; i++)
		talk(&stations[i], &stations[i + 1]);
	printf("%d pairs\n", count - 1);
	return 0;
}
