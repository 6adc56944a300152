// SPDX-License-Identifier: GPL-2.0-only
/*
 * A datagram to a multicast group reaches each attached QP, with the right bytes, and
 * no other QP.
 *
 * With HOLD=1, the program only attaches a QP of end b and waits until it is killed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define GRH		40u
#define GROUP_QPN	0xffffffu
#define SLOT		8192u	/* bytes of a receiver's memory for each receive */

/* Two receivers of end b's device; the last one is of the sender's device. */
enum { NUM_RECEIVERS = 3 };

static const struct qp_conf conf = { .type = IBV_QPT_UD };

static struct ends e;
static struct end rx[NUM_RECEIVERS];
static union ibv_gid group;
static struct ibv_ah *ah;

static void set_group(void)
{
	const char *addr = e.ipv6 ? "ff15::77:1" : "::ffff:239.77.0.1";

	if (inet_pton(AF_INET6, addr, group.raw) != 1)
		tap_bail("%s is no address", addr);
}

/* Select one of many groups. */
static void set_group_number(unsigned int i)
{
	group.raw[13] = 128;
	group.raw[14] = i >> 8;
	group.raw[15] = i;
}

/* Return: another end on the same device and memory. */
static struct end copy(const struct end *like)
{
	struct end end = *like;

	end.ah = NULL;
	end.qp = NULL;
	return end;
}

static void open_receiver(struct end *end, const struct end *like)
{
	*end = copy(like);
	end_create_cqs(end, 128);
	end_create_qp(end, &conf, NULL);
	if (end_to_init(end, &conf) || end_to_rtr(end, &e.a, &conf) ||
	    end_to_rts(end, &conf))
		tap_bail("a receiver does not start");
}

static void close_receiver(struct end *end)
{
	end_destroy_qp(end);
	end_destroy_cqs(end);
}

static int attach(struct end *end)
{
	return ibv_attach_mcast(end->qp, &group, 0);
}

static int detach(struct end *end)
{
	return ibv_detach_mcast(end->qp, &group, 0);
}

static uint8_t *place(const struct end *end, unsigned int i)
{
	/* End b's receivers share its memory. */
	return msg(end) + (1 + i + 32 * (end - rx)) * SLOT;
}

static void post_place(struct end *end, unsigned int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)place(end, i),
		.length = SLOT,
		.lkey = end->mr->lkey,
	};

	memset(place(end, i), POISON, SLOT);
	if (post_recv(end, i, &sge, 1))
		tap_bail("post_recv");
}

static struct ibv_send_wr datagram(struct ibv_sge *sge)
{
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND_WITH_IMM, sge);

	wr.imm_data = htonl(0x12345678);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = GROUP_QPN;
	wr.wr.ud.remote_qkey = UD_QKEY;
	return wr;
}

static bool send_to_group(uint32_t size)
{
	struct ibv_sge sge = end_sge(&e.a, size);
	struct ibv_send_wr wr = datagram(&sge);

	CHECK(!post(&e.a, &wr), "post_send");
	return expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS);
}

/*
 * The GRH ends with the destination address, the group's. Zeros precede an IPv4 header,
 * which has half the length.
 */
static bool is_grh_right(const uint8_t *grh)
{
	static const uint8_t zeros[GRH / 2];
	const uint8_t *dest = group.raw;
	unsigned int len = e.ipv6 ? 16 : 4;

	if (!e.ipv6 && memcmp(grh, zeros, sizeof(zeros)))
		return false;
	return !memcmp(grh + GRH - len, dest + 16 - len, len) &&
	       grh[e.ipv6 ? 0 : 20] >> 4 == (e.ipv6 ? 6 : 4);
}

static bool expect_message(struct end *end, unsigned int i, const uint8_t *data,
			   uint32_t size)
{
	struct ibv_wc wc;

	CHECK(poll_one(end->rcq, &wc), "receiver %d: nothing",
	      (int)(end - rx));
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == i,
	      "status %d, wr_id %d, not %u", wc.status, (int)wc.wr_id, i);
	CHECK(wc.byte_len == GRH + size, "byte_len %u", wc.byte_len);
	CHECK(wc.wc_flags & IBV_WC_GRH && wc.wc_flags & IBV_WC_WITH_IMM &&
	      wc.imm_data == htonl(0x12345678), "flags or immediate data");
	CHECK(wc.src_qp == e.a.qp->qp_num, "src_qp %x", wc.src_qp);
	CHECK(is_grh_right(place(end, i)), "GRH");
	CHECK(!memcmp(place(end, i) + GRH, data, size), "data, %u bytes", size);
	CHECK(place(end, i)[GRH + size] == POISON, "beyond the end");
	return true;
}

static bool attach_all(void)
{
	int i, err;

	for (i = 0; i < NUM_RECEIVERS; i++) {
		err = attach(&rx[i]);
		CHECK(!err, "attach: %s", strerror(err));
	}
	return true;
}

static bool detach_all(void)
{
	int i, err;

	for (i = 0; i < NUM_RECEIVERS; i++) {
		err = detach(&rx[i]);
		CHECK(!err, "detach: %s", strerror(err));
	}
	return true;
}

static bool to_all(void)
{
	uint32_t sizes[] = { 0, 1, 3, 4, 100, mtu_bytes(e.a.active_mtu) };
	unsigned int i, j;

	if (!attach_all())
		return false;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fill(msg(&e.a), sizes[i]);
		for (j = 0; j < NUM_RECEIVERS; j++)
			post_place(&rx[j], i);
		if (!send_to_group(sizes[i]))
			return false;
		for (j = 0; j < NUM_RECEIVERS; j++)
			if (!expect_message(&rx[j], i, msg(&e.a), sizes[i]))
				return false;
	}
	for (j = 0; j < NUM_RECEIVERS; j++)
		CHECK(expect_none(rx[j].rcq), "receiver %u: one more", j);
	return detach_all();
}

/* Many datagrams in one list arrive in order and completely. */
static bool many(void)
{
	struct ibv_send_wr wr[16];
	struct ibv_sge sge[16];
	unsigned int i, j;

	if (!attach_all())
		return false;
	fill(msg(&e.a), 512);
	for (i = 0; i < ARRAY_SIZE(wr); i++) {
		for (j = 0; j < NUM_RECEIVERS; j++)
			post_place(&rx[j], i);
		sge[i] = end_sge(&e.a, 16 * (i + 1));
		wr[i] = datagram(&sge[i]);
		wr[i].wr_id = i;
		wr[i].next = i + 1 < ARRAY_SIZE(wr) ? &wr[i + 1] : NULL;
	}
	CHECK(!post(&e.a, wr), "post_send");
	for (i = 0; i < ARRAY_SIZE(wr); i++) {
		if (!expect_wc(e.a.scq, i, IBV_WC_SUCCESS))
			return false;
		for (j = 0; j < NUM_RECEIVERS; j++)
			if (!expect_message(&rx[j], i, msg(&e.a),
					    16 * (i + 1)))
				return false;
	}
	return detach_all();
}

/* Receivers 0 and 2 still receive after receiver 1 has been detached. */
static bool detached(void)
{
	int i;

	if (!attach_all())
		return false;
	CHECK(!detach(&rx[1]), "detach");
	fill(msg(&e.a), 64);
	for (i = 0; i < NUM_RECEIVERS; i++)
		post_place(&rx[i], 0);
	if (!send_to_group(64) || !expect_message(&rx[0], 0, msg(&e.a), 64) ||
	    !expect_message(&rx[2], 0, msg(&e.a), 64))
		return false;
	CHECK(expect_none(rx[1].rcq), "received, though detached");
	CHECK(!attach(&rx[1]), "attach again");
	post_place(&rx[0], 1);
	post_place(&rx[2], 1);
	if (!send_to_group(64) || !expect_message(&rx[1], 0, msg(&e.a), 64) ||
	    !expect_message(&rx[0], 1, msg(&e.a), 64) ||
	    !expect_message(&rx[2], 1, msg(&e.a), 64))
		return false;
	return detach_all();
}

/* Sends to a group without members succeed. */
static bool nobody(void)
{
	post_place(&rx[0], 0);
	if (!send_to_group(64))
		return false;
	CHECK(expect_none(rx[0].rcq), "received, though not attached");
	/* Consume the receive again, for the next tests. */
	CHECK(!attach(&rx[0]), "attach");
	if (!send_to_group(64) || !expect_message(&rx[0], 0, msg(&e.a), 64))
		return false;
	CHECK(!detach(&rx[0]), "detach");
	return true;
}

static bool set_qkey(struct end *end, uint32_t qkey)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .qkey = qkey };

	return !ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_QKEY);
}

/* A wrong Q_Key or a missing receive of one member does not affect the others. */
static bool others(void)
{
	if (!attach_all())
		return false;
	CHECK(set_qkey(&rx[0], UD_QKEY + 1), "modify_qp");
	post_place(&rx[0], 0);
	post_place(&rx[2], 0);
	if (!send_to_group(64) || !expect_message(&rx[2], 0, msg(&e.a), 64))
		return false;
	CHECK(expect_none(rx[0].rcq), "received, with another Q key");
	CHECK(expect_none(rx[1].rcq), "received, without a receive");
	CHECK(set_qkey(&rx[0], UD_QKEY), "modify_qp");
	post_place(&rx[1], 0);
	post_place(&rx[2], 1);
	if (!send_to_group(64) || !expect_message(&rx[0], 0, msg(&e.a), 64) ||
	    !expect_message(&rx[1], 0, msg(&e.a), 64) ||
	    !expect_message(&rx[2], 1, msg(&e.a), 64))
		return false;
	return detach_all();
}

/* No QP gets a datagram to the group's address with the number of a QP. */
static bool misdirected(void)
{
	struct ibv_sge sge = end_sge(&e.a, 64);
	struct ibv_send_wr wr = datagram(&sge);

	CHECK(!attach(&rx[0]), "attach");
	wr.wr.ud.remote_qpn = rx[0].qp->qp_num;
	post_place(&rx[0], 0);
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS))
		return false;
	CHECK(expect_none(rx[0].rcq), "received by its number");
	if (!send_to_group(64) || !expect_message(&rx[0], 0, msg(&e.a), 64))
		return false;
	CHECK(!detach(&rx[0]), "detach");
	return true;
}

/* Attachments with different LIDs to one group need as many detachments. */
static bool lids(void)
{
	CHECK(!attach(&rx[0]) && !attach(&rx[0]), "attach twice");
	CHECK(!ibv_attach_mcast(rx[0].qp, &group, 0xc001), "attach by a LID");
	CHECK(!detach(&rx[0]), "detach");
	post_place(&rx[0], 0);
	fill(msg(&e.a), 64);
	if (!send_to_group(64) || !expect_message(&rx[0], 0, msg(&e.a), 64))
		return false;
	CHECK(expect_none(rx[0].rcq), "twice");
	CHECK(!ibv_detach_mcast(rx[0].qp, &group, 0xc001), "detach by the LID");
	CHECK(detach(&rx[0]) == EINVAL, "detach once more");
	return true;
}

static bool refused(void)
{
	struct qp_conf rc = { .type = IBV_QPT_RC };
	union ibv_gid saved = group;
	struct end other = copy(&e.b);

	CHECK(detach(&rx[0]) == EINVAL, "detach of what is not attached");
	group = e.b.gid;
	CHECK(attach(&rx[0]) == EINVAL, "a GID that is no group's");
	group = saved;
	end_create_cqs(&other, 16);
	end_create_qp(&other, &rc, NULL);
	CHECK(attach(&other) == EINVAL, "an RC QP");
	close_receiver(&other);
	CHECK(!attach(&rx[0]), "attach");
	CHECK(ibv_destroy_qp(rx[0].qp), "an attached QP is destroyed");
	CHECK(!detach(&rx[0]), "detach");
	return true;
}

/* Return: @n QPs of end b, without receives. */
static struct end *open_many(int n)
{
	struct end *ends = calloc(n, sizeof(*ends));
	int i;

	for (i = 0; i < n; i++) {
		ends[i] = copy(&e.b);
		ends[i].rcq = rx[0].rcq;
		ends[i].scq = rx[0].scq;
		end_create_qp(&ends[i], &conf, NULL);
	}
	return ends;
}

static void close_many(struct end *ends, int n)
{
	while (n--)
		end_destroy_qp(&ends[n]);
	free(ends);
}

/*
 * Attach QPs, @n to each group, @most times or until an attachment is refused, and
 * detach all of them. Return: number of attachments.
 */
static int attach_until(struct end *ends, int n, int most, int *err)
{
	int i, taken = 0;

	for (*err = 0; taken < most; taken++) {
		set_group_number(taken / n);
		*err = attach(&ends[taken % n]);
		if (*err)
			break;
	}
	for (i = 0; i < taken; i++) {
		set_group_number(i / n);
		if (detach(&ends[i % n]))
			*err = EINVAL;
	}
	set_group();
	return taken;
}

/* With @n QPs in each group, the device takes exactly @limit attachments. */
static bool is_limit(int n, int limit)
{
	struct end *ends = open_many(n);
	int err, taken = attach_until(ends, n, limit + 1, &err);

	close_many(ends, n);
	CHECK(taken == limit && err == ENOMEM, "%d of %d: %s", taken, limit,
	      strerror(err));
	CHECK(!attach(&rx[0]) && !detach(&rx[0]), "again, afterwards");
	return true;
}

static bool limit_of_group(void)
{
	const struct ibv_device_attr *attr = &e.b.attr;
	int n = attr->max_mcast_qp_attach, err, taken;
	struct end *ends = open_many(n + 1);

	taken = attach_until(ends, n + 1, n + 1, &err);
	close_many(ends, n + 1);
	CHECK(taken == n && err == ENOMEM, "%d of %d: %s", taken, n,
	      strerror(err));
	return true;
}

/* Thousands of groups take a while on an emulated CPU. */
static bool limit_of_groups(void)
{
	if (e.quick)
		return true;
	return is_limit(1, e.b.attr.max_mcast_grp);
}

static bool limit_of_all(void)
{
	if (e.quick)
		return true;
	return is_limit(e.b.attr.max_mcast_qp_attach,
			e.b.attr.max_total_mcast_qp_attach);
}

static void open_all(void)
{
	struct ibv_ah_attr path = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = group, .sgid_index = e.a.gid_index },
	};
	int i;

	ends_connect(&e, &conf);
	path.grh.sgid_index = e.a.gid_index;
	ah = ibv_create_ah(e.a.pd, &path);
	if (!ah)
		tap_bail("no AH of a group: %s", strerror(errno));
	for (i = 0; i < NUM_RECEIVERS; i++)
		open_receiver(&rx[i], i + 1 < NUM_RECEIVERS ? &e.b : &e.a);
}

static void close_all(void)
{
	int i;

	for (i = 0; i < NUM_RECEIVERS; i++)
		close_receiver(&rx[i]);
	ibv_destroy_ah(ah);
	ends_disconnect(&e);
}

static void hold(void)
{
	int err = attach(&rx[0]);

	if (err)
		tap_bail("attach: %s", strerror(err));
	for (;;)
		pause();
}

static const struct {
	const char *name;
	bool (*run)(void);
} tests[] = {
	{ "to every QP that is attached", to_all },
	{ "many in one post", many },
	{ "a QP that was detached receives no more", detached },
	{ "nobody attached", nobody },
	{ "one that cannot receive does not harm others", others },
	{ "a QP's number at the group's address", misdirected },
	{ "attached by several LIDs", lids },
	{ "refused", refused },
	{ "limit of QPs in a group", limit_of_group },
	{ "limit of groups", limit_of_groups },
	{ "limit of QPs in all groups", limit_of_all },
};

int main(int argc, char **argv)
{
	unsigned int i;

	ends_open(&e, argc, argv);
	set_group();
	open_all();
	if (getenv("HOLD"))
		hold();
	tap_plan(ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		tap_result(tests[i].run(), "%s", tests[i].name);
	if (!tap.failed)
		close_all();
	ends_close(&e);
	return tap_done();
}
