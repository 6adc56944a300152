// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: smc eid add|remove NAME
 *        smc pnetid NAME DEVICE
 *        smc server PORT KIBIBYTES SECONDS
 *        smc client ADDRESS PORT KIBIBYTES SECONDS
 *
 * "eid" gives the machine a name: peers with the same name use SMC-R version 2. "pnetid"
 * names the network of a device. "server" and "client" are the two ends of a connection:
 * each sends that much in that time, and compares the data that it receives.
 *
 * Exit code 0: data are right, by RDMA; 1: failure; 3: data went by TCP; 4: the
 * connection broke, and data were right until then.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC	43
#endif

enum verdict { RIGHT = 0, WRONG = 1, BY_TCP = 3, BROKEN = 4 };

#define CHUNK	(100u << 10)
#define SILENCE	60	/* seconds without a byte that are a failure */

static void die(const char *what)
{
	perror(what);
	exit(WRONG);
}

/* ---- netlink */

struct request {
	struct nlmsghdr nl;
	union {
		struct genlmsghdr genl;
		struct smc_diag_req diag;
	};
	char attributes[64];
};

static char answer[64 << 10];

static void add_string(struct request *r, int type, const char *value)
{
	struct nlattr *a = (void *)((char *)r + NLMSG_ALIGN(r->nl.nlmsg_len));
	size_t size = strlen(value) + 1;

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + size;
	memcpy((char *)a + NLA_HDRLEN, value, size);
	r->nl.nlmsg_len = NLMSG_ALIGN(r->nl.nlmsg_len) + a->nla_len;
}

/* Find an attribute in a message with a header of SIZE bytes. */
static void *attribute(struct nlmsghdr *nl, size_t size, int type)
{
	char *at = (char *)NLMSG_DATA(nl) + NLMSG_ALIGN(size);
	char *end = (char *)nl + nl->nlmsg_len;
	struct nlattr *a;

	for (; at + NLA_HDRLEN <= end; at += NLA_ALIGN(a->nla_len)) {
		a = (void *)at;
		if (a->nla_len < NLA_HDRLEN)
			break;
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return at + NLA_HDRLEN;
	}
	return NULL;
}

static int ask(int protocol, struct request *r)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, protocol);

	if (fd < 0 || send(fd, r, r->nl.nlmsg_len, 0) < 0)
		die("netlink");
	return fd;
}

struct string {
	int type;
	const char *value;
};

/* Send a command of generic netlink. The reply remains in "answer". */
static struct nlmsghdr *command(int family, int cmd, const struct string *strings,
				int n)
{
	struct request r = {
		.nl.nlmsg_len = NLMSG_LENGTH(sizeof(r.genl)),
		.nl.nlmsg_type = family,
		.nl.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		.genl = { .cmd = cmd, .version = 1 },
	};
	struct nlmsghdr *nl = (void *)answer;
	int fd, i;

	for (i = 0; i < n; i++)
		add_string(&r, strings[i].type, strings[i].value);
	fd = ask(NETLINK_GENERIC, &r);
	if (recv(fd, answer, sizeof(answer), 0) < NLMSG_LENGTH(0))
		die("netlink");
	close(fd);
	if (nl->nlmsg_type == NLMSG_ERROR) {
		errno = -((struct nlmsgerr *)NLMSG_DATA(nl))->error;
		if (errno)
			die(strings[0].value);
	}
	return nl;
}

static int family(const char *name)
{
	struct string which = { CTRL_ATTR_FAMILY_NAME, name };
	struct nlmsghdr *nl = command(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, &which, 1);
	uint16_t *id = attribute(nl, GENL_HDRLEN, CTRL_ATTR_FAMILY_ID);

	if (!id)
		die(name);
	return *id;
}

static int eid(const char *what, const char *name)
{
	bool add = !strcmp(what, "add");
	char padded[SMC_MAX_EID_LEN + 1];
	struct string entry = { SMC_NLA_EID_TABLE_ENTRY, padded };

	snprintf(padded, sizeof(padded), "%-*s", SMC_MAX_EID_LEN, name);
	command(family(SMC_GENL_FAMILY_NAME),
		add ? SMC_NETLINK_ADD_UEID : SMC_NETLINK_REMOVE_UEID, &entry, 1);
	return RIGHT;
}

static int pnetid(const char *name, const char *device)
{
	struct string entry[] = {
		{ SMC_PNETID_NAME, name },
		{ SMC_PNETID_IBNAME, device },
	};

	command(family(SMCR_GENL_FAMILY_NAME), SMC_PNETID_ADD, entry, 2);
	return RIGHT;
}

/* One SMC socket of the machine: if it has INODE, find the transport it uses. */
static bool judge(struct nlmsghdr *nl, ino_t inode, enum verdict *verdict)
{
	struct smc_diag_msg *m = NLMSG_DATA(nl);
	struct smc_diag_fallback *why;

	if (nl->nlmsg_type != SOCK_DIAG_BY_FAMILY || m->diag_inode != inode)
		return false;
	*verdict = m->diag_mode == SMC_DIAG_MODE_SMCR ? RIGHT : BY_TCP;
	why = attribute(nl, sizeof(*m), SMC_DIAG_FALLBACK);
	if (*verdict == BY_TCP)
		fprintf(stderr, "mode %u, reason %#x, the peer's %#x\n",
			m->diag_mode, why ? why->reason : 0,
			why ? why->peer_diagnosis : 0);
	return true;
}

/* Ask for the transport of a connection. */
static enum verdict transport_of(int sock)
{
	struct request r = {
		.nl.nlmsg_len = NLMSG_LENGTH(sizeof(r.diag)),
		.nl.nlmsg_type = SOCK_DIAG_BY_FAMILY,
		.nl.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.diag.diag_family = AF_SMC,
		.diag.diag_ext = 1 << (SMC_DIAG_FALLBACK - 1),
	};
	enum verdict verdict = WRONG;
	struct nlmsghdr *nl;
	struct stat st;
	int fd, n;

	if (fstat(sock, &st))
		die("fstat");
	fd = ask(NETLINK_SOCK_DIAG, &r);
	while ((n = recv(fd, answer, sizeof(answer), 0)) > 0) {
		for (nl = (void *)answer; NLMSG_OK(nl, (unsigned int)n);
		     nl = NLMSG_NEXT(nl, n)) {
			if (judge(nl, st.st_ino, &verdict) ||
			    nl->nlmsg_type == NLMSG_DONE ||
			    nl->nlmsg_type == NLMSG_ERROR)
				goto out;
		}
	}
out:
	close(fd);
	return verdict;
}

/* ---- data */

struct stream {
	uint64_t done, seed;
};

/* Fill MEM with the next bytes of a stream. */
static void fill(uint8_t *mem, uint32_t length, const struct stream *s)
{
	uint64_t i, x;

	for (i = s->done; i < s->done + length; i++) {
		x = (i / 8 + s->seed) * 0x9e3779b97f4a7c15;
		x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9;
		*mem++ = x >> (i % 8 * 8);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static bool is_passing(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* Send data up to DUE. Return: true if the connection holds */
static bool send_some(int sock, struct stream *s, uint64_t due)
{
	static uint8_t mem[CHUNK];
	uint32_t length = due - s->done < CHUNK ? due - s->done : CHUNK;
	ssize_t n;

	if (!length)
		return true;
	fill(mem, length, s);
	n = send(sock, mem, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0)
		s->done += n;
	return n >= 0 || is_passing();
}

/* Receive and compare. Return: true if the connection holds; *DIFFERS: wrong bytes */
static bool receive_some(int sock, struct stream *s, bool *differs)
{
	static uint8_t mem[CHUNK], expected[CHUNK];
	ssize_t n = recv(sock, mem, CHUNK, MSG_DONTWAIT);

	if (n <= 0)
		return n < 0 && is_passing();
	fill(expected, n, s);
	*differs = memcmp(mem, expected, n);
	s->done += n;
	return true;
}

/* Bytes to be sent by now, if SIZE bytes are to take SECONDS */
static uint64_t due_by_now(uint64_t size, double since, double seconds)
{
	double passed = now() - since;

	return passed >= seconds ? size : size * (passed / seconds);
}

struct transfer {
	int sock;
	uint64_t size;
	double start, seconds, last;	/* begin, duration, last progress */
	struct stream to, from;
	bool differs;
};

/* Return: true if the connection holds */
static bool go_on(struct transfer *t)
{
	struct pollfd poller = { .fd = t->sock, .events = POLLIN };
	uint64_t before = t->to.done + t->from.done;

	if (!send_some(t->sock, &t->to,
		       due_by_now(t->size, t->start, t->seconds)))
		return false;
	if (t->from.done < t->size &&
	    !receive_some(t->sock, &t->from, &t->differs))
		return false;
	if (t->to.done + t->from.done != before)
		t->last = now();
	else
		poll(&poller, 1, 1);
	return true;
}

static enum verdict transfer(struct transfer *t)
{
	enum verdict verdict = transport_of(t->sock);
	bool holds = true;

	t->start = now();
	t->last = t->start;
	while (holds && !t->differs && now() - t->last < SILENCE &&
	       (t->to.done < t->size || t->from.done < t->size))
		holds = go_on(t);
	if (holds && t->to.done == t->size && t->from.done == t->size)
		return t->differs ? WRONG : verdict;
	fprintf(stderr, "sent %llu, received %llu%s: %m\n",
		(unsigned long long)t->to.done, (unsigned long long)t->from.done,
		t->differs ? ", other bytes" : holds ? ", then silence" : "");
	return holds || t->differs ? WRONG : BROKEN;
}

static enum verdict end(int sock, bool server, char **argv)
{
	struct transfer t = {
		.sock = sock,
		.size = atoi(argv[0]) * 1024ull,
		.seconds = atof(argv[1]),
		.to.seed = server,
		.from.seed = !server,
	};
	enum verdict verdict;
	char byte;

	if (sock < 0)
		die("connection");
	verdict = transfer(&t);
	if (verdict == RIGHT) {
		shutdown(sock, SHUT_WR);
		if (recv(sock, &byte, 1, 0))
			verdict = BROKEN;
	}
	/*
	 * A socket that is closed while SMC aborts its connection keeps the reference
	 * of the passive close, and SMC can never be unloaded (Linux 7.2).
	 */
	if (verdict == BROKEN)
		sleep(1);
	close(sock);
	return verdict;
}

static int serve(char **argv)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(atoi(argv[0])),
	};
	int yes = 1, sock = socket(AF_SMC, SOCK_STREAM, 0);

	setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(sock, (struct sockaddr *)&addr, sizeof(addr)) || listen(sock, 1))
		die("listen");
	return end(accept(sock, NULL, NULL), true, argv + 1);
}

static int connect_to(char **argv)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(atoi(argv[1])),
	};
	int sock = socket(AF_SMC, SOCK_STREAM, 0);

	if (inet_pton(AF_INET, argv[0], &addr.sin_addr) != 1 ||
	    connect(sock, (struct sockaddr *)&addr, sizeof(addr)))
		die("connect");
	return end(sock, false, argv + 2);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "eid"))
		return eid(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "pnetid"))
		return pnetid(argv[2], argv[3]);
	if (argc == 5 && !strcmp(argv[1], "server"))
		return serve(argv + 2);
	if (argc == 6 && !strcmp(argv[1], "client"))
		return connect_to(argv + 2);
	fprintf(stderr, "usage: smc eid|pnetid|server|client ...\n");
	return 2;
}
