// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation that the kernel makes for a verb and for a message, and many of those
 * for a new device, fails once (/proc/thread-self/fail-nth). The verb then succeeds, or
 * fails and leaves nothing behind; the message arrives in any case.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

enum { MOST = 1 << 20, SIZE = 9000 };

static struct ends e;
static int nth_fd;

/* Objects that the steps create */
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr, *odp;
static struct ibv_mw *mw;
static struct ibv_ah *ah;
static struct ibv_qp *qp;
static uint8_t memory[1 << 16] __attribute__((aligned(4096)));

/* ---------------------------------------------------------------- steps */

static bool make_pd(void)
{
	pd = ibv_alloc_pd(e.a.ctx);
	return pd;
}

static bool end_pd(void)
{
	return !ibv_dealloc_pd(pd);
}

static bool make_cq(void)
{
	cq = ibv_create_cq(e.a.ctx, 100, NULL, NULL, 0);
	return cq;
}

static bool end_cq(void)
{
	return !ibv_destroy_cq(cq);
}

static bool resize_cq(void)
{
	static int cqe = 100;

	cqe = cqe == 100 ? 500 : 100;
	return !ibv_resize_cq(cq, cqe);
}

static bool nothing(void)
{
	return true;
}

static bool make_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { 100, 4, 0 } };

	srq = ibv_create_srq(pd, &init);
	return srq;
}

static bool end_srq(void)
{
	return !ibv_destroy_srq(srq);
}

static bool make_mr(void)
{
	mr = ibv_reg_mr(pd, memory, sizeof(memory), ALL_ACCESS);
	return mr;
}

static bool end_mr(void)
{
	return !ibv_dereg_mr(mr);
}

static bool make_odp(void)
{
	if (!pages_on_demand(&e.a))
		return true;
	odp = ibv_reg_mr(pd, memory, sizeof(memory), ON_DEMAND);
	return odp;
}

static bool end_odp(void)
{
	bool good = !odp || !ibv_dereg_mr(odp);

	odp = NULL;
	return good;
}

static bool make_mw(void)
{
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	return mw;
}

static bool end_mw(void)
{
	return !ibv_dealloc_mw(mw);
}

static bool make_ah(void)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = e.b.gid, .sgid_index = e.a.gid_index },
	};

	ah = ibv_create_ah(pd, &attr);
	return ah;
}

static bool end_ah(void)
{
	return !ibv_destroy_ah(ah);
}

static bool make_qp_of(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = type,
		.cap = { 10, 10, 2, 2, 0 },
	};

	qp = ibv_create_qp(pd, &init);
	return qp;
}

static bool make_rc(void)
{
	return make_qp_of(IBV_QPT_RC);
}

static bool make_ud(void)
{
	return make_qp_of(IBV_QPT_UD);
}

static bool end_qp(void)
{
	return !ibv_destroy_qp(qp);
}

static const union ibv_gid group = {
	.raw = { [10] = 0xff, [11] = 0xff, [12] = 239, [15] = 7 },
};

static bool join(void)
{
	return !ibv_attach_mcast(qp, &group, 0);
}

static bool leave(void)
{
	return !ibv_detach_mcast(qp, &group, 0);
}

static bool reset_a(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	return !ibv_modify_qp(e.a.qp, &attr, IBV_QP_STATE);
}

/* The last try may have left the QP in any state. */
static bool connect_a(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };

	return reset_a() && !end_to_init(&e.a, &conf) &&
	       !end_to_rtr(&e.a, &e.b, &conf) && !end_to_rts(&e.a, &conf);
}

static bool create_ends(void)
{
	ends_create(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	return true;
}

static bool connect_b(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };

	return !end_to_init(&e.b, &conf) && !end_to_rtr(&e.b, &e.a, &conf) &&
	       !end_to_rts(&e.b, &conf);
}

/*
 * A lost packet is sent again, without an error. If the system call fails, the request is
 * in the ring already, and another doorbell has it sent.
 */
static bool write_message(void)
{
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	fill(msg(&e.a), SIZE);
	if (post(&e.a, &wr))
		CHECK(!uverbs_doorbell(e.a.qp), "the doorbell fails");
	return expect_wc(e.a.scq, wr.wr_id, IBV_WC_SUCCESS) &&
	       !memcmp(msg(&e.a), msg(&e.b), SIZE);
}

/* ---------------------------------------------------------------- devices */

struct newlink {
	struct nlmsghdr nlh;
	uint8_t attrs[256];
};

static void add_string(struct newlink *m, uint16_t type, const char *value)
{
	struct nlattr *attr = (void *)m + NLMSG_ALIGN(m->nlh.nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + strlen(value) + 1;
	memcpy((char *)attr + NLA_HDRLEN, value, strlen(value) + 1);
	m->nlh.nlmsg_len = NLMSG_ALIGN(m->nlh.nlmsg_len) +
			   NLA_ALIGN(attr->nla_len);
}

/* Return: error number of the kernel's answer, or 0. */
static int ask(const struct newlink *m)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA), err = EIO;
	struct {
		struct nlmsghdr nlh;
		struct nlmsgerr err;
		uint8_t rest[512];
	} answer;

	if (fd < 0)
		return errno;
	if (send(fd, m, m->nlh.nlmsg_len, 0) > 0 &&
	    recv(fd, &answer, sizeof(answer), MSG_DONTWAIT) > 0 &&
	    answer.nlh.nlmsg_type == NLMSG_ERROR)
		err = -answer.err.error;
	close(fd);
	return err;
}

/*
 * rdma link add vtn type verve netdev $NETDEV. The allocation of the answer may fail as
 * well, so success is that the device exists.
 */
static bool make_link(void)
{
	struct newlink m = {
		.nlh = {
			.nlmsg_len = NLMSG_HDRLEN,
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
						       RDMA_NLDEV_CMD_NEWLINK),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
	};

	add_string(&m, RDMA_NLDEV_ATTR_DEV_NAME, "vtn");
	add_string(&m, RDMA_NLDEV_ATTR_LINK_TYPE, "verve");
	add_string(&m, RDMA_NLDEV_ATTR_NDEV_NAME, getenv("NETDEV") ?: "vc");
	ask(&m);
	return !access("/sys/class/infiniband/vtn", F_OK) ||
	       !access("/proc/1/root/sys/class/infiniband/vtn", F_OK);
}

static bool end_link(void)
{
	return !system("rdma link delete vtn");
}

/* ---------------------------------------------------------------- failing */

static void fail_nth(unsigned int n)
{
	char number[16];
	int len = snprintf(number, sizeof(number), "%u", n);

	if (pwrite(nth_fd, number, len, 0) != len)
		tap_bail("fail-nth: %s", strerror(errno));
}

/* Return: true if an allocation has failed; stops the failing. */
static bool has_failed(void)
{
	char number[16] = "";

	if (pread(nth_fd, number, sizeof(number) - 1, 0) <= 0)
		tap_bail("fail-nth: %s", strerror(errno));
	fail_nth(0);
	return !atoi(number);
}

struct step {
	const char *name;
	bool (*run)(void);
	bool (*undo)(void);
	int how;
};

enum {
	PLAIN	= 1,	/* no allocation fails */
	MUST	= 2,	/* it succeeds, whichever allocation fails */
	LONG	= 4,	/* similar allocations are many: skip more and more of them */
};

/* The number of the allocation to fail after @n */
static unsigned int next(const struct step *s, unsigned int n)
{
	if (!(s->how & LONG))
		return n + 1;
	return e.quick ? n + 23 + n / 100 : n + 1 + n / 1000;
}

static bool try_all(const struct step *s)
{
	unsigned int n, failed = 0;

	if (s->how & PLAIN)
		return s->run();
	for (n = 1; ; n = next(s, n)) {
		bool good, hit;

		CHECK(n < MOST, "it needs more than %u allocations", MOST);
		fail_nth(n);
		good = s->run();
		hit = has_failed();
		CHECK(good || (hit && !(s->how & MUST)), "it fails at %u", n);
		failed += !good;
		if (!hit)
			break;
		CHECK(!good || s->undo(), "it is not undone at %u", n);
	}
	tap_diag("%s: %u allocations, it failed %u times", s->name, n - 1,
		 failed);
	return true;
}

int main(int argc, char **argv)
{
	static const struct step steps[] = {
		{ "a PD", make_pd, end_pd, 0 },
		{ "a CQ", make_cq, end_cq, 0 },
		{ "resizing a CQ", resize_cq, nothing, 0 },
		{ "an SRQ", make_srq, end_srq, 0 },
		{ "a region", make_mr, end_mr, 0 },
		{ "a region on demand", make_odp, end_odp, 0 },
		{ "a window", make_mw, end_mw, 0 },
		{ "an address handle", make_ah, end_ah, 0 },
		{ "an RC QP", make_rc, end_qp, 0 },
		{ "no RC QP", end_qp, nothing, PLAIN },
		{ "a UD QP", make_ud, end_qp, 0 },
		{ "a group", join, leave, 0 },
		{ "ends", create_ends, nothing, PLAIN },
		{ "connecting", connect_a, reset_a, 0 },
		{ "the other end", connect_b, nothing, PLAIN },
		{ "messages", write_message, nothing, MUST },
		{ "a device", make_link, end_link, LONG },
		{ "no device", end_link, nothing, PLAIN },
	};
	bool good = true;
	unsigned int i;

	ends_open(&e, argc, argv);
	end_enter(&e.a);
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (nth_fd < 0)
		tap_bail("fail-nth: %s", strerror(errno));
	tap_plan(ARRAY_SIZE(steps));
	for (i = 0; good && i < ARRAY_SIZE(steps); i++) {
		good = try_all(&steps[i]);
		tap_result(good, "%s", steps[i].name);
	}
	if (!good)
		return TAP_FAIL;
	ends_disconnect(&e);
	good = leave() && end_qp() && end_ah() && end_mw() && end_odp() &&
	       end_mr() && end_srq() && end_cq() && end_pd();
	if (!good)
		tap_bail("something stays");
	ends_close(&e);
	return tap_done();
}
