// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retries. Their number and delay are those of the QP's attributes. A request then
 * fails with the right status, or succeeds when the peer is ready in time.
 */
#include <string.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/hwstats.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define RECV_ID		99
#define SIZE		6000u

/* IBTA table 45: RNR NAK timer code 20 is 10.24 ms. */
#define RNR_CODE	20
#define RNR_US		10240u
/* Packets that may be sent in vain until the receive comes */
#define RNR_PACKETS	64
/* 4.096 us << 12. */
#define ACK_CODE	12
#define ACK_US		((4096u << ACK_CODE) / 1000)

static struct ends e;

static bool post_sized(enum ibv_wr_opcode opcode, unsigned int flags,
		       uint32_t size)
{
	struct ibv_sge sge = end_sge(&e.a, size);
	struct ibv_send_wr wr = work(&e, opcode, &sge);

	wr.send_flags = flags;
	CHECK(!post(&e.a, &wr), "post_send");
	return true;
}

static bool post_flagged(enum ibv_wr_opcode opcode, unsigned int flags)
{
	return post_sized(opcode, flags, SIZE);
}

static bool post_work(enum ibv_wr_opcode opcode)
{
	return post_flagged(opcode, IBV_SEND_SIGNALED);
}

/* Return: true if a request fails with @status, after @us at least. */
static bool fails_after(enum ibv_wr_opcode opcode, enum ibv_wc_status status,
			unsigned int us)
{
	uint64_t start = now_ms(), took;

	if (!post_work(opcode) || !post_work(IBV_WR_SEND) ||
	    !expect_wc(e.a.scq, opcode, status))
		return false;
	took = now_ms() - start;
	/* Rounding of the clock may hide a millisecond. */
	CHECK((took + 1) * 1000 >= us, "already after %llu ms, not %u us",
	      (unsigned long long)took, us);
	if (!expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_WR_FLUSH_ERR))
		return false;
	CHECK(end_state(&e.a) == IBV_QPS_ERR, "the QP lives on");
	return true;
}

static bool rnr(unsigned int retries)
{
	struct qp_conf conf = {
		.type = IBV_QPT_RC,
		.rnr_timer = RNR_CODE,
		.rnr_retry = retries,
		.no_rnr_retry = !retries,
	};
	bool ok;

	ends_connect(&e, &conf);
	ok = fails_after(retries & 1 ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND,
			 IBV_WC_RNR_RETRY_EXC_ERR, retries * RNR_US);
	ends_disconnect(&e);
	return ok;
}

/* rnr_retry 7 retries for ever, and the message arrives unharmed. */
static bool rnr_for_ever(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC, .rnr_timer = RNR_CODE };
	bool ok;

	ends_connect(&e, &conf);
	fill(msg(&e.a), SIZE);
	memset(msg(&e.b), POISON, SIZE);
	ok = post_work(IBV_WR_SEND);
	if (ok) {
		struct ibv_wc wc;

		ok = !poll_within(e.a.scq, &wc, 12 * RNR_US / 1000);
		if (!ok)
			tap_diag("%s", ibv_wc_status_str(wc.status));
	}
	receive(&e.b, RECV_ID, SIZE);
	ok = ok && expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS) &&
	     expect_wc(e.b.rcq, RECV_ID, IBV_WC_SUCCESS) &&
	     !memcmp(msg(&e.a), msg(&e.b), SIZE);
	ends_disconnect(&e);
	return ok;
}

/*
 * Many messages without a receive and with the shortest RNR timer keep the device busy.
 * The program can still post, wait and destroy the QP.
 */
static bool rnr_storm(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC, .rnr_timer = 1 };
	struct ibv_wc wc;
	uint64_t start = now_ms(), took;
	bool ok = true;
	int i;

	ends_connect(&e, &conf);
	for (i = 0; ok && i < 32; i++)
		ok = post_work(IBV_WR_SEND);
	ok = ok && !poll_within(e.a.scq, &wc, 300);
	ok = ok && !end_to_error(&e.a);
	for (i = 0; ok && i < 32; i++)
		ok = expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_WR_FLUSH_ERR);
	took = now_ms() - start;
	if (took > WAIT_MS / 5) {
		tap_diag("300 ms of that took %llu ms",
			 (unsigned long long)took);
		ok = false;
	}
	ends_disconnect(&e);
	return ok;
}

/*
 * A receiver is slower than the sender, whose queue is full of long messages. Each RNR
 * NAK costs one packet, not a window of them, and the sender asks less and less often.
 */
static bool rnr_slow(void)
{
	enum { MESSAGES = 16, PAUSE_MS = 10, LONG = 256 << 10 };
	struct qp_conf conf = { .type = IBV_QPT_RC, .rnr_timer = 1 };
	unsigned int packets, most, i;
	struct hwstats before, after;
	bool ok = true;

	ends_connect(&e, &conf);
	packets = MESSAGES * LONG / mtu_bytes(e.a.active_mtu);
	hwstats_read(&before, e.a.ctx->device->name);
	for (i = 0; ok && i < MESSAGES; i++)
		ok = post_sized(IBV_WR_SEND, IBV_SEND_SIGNALED, LONG);
	for (i = 0; ok && i < MESSAGES; i++) {
		usleep(PAUSE_MS * 1000);
		receive(&e.b, RECV_ID, LONG);
		ok = expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS);
	}
	hwstats_read(&after, e.a.ctx->device->name);
	/* A device that is both ends also sends the responses. */
	most = 2 * (packets + MESSAGES * RNR_PACKETS);
	if (hwstats_growth(&before, &after, "sent_pkts") > most) {
		hwstats_diag(&before, &after);
		ok = false;
	}
	ends_disconnect(&e);
	return ok;
}

/*
 * The RNR retry counter restarts after each successful message: each of more messages
 * than retries gets an RNR NAK. On a busy machine, a receive may come 700 ms late.
 */
static bool rnr_counts_per_message(void)
{
	struct qp_conf conf = {
		.type = IBV_QPT_RC, .rnr_timer = 27, .rnr_retry = 6, /* 123 ms */
	};
	bool ok = true;
	int i;

	ends_connect(&e, &conf);
	for (i = 0; ok && i < 8; i++) {
		struct ibv_wc wc;

		ok = post_work(IBV_WR_SEND) &&
		     !poll_within(e.a.scq, &wc, 15);
		receive(&e.b, RECV_ID, SIZE);
		ok = ok && expect_wc(e.a.scq, IBV_WR_SEND, IBV_WC_SUCCESS);
	}
	ends_disconnect(&e);
	return ok;
}

static bool peer_gone(enum ibv_wr_opcode opcode, unsigned int retries)
{
	struct qp_conf conf = {
		.type = IBV_QPT_RC,
		.timeout = ACK_CODE,
		.retry_cnt = retries,
		.no_retry = !retries,
	};
	bool ok;

	ends_connect(&e, &conf);
	end_destroy_qp(&e.b);
	ok = fails_after(opcode, IBV_WC_RETRY_EXC_ERR,
			 (retries + 1) * ACK_US);
	ends_disconnect(&e);
	return ok;
}

/* An unsignaled request whose peer is gone completes in error. */
static bool unsignaled_peer_gone(void)
{
	struct qp_conf conf = {
		.type = IBV_QPT_RC, .timeout = ACK_CODE, .retry_cnt = 1,
	};
	bool ok;

	ends_connect(&e, &conf);
	end_destroy_qp(&e.b);
	ok = post_flagged(IBV_WR_RDMA_WRITE, 0) &&
	     expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_RETRY_EXC_ERR) &&
	     end_state(&e.a) == IBV_QPS_ERR;
	ends_disconnect(&e);
	return ok;
}

static bool arrives(const uint8_t *from, const uint8_t *to)
{
	struct deadline end = deadline_in(WAIT_MS);

	while (memcmp(from, to, SIZE)) {
		CHECK(!is_past(&end), "it has not come");
		usleep(1000);
	}
	return true;
}

/*
 * Unsignaled requests get RNR NAKs, and no further request follows. They arrive all the
 * same.
 */
static bool unsignaled_lost(void)
{
	struct qp_conf conf = { .type = IBV_QPT_RC, .timeout = 18 };
	bool ok;
	int i;

	ends_create(&e, &conf);
	ok = !end_to_init(&e.a, &conf) && !end_to_init(&e.b, &conf) &&
	     !end_to_rtr(&e.a, &e.b, &conf) && !end_to_rts(&e.a, &conf);
	fill(msg(&e.a), SIZE);
	memset(msg(&e.b), POISON, SIZE);
	for (i = 0; ok && i < 3; i++)
		ok = post_flagged(IBV_WR_RDMA_WRITE, 0);
	ok = ok && !end_to_rtr(&e.b, &e.a, &conf) && !end_to_rts(&e.b, &conf) &&
	     arrives(msg(&e.a), msg(&e.b));
	ok = ok && post_work(IBV_WR_RDMA_READ) &&
	     expect_wc(e.a.scq, IBV_WR_RDMA_READ, IBV_WC_SUCCESS);
	ends_disconnect(&e);
	return ok;
}

/* The peer's QP exists but is in the Error state, and sends no response. */
static bool peer_in_error(void)
{
	struct qp_conf conf = {
		.type = IBV_QPT_RC, .timeout = ACK_CODE, .retry_cnt = 1,
	};
	bool ok;

	ends_connect(&e, &conf);
	ok = !end_to_error(&e.b) &&
	     fails_after(IBV_WR_RDMA_READ, IBV_WC_RETRY_EXC_ERR, 2 * ACK_US);
	ends_disconnect(&e);
	return ok;
}

/*
 * The peer gets the packets, but is connected with another QP and responds to that. The
 * result is the same for two QPs of a device, which need no packets otherwise.
 */
static bool peer_answers_another(void)
{
	struct qp_conf conf = {
		.type = IBV_QPT_RC, .timeout = ACK_CODE, .retry_cnt = 1,
	};
	struct ibv_qp_attr attr;
	int mask;
	bool ok;

	ends_create(&e, &conf);
	ok = !end_to_init(&e.a, &conf) && !end_to_init(&e.b, &conf) &&
	     !end_to_rtr(&e.a, &e.b, &conf) && !end_to_rts(&e.a, &conf);
	mask = attr_rtr(&attr, &conf, &e.b, &e.a);
	attr.dest_qp_num ^= 1;
	fill(msg(&e.a), SIZE);
	ok = ok && !ibv_modify_qp(e.b.qp, &attr, mask) &&
	     !end_to_rts(&e.b, &conf) &&
	     fails_after(IBV_WR_RDMA_WRITE, IBV_WC_RETRY_EXC_ERR, 2 * ACK_US) &&
	     !memcmp(msg(&e.a), msg(&e.b), SIZE);
	ends_disconnect(&e);
	return ok;
}

/* A QP works again after a reset, with new PSNs. */
static bool reset_and_reconnect(void)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct qp_conf conf = {
		.type = IBV_QPT_RC, .timeout = ACK_CODE, .retry_cnt = 1,
	};
	bool ok;

	ends_connect(&e, &conf);
	ok = !end_to_error(&e.b) && post_work(IBV_WR_RDMA_WRITE) &&
	     expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_RETRY_EXC_ERR) &&
	     !ibv_modify_qp(e.a.qp, &reset, IBV_QP_STATE) &&
	     !ibv_modify_qp(e.b.qp, &reset, IBV_QP_STATE);
	e.a.psn = 0xffffff;
	e.b.psn = 0x7ffffe;
	conf.timeout = 18;
	ok = ok && !end_to_init(&e.a, &conf) && !end_to_init(&e.b, &conf) &&
	     !end_to_rtr(&e.a, &e.b, &conf) && !end_to_rtr(&e.b, &e.a, &conf) &&
	     !end_to_rts(&e.a, &conf) && !end_to_rts(&e.b, &conf);
	fill(msg(&e.a), SIZE);
	ok = ok && post_work(IBV_WR_RDMA_WRITE) &&
	     expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS) &&
	     !memcmp(msg(&e.a), msg(&e.b), SIZE);
	ends_disconnect(&e);
	return ok;
}

int main(int argc, char **argv)
{
	unsigned int retries;

	ends_open(&e, argc, argv);
	tap_plan(7 + 4 + 3 + 2 + 3);
	for (retries = 0; retries < 7; retries++)
		tap_result(rnr(retries), "no receive, rnr_retry %u", retries);
	tap_result(rnr_for_ever(), "a receive that comes late, rnr_retry 7");
	tap_result(rnr_storm(), "RNR NAKs without end, 10 us apart");
	tap_result(rnr_slow(), "long messages to a slow receiver");
	tap_result(rnr_counts_per_message(), "rnr_retry is per message");
	tap_result(peer_gone(IBV_WR_SEND, 0), "send, peer gone, retry_cnt 0");
	tap_result(peer_gone(IBV_WR_SEND, 3), "send, peer gone, retry_cnt 3");
	tap_result(peer_gone(IBV_WR_RDMA_READ, 2),
		   "read, peer gone, retry_cnt 2");
	tap_result(unsignaled_peer_gone(), "unsignaled write, peer gone");
	tap_result(unsignaled_lost(), "unsignaled writes, lost");
	tap_result(peer_in_error(), "read, peer in the Error state");
	tap_result(peer_answers_another(), "peer connected with another");
	tap_result(reset_and_reconnect(), "reset and connect again");
	ends_close(&e);
	return tap_done();
}
