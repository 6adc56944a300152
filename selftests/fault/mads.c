// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to QP 1 of management classes without an agent (IBTA vol. 1, 13.4), from the
 * peer and from neighbours that do not exist. An answer to such a neighbour would delay
 * all other management datagrams until its resolution fails. Malformed datagrams must not
 * end QP 1.
 *
 * FLOOD=classes sends such requests until SIGTERM. FLOOD=connections sends requests to
 * connect (12.6.5) from addresses that do not exist.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/hwstats.h"
#include "../lib/packet.h"
#include "../lib/tap.h"
#include "../lib/wc.h"

enum {
	REQUESTS	= 32,
	MAD_LEN		= 256,
	UD_SEND_ONLY	= 0x64,
	GSI_QPN		= 1,
	GSI_QKEY	= 0x80010000,
	MIGRATED	= 0x40,
	BASE_VERSION	= 1,
	PERF_MGMT	= 0x04,
	COMM_MGMT	= 0x07,
	GET		= 0x01,
	SET		= 0x02,
	SEND		= 0x03,
	CLASS_PORT_INFO	= 0x01,
	CONNECT_REQUEST	= 0x10,
	ARRIVAL_MS	= 3000,
	ANSWER_MS	= 200,
};

static struct ends e;
static int fd;
static volatile sig_atomic_t enough;

static void stop(int signal)
{
	enough = 1;
}

static void add_headers(struct packet *p, uint32_t psn)
{
	uint32_t words[] = {
		htonl((uint32_t)UD_SEND_ONLY << 24 | MIGRATED << 16 | 0xffff),
		htonl(GSI_QPN), htonl(psn),
		htonl(GSI_QKEY), htonl(GSI_QPN),
	};

	packet_add(p, words, sizeof(words));
}

static void datagram(const union ibv_gid *from, const uint8_t *mad,
		     unsigned int len)
{
	static uint32_t psn;
	struct packet p;

	packet_begin(&p, from, &e.b.gid);
	add_headers(&p, psn++ & 0xffffff);
	packet_add(&p, mad, len);
	packet_end(&p);
	packet_send(fd, &p);
}

static void request(unsigned int n, const union ibv_gid *from)
{
	uint8_t mad[MAD_LEN] = {
		[0] = BASE_VERSION, [1] = PERF_MGMT, [2] = 1,
		[3] = n % 2 ? SET : GET,
		[15] = n, [17] = CLASS_PORT_INFO,
	};

	datagram(from, mad, sizeof(mad));
}

static void connection(unsigned int n, const union ibv_gid *from)
{
	uint8_t mad[MAD_LEN] = {
		[0] = BASE_VERSION, [1] = COMM_MGMT, [2] = 2, [3] = SEND,
		[14] = n >> 8, [15] = n, [17] = CONNECT_REQUEST,
		[26] = n >> 8, [27] = n,
	};

	datagram(from, mad, sizeof(mad));
}

static union ibv_gid nobody(unsigned int n)
{
	union ibv_gid from = e.a.gid;

	from.raw[15] = 70 + n % 100;
	return from;
}

/* Return: true if @n requests have arrived. */
static bool arrive(const struct hwstats *before, struct hwstats *after, uint64_t n)
{
	struct deadline end = deadline_in(ARRIVAL_MS);

	do {
		hwstats_read(after, e.b.name);
		if (hwstats_growth(before, after, "rcvd_pkts") >= n)
			return true;
	} while (!is_past(&end));
	return false;
}

static bool are_not_answered(void)
{
	struct hwstats before, after;
	uint64_t sent;
	unsigned int i;

	hwstats_read(&before, e.b.name);
	for (i = 0; i < REQUESTS; i++)
		request(i, &e.a.gid);
	CHECK(arrive(&before, &after, REQUESTS), "they do not arrive");
	usleep(ANSWER_MS * 1000);
	hwstats_read(&after, e.b.name);
	sent = hwstats_growth(&before, &after, "sent_pkts");
	CHECK(!sent, "%llu answers", (unsigned long long)sent);
	return true;
}

/* Wrong lengths, and a version that does not exist */
static void send_malformed(unsigned int n)
{
	uint8_t bytes[2 * MAD_LEN] = { [0] = BASE_VERSION, [1] = PERF_MGMT };
	unsigned int len = n * 4;

	if (len == MAD_LEN)
		bytes[0]++;
	datagram(&e.a.gid, bytes, len);
}

/* QP 1 goes on: it takes correct datagrams and drops the others. */
static bool are_thrown_away(void)
{
	enum { MALFORMED = 2 * MAD_LEN / 4 };
	struct hwstats before, after;
	unsigned int i;

	hwstats_read(&before, e.b.name);
	for (i = 0; i < MALFORMED; i++)
		send_malformed(i);
	for (i = 0; i < REQUESTS; i++)
		request(i, &e.a.gid);
	CHECK(arrive(&before, &after, MALFORMED + REQUESTS),
	      "they do not arrive");
	CHECK(hwstats_growth(&before, &after, "rdma_recvs") == REQUESTS,
	      "%llu datagrams were taken",
	      (unsigned long long)hwstats_growth(&before, &after, "rdma_recvs"));
	CHECK(hwstats_growth(&before, &after, "rx_drop_protocol") == MALFORMED,
	      "%llu were thrown away",
	      (unsigned long long)hwstats_growth(&before, &after,
						 "rx_drop_protocol"));
	return true;
}

/* Half of the requests seem to come from the peer, which has a neighbour entry. */
static void flood_by_class(unsigned int n)
{
	union ibv_gid from = n / 2 % 2 ? nobody(n) : e.a.gid;

	request(n, &from);
}

static void flood_by_connection(unsigned int n)
{
	union ibv_gid from = nobody(n);

	connection(n, &from);
}

static void flood(const char *what)
{
	bool connects = !strcmp(what, "connections");
	unsigned int n;

	signal(SIGTERM, stop);
	puts("ready");
	fflush(stdout);
	for (n = 0; !enough; n++) {
		if (connects)
			flood_by_connection(n);
		else
			flood_by_class(n);
		usleep(100);
	}
}

int main(int argc, char **argv)
{
	ends_open(&e, argc, argv);
	end_enter(&e.a);
	fd = packet_socket(e.ipv6);
	if (getenv("FLOOD")) {
		flood(getenv("FLOOD"));
		return 0;
	}
	tap_plan(2);
	tap_result(are_not_answered(), "requests that nobody serves");
	tap_result(are_thrown_away(), "datagrams of other lengths and versions");
	close(fd);
	ends_close(&e);
	return tap_done();
}
