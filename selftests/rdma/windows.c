// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory windows: data through a window; refused accesses beyond its range or rights;
 * and all ways to end a binding, after which the key is invalid.
 */
#include <errno.h>
#include <string.h>

#include "../lib/storm.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/window.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define RECV_ID		99

/* Bind again after a refusal. A type 2 window may be bound to a QP that is gone. */
static bool bind_again(int access)
{
	if (w.type == IBV_MW_TYPE_1)
		return true;
	return bind_all(access);
}

static bool data(void)
{
	uint8_t *to = msg(&w.e.b), *from = msg(&w.e.a);
	static const uint32_t offsets[] = { 0, 1, 4095, SIZE - 1 };
	size_t i;

	if (!bind_all(ALL_REMOTE))
		return false;
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		uint32_t offset = offsets[i], size = SIZE - offset;

		memset(to - GUARD, POISON, SIZE + 2 * GUARD);
		fill(from, size);
		CHECK(access_at(IBV_WR_RDMA_WRITE, w.mw->rkey, at(&w.e.b, offset),
				size) == IBV_WC_SUCCESS, "WRITE at %u", offset);
		CHECK(!memcmp(to + offset, from, size), "other bytes");
		CHECK(to[-1] == POISON && to[SIZE] == POISON, "and beyond");
		fill(to, SIZE);
		CHECK(access_at(IBV_WR_RDMA_READ, w.mw->rkey, at(&w.e.b, offset),
				size) == IBV_WC_SUCCESS, "READ at %u", offset);
		CHECK(!memcmp(to + offset, from, size), "READ other bytes");
	}
	memset(to, 0, 8);
	CHECK(access_at(IBV_WR_ATOMIC_FETCH_AND_ADD, w.mw->rkey, at(&w.e.b, 0), 8)
	      == IBV_WC_SUCCESS && *(uint64_t *)to == 1, "FETCH_AND_ADD");
	return true;
}

static bool range(void)
{
	static const struct {
		enum ibv_wr_opcode op;
		int offset;
		uint32_t size;
	} beyond[] = {
		{ IBV_WR_RDMA_WRITE, -1, 1 },
		{ IBV_WR_RDMA_WRITE, 0, SIZE + 1 },
		{ IBV_WR_RDMA_WRITE, SIZE, 1 },
		{ IBV_WR_RDMA_READ, -1, 2 },
		{ IBV_WR_RDMA_READ, SIZE - 1, 2 },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, SIZE & ~7u, 8 },
	};
	size_t i;

	if (!bind_all(ALL_REMOTE))
		return false;
	for (i = 0; i < ARRAY_SIZE(beyond); i++)
		if (!is_closed(w.mw->rkey, beyond[i].op,
			       at(&w.e.b, beyond[i].offset), beyond[i].size) ||
		    !bind_again(ALL_REMOTE)) {
			tap_diag("case %zu", i);
			return false;
		}
	return true;
}

static bool rights(void)
{
	static const struct {
		int access;
		enum ibv_wr_opcode op;
	} missing[] = {
		{ ALL_REMOTE & ~IBV_ACCESS_REMOTE_WRITE, IBV_WR_RDMA_WRITE },
		{ ALL_REMOTE & ~IBV_ACCESS_REMOTE_READ, IBV_WR_RDMA_READ },
		{ ALL_REMOTE & ~IBV_ACCESS_REMOTE_ATOMIC,
		  IBV_WR_ATOMIC_FETCH_AND_ADD },
		{ IBV_ACCESS_LOCAL_WRITE, IBV_WR_RDMA_WRITE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(missing); i++)
		if (!bind_all(missing[i].access) ||
		    !is_closed(w.mw->rkey, missing[i].op, at(&w.e.b, 0), 8)) {
			tap_diag("case %zu", i);
			return false;
		}
	return true;
}

/* Refused: the key of an unbound window, the region's key, and a window's lkey */
static bool not_a_key(void)
{
	struct ibv_sge sge = end_sge(&w.e.b, 8);
	struct ibv_send_wr wr;

	if (!key_is_closed(w.mw->rkey) || !key_is_closed(w.base->rkey) ||
	    !bind_all(ALL_REMOTE))
		return false;
	sge.lkey = w.mw->rkey;
	wr = work(&w.e, IBV_WR_SEND, &sge);
	CHECK(!post(&w.e.b, &wr), "post_send");
	return expect_wc(w.e.b.scq, IBV_WR_SEND, IBV_WC_LOC_PROT_ERR);
}

/* Type 1: bind to other memory and then unbind, by ibv_bind_mw(). */
static bool rebind(void)
{
	struct ibv_mw_bind bind = {
		.wr_id = BIND_ID,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = w.base,
			.addr = at(&w.e.b, SIZE),
			.length = SIZE,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		},
	};
	uint32_t old;

	if (!bind_all(ALL_REMOTE))
		return false;
	CHECK(write_all() == IBV_WC_SUCCESS, "WRITE");
	old = w.mw->rkey;
	CHECK(!ibv_bind_mw(w.e.b.qp, w.mw, &bind), "bind_mw");
	if (!expect_wc(w.e.b.scq, BIND_ID, IBV_WC_SUCCESS))
		return false;
	CHECK(w.mw->rkey != old, "the key is the same");
	CHECK(access_at(IBV_WR_RDMA_WRITE, w.mw->rkey, at(&w.e.b, SIZE), SIZE) ==
	      IBV_WC_SUCCESS, "WRITE to the new place");
	if (!key_is_closed(old) || !key_is_closed(w.mw->rkey))
		return false;
	CHECK(!unbind(), "bind_mw to nothing");
	if (!expect_wc(w.e.b.scq, BIND_ID, IBV_WC_SUCCESS))
		return false;
	return is_closed(w.mw->rkey, IBV_WR_RDMA_WRITE, at(&w.e.b, SIZE), 1);
}

static bool local_invalidation(void)
{
	struct ibv_wc wc;

	if (!bind_all(ALL_REMOTE))
		return false;
	CHECK(write_all() == IBV_WC_SUCCESS, "WRITE");
	CHECK(!post_invalidation(w.mw->rkey), "post_send");
	CHECK(poll_one(w.e.b.scq, &wc) && wc.status == IBV_WC_SUCCESS &&
	      wc.opcode == IBV_WC_LOCAL_INV, "LOCAL_INV: %s, opcode %d",
	      ibv_wc_status_str(wc.status), wc.opcode);
	if (!key_is_closed(w.mw->rkey) || !bind_all(ALL_REMOTE))
		return false;
	CHECK(write_all() == IBV_WC_SUCCESS, "WRITE to the window bound anew");
	return true;
}

/* Keys that cannot be invalidated: of a region, of a type 1 window, an unknown one */
static bool no_invalidation(void)
{
	uint32_t keys[] = { w.base->lkey, w.mw->rkey, w.mw->rkey ^ 0x5a5a00 };
	struct ibv_sge sge = end_sge(&w.e.a, 8);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		struct ibv_send_wr wr = work(&w.e, IBV_WR_SEND_WITH_INV, &sge);

		/* The key of an unbound type 2 window is no error. */
		if (w.type == IBV_MW_TYPE_1 || keys[i] != w.mw->rkey) {
			CHECK(!post_invalidation(keys[i]), "post_send");
			if (!expect_wc(w.e.b.scq, INV_ID, IBV_WC_MW_BIND_ERR))
				return false;
			reconnect();
			wr = work(&w.e, IBV_WR_SEND_WITH_INV, &sge);
		}
		wr.invalidate_rkey = keys[i];
		receive(&w.e.b, RECV_ID, 8);
		CHECK(!post(&w.e.a, &wr), "post_send");
		if (!expect_wc(w.e.a.scq, IBV_WR_SEND_WITH_INV,
			       IBV_WC_REM_INV_REQ_ERR) ||
		    !expect_wc(w.e.b.rcq, RECV_ID, IBV_WC_REM_INV_REQ_ERR))
			return false;
		reconnect();
	}
	return true;
}

static bool remote_invalidation(void)
{
	struct ibv_sge sge = end_sge(&w.e.a, SIZE);
	struct ibv_send_wr wr = work(&w.e, IBV_WR_SEND_WITH_INV, &sge);
	struct ibv_wc wc;

	if (!bind_all(ALL_REMOTE))
		return false;
	CHECK(write_all() == IBV_WC_SUCCESS, "WRITE");
	fill(msg(&w.e.a), SIZE);
	receive(&w.e.b, RECV_ID, SIZE);
	wr.invalidate_rkey = w.mw->rkey;
	CHECK(!post(&w.e.a, &wr), "post_send");
	if (!expect_wc(w.e.a.scq, IBV_WR_SEND_WITH_INV, IBV_WC_SUCCESS))
		return false;
	CHECK(poll_one(w.e.b.rcq, &wc) && wc.status == IBV_WC_SUCCESS,
	      "the receive: %s", ibv_wc_status_str(wc.status));
	CHECK(wc.wc_flags == IBV_WC_WITH_INV &&
	      wc.invalidated_rkey == w.mw->rkey && wc.byte_len == SIZE,
	      "flags %#x, key %#x, %u bytes", wc.wc_flags,
	      wc.invalidated_rkey, wc.byte_len);
	CHECK(!memcmp(msg(&w.e.a), msg(&w.e.b), SIZE), "other bytes");
	return key_is_closed(w.mw->rkey) && bind_all(ALL_REMOTE) &&
	       write_all() == IBV_WC_SUCCESS;
}

/* A READ and the invalidation of its window, in one list, are executed in order. */
static bool invalidation_in_order(void)
{
	struct ibv_sge sge = end_sge(&w.e.a, SIZE);
	struct ibv_send_wr inv, read;
	struct ibv_sge none = end_sge(&w.e.a, 0);

	if (!bind_all(ALL_REMOTE))
		return false;
	fill(msg(&w.e.b), SIZE);
	read = through(&sge, IBV_WR_RDMA_READ, w.mw->rkey, at(&w.e.b, 0));
	inv = work(&w.e, IBV_WR_SEND_WITH_INV, &none);
	inv.invalidate_rkey = w.mw->rkey;
	read.next = &inv;
	receive(&w.e.b, RECV_ID, 0);
	CHECK(!post(&w.e.a, &read), "post_send");
	if (!expect_wc(w.e.a.scq, IBV_WR_RDMA_READ, IBV_WC_SUCCESS) ||
	    !expect_wc(w.e.a.scq, IBV_WR_SEND_WITH_INV, IBV_WC_SUCCESS) ||
	    !expect_wc(w.e.b.rcq, RECV_ID, IBV_WC_SUCCESS))
		return false;
	CHECK(!memcmp(msg(&w.e.a), msg(&w.e.b), SIZE), "other bytes");
	return true;
}

/* Type 2: zero-based addresses */
static bool zero_based(void)
{
	struct ibv_send_wr wr = bind_wr(ALL_REMOTE | IBV_ACCESS_ZERO_BASED);

	if (!post_bind(&w.e.b, &wr))
		return false;
	fill(msg(&w.e.a), SIZE);
	CHECK(access_at(IBV_WR_RDMA_WRITE, w.mw->rkey, 0, SIZE) ==
	      IBV_WC_SUCCESS, "WRITE");
	CHECK(!memcmp(msg(&w.e.a), msg(&w.e.b), SIZE), "other bytes");
	return is_closed(w.mw->rkey, IBV_WR_RDMA_READ, SIZE, 1);
}

/* Only the QP that bound a type 2 window may use it. Type 1 is for all QPs of the PD. */
static bool other_qp(void)
{
	struct ends second = w.e;
	struct qp_conf conf = { .type = IBV_QPT_RC };
	struct ends first = w.e;
	int status;
	bool ok;

	if (!bind_all(ALL_REMOTE))
		return false;
	ends_connect(&second, &conf);
	w.e = second;
	status = write_all();
	if (w.type == IBV_MW_TYPE_1) {
		ok = status == IBV_WC_SUCCESS;
	} else {
		ok = status == IBV_WC_REM_ACCESS_ERR;
		reconnect();
		ok = ok && !post_invalidation(w.mw->rkey) &&
		     expect_wc(w.e.b.scq, INV_ID, IBV_WC_MW_BIND_ERR);
	}
	ends_disconnect(&w.e);
	w.e = first;
	CHECK(ok, "%s", ibv_wc_status_str(status));
	CHECK(write_all() == IBV_WC_SUCCESS, "WRITE by its own QP");
	return true;
}

/*
 * After the end of a binding, no engine writes through it, not even one that was
 * copying.
 */
static bool nothing_afterwards(void)
{
	enum { ROUNDS = 40, BYTES = 1 << 18 };
	struct storm storm;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct ibv_send_wr wr = bind_wr(IBV_ACCESS_REMOTE_WRITE);

		wr.bind_mw.bind_info.length = BYTES;
		if (!post_bind(&w.e.b, &wr))
			return false;
		storm_begin(&storm, &w.e, msg(&w.e.b), at(&w.e.b, 0), BYTES,
			    w.mw->rkey);
		CHECK(!unbind(), "bind_mw to nothing");
		if (!expect_wc(w.e.b.scq, BIND_ID, IBV_WC_SUCCESS) ||
		    !storm_is_over(&storm)) {
			tap_diag("round %d", i);
			return false;
		}
	}
	return true;
}

/* A region with a bound window cannot be deregistered, until the binding ends. */
static bool lifetime(void)
{
	struct ibv_mr *mr = w.base;
	uint32_t old;
	int err;

	w.base = ibv_reg_mr(w.e.b.pd, w.e.b.buf, END_MEMORY,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	CHECK(w.base, "no MR: %s", strerror(errno));
	if (!bind_all(ALL_REMOTE))
		return false;
	err = ibv_dereg_mr(w.base);
	CHECK(err == EBUSY, "dereg_mr under a window: %s", strerror(err));
	CHECK(write_all() == IBV_WC_SUCCESS, "WRITE");
	old = w.mw->rkey;
	CHECK(!ibv_dealloc_mw(w.mw), "dealloc_mw: %s", strerror(errno));
	w.mw = new_window();
	if (!key_is_closed(old) || !bind_all(ALL_REMOTE))
		return false;
	if (w.type == IBV_MW_TYPE_2) {
		reconnect(); /* destroys the QP, which ends the binding */
	} else {
		CHECK(!unbind(), "bind_mw to nothing");
		if (!expect_wc(w.e.b.scq, BIND_ID, IBV_WC_SUCCESS))
			return false;
	}
	err = ibv_dereg_mr(w.base);
	w.base = mr;
	CHECK(!err, "dereg_mr: %s", strerror(err));
	return true;
}

/* Requests and bindings complete in order, the unsignaled ones without a completion. */
static bool order(void)
{
	enum { ROUNDS = 12 };
	struct ibv_sge sge = end_sge(&w.e.b, SIZE);
	struct ibv_send_wr wr;
	int i;

	for (i = 0; i < ROUNDS; i++)
		receive(&w.e.a, RECV_ID, SIZE);
	for (i = 0; i < ROUNDS; i++) {
		struct ibv_send_wr send = work(&w.e, IBV_WR_SEND, &sge);

		wr = bind_wr(ALL_REMOTE);
		wr.wr_id = 100 + i;
		CHECK(!post(&w.e.b, &wr), "post_send");
		w.mw->rkey = wr.bind_mw.rkey;
		send.wr_id = 200 + i;
		if (i & 1)
			send.send_flags = 0;
		CHECK(!post(&w.e.b, &send), "post_send");
		if (w.type == IBV_MW_TYPE_2)
			CHECK(!post_invalidation(w.mw->rkey), "post_send");
	}
	for (i = 0; i < ROUNDS; i++) {
		if (!expect_wc(w.e.b.scq, 100 + i, IBV_WC_SUCCESS))
			return false;
		if (!(i & 1) && !expect_wc(w.e.b.scq, 200 + i, IBV_WC_SUCCESS))
			return false;
		if (w.type == IBV_MW_TYPE_2 &&
		    !expect_wc(w.e.b.scq, INV_ID, IBV_WC_SUCCESS))
			return false;
	}
	return expect_none(w.e.b.scq);
}

static bool unreliable(void)
{
	if (!bind_all(IBV_ACCESS_REMOTE_WRITE))
		return false;
	memset(msg(&w.e.b), POISON, SIZE);
	fill(msg(&w.e.a), SIZE);
	CHECK(write_all() == IBV_WC_SUCCESS, "WRITE");
	CHECK(memory_becomes(msg(&w.e.b), msg(&w.e.a), SIZE), "other bytes");
	return true;
}

static bool datagram(void)
{
	struct ibv_send_wr wr = bind_wr(ALL_REMOTE);

	/* The provider refuses the request. */
	CHECK(post(&w.e.b, &wr), "a UD QP binds windows");
	return true;
}

static const struct window_test tests[] = {
	{ .name = "data", .run = data },
	{ .name = "range", .run = range },
	{ .name = "rights", .run = rights },
	{ .name = "not a key", .run = not_a_key },
	{ .name = "rebind", .run = rebind,
	  .only = IBV_MW_TYPE_1 },
	{ .name = "LOCAL_INV", .run = local_invalidation,
	  .only = IBV_MW_TYPE_2 },
	{ .name = "SEND_WITH_INV", .run = remote_invalidation,
	  .only = IBV_MW_TYPE_2 },
	{ .name = "READ, then SEND_WITH_INV", .run = invalidation_in_order,
	  .only = IBV_MW_TYPE_2 },
	{ .name = "what is not invalidated", .run = no_invalidation },
	{ .name = "zero-based", .run = zero_based,
	  .only = IBV_MW_TYPE_2 },
	{ .name = "another QP", .run = other_qp },
	{ .name = "nothing afterwards", .run = nothing_afterwards,
	  .only = IBV_MW_TYPE_1 },
	{ .name = "lifetime", .run = lifetime },
	{ .name = "order", .run = order },
	{ .name = "UC", .run = unreliable,
	  .service = IBV_QPT_UC },
	{ .name = "UD", .run = datagram,
	  .service = IBV_QPT_UD },
};

int main(int argc, char **argv)
{
	return windows_run(tests, ARRAY_SIZE(tests), argc, argv);
}
