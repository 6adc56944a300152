// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters. The test causes each event a known number of times. Only the counters of
 * that event grow, by that number, at the end of the event.
 *
 * With LOST=write or LOST=read, the program runs only the test that needs the loss of
 * the first of two packets.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define RECV_ID		99
#define PAGE		4096u

enum { MOST_COUNTERS = 100, MOST_WANTS = 7, MANY = 1000 };

static struct ends e;

/* ---------------------------------------------------------------- counters */

struct counters {
	unsigned int num;
	char name[MOST_COUNTERS][40];
	long value[MOST_COUNTERS];
};

/* Only the sysfs of the first network namespace shows counters. */
static void read_counter(struct counters *c, const char *dir, const char *name)
{
	char path[512];
	FILE *f;

	if (name[0] == '.' || !strcmp(name, "lifespan"))
		return;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f || c->num == MOST_COUNTERS ||
	    fscanf(f, "%ld", &c->value[c->num]) != 1)
		tap_bail("%s: %s", path, strerror(errno));
	fclose(f);
	snprintf(c->name[c->num++], sizeof(c->name[0]), "%.39s", name);
}

static struct counters counters_of(const struct end *end)
{
	struct counters c = {};
	struct dirent *entry;
	char path[160];
	DIR *dir;

	snprintf(path, sizeof(path),
		 "/proc/1/root/sys/class/infiniband/%s/ports/1/hw_counters",
		 end->name);
	dir = opendir(path);
	if (!dir)
		tap_bail("%s: %s", path, strerror(errno));
	while ((entry = readdir(dir)))
		read_counter(&c, path, entry->d_name);
	closedir(dir);
	return c;
}

struct want {
	const char *name;
	long least, most;
};

/* Packets, bytes and rounds depend on how ACKs are coalesced, probes on time. */
static bool is_traffic(const char *name)
{
	return !strncmp(name, "sent_", 5) || !strcmp(name, "rcvd_pkts") ||
	       !strcmp(name, "rcvd_bytes") || !strcmp(name, "loss_probes") ||
	       !strcmp(name, "budget_spent");
}

/*
 * A probe repeats a packet, and counts like it. The response to a probe counts at the
 * other end.
 */
static bool is_of_probe(const char *name)
{
	return !strncmp(name, "rx_drop_", 8) ||
	       !strcmp(name, "duplicate_request") ||
	       !strcmp(name, "np_ecn_marked_roce_packets") ||
	       !strcmp(name, "np_cnp_sent") || !strcmp(name, "rp_cnp_handled");
}

static struct want want_of(const struct want *wants, const char *name)
{
	unsigned int i;

	for (i = 0; i < MOST_WANTS && wants[i].name; i++)
		if (!strcmp(wants[i].name, name))
			return wants[i];
	return (struct want){ name, 0, is_traffic(name) ? 1 << 20 : 0 };
}

static long value_of(const struct counters *c, const char *name)
{
	unsigned int i;

	for (i = 0; i < c->num; i++)
		if (!strcmp(c->name[i], name))
			return c->value[i];
	return 0;
}

/* @probes: number of probes of end a, the only end with requests */
static bool moved(const struct counters *before, const struct end *end,
		  const struct want *wants, long probes, bool say)
{
	struct counters now = counters_of(end);
	bool ok = true;
	unsigned int i;

	for (i = 0; i < now.num; i++) {
		struct want want = want_of(wants, now.name[i]);
		long by = now.value[i] - before->value[i];

		if (is_of_probe(want.name))
			want.most += probes;
		if (by >= want.least && by <= want.most)
			continue;
		ok = false;
		if (say)
			tap_diag("end %c: %s by %ld, not %ld to %ld",
				 end == &e.a ? 'a' : 'b', now.name[i], by,
				 want.least, want.most);
	}
	return ok;
}

/* ---------------------------------------------------------------- events */

static struct ibv_sge sge;

/* Return: a request of 8 bytes of end a. Callers may change it. */
static struct ibv_send_wr request(enum ibv_wr_opcode opcode)
{
	sge = end_sge(&e.a, 8);
	return work(&e, opcode, &sge);
}

static bool ends_with(struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	CHECK(!post(&e.a, wr), "post_send");
	return expect_wc(e.a.scq, wr->wr_id, status);
}

static bool succeeds(enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr = request(opcode);

	return ends_with(&wr, IBV_WC_SUCCESS);
}

static bool send_one(void)
{
	receive(&e.b, RECV_ID, 64);
	return succeeds(IBV_WR_SEND) &&
	       expect_wc(e.b.rcq, RECV_ID, IBV_WC_SUCCESS);
}

static bool write_one(void)
{
	return succeeds(IBV_WR_RDMA_WRITE);
}

static bool read_one(void)
{
	return succeeds(IBV_WR_RDMA_READ);
}

static bool atomic_one(void)
{
	return succeeds(IBV_WR_ATOMIC_FETCH_AND_ADD);
}

static bool no_receive(void)
{
	struct ibv_send_wr wr = request(IBV_WR_SEND);

	return ends_with(&wr, IBV_WC_RNR_RETRY_EXC_ERR);
}

static bool peer_gone(void)
{
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE);

	end_destroy_qp(&e.b);
	return ends_with(&wr, IBV_WC_RETRY_EXC_ERR);
}

static bool peer_in_error(void)
{
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE);

	CHECK(!end_to_error(&e.b), "modify_qp");
	return ends_with(&wr, IBV_WC_RETRY_EXC_ERR);
}

static bool wrong_key(void)
{
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE);
	bool is_rc = e.a.qp->qp_type == IBV_QPT_RC;

	wr.wr.rdma.rkey ^= 0x5a5a5a;
	return ends_with(&wr, is_rc ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS);
}

static bool bad_receive(void)
{
	struct ibv_send_wr wr = request(IBV_WR_SEND);
	struct ibv_sge to = end_sge(&e.b, 8);

	to.lkey ^= 0x5a5a5a;
	CHECK(!post_recv(&e.b, RECV_ID, &to, 1), "post_recv");
	return ends_with(&wr, IBV_WC_REM_OP_ERR) &&
	       expect_wc(e.b.rcq, RECV_ID, IBV_WC_LOC_PROT_ERR);
}

static bool full_cq(void)
{
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE);
	int i, room;

	CHECK(!ibv_resize_cq(e.a.scq, 3), "resize_cq");
	room = e.a.scq->cqe;
	for (i = 0; i <= room; i++)
		CHECK(!post(&e.a, &wr), "post_send");
	return async_within(&e.a, IBV_EVENT_CQ_ERR, WAIT_MS);
}

static bool unheard(void)
{
	return succeeds(IBV_WR_SEND);
}

static bool wrong_qkey(void)
{
	struct ibv_send_wr wr = request(IBV_WR_SEND);

	wr.wr.ud.remote_qkey ^= 1;
	return ends_with(&wr, IBV_WC_SUCCESS);
}

/* Send a datagram to a QP of another service, which is in RESET. */
static bool wrong_service(void)
{
	static const struct qp_conf rc = { .type = IBV_QPT_RC };
	struct ibv_send_wr wr = request(IBV_WR_SEND);
	struct end other = e.b;
	bool ok;

	end_create_qp(&other, &rc, NULL);
	wr.wr.ud.remote_qpn = other.qp->qp_num;
	ok = ends_with(&wr, IBV_WC_SUCCESS);
	/* The datagram has to arrive before. */
	usleep(20 * QUIET_MS * 1000);
	CHECK(!ibv_destroy_qp(other.qp), "destroy_qp");
	return ok;
}

/* Send 3000 bytes without a receive. */
static bool long_unheard(void)
{
	struct ibv_send_wr wr = request(IBV_WR_SEND);

	sge.length = 3000;
	return ends_with(&wr, IBV_WC_SUCCESS);
}

/* Connect end b again, with @peer. */
static bool reconnect_b(const struct end *peer)
{
	static const struct qp_conf rc = { .type = IBV_QPT_RC };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	CHECK(!ibv_modify_qp(e.b.qp, &reset, IBV_QP_STATE) &&
	      !end_to_init(&e.b, &rc) && !end_to_rtr(&e.b, peer, &rc) &&
	      !end_to_rts(&e.b, &rc), "modify_qp");
	return true;
}

/* End b expects packets from its own address, which surely has a route. */
static bool wrong_address(void)
{
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE);
	struct end peer = e.a;

	peer.gid = e.b.gid;
	return reconnect_b(&peer) && ends_with(&wr, IBV_WC_RETRY_EXC_ERR);
}

/* Repeat a packet. End b expects the next PSN. */
static bool duplicate(void)
{
	struct end peer = e.a;

	peer.psn = (e.a.psn + 1) & 0xffffff;
	return reconnect_b(&peer) && write_one();
}

/* Send a packet with an ECN CE mark, as from a router. */
static bool marked(void)
{
	static const struct qp_conf rc = { .type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int mask;

	CHECK(!ibv_modify_qp(e.a.qp, &attr, IBV_QP_STATE) &&
	      !end_to_init(&e.a, &rc), "to INIT");
	mask = attr_rtr(&attr, &rc, &e.a, &e.b);
	attr.ah_attr.grh.traffic_class = 3;
	CHECK(!ibv_modify_qp(e.a.qp, &attr, mask) && !end_to_rts(&e.a, &rc),
	      "to RTS");
	return write_one();
}

static bool pages(void)
{
	struct region from = { &e.a, msg(&e.a), 8, e.a.mr };
	struct region to = region_new(&e.b, PAGE, ON_DEMAND);
	bool ok;

	fill(from.mem, 8);
	ok = !region_post(&e, IBV_WR_RDMA_WRITE, &from, &to, 8) &&
	     expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS) &&
	     !madvise(to.mem, PAGE, MADV_DONTNEED);
	region_free(&to);
	return ok;
}

/* Post two separate requests, so that the loss of one response does not lose both. */
static bool two(enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr first = request(opcode), second = first;

	first.next = &second;
	CHECK(!post(&e.a, &first), "post_send");
	return expect_wc(e.a.scq, first.wr_id, IBV_WC_SUCCESS) &&
	       expect_wc(e.a.scq, first.wr_id, IBV_WC_SUCCESS);
}

static bool two_writes(void)
{
	return two(IBV_WR_RDMA_WRITE);
}

static bool two_reads(void)
{
	return two(IBV_WR_RDMA_READ);
}

/* ---------------------------------------------------------------- table */

#define ONE(name)	{ #name, 1, 1 }
#define N(name, n)	{ #name, n, n }
#define SOME(name)	{ #name, 1, MANY }
#define MAYBE(name)	{ #name, 0, MANY }

static const struct event {
	const char *name;
	bool (*run)(void);
	struct qp_conf conf;
	struct want a[MOST_WANTS], b[MOST_WANTS];
	bool pages;
} events[] = {
	{ "SEND", send_one,
	  .a = { ONE(rdma_sends) }, .b = { ONE(rdma_recvs) } },
	{ "WRITE", write_one,
	  .a = { ONE(rdma_sends) }, .b = { ONE(rx_write_requests) } },
	{ "READ", read_one,
	  .a = { ONE(rdma_sends) }, .b = { ONE(rx_read_requests) } },
	{ "atomic", atomic_one,
	  .a = { ONE(rdma_sends) }, .b = { ONE(rx_atomic_requests) } },
	{ "no receive", no_receive, { .rnr_retry = 2, .rnr_timer = 1 },
	  .a = { ONE(rdma_sends), N(rcvd_rnr_err, 3), N(completer_retry_err, 2),
		 ONE(retry_rnr_exceeded_err), ONE(req_cqe_error) },
	  .b = { N(out_of_buffer, 3), N(send_rnr_err, 3) } },
	{ "no peer", peer_gone, { .retry_cnt = 2, .timeout = 12 },
	  .a = { ONE(rdma_sends), N(local_ack_timeout_err, 3),
		 N(completer_retry_err, 2), ONE(retry_exceeded_err),
		 ONE(req_cqe_error) },
	  .b = { N(rx_drop_no_qp, 3) } },
	{ "peer in error", peer_in_error, { .no_retry = true, .timeout = 12 },
	  .a = { ONE(rdma_sends), ONE(local_ack_timeout_err),
		 ONE(retry_exceeded_err), ONE(req_cqe_error) },
	  .b = { ONE(rx_drop_qp_state) } },
	{ "refused", wrong_key,
	  .a = { ONE(rdma_sends), ONE(req_cqe_error) } },
	{ "bad receive", bad_receive,
	  .a = { ONE(rdma_sends), ONE(req_cqe_error) },
	  .b = { ONE(resp_cqe_error) } },
	{ "full CQ", full_cq,
	  .a = { ONE(cq_overrun), N(rdma_sends, 4), MAYBE(rx_drop_qp_state) },
	  .b = { N(rx_write_requests, 4) } },
	{ "UC, no receive", long_unheard, { .type = IBV_QPT_UC },
	  .a = { ONE(rdma_sends) },
	  .b = { ONE(out_of_buffer), ONE(rx_drop_no_recv),
		 N(rx_drop_sequence, 2) } },
	{ "UC, wrong key", wrong_key, { .type = IBV_QPT_UC },
	  .a = { ONE(rdma_sends) }, .b = { ONE(rx_drop_protocol) } },
	{ "UD, no receive", unheard, { .type = IBV_QPT_UD },
	  .a = { ONE(rdma_sends) }, .b = { ONE(rx_drop_no_recv) } },
	{ "UD, wrong Q key", wrong_qkey, { .type = IBV_QPT_UD },
	  .a = { ONE(rdma_sends) }, .b = { ONE(rx_drop_qkey) } },
	{ "UD to RC", wrong_service, { .type = IBV_QPT_UD },
	  .a = { ONE(rdma_sends) }, .b = { ONE(rx_drop_opcode) } },
	{ "wrong address", wrong_address, { .no_retry = true, .timeout = 12 },
	  .a = { ONE(rdma_sends), ONE(local_ack_timeout_err),
		 ONE(retry_exceeded_err), ONE(req_cqe_error) },
	  .b = { ONE(rx_drop_address) } },
	{ "duplicate", duplicate, .a = { ONE(rdma_sends) },
	  .b = { ONE(duplicate_request) } },
	{ "ECN mark", marked, .a = { ONE(rdma_sends), ONE(rp_cnp_handled) },
	  .b = { ONE(np_ecn_marked_roce_packets), ONE(np_cnp_sent),
		 ONE(rx_write_requests) } },
	{ "pages that come and go", pages, .pages = true,
	  .a = { ONE(rdma_sends), MAYBE(rcvd_rnr_err),
		 MAYBE(completer_retry_err) },
	  .b = { ONE(rx_write_requests), SOME(page_faults),
		 SOME(page_invalidations), MAYBE(send_rnr_err),
		 MAYBE(duplicate_request) } },
};

static const struct event lost_write = {
	"write", two_writes,
	.a = { N(rdma_sends, 2), ONE(packet_seq_err), ONE(rcvd_seq_err),
	       ONE(completer_retry_err) },
	.b = { ONE(out_of_seq_request), ONE(rx_ooo_kept),
	       N(rx_write_requests, 2) },
}, lost_response = {
	"read", two_reads,
	.a = { N(rdma_sends, 2), ONE(implied_nak_seq_err), ONE(rx_ooo_kept),
	       ONE(completer_retry_err), MAYBE(rx_drop_stale) },
	.b = { N(rx_read_requests, 2), ONE(duplicate_request) },
};

static bool both_moved(const struct event *event, const struct counters *a,
		       const struct counters *b, bool say)
{
	struct counters now = counters_of(&e.a);
	long probes = value_of(&now, "loss_probes") -
		      value_of(a, "loss_probes");

	return moved(a, &e.a, event->a, probes, say) &
	       moved(b, &e.b, event->b, probes, say);
}

/* Cause an event, wait, and compare the counters. */
static bool is_counted(const struct event *event)
{
	struct counters a = counters_of(&e.a), b = counters_of(&e.b);
	struct deadline end;

	if (!event->run())
		return false;
	end = deadline_in(WAIT_MS / 5);
	while (!is_past(&end) && !both_moved(event, &a, &b, false))
		usleep(QUIET_MS * 1000);
	usleep(QUIET_MS * 1000);
	return both_moved(event, &a, &b, true);
}

static void run(const struct event *event)
{
	struct qp_conf conf = event->conf;

	if (event->pages && !pages_on_demand(&e.b)) {
		tap_skip("this kernel has none on demand", "%s", event->name);
		return;
	}
	conf.type = conf.type ?: IBV_QPT_RC;
	/* A response that is late changes no counter. */
	conf.timeout = conf.timeout ?: 20;
	conf.mtu = IBV_MTU_1024;
	ends_connect(&e, &conf);
	/* Packets of the last event arrive, and cached sums of 10 ms expire. */
	usleep(QUIET_MS * 1000);
	tap_result(is_counted(event), "%s", event->name);
	ends_disconnect(&e);
}

int main(int argc, char **argv)
{
	const char *lost = getenv("LOST");
	unsigned int i;

	ends_open(&e, argc, argv);
	if (lost) {
		tap_plan(1);
		run(*lost == 'w' ? &lost_write : &lost_response);
	} else {
		tap_plan(ARRAY_SIZE(events));
		for (i = 0; i < ARRAY_SIZE(events); i++)
			run(&events[i]);
	}
	ends_close(&e);
	return tap_done();
}
