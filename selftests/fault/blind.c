// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets from an attacker that pretends to be the peer but does not know the PSNs of the
 * connection, and guesses. Far PSNs must have no effect. A near PSN, which many guesses
 * would hit some day, is sent here on purpose. Such a packet may be kept until its turn.
 * It must neither end the connection nor slow it down, must not prevail when the peer
 * sends another packet with its PSN, and must not stay. Repeated requests and responses
 * are still recognized.
 */
#include <string.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/hwstats.h"
#include "../lib/shot.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

enum {
	SEND_MIDDLE	= 0x01,
	SEND_ONLY	= 0x04,
	SEND_ONLY_INV	= 0x17,
	WRITE_MIDDLE	= 0x07,
	WRITE_ONLY	= 0x0a,
	READ_REQUEST	= 0x0c,
	RESPONSE_MIDDLE	= 0x0e,
	RESPONSE_LAST	= 0x0f,
	RESPONSE_ONLY	= 0x10,
	ACK		= 0x11,
	ATOMIC_ACK	= 0x12,
	FETCH_ADD	= 0x14,
	PSNS		= 1 << 24,

	SIZE		= 64,
	LONG		= 12000,
	/* Beyond any window of the transport */
	FAR		= 5000,
	NEAR		= 100,
	MESSAGES	= 60,
	SETTLE_MS	= 5000,
	/* At most 16384 packets wait in all connections together, and 255 in one. */
	CONNECTIONS	= 70,
	WINDOW		= 255,
};

static struct ends e;
static int from_a, from_b;

/* ---------------------------------------------------------------- attack */

/* Send a forged packet in the name of the other end. */
static void fire(struct shot s)
{
	bool is_at_b = s.at == &e.b;

	s.from = is_at_b ? &e.a : &e.b;
	shoot(is_at_b ? from_a : from_b, &s);
}

static struct shot send_of(uint32_t psn)
{
	return (struct shot){
		.at = &e.b, .opcode = SEND_ONLY, .psn = psn, .length = SIZE,
	};
}

static struct ibv_qp_attr query(const struct end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(end->qp, &attr, IBV_QP_RQ_PSN | IBV_QP_SQ_PSN, &init))
		tap_bail("query_qp");
	return attr;
}

/* The PSN that an end expects next */
static uint32_t expected(const struct end *end)
{
	return query(end).rq_psn;
}

/* ---------------------------------------------------------------- accounts */

static struct hwstats before[2];

static void accounts_begin(void)
{
	hwstats_read(&before[0], e.a.name);
	hwstats_read(&before[1], e.b.name);
}

static uint64_t grown(const struct end *end, const char *counter)
{
	return hwstats_since(&before[end == &e.b], end->name, counter);
}

static bool grows_to(const struct end *end, const char *counter, uint64_t n)
{
	struct deadline until = deadline_in(SETTLE_MS);

	while (grown(end, counter) < n)
		if (is_past(&until))
			return false;
	return true;
}

/* Is the packet, which is ahead of its turn, kept? */
static bool is_kept(const struct shot *s)
{
	accounts_begin();
	fire(*s);
	CHECK(grows_to(s->at, "rx_ooo_kept", 1), "opcode %#x is not kept",
	      s->opcode);
	return true;
}

/* ---------------------------------------------------------------- the connection */

/* Receives of end b: each has memory of its own while it is posted. */
static unsigned int posted, taken;

static uint8_t *place_of(unsigned int receive)
{
	return msg(&e.b) + receive % 4 * SIZE;
}

static void post_receive(void)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)place_of(posted), .length = SIZE,
		.lkey = e.b.mr->lkey,
	};

	if (post_recv(&e.b, posted++, &sge, 1))
		tap_bail("post_recv");
}

static bool is_received(const uint8_t *data)
{
	unsigned int n = taken++;

	if (!expect_wc(e.b.rcq, n, IBV_WC_SUCCESS))
		return false;
	CHECK(!memcmp(place_of(n), data, SIZE), "the data differ");
	return true;
}

/* A message of end a arrives at end b unchanged, and both get completions. */
static bool message_arrives(void)
{
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	post_receive();
	fill(msg(&e.a), SIZE);
	CHECK(!post(&e.a, &wr), "post_send");
	return is_received(msg(&e.a)) &&
	       expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS);
}

static bool messages_arrive(unsigned int n)
{
	while (n--)
		if (!message_arrives())
			return false;
	return true;
}

/* Some messages were acknowledged without being sent again. */
static bool is_swift(unsigned int sent)
{
	uint64_t again = grown(&e.a, "loss_probes") +
			 grown(&e.a, "local_ack_timeout_err");

	CHECK(again < sent / 2, "%llu times in %u messages no answer came",
	      (unsigned long long)again, sent);
	return true;
}

static void connect_both(void)
{
	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	posted = 0;
	taken = 0;
}

/* ---------------------------------------------------------------- far */

static void shoot_far(unsigned int i)
{
	static const uint8_t opcodes[] = {
		SEND_ONLY, SEND_MIDDLE, WRITE_ONLY, WRITE_MIDDLE, READ_REQUEST,
		FETCH_ADD, SEND_ONLY_INV,
	};
	uint32_t step = (PSNS - 2 * FAR) / (8 * MESSAGES);
	struct shot s = send_of(expected(&e.b) + FAR + i * step);

	s.opcode = opcodes[i % ARRAY_SIZE(opcodes)];
	s.va = (uintptr_t)e.b.buf;
	fire(s);
}

static bool far_requests(void)
{
	unsigned int i;

	accounts_begin();
	for (i = 0; i < 8 * MESSAGES; i++) {
		shoot_far(i);
		if (i % 8 == 7 && !message_arrives())
			return false;
	}
	CHECK(!grown(&e.b, "rx_ooo_kept"), "what is far is kept");
	CHECK(grows_to(&e.b, "rx_drop_far", 4 * MESSAGES - 4),
	      "it is not counted");
	return is_swift(MESSAGES);
}

/* Nothing is outstanding, so any answer is ignored. */
static bool far_answers(void)
{
	static const uint8_t syndromes[] = {
		0x1f, 0x20, 0x60, 0x61, 0x62, 0x63, 0x64, 0x7f,
	};
	struct shot s = { .at = &e.a };
	unsigned int i, j;

	accounts_begin();
	for (i = 0; i < ARRAY_SIZE(syndromes); i++) {
		static const int distances[] = { -FAR, -1, 0, 1, FAR };

		for (j = 0; j < ARRAY_SIZE(distances); j++) {
			s.psn = query(&e.a).sq_psn + distances[j];
			s.syndrome = syndromes[i];
			s.opcode = ACK;
			fire(s);
			s.opcode = ATOMIC_ACK;
			fire(s);
			s.opcode = RESPONSE_ONLY;
			fire(s);
			if (!message_arrives())
				return false;
		}
	}
	CHECK(end_state(&e.a) == IBV_QPS_RTS, "the connection has ended");
	return true;
}

/* ---------------------------------------------------------------- near */

/* The peer gets its ACKs while a forged packet waits. */
static bool waiting_packet(void)
{
	struct shot s = send_of(expected(&e.b) + NEAR);

	return is_kept(&s) && messages_arrive(MESSAGES) && is_swift(MESSAGES);
}

/* A forged packet that waits for longer than a peer would is dropped. */
static bool aged_packet(void)
{
	struct shot s = send_of(expected(&e.b) + 1);

	if (!is_kept(&s))
		return false;
	CHECK(grows_to(&e.b, "rx_drop_ooo", 1), "it waits for ever");
	return messages_arrive(3);
}

/* When the peer sends another packet with the PSN of a kept one, both are dropped. */
static bool contradicted_packet(void)
{
	uint8_t truth[SIZE];
	struct shot s = send_of(expected(&e.b) + 1);

	memset(truth, 0x77, SIZE);
	if (!is_kept(&s))
		return false;
	s.payload = truth;
	fire(s);
	CHECK(grows_to(&e.b, "rx_drop_ooo", 2), "one of the two was kept");
	return messages_arrive(3);
}

/*
 * A packet that arrives twice unchanged is kept, unless it waits for too long on a slow
 * machine.
 */
static bool repeated_packet(void)
{
	struct shot due, s;
	uint8_t truth[SIZE] = { 0x77 };
	struct ibv_wc wc;
	int tries;

	for (tries = 0; tries < 20; tries++) {
		due = send_of(expected(&e.b));
		s = send_of(due.psn + 1);
		due.payload = truth;
		s.payload = truth;
		post_receive();
		post_receive();
		fire(s);
		fire(s);
		fire(due);
		if (!is_received(truth))
			return false;
		if (poll_within(e.b.rcq, &wc, QUIET_MS))
			return wc.status == IBV_WC_SUCCESS;
	}
	CHECK(false, "it is thrown away");
}

static const struct {
	const char *name;
	uint8_t opcode;
	uint32_t length;
	bool good_key;
} wrong[] = {
	{ "a SEND's Middle", SEND_MIDDLE, SIZE, false },
	{ "a WRITE's Middle", WRITE_MIDDLE, SIZE, false },
	{ "a SEND longer than the receive", SEND_ONLY, SIZE + 1, false },
	{ "a WRITE with a bad key", WRITE_ONLY, SIZE, false },
	{ "a READ with a bad key", READ_REQUEST, SIZE, false },
	{ "an atomic with a bad key", FETCH_ADD, 0, false },
	{ "an atomic on a misaligned address", FETCH_ADD, 0, true },
	{ "a SEND that invalidates a bad key", SEND_ONLY_INV, SIZE, false },
};

/* A kept packet that is invalid is dropped at its turn, and the QP goes on. */
static bool wrong_packet(unsigned int i)
{
	struct shot s = send_of(expected(&e.b) + 1);

	s.opcode = wrong[i].opcode;
	s.length = wrong[i].length;
	s.va = (uintptr_t)e.b.buf + 1;
	s.rkey = wrong[i].good_key ? e.b.mr->rkey : e.b.mr->rkey ^ 0x5a5a5a;
	/* One receive more than messages, for the forged packet */
	post_receive();
	return is_kept(&s) && messages_arrive(4);
}

/* A forged SEND waits and has no receive: the peer gets no RNR NAK. */
static bool unreceived_packet(void)
{
	struct shot s = send_of(expected(&e.b) + 1);
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	if (!is_kept(&s))
		return false;
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS))
		return false;
	CHECK(!grown(&e.b, "send_rnr_err"), "an RNR NAK was sent");
	return messages_arrive(3);
}

/* ---------------------------------------------------------------- repetition */

static bool takes_atomics(unsigned int depth)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };

	CHECK(!ibv_modify_qp(e.b.qp, &attr, IBV_QP_STATE), "to SQD");
	attr.max_dest_rd_atomic = depth;
	CHECK(!ibv_modify_qp(e.b.qp, &attr,
			     IBV_QP_STATE | IBV_QP_MAX_DEST_RD_ATOMIC),
	      "max_dest_rd_atomic %u", depth);
	return true;
}

/* A repeated atomic is answered again and not executed, also with a new depth. */
static bool repeated_atomic(void)
{
	struct shot s = {
		.at = &e.b, .opcode = FETCH_ADD, .psn = e.a.psn,
		.va = (uintptr_t)msg(&e.b), .rkey = e.b.mr->rkey,
	};
	static const unsigned int depths[] = { 64, 2, 0 };
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge);
	uint64_t value;
	unsigned int i;

	memset(msg(&e.b), 0, 8);
	wr.wr.atomic.compare_add = 1;
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS))
		return false;
	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		if (!takes_atomics(depths[i]))
			return false;
		accounts_begin();
		fire(s);
		CHECK(grows_to(&e.a, "rx_drop_stale", 1),
		      "max_dest_rd_atomic %u: no answer", depths[i]);
	}
	memcpy(&value, msg(&e.b), sizeof(value));
	CHECK(value == 1, "it was executed %llu times",
	      (unsigned long long)value);
	return true;
}

/* ---------------------------------------------------------------- responses */

static const struct qp_conf small = { .type = IBV_QPT_RC, .mtu = IBV_MTU_1024, .timeout = 18 };

/* Post a READ at end a while the peer is silent, for at most 8 s. */
static bool read_silent(uint32_t size)
{
	struct ibv_sge sge = end_sge(&e.a, size);
	struct ibv_send_wr wr;

	ends_disconnect(&e);
	ends_create(&e, &small);
	if (end_to_init(&e.a, &small) || end_to_init(&e.b, &small) ||
	    end_to_rtr(&e.a, &e.b, &small) || end_to_rts(&e.a, &small))
		tap_bail("modify_qp");
	wr = work(&e, IBV_WR_RDMA_READ, &sge);
	fill(msg(&e.b), size);
	CHECK(!post(&e.a, &wr), "post_send");
	return true;
}

/* Let the peer answer. Return: true if the READ brings the right data. */
static bool read_ends(uint32_t size)
{
	if (end_to_rtr(&e.b, &e.a, &small) || end_to_rts(&e.b, &small))
		tap_bail("modify_qp");
	if (!expect_wc(e.a.scq, IBV_WR_RDMA_READ, IBV_WC_SUCCESS))
		return false;
	CHECK(!memcmp(msg(&e.a), msg(&e.b), size), "the data differ");
	return true;
}

static bool ooo_response(uint8_t opcode, uint32_t length)
{
	struct shot s = { .at = &e.a, .opcode = opcode, .length = length };

	if (!read_silent(LONG))
		return false;
	s.psn = e.a.psn + 1;
	return is_kept(&s) && read_ends(LONG);
}

static bool ooo_response_of_another_length(void)
{
	return ooo_response(RESPONSE_MIDDLE, SIZE);
}

static bool ooo_response_of_an_atomic(void)
{
	return ooo_response(ATOMIC_ACK, 0);
}

/*
 * A response with the next PSN but a wrong opcode or length ends the QP. If the READ was
 * sent again meanwhile, and the response may answer its first copy, it is dropped.
 */
static bool wrong_response(uint8_t opcode, uint8_t syndrome, uint32_t size)
{
	struct shot s = {
		.at = &e.a, .opcode = opcode, .syndrome = syndrome,
		.length = size < 1024 ? size : 1024,
	};
	struct ibv_wc wc;

	if (!read_silent(size))
		return false;
	s.psn = e.a.psn;
	fire(s);
	if (!poll_within(e.a.scq, &wc, QUIET_MS))
		return read_ends(size);
	CHECK(wc.status == IBV_WC_BAD_RESP_ERR, "status %d", wc.status);
	return true;
}

static bool response_that_is_a_nak(void)
{
	return wrong_response(RESPONSE_ONLY, 0x60, SIZE);
}

static bool response_without_a_beginning(void)
{
	return wrong_response(RESPONSE_MIDDLE, 0, LONG);
}

static bool response_that_ends_too_soon(void)
{
	return wrong_response(RESPONSE_LAST, 0, LONG);
}

/* ---------------------------------------------------------------- the limit of all */

static struct ends others[CONNECTIONS];

static void shoot_window(void)
{
	uint32_t psn = expected(&e.b), i;

	for (i = 1; i <= WINDOW; i++) {
		struct shot s = send_of(psn + i);

		fire(s);
	}
}

/* An attack on many connections leaves room for packets of another one. */
static bool many_connections(void)
{
	struct ends own = e;
	unsigned int i;
	bool ok = true;

	for (i = 0; i < CONNECTIONS; i++) {
		connect_both();
		others[i] = e;
	}
	for (i = 0; i < CONNECTIONS; i++) {
		e = others[i];
		shoot_window();
	}
	e = own;
	for (i = 0; ok && i < 8; i++) {
		struct shot s = send_of(expected(&e.b) + 1 + i);

		ok = is_kept(&s);
	}
	for (i = 0; i < CONNECTIONS; i++) {
		e = others[i];
		ok = ok && messages_arrive(2);
		ends_disconnect(&e);
	}
	e = own;
	return ok;
}

/* ---------------------------------------------------------------- */

static const struct {
	const char *name;
	bool (*test)(void);
} tests[] = {
	{ "requests that are far ahead or behind", far_requests },
	{ "answers to nothing", far_answers },
	{ "an out-of-order request does not hold up ACKs", waiting_packet },
	{ "an out-of-order request does not wait for ever", aged_packet },
	{ "an out-of-order request that is contradicted", contradicted_packet },
	{ "an out-of-order request that comes twice", repeated_packet },
	{ "an out-of-order SEND without a receive", unreceived_packet },
	{ "an atomic that comes again, when its QP has changed",
	  repeated_atomic },
	{ "a READ response of another length, out of order",
	  ooo_response_of_another_length },
	{ "an atomic's response to a READ, out of order", ooo_response_of_an_atomic },
	{ "a READ response that is a NAK", response_that_is_a_nak },
	{ "a READ response that begins in the middle",
	  response_without_a_beginning },
	{ "a READ response that ends too soon", response_that_ends_too_soon },
	{ "the limit of all", many_connections },
};

static void run(bool (*test)(void), const char *name)
{
	connect_both();
	tap_result(test(), "%s", name);
	ends_disconnect(&e);
}

int main(int argc, char **argv)
{
	unsigned int i;

	ends_open(&e, argc, argv);
	end_enter(&e.a);
	from_a = packet_socket(e.ipv6);
	end_enter(&e.b);
	from_b = packet_socket(e.ipv6);
	tap_plan(ARRAY_SIZE(tests) + ARRAY_SIZE(wrong));
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		run(tests[i].test, tests[i].name);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		connect_both();
		tap_result(wrong_packet(i), "%s, out of order", wrong[i].name);
		ends_disconnect(&e);
	}
	close(from_a);
	close(from_b);
	ends_close(&e);
	return tap_done();
}
