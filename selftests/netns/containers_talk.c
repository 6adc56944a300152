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
#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

enum { SIZE = 64, CQ_DEPTH = 4, PREVIOUS = 0, NEXT = 1 };
#define PATIENCE_MS	30000

static const struct qp_conf conf = {
	.type = IBV_QPT_RC,
	.mtu = IBV_MTU_1024,
	.depth = 1,
	.timeout = 14,
	.rnr_timer = 12,
	.access = NO_ACCESS,
	.signal_all = true,
};

/* A device, whose two ends share all but the QP */
struct station {
	struct end end[2];
	/* Of each direction: what is sent, what has come */
	char out[2][SIZE], in[2][SIZE];
};

static void open_station(struct station *s, const char *name)
{
	struct end *end = &s->end[NEXT];

	end_open_device(end, name, false);
	end->scq = ibv_create_cq(end->ctx, CQ_DEPTH, NULL, NULL, 0);
	end->rcq = end->scq;
	end->mr = ibv_reg_mr(end->pd, s, sizeof(*s), IBV_ACCESS_LOCAL_WRITE);
	if (!end->scq || !end->mr)
		tap_bail("device %s: no CQ or no MR: %s", name, strerror(errno));
	s->end[PREVIOUS] = *end;
	end_create_qp(&s->end[PREVIOUS], &conf, NULL);
	end_create_qp(&s->end[NEXT], &conf, NULL);
}

static struct ibv_sge sge_of(const struct end *end, char *text)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)text,
		.length = SIZE,
		.lkey = end->mr->lkey,
	};
}

static void receive_name(struct station *s, int side)
{
	struct end *end = &s->end[side];
	struct ibv_sge sge = sge_of(end, s->in[side]);

	if (post_recv(end, 0, &sge, 1))
		tap_bail("device %s: no receive", end->name);
}

static void send_name(struct station *s, int side)
{
	struct end *end = &s->end[side];
	struct ibv_sge sge = sge_of(end, s->out[side]);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
	};

	snprintf(s->out[side], SIZE, "from %s, %d", end->name, side);
	if (post(end, &wr))
		tap_bail("device %s: no send", end->name);
}

/* Take the completions of a send and of a receive. */
static void complete(struct station *s)
{
	const struct end *end = &s->end[NEXT];
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 2; i++) {
		if (!poll_within(end->scq, &wc, PATIENCE_MS))
			tap_bail("device %s: no completion", end->name);
		if (wc.status)
			tap_bail("device %s: %s", end->name,
				 ibv_wc_status_str(wc.status));
	}
}

/*
 * The core waits a second for the answer to an ARP request that comes before it waits,
 * as over a veth. So all devices connect at once.
 */
static void *connect_to_next(void *station)
{
	struct station *s = station;
	struct end *ours = &s->end[NEXT], *theirs = &s[1].end[PREVIOUS];

	end_connect(ours, theirs, &conf);
	end_connect(theirs, ours, &conf);
	return NULL;
}

static void connect_all(struct station *stations, int count)
{
	pthread_t *threads = calloc(count, sizeof(*threads));
	int i;

	if (!threads)
		tap_bail("no memory");
	for (i = 0; i + 1 < count; i++)
		if (pthread_create(&threads[i], NULL, connect_to_next, &stations[i]))
			tap_bail("no thread");
	for (i = 0; i + 1 < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void talk(struct station *s, struct station *next)
{
	receive_name(s, NEXT);
	receive_name(next, PREVIOUS);
	send_name(s, NEXT);
	send_name(next, PREVIOUS);
	complete(s);
	complete(next);
	if (memcmp(next->in[PREVIOUS], s->out[NEXT], SIZE) ||
	    memcmp(s->in[NEXT], next->out[PREVIOUS], SIZE))
		tap_bail("device %s: wrong data", s->end[NEXT].name);
}

int main(int argc, char **argv)
{
	int i, count = argc - 1;
	struct station *stations;

	if (count < 2)
		tap_bail("usage: containers_talk DEVICE DEVICE...");
	stations = calloc(count, sizeof(*stations));
	if (!stations)
		tap_bail("no memory");
	for (i = 0; i < count; i++)
		open_station(&stations[i], argv[i + 1]);
	connect_all(stations, count);
	for (i = 0; i + 1 < count; i++)
		talk(&stations[i], &stations[i + 1]);
	printf("%d pairs\n", count - 1);
	return 0;
}
