// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "tap.h"
#include "wc.h"
#include "window.h"

struct windows w;

uint64_t at(const struct end *end, uint32_t offset)
{
	return (uintptr_t)msg(end) + offset;
}

static void connect(void)
{
	struct qp_conf conf = { .type = w.service };

	ends_connect(&w.e, &conf);
}

void reconnect(void)
{
	ends_disconnect(&w.e);
	connect();
}

struct ibv_mw *new_window(void)
{
	struct ibv_mw *fresh = ibv_alloc_mw(w.e.b.pd, w.type);

	if (!fresh)
		tap_bail("no window of type %d: %s", w.type, strerror(errno));
	return fresh;
}

struct ibv_send_wr bind_wr(int access)
{
	return (struct ibv_send_wr){
		.wr_id = BIND_ID,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = w.mw,
			.rkey = ibv_inc_rkey(w.mw->rkey),
			.bind_info = {
				.mr = w.base,
				.addr = at(&w.e.b, 0),
				.length = SIZE,
				.mw_access_flags = access,
			},
		},
	};
}

bool post_bind(struct end *end, struct ibv_send_wr *wr)
{
	struct ibv_wc wc;
	int err = post(end, wr);

	CHECK(!err, "post_send: %s", strerror(err));
	CHECK(poll_one(end->scq, &wc) && wc.status == IBV_WC_SUCCESS &&
	      wc.wr_id == BIND_ID, "BIND_MW: %s", ibv_wc_status_str(wc.status));
	CHECK(wc.opcode == IBV_WC_BIND_MW, "opcode %d", wc.opcode);
	wr->bind_mw.mw->rkey = wr->bind_mw.rkey;
	return true;
}

bool bind_all(int access)
{
	struct ibv_send_wr wr = bind_wr(access);

	return post_bind(&w.e.b, &wr);
}

struct ibv_send_wr through(struct ibv_sge *sge, enum ibv_wr_opcode op,
			   uint32_t rkey, uint64_t va)
{
	struct ibv_send_wr wr = work(&w.e, op, sge);

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = va;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = va;
		wr.wr.rdma.rkey = rkey;
	}
	return wr;
}

int access_at(enum ibv_wr_opcode op, uint32_t rkey, uint64_t va,
	      uint32_t size)
{
	struct ibv_sge sge = end_sge(&w.e.a, size);
	struct ibv_send_wr wr = through(&sge, op, rkey, va);
	struct ibv_wc wc;

	if (post(&w.e.a, &wr) || !poll_one(w.e.a.scq, &wc))
		return -1;
	return wc.status;
}

int write_all(void)
{
	return access_at(IBV_WR_RDMA_WRITE, w.mw->rkey, at(&w.e.b, 0), SIZE);
}

bool is_closed(uint32_t rkey, enum ibv_wr_opcode op, uint64_t va,
	       uint32_t size)
{
	int status;

	memset(msg(&w.e.b), POISON, SIZE);
	status = access_at(op, rkey, va, size);
	CHECK(status == IBV_WC_REM_ACCESS_ERR, "%s",
	      ibv_wc_status_str(status));
	CHECK(msg(&w.e.b)[0] == POISON && msg(&w.e.b)[SIZE - 1] == POISON,
	      "it was done");
	reconnect();
	return true;
}

bool key_is_closed(uint32_t rkey)
{
	return is_closed(rkey, IBV_WR_RDMA_WRITE, at(&w.e.b, 0), SIZE);
}

int unbind(void)
{
	struct ibv_mw_bind bind = {
		.wr_id = BIND_ID,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info.mr = w.base,
	};

	return ibv_bind_mw(w.e.b.qp, w.mw, &bind);
}

int post_invalidation(uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.wr_id = INV_ID,
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = rkey,
	};

	return post(&w.e.b, &wr);
}

static bool has_type(const struct window_test *test, enum ibv_mw_type type)
{
	return !test->only || test->only == type;
}

static void run(const struct window_test *test)
{
	w.service = test->service ?: IBV_QPT_RC;
	connect();
	w.mw = new_window();
	tap_result(test->run(), "type %d: %s", w.type, test->name);
	ends_disconnect(&w.e);
	if (ibv_dealloc_mw(w.mw))
		tap_bail("a window stays: %s", strerror(errno));
}

static void open_base(void)
{
	struct end *b = &w.e.b;

	if (!(b->attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW) ||
	    !(b->attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B) ||
	    !b->attr.max_mw)
		tap_bail("device %s has no windows", b->name);
	w.base = ibv_reg_mr(b->pd, b->buf, END_MEMORY,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	if (!w.base)
		tap_bail("no MR to bind windows to: %s", strerror(errno));
}

int windows_run(const struct window_test *tests, size_t n, int argc,
		char **argv)
{
	unsigned int plan = 0;
	size_t i;

	ends_open(&w.e, argc, argv);
	open_base();
	for (i = 0; i < n; i++)
		plan += has_type(&tests[i], IBV_MW_TYPE_1) +
			has_type(&tests[i], IBV_MW_TYPE_2);
	tap_plan(plan);
	for (w.type = IBV_MW_TYPE_1; w.type <= IBV_MW_TYPE_2; w.type++)
		for (i = 0; i < n; i++)
			if (has_type(&tests[i], w.type))
				run(&tests[i]);
	if (ibv_dereg_mr(w.base))
		tap_bail("the MR stays: %s", strerror(errno));
	ends_close(&w.e);
	return tap_done();
}
