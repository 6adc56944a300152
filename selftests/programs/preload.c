// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: preload server PORT CONNECTIONS echo|last
 *        preload client ADDRESS PORT CONNECTIONS BYTES echo|last
 *
 * A program for TCP that knows nothing of RDMA. The client makes all connections at once,
 * and BYTES go each way by the first of them, and some more by each further one. Once the
 * server has accepted all of them, neither end blocks but in poll(), and each closes its
 * half when it has sent everything.
 *
 * echo: the server sends as much as it has received so far.
 * last: the server sends everything at once. The client begins when the server has closed
 *	its half.
 *
 * Every byte is compared. Exit code 0: all of them arrived, and each connection ended as
 * it should; 1: failure; 4: a connection broke, and data were right until then.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum verdict { RIGHT = 0, WRONG = 1, BROKEN = 4 };

#define CHUNK	(48u << 10)
#define MOST	1024	/* connections */

/* The client's first bytes on a connection */
struct hello {
	uint32_t number, bytes;
};

struct end {
	int fd;			/* -1: closed, or not yet accepted */
	struct hello hello;
	unsigned int greeted;	/* bytes of it that have been sent or received */
	uint32_t sent, received;
	bool told, heard;	/* the halves that are closed: the own, the peer's */
};

static struct end ends[MOST];
static bool server, echo;

static void die(const char *call)
{
	perror(call);
	exit(WRONG);
}

static void broke(const struct end *e, const char *what)
{
	printf("connection %u: %s: %s; %u sent, %u received of %u\n", e->hello.number,
	       what, errno ? strerror(errno) : "end", e->sent, e->received,
	       e->hello.bytes);
	exit(BROKEN);
}

static bool again(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

static uint8_t pattern(const struct end *e, bool by_server, uint32_t at)
{
	return at * 7 + (at >> 8) + e->hello.number * 31 + by_server * 101;
}

static bool greets(const struct end *e)
{
	return !server && e->greeted < sizeof(e->hello);
}

/* Return: up to which byte the end may send now */
static uint32_t allowed(const struct end *e)
{
	if (e->greeted < sizeof(e->hello))
		return 0;
	if (server)
		return echo ? e->received : e->hello.bytes;
	return echo || e->heard ? e->hello.bytes : 0;
}

static bool wants_to_send(const struct end *e)
{
	return greets(e) || e->sent < allowed(e);
}

/* The client sends its first bytes, and the server receives them. */
static void greet(struct end *e)
{
	char *at = (char *)&e->hello + e->greeted;
	size_t rest = sizeof(e->hello) - e->greeted;
	ssize_t n = server ? read(e->fd, at, rest) : write(e->fd, at, rest);

	if (again(n))
		return;
	if (n <= 0)
		broke(e, server ? "read" : "write");
	e->greeted += n;
}

static void send_some(struct end *e)
{
	uint8_t chunk[CHUNK];
	uint32_t i, room = allowed(e) - e->sent;
	ssize_t n;

	if (room > CHUNK)
		room = CHUNK;
	for (i = 0; i < room; i++)
		chunk[i] = pattern(e, server, e->sent + i);
	n = write(e->fd, chunk, room);
	if (again(n))
		return;
	if (n <= 0)
		broke(e, "write");
	e->sent += n;
}

static void compare(const struct end *e, const uint8_t *chunk, uint32_t size)
{
	uint32_t i, at;

	for (i = 0; i < size; i++) {
		at = e->received + i;
		if (at < e->hello.bytes && chunk[i] == pattern(e, !server, at))
			continue;
		printf("connection %u: byte %u of %u is wrong\n", e->hello.number, at,
		       e->hello.bytes);
		exit(WRONG);
	}
}

static void receive_some(struct end *e)
{
	uint8_t chunk[CHUNK];
	ssize_t n;

	errno = 0;
	n = read(e->fd, chunk, CHUNK);
	if (again(n))
		return;
	if (n < 0 || (!n && e->received < e->hello.bytes))
		broke(e, "read");
	compare(e, chunk, n);
	e->received += n;
	e->heard = !n;
}

static void serve(struct end *e, short events)
{
	if (events & (POLLIN | POLLHUP | POLLERR)) {
		if (server && e->greeted < sizeof(e->hello))
			greet(e);
		else if (!e->heard)
			receive_some(e);
	}
	if (events & POLLOUT) {
		if (greets(e))
			greet(e);
		else if (wants_to_send(e))
			send_some(e);
	}
	if (!e->told && e->greeted == sizeof(e->hello) && e->sent == e->hello.bytes) {
		if (shutdown(e->fd, SHUT_WR))
			broke(e, "shutdown");
		e->told = true;
	}
	if (e->told && e->heard) {
		close(e->fd);
		e->fd = -1;
	}
}

/* ---- sockets */

static struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(atoi(port)),
	};

	if (host && inet_pton(AF_INET, host, &a.sin_addr) != 1)
		die(host);
	return a;
}

static void do_not_block(int fd)
{
	if (fcntl(fd, F_SETFL, O_NONBLOCK))
		die("fcntl");
}

static int listen_at(const char *port)
{
	struct sockaddr_in a = address(NULL, port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (void *)&a, sizeof(a)) || listen(fd, MOST))
		die("listen");
	return fd;
}

/* accept() blocks, because librspreload's poll() may miss a connection for seconds. */
static void accept_all(const char *port, unsigned int count)
{
	int listener = listen_at(port);
	struct end *e;

	for (e = ends; e < ends + count; e++) {
		e->fd = accept(listener, NULL, NULL);
		if (e->fd < 0)
			die("accept");
		do_not_block(e->fd);
	}
}

static void connect_all(const char *host, const char *port, unsigned int count,
			uint32_t bytes)
{
	struct sockaddr_in a = address(host, port);
	struct end *e;

	for (e = ends; e < ends + count; e++) {
		e->fd = socket(AF_INET, SOCK_STREAM, 0);
		e->hello.number = e - ends;
		e->hello.bytes = bytes + 1009 * e->hello.number;
		if (e->fd < 0 || connect(e->fd, (void *)&a, sizeof(a)))
			die("connect");
		do_not_block(e->fd);
	}
}

/* Return: the number of open connections */
static unsigned int collect(struct pollfd *fds, unsigned int count)
{
	unsigned int i, open = 0;

	for (i = 0; i < count; i++) {
		fds[i].fd = ends[i].fd;
		fds[i].events = 0;
		if (ends[i].fd < 0)
			continue;
		open++;
		if (!ends[i].heard)
			fds[i].events |= POLLIN;
		if (wants_to_send(&ends[i]))
			fds[i].events |= POLLOUT;
	}
	return open;
}

/* There is no timeout: librspreload ends a poll() that has one long before its time. */
static void run(unsigned int count)
{
	struct pollfd fds[MOST];
	unsigned int i;

	while (collect(fds, count)) {
		if (poll(fds, count, -1) <= 0)
			die("poll");
		for (i = 0; i < count; i++)
			if (fds[i].fd >= 0 && fds[i].revents)
				serve(&ends[i], fds[i].revents);
	}
}

int main(int argc, char **argv)
{
	unsigned int count;

	server = argc == 5 && !strcmp(argv[1], "server");
	if (!server && argc != 7) {
		fprintf(stderr, "usage: preload server|client ...\n");
		return WRONG;
	}
	echo = !strcmp(argv[argc - 1], "echo");
	count = atoi(argv[server ? 3 : 4]);
	if (!count || count > MOST)
		return WRONG;
	if (server)
		accept_all(argv[2], count);
	else
		connect_all(argv[2], argv[3], count, atoi(argv[5]));
	run(count);
	printf("compared\n");
	return RIGHT;
}
