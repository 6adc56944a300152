// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every opcode between two machines, with data compared. One end is the server, and
 * follows the orders that the judge sends by TCP.
 *
 *	rxe_opcodes -d DEVICE [-6] [-l] [-p PORT]			server
 *	rxe_opcodes -d DEVICE [-6] [-l] [-r] [-p PORT] [-t TITLE] ADDRESS	judge
 *
 * -l: the network loses packets, so messages without an ACK are sent again.
 * -r: the judge runs on rdma_rxe, which may forget a message once (see is_forgotten()).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define GRH		40u
#define ROOM		(1u << 20)
#define LOSSY_MOST	3000u	/* bytes of a message that survives loss now and then */
#define TRIES		60
#define ARRIVAL_MS	300

/* How an end detects that a message has arrived */
enum arrival { MEMORY, RECEIVE, FETCHED };

static const struct op {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum arrival arrival;
	bool uc, ud, imm, atomic;
} ops[] = {
	{ "SEND", IBV_WR_SEND, RECEIVE, .uc = true, .ud = true },
	{ "SEND with immediate", IBV_WR_SEND_WITH_IMM, RECEIVE,
	  .uc = true, .ud = true, .imm = true },
	{ "WRITE", IBV_WR_RDMA_WRITE, MEMORY, .uc = true },
	{ "WRITE with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, RECEIVE,
	  .uc = true, .imm = true },
	{ "READ", IBV_WR_RDMA_READ, FETCHED, .imm = false },
	{ "compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP, FETCHED,
	  .atomic = true },
	{ "fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, FETCHED,
	  .atomic = true },
};

static const struct {
	const char *name;
	enum ibv_qp_type type;
} services[] = {
	{ "RC", IBV_QPT_RC }, { "UC", IBV_QPT_UC }, { "UD", IBV_QPT_UD },
};

enum command { CONNECT, PREPARE, VERIFY, LEAVE };

/* Sent between machines of one kind, in their byte order */
struct order {
	uint32_t command;
	uint32_t service;	/* of services[] */
	uint32_t op;		/* of ops[] */
	uint32_t size, seed;
	uint32_t mtu;		/* enum ibv_mtu */
};

/* Attributes of an end, sent when it is connected */
struct hello {
	uint32_t qpn, psn, rkey, mtu;
	uint64_t addr;
	union ibv_gid gid;
};

static bool lossy, may_forget;
static const char *title = "";

/* ---------------------------------------------------------------- control by TCP */

static int control;

static void put(const void *data, size_t size)
{
	if (send(control, data, size, MSG_NOSIGNAL) != (ssize_t)size)
		tap_bail("the other end is gone");
}

static void get(void *data, size_t size)
{
	if (recv(control, data, size, MSG_WAITALL) != (ssize_t)size)
		tap_bail("the other end is gone");
}

static bool answer(void)
{
	uint32_t ok;

	get(&ok, sizeof(ok));
	return ok;
}

static void put_answer(bool is_ok)
{
	uint32_t ok = is_ok;

	put(&ok, sizeof(ok));
}

static struct addrinfo *look_up(const char *host, const char *port)
{
	struct addrinfo *found, hints = {
		.ai_family = AF_INET,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = host ? 0 : AI_PASSIVE,
	};

	if (getaddrinfo(host, port, &hints, &found))
		tap_bail("no such address: %s", host);
	return found;
}

/* Retry until the other end listens. */
static void dial(const char *host, const char *port)
{
	struct addrinfo *at = look_up(host, port);
	uint64_t end = now_ms() + 120000;

	do {
		control = socket(at->ai_family, SOCK_STREAM, 0);
		if (!connect(control, at->ai_addr, at->ai_addrlen))
			return;
		close(control);
		usleep(100000);
	} while (now_ms() < end);
	tap_bail("nobody serves at %s, port %s", host, port);
}

static void await_call(const char *port)
{
	struct addrinfo *at = look_up(NULL, port);
	int fd = socket(at->ai_family, SOCK_STREAM, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, 1))
		tap_bail("port %s: %s", port, strerror(errno));
	control = accept(fd, NULL, NULL);
	close(fd);
}

/* ---------------------------------------------------------------- both ends */

/* End b is the other machine, known only by its hello. */
static struct ends e;
static struct ibv_qp peer_qp;
static struct ibv_mr peer_mr;

/* Both ends derive the bytes of a message from its seed. */
static void pattern(uint8_t *at, size_t size, uint32_t seed)
{
	while (size--) {
		seed = seed * 1664525 + 1013904223;
		*at++ = seed >> 24;
	}
}

static bool is_message(const uint8_t *at, size_t size, uint32_t seed)
{
	static uint8_t want[ROOM + GUARD];

	pattern(want, size, seed);
	memset(want + size, POISON, GUARD);
	return !memcmp(at, want, size + GUARD);
}

static void poison(size_t size)
{
	memset(msg(&e.a) - GRH, POISON, GRH + size + GUARD);
}

static uint64_t number(uint32_t seed)
{
	return seed * 0x9e3779b97f4a7c15ull;
}

static uint64_t number_after(const struct op *op, uint32_t seed)
{
	return op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? number(seed) + 7 :
							   ~number(seed);
}

static void introduce(void)
{
	struct hello own = {
		.qpn = e.a.qp->qp_num, .psn = e.a.psn, .rkey = e.a.mr->rkey,
		.mtu = e.a.active_mtu, .addr = (uintptr_t)e.a.buf,
		.gid = e.a.gid,
	}, peer;

	put(&own, sizeof(own));
	get(&peer, sizeof(peer));
	peer_qp.qp_num = peer.qpn;
	peer_mr.rkey = peer.rkey;
	e.b.qp = &peer_qp;
	e.b.mr = &peer_mr;
	e.b.buf = (uint8_t *)(uintptr_t)peer.addr;
	e.b.psn = peer.psn;
	e.b.gid = peer.gid;
	e.b.active_mtu = peer.mtu;
}

static void hang_up(void)
{
	if (!e.a.qp)
		return;
	end_destroy_qp(&e.a);
	end_destroy_cqs(&e.a);
}

static void get_connected(const struct order *order)
{
	struct qp_conf conf = {
		.type = services[order->service].type, .mtu = order->mtu,
	};

	hang_up();
	end_create_cqs(&e.a, 64);
	end_create_qp(&e.a, &conf, NULL);
	introduce();
	end_connect(&e.a, &e.b, &conf);
}

/* ---------------------------------------------------------------- server */

static bool has_receive;

/* Post a receive, unless the last try has left one. */
static void prepare(const struct order *order)
{
	const struct op *op = &ops[order->op];
	uint32_t head = services[order->service].type == IBV_QPT_UD ? GRH : 0;
	uint64_t before = number(order->seed);
	struct ibv_sge sge = end_sge(&e.a, ROOM);

	poison(order->size);
	if (op->atomic)
		memcpy(msg(&e.a), &before, sizeof(before));
	else if (op->arrival == FETCHED)
		pattern(msg(&e.a), order->size, order->seed);
	if (op->arrival != RECEIVE || has_receive)
		return;
	sge.addr -= head;
	if (post_recv(&e.a, 1, &sge, 1))
		tap_bail("post_recv");
	has_receive = true;
}

static bool is_received(const struct order *order)
{
	const struct op *op = &ops[order->op];
	struct ibv_wc wc;

	CHECK(poll_within(e.a.rcq, &wc, lossy ? ARRIVAL_MS : WAIT_MS),
	      "nothing is received");
	has_receive = false;
	CHECK(wc.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(wc.status));
	CHECK(op->imm == !!(wc.wc_flags & IBV_WC_WITH_IMM) &&
	      (!op->imm || ntohl(wc.imm_data) == order->seed), "immediate data");
	return true;
}

static bool has_come(const struct order *order)
{
	struct deadline end = deadline_in(lossy ? ARRIVAL_MS : WAIT_MS);

	do {
		if (is_message(msg(&e.a), order->size, order->seed))
			return true;
		usleep(100);
	} while (!is_past(&end));
	return false;
}

static bool verify(const struct order *order)
{
	const struct op *op = &ops[order->op];
	uint64_t after = number_after(op, order->seed);

	if (op->atomic)
		return !memcmp(msg(&e.a), &after, sizeof(after));
	return (op->arrival != RECEIVE || is_received(order)) && has_come(order);
}

static void serve(void)
{
	struct order order;

	for (;;) {
		get(&order, sizeof(order));
		switch (order.command) {
		case CONNECT:
			has_receive = false;
			get_connected(&order);
			put_answer(true);
			break;
		case PREPARE:
			prepare(&order);
			put_answer(true);
			break;
		case VERIFY:
			put_answer(verify(&order));
			break;
		default:
			return;
		}
	}
}

/* ---------------------------------------------------------------- judge */

static bool forgotten;

static bool ask(struct order order, enum command command)
{
	order.command = command;
	put(&order, sizeof(order));
	return answer();
}

static struct ibv_send_wr request(const struct order *order, struct ibv_sge *sge)
{
	const struct op *op = &ops[order->op];
	struct ibv_send_wr wr;

	*sge = end_sge(&e.a, order->size);
	wr = work(&e, op->opcode, sge);
	wr.imm_data = htonl(order->seed);
	if (op->atomic) {
		wr.wr.atomic.compare_add =
			op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ?
			7 : number(order->seed);
		wr.wr.atomic.swap = ~number(order->seed);
	}
	return wr;
}

/* Have the data of a READ or atomic arrived? */
static bool is_fetched(const struct order *order)
{
	uint64_t before = number(order->seed);

	if (ops[order->op].atomic)
		return !memcmp(msg(&e.a), &before, sizeof(before));
	return is_message(msg(&e.a), order->size, order->seed);
}

/*
 * An ACK may arrive while rdma_rxe sends a message again, and acknowledge more than it
 * has sent so far. rdma_rxe notes the PSN and waits without a timer for the next ACK. If
 * that one is lost, it waits for ever. This is so rare that a second time is a failure.
 */
static bool is_forgotten(const struct order *order)
{
	if (!may_forget || !lossy || ops[order->op].arrival == FETCHED)
		return false;
	if (!ask(*order, VERIFY))
		return false;
	tap_diag("%u bytes have come, and rdma_rxe does not complete", order->size);
	may_forget = false;
	return true;
}

static bool try_once(const struct order *order)
{
	const struct op *op = &ops[order->op];
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(order, &sge);

	poison(order->size);
	if (op->arrival != FETCHED)
		pattern(msg(&e.a), order->size, order->seed);
	CHECK(ask(*order, PREPARE), "it does not prepare");
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS)) {
		forgotten = is_forgotten(order);
		return false;
	}
	CHECK(op->arrival != FETCHED || is_fetched(order), "fetched something else");
	return ask(*order, VERIFY);
}

/* Without an ACK, a message may be lost. Each try sends another message. */
static bool arrives(struct order order)
{
	bool is_reliable = services[order.service].type == IBV_QPT_RC;
	int tries = lossy && !is_reliable ? TRIES : 1;

	while (tries--) {
		if (try_once(&order))
			return true;
		order.seed += 1 << 16;
	}
	return false;
}

static bool is_tried(const struct order *order, uint32_t size)
{
	enum ibv_qp_type type = services[order->service].type;

	if (ops[order->op].atomic)
		return size == 8;
	if (lossy && type != IBV_QPT_RC && size > LOSSY_MOST)
		return false;
	return type != IBV_QPT_UD || size <= mtu_bytes(order->mtu);
}

static bool all_sizes(struct order order)
{
	uint32_t mtu = mtu_bytes(order.mtu);
	uint32_t sizes[] = {
		1, 7, 8, 255, mtu - 1, mtu, mtu + 1, 3 * mtu + 5, 65536, ROOM,
	};
	static uint32_t seed;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		order.size = sizes[i];
		order.seed = ++seed;
		if (is_tried(&order, sizes[i]))
			CHECK(arrives(order), "%u bytes", sizes[i]);
	}
	return true;
}

static bool has_op(unsigned int service, const struct op *op)
{
	switch (services[service].type) {
	case IBV_QPT_RC:
		return true;
	case IBV_QPT_UC:
		return op->uc;
	default:
		return op->ud;
	}
}

/* Execute an order on a new connection, whatever happened to the last one. */
static bool succeeds(const struct order *order)
{
	forgotten = false;
	put(order, sizeof(*order));
	get_connected(order);
	return answer() && all_sizes(*order);
}

static void test_op(const struct order *order)
{
	tap_result(succeeds(order) || (forgotten && succeeds(order)),
		   "%s%s %s, path MTU %u", title,
		   services[order->service].name, ops[order->op].name,
		   mtu_bytes(order->mtu));
}

/* The largest path MTU of both ends, known after a first connection */
static enum ibv_mtu largest_mtu(void)
{
	struct order order = { .command = CONNECT, .mtu = IBV_MTU_256 };

	put(&order, sizeof(order));
	get_connected(&order);
	answer();
	return e.a.active_mtu < e.b.active_mtu ? e.a.active_mtu :
						 e.b.active_mtu;
}

static void each_test(enum ibv_mtu largest, void (*run)(const struct order *))
{
	struct order order = { .command = CONNECT };

	for (order.service = 0; order.service < ARRAY_SIZE(services); order.service++)
		for (order.op = 0; order.op < ARRAY_SIZE(ops); order.op++) {
			/* A UD QP always has the MTU of the port. */
			order.mtu = services[order.service].type == IBV_QPT_UD ?
				    largest : IBV_MTU_256;
			for (; order.mtu <= largest; order.mtu++)
				if (has_op(order.service, &ops[order.op]))
					run(&order);
		}
}

static unsigned int num_tests;

static void count(const struct order *order)
{
	num_tests++;
}

static int judge(void)
{
	struct order leave = { .command = LEAVE };
	enum ibv_mtu largest = largest_mtu();

	each_test(largest, count);
	tap_plan(num_tests);
	each_test(largest, test_op);
	put(&leave, sizeof(leave));
	return tap_done();
}

int main(int argc, char **argv)
{
	const char *device = NULL, *port = "18000";
	int c, rc = TAP_PASS;

	while ((c = getopt(argc, argv, "d:p:t:6lr")) != -1) {
		switch (c) {
		case 'd':
			device = optarg;
			break;
		case 'p':
			port = optarg;
			break;
		case 't':
			title = optarg;
			break;
		case '6':
			e.ipv6 = true;
			break;
		case 'l':
			lossy = true;
			break;
		case 'r':
			may_forget = true;
			break;
		default:
			return TAP_FAIL;
		}
	}
	if (!device)
		tap_bail("no device is named");
	end_open(&e.a, device, e.ipv6);
	if (optind < argc)
		dial(argv[optind], port);
	else
		await_call(port);
	if (optind < argc)
		rc = judge();
	else
		serve();
	hang_up();
	end_close(&e.a);
	close(control);
	return rc;
}
