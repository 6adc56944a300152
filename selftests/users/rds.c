// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: rds ADDRESS ADDRESS messages COUNT
 *        rds ADDRESS ADDRESS steady SECONDS
 *        rds ADDRESS ADDRESS rdma COUNT
 *
 * Two RDS sockets over RDMA, at two addresses of this machine. The length and the bytes
 * of each message follow from its number, so the receiver knows the next message: each
 * arrives once, in order, whole. Exit code 0 on success.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rds.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../lib/tap.h"

#define PORT		4711
#define LARGEST		(256u << 10)
#define WINDOW		16	/* messages sent and not received yet */
#define SILENCE		120	/* seconds without a message that are a failure */
#define GUARD		64	/* bytes around written memory that must not change */

struct end {
	int fd;
	struct sockaddr_in addr;
	unsigned int sent, received;	/* messages of this end, and of the other */
};

static struct end ends[2];
static uint8_t out[LARGEST], in[LARGEST + 1];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9;
	return x ^ (x >> 32);
}

static void fill(uint8_t *mem, uint32_t length, uint64_t seed)
{
	uint64_t word = 0;
	uint32_t i;

	for (i = 0; i < length; i++) {
		if (i % 8 == 0)
			word = mix(seed << 32 | i);
		mem[i] = word >> (i % 8 * 8);
	}
}

/* RDS fragments messages by pages: lengths around a multiple of that, and random ones. */
static uint32_t length_of(uint64_t seed)
{
	static const uint32_t special[8] = {
		1, 2, 4095, 4096, 4097, 8192, 65536, LARGEST
	};
	uint32_t kind = mix(seed) % 16;

	if (kind < 8)
		return special[kind];
	return 1 + mix(seed + 1) % (kind < 12 ? 4096 : 40000);
}

static uint64_t seed_of(int from, unsigned int number)
{
	return (uint64_t)number << 2 | from;
}

static void open_end(struct end *end, const char *address, int port)
{
	int transport = RDS_TRANS_IB, size = 4 * LARGEST;

	end->addr.sin_family = AF_INET;
	end->addr.sin_port = htons(port);
	if (inet_pton(AF_INET, address, &end->addr.sin_addr) != 1)
		tap_bail("%s is no address", address);
	end->fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
	if (end->fd < 0)
		tap_bail("no RDS sockets: %m");
	if (setsockopt(end->fd, SOL_RDS, SO_RDS_TRANSPORT, &transport,
		       sizeof(transport)) ||
	    setsockopt(end->fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(end->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		tap_bail("options of RDS over RDMA: %m");
	if (bind(end->fd, (struct sockaddr *)&end->addr, sizeof(end->addr)))
		tap_bail("bind to %s: %m", address);
}

/* Congestion and a full buffer are temporary. */
static bool is_passing(void)
{
	return errno == EAGAIN || errno == ENOBUFS || errno == EINTR;
}

/* Return: 1 if a message was sent, 0 if none can be now, -1 on errors */
static int send_next(int from)
{
	struct end *end = &ends[from], *to = &ends[!from];
	uint64_t seed = seed_of(from, end->sent);
	uint32_t length = length_of(seed);
	ssize_t n;

	fill(out, length, seed);
	n = sendto(end->fd, out, length, MSG_DONTWAIT,
		   (struct sockaddr *)&to->addr, sizeof(to->addr));
	if (n == (ssize_t)length) {
		end->sent++;
		return 1;
	}
	if (n < 0 && is_passing())
		return 0;
	tap_diag("message %u of %u bytes: sent %zd: %m", end->sent, length, n);
	return -1;
}

/* Return: as send_next() */
static int receive_next(int at)
{
	struct end *end = &ends[at];
	uint64_t seed = seed_of(!at, end->received);
	uint32_t length = length_of(seed);
	ssize_t n = recv(end->fd, in, sizeof(in), MSG_DONTWAIT);

	if (n < 0 && is_passing())
		return 0;
	fill(out, length, seed);
	if (n != (ssize_t)length || memcmp(in, out, length)) {
		tap_diag("message %u of %u bytes: received %zd, %s", end->received,
			 length, n, n < 0 ? strerror(errno) : "or other ones");
		return -1;
	}
	end->received++;
	return 1;
}

static void wait_for_either(void)
{
	struct pollfd fds[2] = {
		{ .fd = ends[0].fd, .events = POLLIN },
		{ .fd = ends[1].fd, .events = POLLIN },
	};

	poll(fds, 2, 10);
}

/* Send and receive at one end. Return: number of messages, or -1 */
static int serve(int i, unsigned int count, double until)
{
	int sent = 0, received;

	if (ends[i].sent < count && now() < until &&
	    ends[i].sent - ends[!i].received < WINDOW)
		sent = send_next(i);
	received = receive_next(i);
	return sent < 0 || received < 0 ? -1 : sent + received;
}

static bool is_all_received(unsigned int count, double until)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (ends[!i].received != ends[i].sent ||
		    (ends[i].sent < count && now() < until))
			return false;
	}
	return true;
}

/* Exchange COUNT messages each way. None is sent later than UNTIL. */
static bool exchange(unsigned int count, double until)
{
	double last = now();
	int a, b;

	while (!is_all_received(count, until)) {
		a = serve(0, count, until);
		b = serve(1, count, until);
		if (a < 0 || b < 0)
			return false;
		if (a + b > 0)
			last = now();
		else
			wait_for_either();
		CHECK(now() - last < SILENCE, "sent %u and %u, received %u and %u",
		      ends[0].sent, ends[1].sent, ends[1].received,
		      ends[0].received);
	}
	tap_diag("%u and %u messages", ends[0].sent, ends[1].sent);
	return ends[0].sent && ends[1].sent;
}

/* Send a message with a control message. */
static bool send_control(int from, int type, const void *data, size_t size,
			 const void *payload, size_t length)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(struct rds_rdma_args))];
	} control = { 0 };
	struct iovec iov = { (void *)payload, length };
	struct msghdr msg = {
		.msg_name = &ends[!from].addr,
		.msg_namelen = sizeof(ends[!from].addr),
		.msg_iov = &iov,
		.msg_iovlen = length ? 1 : 0,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(size),
	};
	ssize_t n;

	control.header.cmsg_level = SOL_RDS;
	control.header.cmsg_type = type;
	control.header.cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(&control.header), data, size);
	n = sendmsg(ends[from].fd, &msg, 0);
	CHECK(n == (ssize_t)length, "type %d: %zd: %m", type, n);
	return true;
}

/* Receive a message with one control message of TYPE, and copy that to DATA. */
static bool receive_control(int at, int type, void *data, size_t size)
{
	union {
		struct cmsghdr header;
		char space[256];
	} control;
	struct iovec iov = { in, sizeof(in) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct timeval patience = { .tv_sec = SILENCE };
	struct cmsghdr *c;

	setsockopt(ends[at].fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		   sizeof(patience));
	CHECK(recvmsg(ends[at].fd, &msg, 0) >= 0, "type %d: %m", type);
	c = CMSG_FIRSTHDR(&msg);
	CHECK(c && c->cmsg_type == type && c->cmsg_len == CMSG_LEN(size),
	      "control message %d", c ? c->cmsg_type : -1);
	memcpy(data, CMSG_DATA(c), size);
	return true;
}

/* End 0 offers memory to end 1, and sends the key with a message. */
static bool offer(void *mem, uint32_t length, uint64_t *key)
{
	uint64_t own;
	struct rds_get_mr_args args = {
		.vec = { (uintptr_t)mem, length },
		.cookie_addr = (uintptr_t)&own,
		.flags = RDS_RDMA_READWRITE | RDS_RDMA_USE_ONCE |
			 RDS_RDMA_INVALIDATE,
	};

	return send_control(0, RDS_CMSG_RDMA_MAP, &args, sizeof(args), "here", 4) &&
		receive_control(1, RDS_CMSG_RDMA_DEST, key, sizeof(*key));
}

/* End 1 reads or writes the memory in two pieces, and waits for completion. */
static bool move(uint64_t key, uint8_t *mem, uint32_t length, uint64_t flags)
{
	struct rds_iovec pieces[2] = {
		{ (uintptr_t)mem, length / 3 },
		{ (uintptr_t)mem + length / 3, length - length / 3 },
	};
	struct rds_rdma_args args = {
		.cookie = key,
		.remote_vec = { 0, length },
		.local_vec_addr = (uintptr_t)pieces,
		.nr_local = 2,
		.flags = flags | RDS_RDMA_NOTIFY_ME,
		.user_token = key,
	};
	struct rds_rdma_notify done;

	return send_control(1, RDS_CMSG_RDMA_ARGS, &args, sizeof(args), "done", 4) &&
		receive_control(1, RDS_CMSG_RDMA_STATUS, &done, sizeof(done)) &&
		done.user_token == key && done.status == RDS_RDMA_SUCCESS;
}

/* Is TO a copy of FROM, and the memory around TO unchanged? */
static bool is_moved(const uint8_t *to, const uint8_t *from, uint32_t length)
{
	uint32_t i;

	for (i = 0; i < GUARD; i++)
		CHECK(to[-1 - (int)i] == 0x5a && to[length + i] == 0x5a,
		      "written beside it, %u", i);
	CHECK(!memcmp(to, from, length), "%u bytes differ", length);
	return true;
}

/* One RDMA operation of random length at a random offset */
static bool rdma_once(unsigned int number)
{
	static uint8_t far[LARGEST + 4096 + 2 * GUARD], near[sizeof(far)];
	bool write = number & 1;
	uint32_t length = 3 + length_of(number) % (LARGEST - 3);
	uint8_t *offered = far + GUARD + mix(number) % 4096;
	uint8_t *own = near + GUARD + mix(number + 7) % 4096;
	uint8_t *to = write ? offered : own, *from = write ? own : offered;
	uint64_t key, flags = write ? RDS_RDMA_READWRITE : RDS_RDMA_FENCE;
	ssize_t n;

	memset(far, 0x5a, sizeof(far));
	memset(near, 0x5a, sizeof(near));
	fill(from, length, number);
	CHECK(offer(offered, length, &key), "%u: no key", number);
	CHECK(move(key, own, length, flags), "%u: %s of %u bytes failed", number,
	      write ? "WRITE" : "READ", length);
	n = recv(ends[0].fd, in, sizeof(in), 0);
	CHECK(n == 4 && !memcmp(in, "done", 4), "%u: not told: %zd", number, n);
	CHECK(is_moved(to, from, length), "%u: %s of %u bytes", number,
	      write ? "WRITE" : "READ", length);
	return true;
}

static bool rdma(unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!rdma_once(i))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	unsigned int n;
	bool ok = false;

	if (argc != 5) {
		fprintf(stderr, "usage: rds ADDRESS ADDRESS messages|steady|rdma N\n");
		return 2;
	}
	n = atoi(argv[4]);
	open_end(&ends[0], argv[1], PORT);
	open_end(&ends[1], argv[2], PORT + 1);
	if (!strcmp(argv[3], "messages"))
		ok = exchange(n, now() + 1e9);
	else if (!strcmp(argv[3], "steady"))
		ok = exchange(-1, now() + n);
	else if (!strcmp(argv[3], "rdma"))
		ok = exchange(1, now() + SILENCE) && rdma(n);
	close(ends[0].fd);
	close(ends[1].fd);
	return ok ? 0 : 1;
}
