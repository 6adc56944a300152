// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address vectors. Each value is truncated to the width of its field on the wire. The
 * 40 bytes in front of each received datagram show the values sent.
 *
 * CASE=send only sends one datagram and one WRITE, with the values of CLASS, LABEL and
 * SL in the environment, for a capture.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "../lib/cases.h"
#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define GRH_BYTES	40u
#define IPV4_AT		20u	/* offset in the 40 bytes */
#define SIZE		8u
#define LABEL_BITS	0xfffffu
/* Flags of completions of datagrams without names in libibverbs */
#define SL_UDP_IPV6	9
#define SL_UDP_IPV4	10

static struct ends e;

/* Fields of the IP header of a received datagram */
struct fields {
	unsigned int version, class, label;
};

static uint8_t *grh_of(unsigned int n)
{
	return msg(&e.b) + n * (GRH_BYTES + SIZE);
}

static struct fields read_fields(unsigned int n)
{
	const uint8_t *grh = grh_of(n), *v4 = grh + IPV4_AT;
	uint32_t first;

	if (!e.ipv6)
		return (struct fields){ .version = v4[0] >> 4, .class = v4[1] };
	memcpy(&first, grh, sizeof(first));
	first = ntohl(first);
	return (struct fields){ .version = first >> 28,
				.class = first >> 20 & 0xff,
				.label = first & LABEL_BITS };
}

static struct ibv_ah_attr path(unsigned int class, uint32_t label)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.dgid = e.b.gid,
			.sgid_index = e.a.gid_index,
			.traffic_class = class,
			.flow_label = label,
			.hop_limit = 64,
		},
	};
}

static bool becomes_ah(struct ibv_ah **ah, struct ibv_ah_attr attr)
{
	*ah = ibv_create_ah(e.a.pd, &attr);
	CHECK(*ah, "create_ah: %s", strerror(errno));
	return true;
}

static void receive_one(unsigned int n)
{
	struct ibv_sge sge = { .addr = (uintptr_t)grh_of(n),
			       .length = GRH_BYTES + SIZE,
			       .lkey = e.b.mr->lkey };

	if (post_recv(&e.b, n, &sge, 1))
		tap_bail("post_recv");
}

/* Send one datagram by each AH, in one list. Each arrives with the values of its AH. */
static bool go_by(struct ibv_ah *const *ahs, unsigned int n)
{
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wrs[4], *bad;
	unsigned int i;

	for (i = 0; i < n; i++) {
		receive_one(i);
		wrs[i] = work(&e, IBV_WR_SEND, &sge);
		wrs[i].wr.ud.ah = ahs[i];
		wrs[i].next = i + 1 < n ? &wrs[i + 1] : NULL;
	}
	CHECK(!ibv_post_send(e.a.qp, wrs, &bad), "post_send");
	for (i = 0; i < n; i++)
		if (!expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS) ||
		    !expect_wc(e.b.rcq, i, IBV_WC_SUCCESS))
			return false;
	return true;
}

static bool are(unsigned int n, unsigned int class, unsigned int label)
{
	struct fields got = read_fields(n);

	CHECK(got.version == (e.ipv6 ? 6 : 4) && got.class == class &&
	      got.label == (e.ipv6 ? label : 0),
	      "version %u, class %#x, label %#x", got.version, got.class,
	      got.label);
	return true;
}

/* A flow label of 32 ones is truncated to 20 bits and changes no other field. */
static bool datagram(void)
{
	static const struct {
		uint32_t class, label;
	} tests[] = {
		{ 0x00, ~0u },
		{ 0x00, ~LABEL_BITS },
		{ 0x68, 0x90012345 },
		{ 0xfc, 0x2000aaaa },
	};
	struct ibv_ah *ah;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (!becomes_ah(&ah, path(tests[i].class, tests[i].label)) ||
		    !go_by(&ah, 1) ||
		    !are(0, tests[i].class, tests[i].label & LABEL_BITS))
			return false;
		CHECK(!ibv_destroy_ah(ah), "destroy_ah");
	}
	return true;
}

/* Datagrams in one list keep the values of their AHs. */
static bool together(void)
{
	struct ibv_ah *ahs[4];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ahs); i++)
		if (!becomes_ah(&ahs[i], path(i * 0x20, 7)))
			return false;
	if (!go_by(ahs, ARRAY_SIZE(ahs)))
		return false;
	for (i = 0; i < ARRAY_SIZE(ahs); i++) {
		if (!are(i, i * 0x20, 7))
			return false;
		CHECK(!ibv_destroy_ah(ahs[i]), "destroy_ah");
	}
	return true;
}

/* The sl of a completion tells IPv4 from IPv6, like ConnectX's. UCX reads it. */
static bool kind_of_packet(void)
{
	unsigned int sl = e.ipv6 ? SL_UDP_IPV6 : SL_UDP_IPV4;
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);
	struct ibv_wc wc;

	receive_one(0);
	CHECK(!post(&e.a, &wr), "post_send");
	CHECK(poll_one(e.b.rcq, &wc) && wc.status == IBV_WC_SUCCESS,
	      "no completion");
	CHECK(wc.sl == sl, "sl is %u, not %u", wc.sl, sl);
	return expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS);
}

/* An AH made from the completion has this value as its SL, and works. */
static bool answer(void)
{
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge), *bad;
	struct ibv_wc wc;
	struct ibv_ah *ah;

	receive_one(0);
	receive(&e.a, 1, GRH_BYTES + SIZE);
	CHECK(!post(&e.a, &wr), "post_send");
	CHECK(poll_one(e.b.rcq, &wc) && wc.status == IBV_WC_SUCCESS,
	      "no completion");
	ah = ibv_create_ah_from_wc(e.b.pd, &wc, (void *)grh_of(0), 1);
	CHECK(ah, "create_ah_from_wc: %s", strerror(errno));
	sge = end_sge(&e.b, SIZE);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = wc.src_qp;
	CHECK(!ibv_post_send(e.b.qp, &wr, &bad), "post_send of b");
	if (!expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS) ||
	    !expect_wc(e.b.scq, IBV_WR_SEND, IBV_WC_SUCCESS) ||
	    !expect_wc(e.a.rcq, 1, IBV_WC_SUCCESS))
		return false;
	CHECK(!ibv_destroy_ah(ah), "destroy_ah");
	return true;
}

/* Connect a QP with @path at end a. */
static bool connect_by(struct ibv_ah_attr path, struct qp_conf *conf)
{
	struct ibv_qp_attr attr;
	int mask;

	ends_create(&e, conf);
	end_connect(&e.b, &e.a, conf);
	mask = attr_rtr(&attr, conf, &e.a, &e.b);
	attr.ah_attr = path;
	CHECK(!end_to_init(&e.a, conf) &&
	      !ibv_modify_qp(e.a.qp, &attr, mask) &&
	      !end_to_rts(&e.a, conf), "a does not connect");
	return true;
}

static bool connected(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (!connect_by(path(0, ~0u), &conf) || !write_arrives(&e, 6000))
		return false;
	CHECK(!ibv_query_qp(e.a.qp, &attr, IBV_QP_AV, &init), "query_qp");
	CHECK(attr.ah_attr.grh.flow_label == LABEL_BITS,
	      "the QP says it has the flow label %#x",
	      attr.ah_attr.grh.flow_label);
	return true;
}

static unsigned int from_env(const char *name)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 0) : 0;
}

static bool send_datagram(const struct ibv_ah_attr *attr)
{
	struct qp_conf conf = { .type = IBV_QPT_UD };
	struct ibv_ah *ah;
	bool ok;

	ends_connect(&e, &conf);
	ok = becomes_ah(&ah, *attr) && go_by(&ah, 1);
	ibv_destroy_ah(ah);
	ends_disconnect(&e);
	return ok;
}

static bool send_write(const struct ibv_ah_attr *attr)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };
	bool ok = connect_by(*attr, &conf) && write_arrives(&e, SIZE);

	ends_disconnect(&e);
	return ok;
}

static int send_both(void)
{
	struct ibv_ah_attr attr = path(from_env("CLASS"), from_env("LABEL"));

	attr.sl = from_env("SL");
	tap_plan(2);
	tap_result(send_datagram(&attr), "a datagram");
	tap_result(send_write(&attr), "a WRITE");
	return tap_done();
}

static const struct {
	const char *name;
	bool (*test)(void);
	enum ibv_qp_type type;	/* RC: the test connects */
} tests[] = {
	{ "UD: fields are of their width", datagram, IBV_QPT_UD },
	{ "UD: each datagram by its own AH", together, IBV_QPT_UD },
	{ "UD: the kind of packet in wc.sl", kind_of_packet, IBV_QPT_UD },
	{ "UD: an AH of a completion", answer, IBV_QPT_UD },
	{ "RC: fields are of their width", connected, IBV_QPT_RC },
};

static int check_all(void)
{
	size_t i;

	tap_plan(ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		struct qp_conf conf = { .type = IBV_QPT_UD };

		if (tests[i].type == IBV_QPT_UD)
			ends_connect(&e, &conf);
		tap_result(tests[i].test(), "%s", tests[i].name);
		ends_disconnect(&e);
	}
	return tap_done();
}

int main(int argc, char **argv)
{
	static const struct named_case cases[] = {
		{ "all", check_all },
		{ "send", send_both },
		{}
	};
	int rc;

	ends_open(&e, argc, argv);
	rc = case_run(cases);
	ends_close(&e);
	return rc;
}
