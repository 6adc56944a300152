// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traffic during other tests: many QPs of all services, until SIGTERM. The data of RC
 * are compared. Exits with 0 after SIGTERM, with LOST when the connection was lost, and
 * with 1 when data were wrong.
 *
 * QPS=N sets the number of pairs of QPs. With FORKS=1, children write to the registered
 * memory.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ends.h"
#include "tap.h"
#include "wc.h"
#include "work.h"

enum {
	LOST		= 3,
	MOST		= 64,
	SLICE		= END_MEMORY / MOST,
	SIZE		= 9000,
	DATAGRAM	= 900,
	GRH		= 40,
	/* 4.096 us << 18. Seven timeouts are longer than a link is down. */
	TIMEOUT		= 18,
};

static struct ends e, pairs[MOST];
static volatile sig_atomic_t enough;

static void stop(int signal)
{
	enough = 1;
}

static enum ibv_qp_type service(int i)
{
	return i % 4 == 2 ? IBV_QPT_UC : i % 4 == 3 ? IBV_QPT_UD : IBV_QPT_RC;
}

static uint8_t *slice(const struct end *end, int i)
{
	return end->buf + i * SLICE;
}

static struct ibv_sge sge_of(const struct end *end, int i, uint32_t size)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)slice(end, i),
		.length = size,
		.lkey = end->mr->lkey,
	};
}

static void begin(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		pairs[i] = e;
		ends_connect(&pairs[i], &(struct qp_conf){
			.type = service(i), .timeout = TIMEOUT, .depth = 4,
		});
	}
}

/* Return: 0, or an error. */
static int send_one(int i)
{
	struct ends *p = &pairs[i];
	bool is_datagram = service(i) == IBV_QPT_UD;
	struct ibv_sge to = sge_of(&p->b, i, DATAGRAM + GRH);
	struct ibv_sge sge = sge_of(&p->a, i, is_datagram ? DATAGRAM : SIZE);
	struct ibv_send_wr wr = work(p, is_datagram ? IBV_WR_SEND :
						      IBV_WR_RDMA_WRITE, &sge);

	fill(slice(&p->a, i), sge.length);
	if (is_datagram)
		post_recv(&p->b, i, &to, 1);
	else
		wr.wr.rdma.remote_addr = (uintptr_t)slice(&p->b, i);
	return post(&p->a, &wr);
}

static int finish_one(int i)
{
	struct ends *p = &pairs[i];
	struct ibv_wc wc;

	if (!poll_one(p->a.scq, &wc)) {
		tap_diag("pair %d: nothing comes", i);
		return LOST;
	}
	if (wc.status != IBV_WC_SUCCESS) {
		tap_diag("pair %d: %s", i, ibv_wc_status_str(wc.status));
		return LOST;
	}
	while (ibv_poll_cq(p->b.rcq, 1, &wc) > 0)
		;
	if (service(i) == IBV_QPT_RC &&
	    memcmp(slice(&p->a, i), slice(&p->b, i), SIZE))
		tap_bail("pair %d brought other data", i);
	return 0;
}

/* The memory of the child is a copy, or is not shared with the parent. */
static void fork_one(void)
{
	pid_t pid = fork();

	if (!pid) {
		memset(e.a.buf, POISON, END_MEMORY);
		memset(e.b.buf, POISON, END_MEMORY);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static int round_of(int n, bool forks)
{
	int i, err = 0;

	for (i = 0; i < n && !err; i++)
		err = send_one(i);
	if (err)
		return LOST;
	if (forks)
		fork_one();
	for (i = 0; i < n && !err; i++)
		err = finish_one(i);
	return err;
}

int main(int argc, char **argv)
{
	const char *number = getenv("QPS");
	int n = number ? atoi(number) : 8, i, err = 0;

	signal(SIGTERM, stop);
	ends_open(&e, argc, argv);
	if (n > MOST)
		tap_bail("no more than %d QPs", MOST);
	begin(n);
	puts("ready");
	fflush(stdout);
	while (!enough && !err)
		err = round_of(n, getenv("FORKS"));
	if (err)
		return err;
	for (i = 0; i < n; i++)
		ends_disconnect(&pairs[i]);
	ends_close(&e);
	return 0;
}
