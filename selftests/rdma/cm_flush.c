// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: cm_flush server|client ADDRESS PORT stay|disconnect|die
 *
 * Two ends connect by rdma_cm. One stays: it posts receives, and SENDs that the peer has
 * no receives for and that it would repeat for ever. The other one disconnects or dies.
 * The end that stays has to be told, and all its requests have to be flushed once it
 * disconnects too. Exit code 0 if they are.
 */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "../lib/tap.h"
#include "../lib/wc.h"

#define QUEUE	8
#define SIZE	8192

static uint8_t memory[2][SIZE];

static int fail(const char *what)
{
	perror(what);
	return EXIT_FAILURE;
}

/* An endpoint that listens or is ready to connect, or NULL */
static struct rdma_cm_id *create(bool server, char *address, char *port)
{
	struct rdma_addrinfo hints = {
		.ai_flags = server ? RAI_PASSIVE : 0,
		.ai_port_space = RDMA_PS_TCP,
	}, *info;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { QUEUE, QUEUE, 1, 1, 0 },
		.sq_sig_all = 1,
	};
	struct rdma_cm_id *id = NULL;

	if (rdma_getaddrinfo(address, port, &hints, &info))
		return NULL;
	if (rdma_create_ep(&id, info, NULL, &attr))
		id = NULL;
	rdma_freeaddrinfo(info);
	return id;
}

/* Connected, or NULL. Neither end gives up while the other one has no receives. */
static struct rdma_cm_id *connect_ends(bool server, char *address, char *port)
{
	struct rdma_conn_param param = {
		.retry_count = 7, .rnr_retry_count = 7,
	};
	struct rdma_cm_id *id = create(server, address, port), *listener = id;

	if (!id)
		return NULL;
	if (!server)
		return rdma_connect(id, &param) ? NULL : id;
	if (rdma_listen(listener, 1) || rdma_get_request(listener, &id))
		return NULL;
	return rdma_accept(id, &param) ? NULL : id;
}

static bool post_all(struct rdma_cm_id *id)
{
	struct ibv_mr *sent = rdma_reg_msgs(id, memory[0], SIZE);
	struct ibv_mr *received = rdma_reg_msgs(id, memory[1], SIZE);
	int i;

	CHECK(sent && received, "reg_msgs");
	for (i = 0; i < QUEUE; i++) {
		CHECK(!rdma_post_recv(id, NULL, memory[1], SIZE, received),
		      "post_recv");
		CHECK(!rdma_post_send(id, NULL, memory[0], SIZE, sent, 0),
		      "post_send");
	}
	return true;
}

static bool told(struct rdma_cm_id *id)
{
	struct pollfd fd = { .fd = id->channel->fd, .events = POLLIN };
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;

	CHECK(poll(&fd, 1, WAIT_MS) == 1, "no event after %u ms", WAIT_MS);
	CHECK(!rdma_get_cm_event(id->channel, &event), "get_cm_event");
	type = event->event;
	rdma_ack_cm_event(event);
	CHECK(type == RDMA_CM_EVENT_DISCONNECTED, "%s", rdma_event_str(type));
	return true;
}

static bool flushed(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < QUEUE; i++) {
		CHECK(poll_one(cq, &wc), "no completion %d", i);
		CHECK(wc.status == IBV_WC_WR_FLUSH_ERR, "completion %d: %s", i,
		      ibv_wc_status_str(wc.status));
	}
	return true;
}

static int stay(struct rdma_cm_id *id)
{
	if (!post_all(id) || !told(id))
		return EXIT_FAILURE;
	if (rdma_disconnect(id))
		return fail("disconnect");
	return flushed(id->send_cq) && flushed(id->recv_cq) ? EXIT_SUCCESS :
							      EXIT_FAILURE;
}

/* Leave when the peer has met a queue without receives. */
static int leave(struct rdma_cm_id *id, bool die)
{
	usleep(100 * 1000);
	if (die)
		raise(SIGKILL);
	return rdma_disconnect(id) ? fail("disconnect") : EXIT_SUCCESS;
}

static int end(char **argv)
{
	bool server = !strcmp(argv[1], "server");
	struct rdma_cm_id *id = connect_ends(server, argv[2], argv[3]);

	if (!id)
		return fail("connect");
	if (!strcmp(argv[4], "stay"))
		return stay(id);
	return leave(id, !strcmp(argv[4], "die"));
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc != 5) {
		fprintf(stderr, "usage: %s server|client ADDRESS PORT stay|disconnect|die\n",
			argv[0]);
		return EXIT_FAILURE;
	}
	/* The exit code has to be 0 if the process dies as it should. */
	pid = fork();
	if (!pid)
		_exit(end(argv));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return fail("fork");
	if (WIFSIGNALED(status))
		return strcmp(argv[4], "die") ? EXIT_FAILURE : EXIT_SUCCESS;
	return WEXITSTATUS(status);
}
