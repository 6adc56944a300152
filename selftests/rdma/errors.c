// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each error ends with the completion status that the InfiniBand specification names,
 * at both ends, and with the QP in the Error state. No forbidden byte is written.
 * errors_flush.c tests how queues flush.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/packet.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define SIZE		6000u	/* more than one packet at any path MTU */
#define RECV_ID		99

static struct ends e;

/* Return: the last SIZE bytes of end b's memory, which tests register. */
static uint8_t *tail(const struct end *end)
{
	return end->buf + END_MEMORY - SIZE;
}

static struct ibv_mr *tail_mr(struct end *end, struct ibv_pd *pd, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, tail(end), SIZE, access);

	if (!mr)
		tap_bail("no MR: %s", strerror(errno));
	return mr;
}

/* Part 1: requests that the responder refuses (IBTA table 60, 9.9.3). */

enum spoil {
	BAD_RKEY, LOW_RKEY, DEAD_RKEY, PAST_END, BEFORE_START, WRAPS, OTHER_PD,
	MR_RIGHTS, QP_RIGHTS,
};

static const struct refusal {
	const char *name;
	enum spoil spoil;
	enum ibv_wr_opcode opcode;
} refusals[] = {
	{ "write with a bad rkey", BAD_RKEY, IBV_WR_RDMA_WRITE },
	{ "write with another low byte of the rkey", LOW_RKEY,
	  IBV_WR_RDMA_WRITE },
	{ "write with immediate and a bad rkey", BAD_RKEY,
	  IBV_WR_RDMA_WRITE_WITH_IMM },
	{ "read with a bad rkey", BAD_RKEY, IBV_WR_RDMA_READ },
	{ "atomic with a bad rkey", BAD_RKEY, IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "write with a deregistered rkey", DEAD_RKEY, IBV_WR_RDMA_WRITE },
	{ "write past the end of the MR", PAST_END, IBV_WR_RDMA_WRITE },
	{ "read past the end of the MR", PAST_END, IBV_WR_RDMA_READ },
	{ "atomic past the end of the MR", PAST_END,
	  IBV_WR_ATOMIC_CMP_AND_SWP },
	{ "write before the start of the MR", BEFORE_START,
	  IBV_WR_RDMA_WRITE },
	{ "write across the end of the address space", WRAPS,
	  IBV_WR_RDMA_WRITE },
	{ "write to an MR of another PD", OTHER_PD, IBV_WR_RDMA_WRITE },
	{ "read from an MR of another PD", OTHER_PD, IBV_WR_RDMA_READ },
	{ "write to an MR without that right", MR_RIGHTS, IBV_WR_RDMA_WRITE },
	{ "read from an MR without that right", MR_RIGHTS, IBV_WR_RDMA_READ },
	{ "atomic on an MR without that right", MR_RIGHTS,
	  IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "write to a QP without that right", QP_RIGHTS, IBV_WR_RDMA_WRITE },
	{ "read from a QP without that right", QP_RIGHTS, IBV_WR_RDMA_READ },
	{ "atomic on a QP without that right", QP_RIGHTS,
	  IBV_WR_ATOMIC_FETCH_AND_ADD },
};

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Return: all remote rights but the one that the opcode needs. */
static int rights_without(enum ibv_wr_opcode opcode)
{
	int need = is_atomic(opcode) ? IBV_ACCESS_REMOTE_ATOMIC :
		   opcode == IBV_WR_RDMA_READ ? IBV_ACCESS_REMOTE_READ :
		   IBV_ACCESS_REMOTE_WRITE;

	return IBV_ACCESS_LOCAL_WRITE | (ALL_REMOTE & ~need);
}

static void target(struct ibv_send_wr *wr, uint64_t addr, uint32_t rkey)
{
	if (is_atomic(wr->opcode)) {
		wr->wr.atomic.remote_addr = addr;
		wr->wr.atomic.rkey = rkey;
	} else {
		wr->wr.rdma.remote_addr = addr;
		wr->wr.rdma.rkey = rkey;
	}
}

/* Return: MR whose key is in the request. */
static struct ibv_mr *spoil(const struct refusal *r, struct ibv_pd *other,
			    struct ibv_send_wr *wr)
{
	int access = r->spoil == MR_RIGHTS ? rights_without(r->opcode) :
		     IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE;
	struct ibv_mr *mr = tail_mr(&e.b, r->spoil == OTHER_PD ? other :
				    e.b.pd, access);
	uint64_t addr = (uintptr_t)mr->addr;
	uint32_t rkey = mr->rkey;

	addr += -addr & 7; /* alignment of atomics */
	switch (r->spoil) {
	case BAD_RKEY:
		rkey ^= 0x5a5a5a;
		break;
	case LOW_RKEY:
		rkey ^= 1;
		break;
	case DEAD_RKEY:
		ibv_dereg_mr(mr);
		mr = NULL;
		break;
	case PAST_END:
		addr = (uintptr_t)mr->addr + SIZE - (is_atomic(r->opcode) ? 0 :
						     SIZE - 1);
		break;
	case BEFORE_START:
		addr = (uintptr_t)mr->addr - 1;
		break;
	case WRAPS:
		addr = ~0ull - 100;
		break;
	default:
		break;
	}
	target(wr, addr, rkey);
	return mr;
}

static bool right_refusal(const struct refusal *r, enum ibv_wc_status got)
{
	/* Devices send one of two NAKs, both of class C. */
	if (r->spoil == QP_RIGHTS)
		return got == IBV_WC_REM_INV_REQ_ERR ||
		       got == IBV_WC_REM_ACCESS_ERR;
	return got == IBV_WC_REM_ACCESS_ERR;
}

static bool untouched(const uint8_t *at, size_t size)
{
	while (size--)
		if (*at++ != POISON)
			return false;
	return true;
}

/*
 * The last packet of a WRITE with immediate data takes the receive. Between two QPs of
 * a device, the whole WRITE is one burst, so the receive is in use when the WRITE is
 * refused.
 */
static bool is_over(uint64_t recv)
{
	struct ibv_wc wc;

	return poll_one(e.b.rcq, &wc) && wc.wr_id == recv &&
	       (wc.status == IBV_WC_WR_FLUSH_ERR ||
		wc.status == IBV_WC_LOC_ACCESS_ERR);
}

static bool refused(const struct refusal *r, struct ibv_pd *other)
{
	uint32_t size = is_atomic(r->opcode) ? 8 : SIZE;
	struct ibv_sge sge = end_sge(&e.a, size);
	struct ibv_send_wr wr = work(&e, r->opcode, &sge);
	struct ibv_mr *mr = spoil(r, other, &wr);
	struct ibv_wc wc;

	memset(tail(&e.b) - GUARD, POISON, SIZE + GUARD);
	memset(msg(&e.a), r->opcode == IBV_WR_RDMA_READ ? POISON : 0, size);
	if (r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		receive(&e.b, RECV_ID, 8);
	CHECK(!post(&e.a, &wr), "post_send");
	CHECK(poll_one(e.a.scq, &wc), "no completion");
	CHECK(right_refusal(r, wc.status), "%s", ibv_wc_status_str(wc.status));
	CHECK(wc.wr_id == r->opcode && wc.qp_num == e.a.qp->qp_num, "wr_id");
	CHECK(untouched(tail(&e.b) - GUARD, SIZE + GUARD), "memory changed");
	CHECK(r->opcode != IBV_WR_RDMA_READ || untouched(msg(&e.a), size),
	      "memory of the reader changed");
	CHECK(end_state(&e.a) == IBV_QPS_ERR, "the requester's QP lives on");
	CHECK(end_state(&e.b) == IBV_QPS_ERR, "the responder's QP lives on");
	CHECK(r->opcode != IBV_WR_RDMA_WRITE_WITH_IMM || is_over(RECV_ID),
	      "receive");
	if (mr)
		ibv_dereg_mr(mr);
	return true;
}

static void test_refusals(void)
{
	struct ibv_pd *other = ibv_alloc_pd(e.b.ctx);
	size_t i;

	if (!other)
		tap_bail("no second PD");
	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refusal *r = &refusals[i];
		struct qp_conf conf = { .type = IBV_QPT_RC };

		if (r->spoil == QP_RIGHTS)
			conf.access = rights_without(r->opcode);
		ends_connect(&e, &conf);
		tap_result(refused(r, other), "%s", r->name);
		ends_disconnect(&e);
	}
	if (ibv_dealloc_pd(other))
		tap_bail("the second PD stays");
}

/* Part 2: single cases, each with a new RC connection. */

/* C9-88: no key is checked for a message without data. */
static bool zero_length_any_rkey(void)
{
	struct ibv_sge sge = end_sge(&e.a, 0);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	target(&wr, 12345, 0x5a5a5a);
	CHECK(!post(&e.a, &wr), "post_send");
	return expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS);
}

static bool access_event(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	wr.wr.rdma.rkey ^= 0x5a5a5a;
	CHECK(!post(&e.a, &wr), "post_send");
	CHECK(async_within(&e.b, IBV_EVENT_QP_ACCESS_ERR, WAIT_MS),
	      "no event IBV_EVENT_QP_ACCESS_ERR");
	return true;
}

/*
 * The address of an atomic must be a multiple of 8. ibv_post_send() of the provider may
 * check this, but ibv_wr_atomic_fetch_add() leaves the check to the responder.
 */
static bool misaligned_atomic(void)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(e.a.qp);
	int err;

	memset(msg(&e.b), 0, 16);
	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_fetch_add(qpx, e.b.mr->rkey, (uintptr_t)msg(&e.b) + 4, 1);
	ibv_wr_set_sge(qpx, e.a.mr->lkey, (uintptr_t)msg(&e.a), 8);
	err = ibv_wr_complete(qpx);
	if (!err && !expect_wc(e.a.scq, 1, IBV_WC_REM_INV_REQ_ERR))
		return false;
	CHECK(!msg(&e.b)[4], "it was done");
	return true;
}

static bool send_local_error(struct ibv_sge sge, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr = work(&e, opcode, &sge);

	receive(&e.b, RECV_ID, SIZE);
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, opcode, IBV_WC_LOC_PROT_ERR))
		return false;
	CHECK(end_state(&e.a) == IBV_QPS_ERR, "the QP lives on");
	return expect_none(e.b.rcq);
}

static bool send_bad_lkey(void)
{
	struct ibv_sge sge = end_sge(&e.a, 100);

	sge.lkey ^= 0x5a5a5a;
	return send_local_error(sge, IBV_WR_SEND);
}

static bool send_past_end(void)
{
	struct ibv_sge sge = end_sge(&e.a, SIZE);

	sge.addr = (uintptr_t)e.a.buf + END_MEMORY - SIZE + 1;
	return send_local_error(sge, IBV_WR_SEND);
}

static bool send_other_pd(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(e.a.ctx);
	struct ibv_mr *mr = tail_mr(&e.a, pd, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge = { (uintptr_t)mr->addr, SIZE, mr->lkey };
	bool ok = send_local_error(sge, IBV_WR_SEND);

	ibv_dereg_mr(mr);
	ibv_dealloc_pd(pd);
	return ok;
}

static bool read_into_read_only(void)
{
	struct ibv_mr *mr = tail_mr(&e.a, e.a.pd, 0);
	struct ibv_sge sge = { (uintptr_t)mr->addr, SIZE, mr->lkey };
	bool ok;

	memset(mr->addr, POISON, SIZE);
	ok = send_local_error(sge, IBV_WR_RDMA_READ) &&
	     untouched(mr->addr, SIZE);
	ibv_dereg_mr(mr);
	return ok;
}

/* Post a message of @size, for which end b has an unsuitable receive. */
static bool receive_fails(struct ibv_sge to, uint32_t size,
			  enum ibv_wc_status receiver,
			  enum ibv_wc_status sender)
{
	struct ibv_sge sge = end_sge(&e.a, size);
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);

	CHECK(!post_recv(&e.b, RECV_ID, &to, 1), "post_recv");
	CHECK(!post(&e.a, &wr), "post_send");
	if (!expect_wc(e.a.scq, IBV_WR_SEND, sender) ||
	    !expect_wc(e.b.rcq, RECV_ID, receiver))
		return false;
	CHECK(end_state(&e.b) == IBV_QPS_ERR, "the QP lives on");
	return true;
}

static bool receive_too_short(void)
{
	memset(msg(&e.b), POISON, SIZE);
	if (!receive_fails(end_sge(&e.b, SIZE - 1), SIZE, IBV_WC_LOC_LEN_ERR,
			   IBV_WC_REM_INV_REQ_ERR))
		return false;
	CHECK(msg(&e.b)[SIZE - 1] == POISON, "written past the buffer");
	return true;
}

static bool receive_bad_lkey(void)
{
	struct ibv_sge sge = end_sge(&e.b, SIZE);

	sge.lkey ^= 0x5a5a5a;
	return receive_fails(sge, SIZE, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
}

static bool receive_past_end(void)
{
	struct ibv_sge sge = end_sge(&e.b, SIZE);

	sge.addr = (uintptr_t)e.b.buf + END_MEMORY - SIZE + 1;
	return receive_fails(sge, SIZE, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
}

static bool receive_read_only(void)
{
	struct ibv_mr *mr = tail_mr(&e.b, e.b.pd, 0);
	struct ibv_sge sge = { (uintptr_t)mr->addr, SIZE, mr->lkey };
	bool ok = receive_fails(sge, SIZE, IBV_WC_LOC_PROT_ERR,
				IBV_WC_REM_OP_ERR);

	ibv_dereg_mr(mr);
	return ok;
}

/* The responder acknowledges requests before a refused one first (9.7.5.1.2). */
static bool answered_then(struct ibv_send_wr *refused, enum ibv_wc_status status)
{
	struct ibv_sge sge = end_sge(&e.a, SIZE);
	struct ibv_send_wr read = work(&e, IBV_WR_RDMA_READ, &sge);

	fill(msg(&e.b), SIZE);
	read.next = refused;
	CHECK(!post(&e.a, &read), "post_send");
	if (!expect_wc(e.a.scq, IBV_WR_RDMA_READ, IBV_WC_SUCCESS) ||
	    !expect_wc(e.a.scq, refused->wr_id, status))
		return false;
	CHECK(!memcmp(msg(&e.a), msg(&e.b), SIZE), "other data");
	CHECK(end_state(&e.b) == IBV_QPS_ERR, "the responder's QP lives on");
	return true;
}

static bool read_then_bad_write(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE, &sge);

	wr.wr.rdma.rkey ^= 0x5a5a5a;
	return answered_then(&wr, IBV_WC_REM_ACCESS_ERR);
}

static bool read_then_bad_atomic(void)
{
	struct ibv_sge sge = { (uintptr_t)tail(&e.a), 8, e.a.mr->lkey };
	struct ibv_send_wr wr = work(&e, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge);

	wr.wr.atomic.rkey ^= 0x5a5a5a;
	return answered_then(&wr, IBV_WC_REM_ACCESS_ERR);
}

static bool read_then_long_send(void)
{
	struct ibv_sge sge = { (uintptr_t)tail(&e.a), 16, e.a.mr->lkey };
	struct ibv_send_wr wr = work(&e, IBV_WR_SEND, &sge);
	struct ibv_sge to = { (uintptr_t)tail(&e.b), 8, e.b.mr->lkey };

	CHECK(!post_recv(&e.b, RECV_ID, &to, 1), "post_recv");
	return answered_then(&wr, IBV_WC_REM_INV_REQ_ERR) &&
	       expect_wc(e.b.rcq, RECV_ID, IBV_WC_LOC_LEN_ERR);
}

/* Send the first packet of a longer SEND, as from end a. */
static void send_first(int fd, uint32_t psn)
{
	struct packet p;

	packet_begin(&p, &e.a.gid, &e.b.gid);
	packet_bth(&p, 0x00, e.b.qp->qp_num, psn);
	packet_add(&p, msg(&e.a), mtu_bytes(e.b.active_mtu));
	packet_end(&p);
	packet_send(fd, &p);
}

/* When a SEND begins before the last has ended, its receive fails (9.9.3, class C). */
static bool receive_in_use(void)
{
	int fd, i;

	end_enter(&e.a);
	fd = packet_socket(e.ipv6);
	receive(&e.b, RECV_ID, 1u << 16);
	receive(&e.b, RECV_ID + 1, SIZE);
	/* A NIC that runs the QP may return it, and drop the first packets. */
	for (i = 0; i < 10; i++) {
		send_first(fd, e.a.psn);
		send_first(fd, e.a.psn + 1);
		usleep(20000);
	}
	close(fd);
	return expect_wc(e.b.rcq, RECV_ID, IBV_WC_REM_INV_REQ_ERR) &&
	       expect_wc(e.b.rcq, RECV_ID + 1, IBV_WC_WR_FLUSH_ERR);
}

/* A WRITE is refused after it has taken its receive (11.6.2). */
static bool receive_of_bad_write(void)
{
	struct ibv_sge sge = end_sge(&e.a, 8);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE_WITH_IMM, &sge);

	wr.wr.rdma.rkey ^= 0x5a5a5a;
	receive(&e.b, RECV_ID, 8);
	CHECK(!post(&e.a, &wr), "post_send");
	return expect_wc(e.a.scq, wr.wr_id, IBV_WC_REM_ACCESS_ERR) &&
	       expect_wc(e.b.rcq, RECV_ID, IBV_WC_LOC_ACCESS_ERR);
}

static const struct {
	const char *name;
	bool (*test)(void);
} singles[] = {
	{ "write of nothing with a bad rkey succeeds", zero_length_any_rkey },
	{ "event at the responder for a bad rkey", access_event },
	{ "atomic on a misaligned address", misaligned_atomic },
	{ "send with a bad lkey", send_bad_lkey },
	{ "send past the end of the MR", send_past_end },
	{ "send from an MR of another PD", send_other_pd },
	{ "read into an MR that may not be written", read_into_read_only },
	{ "message longer than the receive buffer", receive_too_short },
	{ "receive with a bad lkey", receive_bad_lkey },
	{ "receive past the end of the MR", receive_past_end },
	{ "receive into an MR that may not be written", receive_read_only },
	{ "a READ before a WRITE with a bad rkey", read_then_bad_write },
	{ "a READ before an atomic with a bad rkey", read_then_bad_atomic },
	{ "a READ before a SEND that is too long", read_then_long_send },
	{ "receive in use when another message begins", receive_in_use },
	{ "receive of a write with a bad rkey", receive_of_bad_write },
};

int main(int argc, char **argv)
{
	struct qp_conf conf = {
		.type = IBV_QPT_RC,
		.send_ops = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};
	size_t i;

	ends_open(&e, argc, argv);
	tap_plan(ARRAY_SIZE(refusals) + ARRAY_SIZE(singles));
	test_refusals();
	for (i = 0; i < ARRAY_SIZE(singles); i++) {
		ends_connect(&e, &conf);
		tap_result(singles[i].test(), "%s", singles[i].name);
		ends_disconnect(&e);
	}
	ends_close(&e);
	return tap_done();
}
