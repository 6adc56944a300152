// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ends.h"
#include "tap.h"
#include "wc.h"

#define DEFAULT_DEPTH	64
/* 4.096 us << 14 is 67 ms, enough for a slow virtual machine. */
#define DEFAULT_TIMEOUT	14
/* IBTA table 45: RNR NAK timer code 12 is 0.64 ms. */
#define DEFAULT_RNR	12

struct options {
	const char *dev[2], *netns[2];
};

static void usage(const char *prog)
{
	fprintf(stderr,
		"usage: %s -d DEVICE [-D DEVICE] [-n NETNS] [-N NETNS] [-6] [-s BYTES] [-t TIMEOUT] [--quick] [--huge]\n"
		"	-d, -D		device of end a, of end b (the same if not given)\n"
		"	-n, -N		network namespace to open each in\n"
		"	-6		use an IPv6 GID\n"
		"	-s		no message longer than that\n"
		"	-t		local ACK timeout that the network wants (lossy)\n"
		"	--quick		fewer sizes and path MTUs\n"
		"	--huge		add messages of 1 GiB\n", prog);
	exit(TAP_FAIL);
}

static struct options parse(struct ends *e, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "quick", no_argument, NULL, 'q' },
		{ "huge", no_argument, NULL, 'H' },
		{}
	};
	struct options o = {};
	int c;

	while ((c = getopt_long(argc, argv, "d:D:n:N:6s:t:", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			o.dev[0] = optarg;
			break;
		case 'D':
			o.dev[1] = optarg;
			break;
		case 'n':
			o.netns[0] = optarg;
			break;
		case 'N':
			o.netns[1] = optarg;
			break;
		case '6':
			e->ipv6 = true;
			break;
		case 's':
			e->most = strtoul(optarg, NULL, 0);
			break;
		case 't':
			e->timeout = strtoul(optarg, NULL, 0);
			break;
		case 'q':
			e->quick = true;
			break;
		case 'H':
			e->huge = true;
			break;
		default:
			usage(argv[0]);
		}
	}
	if (!o.dev[0] || optind != argc)
		usage(argv[0]);
	if (!o.dev[1])
		o.dev[1] = o.dev[0];
	return o;
}

void end_enter(const struct end *end)
{
	const char *name = end->netns;
	char path[128];
	int fd;

	if (!name)
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		tap_bail("network namespace %s: %s", name, strerror(errno));
	close(fd);
}

static struct ibv_context *open_by_name(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	if (!ctx)
		tap_bail("device %s does not open", name);
	return ctx;
}

static bool gid_is_mapped_ipv4(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, prefix, sizeof(prefix));
}

static bool gid_is_link_local(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

static void find_gid(struct end *end, bool ipv6, int entries)
{
	struct ibv_gid_entry entry;
	int i;

	for (i = 0; i < entries; i++) {
		if (ibv_query_gid_ex(end->ctx, 1, i, &entry, 0) ||
		    entry.gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    gid_is_link_local(&entry.gid) ||
		    gid_is_mapped_ipv4(&entry.gid) == ipv6)
			continue;
		end->gid = entry.gid;
		end->gid_index = i;
		return;
	}
	tap_bail("device %s has no %s GID", end->name, ipv6 ? "IPv6" : "IPv4");
}

void end_open_device(struct end *end, const char *dev, bool ipv6)
{
	struct ibv_port_attr port;

	end->name = dev;
	end->ctx = open_by_name(dev);
	if (ibv_query_device(end->ctx, &end->attr) ||
	    ibv_query_port(end->ctx, 1, &port))
		tap_bail("device %s: no attributes", dev);
	if (port.state != IBV_PORT_ACTIVE)
		tap_bail("device %s: port is %s", dev,
			 ibv_port_state_str(port.state));
	if (fcntl(end->ctx->async_fd, F_SETFL, O_NONBLOCK))
		tap_bail("async_fd: %s", strerror(errno));
	end->active_mtu = port.active_mtu;
	find_gid(end, ipv6, port.gid_tbl_len);
	end->pd = ibv_alloc_pd(end->ctx);
	if (!end->pd)
		tap_bail("device %s: no PD", dev);
}

void end_open(struct end *end, const char *dev, bool ipv6)
{
	end_open_device(end, dev, ipv6);
	end->buf = mmap(NULL, END_MEMORY, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (end->buf == MAP_FAILED)
		tap_bail("device %s: no memory", dev);
	end->mr = ibv_reg_mr(end->pd, end->buf, END_MEMORY,
			     IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE);
	if (!end->mr)
		tap_bail("device %s: no MR: %s", dev, strerror(errno));
}

void ends_open(struct ends *e, int argc, char **argv)
{
	struct options o;

	memset(e, 0, sizeof(*e));
	o = parse(e, argc, argv);
	e->a.netns = o.netns[0];
	e->b.netns = o.netns[1];
	end_enter(&e->a);
	end_open(&e->a, o.dev[0], e->ipv6);
	end_enter(&e->b);
	end_open(&e->b, o.dev[1], e->ipv6);
}

void end_close(struct end *end)
{
	bool closed = !ibv_dereg_mr(end->mr) && !ibv_dealloc_pd(end->pd) &&
		      !ibv_close_device(end->ctx);

	/* A failed test may leave objects behind. */
	if (!closed && !tap.failed)
		tap_bail("device %s does not close: %s", end->name,
			 strerror(errno));
	munmap(end->buf, END_MEMORY);
}

void ends_close(struct ends *e)
{
	end_close(&e->a);
	end_close(&e->b);
}

static struct ibv_cq *create_cq(struct end *end, unsigned int cqe)
{
	struct ibv_cq *cq = ibv_create_cq(end->ctx, cqe, NULL, end->chan, 0);

	if (!cq)
		tap_bail("no CQ of %u entries: %s", cqe, strerror(errno));
	return cq;
}

void end_create_cqs(struct end *end, unsigned int cqe)
{
	end->chan = ibv_create_comp_channel(end->ctx);
	if (!end->chan || fcntl(end->chan->fd, F_SETFL, O_NONBLOCK))
		tap_bail("no completion channel");
	end->scq = create_cq(end, cqe);
	end->rcq = create_cq(end, cqe);
}

void end_destroy_cqs(struct end *end)
{
	if (ibv_destroy_cq(end->scq) || ibv_destroy_cq(end->rcq) ||
	    ibv_destroy_comp_channel(end->chan))
		tap_bail("device %s: a CQ stays: %s", end->name,
			 strerror(errno));
	end->scq = NULL;
	end->rcq = NULL;
	end->chan = NULL;
}

void end_create_qp(struct end *end, const struct qp_conf *conf,
		   struct ibv_srq *srq)
{
	unsigned int depth = conf->depth ?: DEFAULT_DEPTH;
	struct ibv_qp_init_attr_ex init = {
		.qp_type = conf->type,
		.pd = end->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     (conf->send_ops ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS :
			      0),
		.send_ops_flags = conf->send_ops,
		.send_cq = end->scq,
		.recv_cq = end->rcq,
		.srq = srq,
		.sq_sig_all = conf->signal_all,
		.cap = {
			.max_send_wr = depth,
			.max_recv_wr = srq ? 0 : depth,
			.max_send_sge = conf->sges ?: 1,
			.max_recv_sge = srq ? 0 : conf->sges ?: 1,
			.max_inline_data = conf->inline_data,
		},
	};

	end->qp = ibv_create_qp_ex(end->ctx, &init);
	if (!end->qp)
		tap_bail("device %s: no QP: %s", end->name, strerror(errno));
	end->max_inline = init.cap.max_inline_data;
	end->psn = (end->qp->qp_num * 2654435761u) & 0xffffff;
}

void end_destroy_qp(struct end *end)
{
	if (end->ah && ibv_destroy_ah(end->ah))
		tap_bail("device %s: an AH stays", end->name);
	end->ah = NULL;
	if (end->qp && ibv_destroy_qp(end->qp))
		tap_bail("device %s: a QP stays: %s", end->name,
			 strerror(errno));
	end->qp = NULL;
}

int attr_init(struct ibv_qp_attr *attr, const struct qp_conf *conf)
{
	*attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = UD_QKEY,
		.qp_access_flags = conf->access == NO_ACCESS ? 0 :
				   conf->access ?: ALL_REMOTE,
	};
	if (conf->type == IBV_QPT_UC)
		attr->qp_access_flags &= IBV_ACCESS_REMOTE_WRITE;
	return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	       (conf->type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
}

static struct ibv_ah_attr path_to(const struct end *end, const struct end *peer)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.dgid = peer->gid,
			.sgid_index = end->gid_index,
			.hop_limit = 64,
		},
	};
}

int attr_rtr(struct ibv_qp_attr *attr, const struct qp_conf *conf,
	     const struct end *end, const struct end *peer)
{
	int mask = IBV_QP_STATE;

	*attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = conf->mtu ?: end->active_mtu,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = peer->psn,
		.ah_attr = path_to(end, peer),
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = conf->rnr_timer ?: DEFAULT_RNR,
	};
	if (conf->type == IBV_QPT_UD)
		return mask;
	mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (conf->type == IBV_QPT_UC)
		return mask;
	return mask | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

int attr_rts(struct ibv_qp_attr *attr, const struct qp_conf *conf,
	     const struct end *end)
{
	*attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.sq_psn = end->psn,
		.max_rd_atomic = 16,
		.timeout = conf->timeout ?: DEFAULT_TIMEOUT,
		.retry_cnt = conf->no_retry ? 0 : conf->retry_cnt ?: 7,
		.rnr_retry = conf->no_rnr_retry ? 0 : conf->rnr_retry ?: 7,
	};
	if (conf->type != IBV_QPT_RC)
		return IBV_QP_STATE | IBV_QP_SQ_PSN;
	return IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
	       IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
}

int end_to_init(struct end *end, const struct qp_conf *conf)
{
	struct ibv_qp_attr attr;
	int mask = attr_init(&attr, conf);

	return ibv_modify_qp(end->qp, &attr, mask);
}

/* The core resolves the neighbour only once, and the network may lose that packet. */
int end_to_rtr(struct end *end, const struct end *peer,
	       const struct qp_conf *conf)
{
	struct ibv_qp_attr attr;
	int mask = attr_rtr(&attr, conf, end, peer);
	int err, tries = 3;

	do {
		err = ibv_modify_qp(end->qp, &attr, mask);
	} while (err == ETIMEDOUT && --tries);
	return err;
}

int end_to_rts(struct end *end, const struct qp_conf *conf)
{
	struct ibv_qp_attr attr;
	int mask = attr_rts(&attr, conf, end);

	return ibv_modify_qp(end->qp, &attr, mask);
}

int end_to_error(struct end *end)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);
}

enum ibv_qp_state end_state(struct end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init))
		tap_bail("device %s: query_qp: %s", end->name, strerror(errno));
	return attr.qp_state;
}

void end_connect(struct end *end, const struct end *peer,
		 const struct qp_conf *conf)
{
	struct ibv_ah_attr path = path_to(end, peer);
	int err = end_to_init(end, conf) ?: end_to_rtr(end, peer, conf) ?:
		  end_to_rts(end, conf);

	if (err)
		tap_bail("device %s: QP does not connect: %s", end->name,
			 strerror(err));
	if (conf->type != IBV_QPT_UD)
		return;
	end->ah = ibv_create_ah(end->pd, &path);
	if (!end->ah)
		tap_bail("device %s: no AH: %s", end->name, strerror(errno));
}

void ends_create(struct ends *e, const struct qp_conf *conf)
{
	unsigned int cqe = 2 * (conf->depth ?: DEFAULT_DEPTH);

	end_create_cqs(&e->a, cqe);
	end_create_cqs(&e->b, cqe);
	end_create_qp(&e->a, conf, NULL);
	end_create_qp(&e->b, conf, conf->srq);
}

void ends_connect(struct ends *e, const struct qp_conf *conf)
{
	ends_create(e, conf);
	end_connect(&e->a, &e->b, conf);
	end_connect(&e->b, &e->a, conf);
}

void ends_disconnect(struct ends *e)
{
	/* Destroying an object waits until its events have been acknowledged. */
	async_drain(&e->a);
	async_drain(&e->b);
	end_destroy_qp(&e->a);
	end_destroy_qp(&e->b);
	end_destroy_cqs(&e->a);
	end_destroy_cqs(&e->b);
}
