// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each opcode of RC, UC and UD transfers exactly the bytes of its message, with sizes
 * around the limits and all path MTUs. Completions are as in the manual of the verbs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define HUGE_SIZE	(1u << 30)
#define RECV_ID		99
#define GRH_BYTES	40u

/* Form of the payload in a request */
enum manner { PLAIN, SGE_LIST, INLINE };

static const char *const manners[] = { "", " with SGE lists", " inline" };

struct opcode {
	const char *name;
	enum ibv_wr_opcode wr;
	enum ibv_wc_opcode wc;
	bool reads;		/* the peer sends the data */
	bool receives;		/* the peer consumes a receive */
	bool writes;		/* the data go to the request's address */
	bool imm;
};

static const struct opcode opcodes[] = {
	{ "SEND", IBV_WR_SEND, IBV_WC_SEND, .receives = true },
	{ "SEND_WITH_IMM", IBV_WR_SEND_WITH_IMM, IBV_WC_SEND,
	  .receives = true, .imm = true },
	{ "RDMA_WRITE", IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, .writes = true },
	{ "RDMA_WRITE_WITH_IMM", IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE,
	  .receives = true, .writes = true, .imm = true },
	{ "RDMA_READ", IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, .reads = true },
};

/* Number of the table's rows for each transport service */
#define UD_OPCODES	2
#define UC_OPCODES	4
#define RC_OPCODES	5

static struct ends e;
static enum ibv_qp_type type;

/* Split a buffer into segments of 1, 2, 3, ... bytes and the rest. */
static int cut(struct ibv_sge *list, int max, struct ibv_sge whole)
{
	int n = 0;

	while (n < max - 1 && whole.length > n + 1u) {
		list[n] = whole;
		list[n].length = n + 1;
		whole.addr += n + 1;
		whole.length -= n + 1;
		n++;
	}
	list[n] = whole;
	return n + 1;
}

static bool post_one(const struct opcode *op, uint32_t size, enum manner how)
{
	struct ibv_sge list[4], whole = end_sge(&e.a, size);
	struct ibv_send_wr wr = work(&e, op->wr, list);
	int err;

	list[0] = whole;
	if (how == SGE_LIST)
		wr.num_sge = cut(list, ARRAY_SIZE(list), whole);
	if (how == INLINE) {
		wr.send_flags |= IBV_SEND_INLINE;
		list[0].lkey = 0xdead; /* ignored with inline data */
	}
	err = post(&e.a, &wr);
	CHECK(!err, "post_send: %s", strerror(err));
	if (how == INLINE) /* the buffer may be reused at once */
		memset((void *)(uintptr_t)whole.addr, POISON, size);
	return true;
}

static bool prepare_receive(const struct opcode *op, uint32_t size,
			    enum manner how)
{
	struct ibv_sge list[3];
	int n = 0, err;

	if (op->writes) /* the receive gets no data */
		size = 0;
	else if (type == IBV_QPT_UD)
		size += GRH_BYTES;
	if (size)
		n = cut(list, how == SGE_LIST ? 3 : 1, end_sge(&e.b, size));
	err = post_recv(&e.b, RECV_ID, list, n);
	CHECK(!err, "post_recv: %s", strerror(err));
	return true;
}

static bool check_sent(const struct opcode *op, uint32_t size)
{
	struct ibv_wc wc;

	CHECK(poll_one(e.a.scq, &wc), "the send does not complete");
	CHECK(wc.status == IBV_WC_SUCCESS, "the send: %s",
	      ibv_wc_status_str(wc.status));
	CHECK(wc.wr_id == op->wr && wc.opcode == op->wc,
	      "wr_id %llu opcode %d", (unsigned long long)wc.wr_id, wc.opcode);
	CHECK(wc.qp_num == e.a.qp->qp_num, "qp_num %#x", wc.qp_num);
	CHECK(!op->reads || wc.byte_len == size, "byte_len %u", wc.byte_len);
	return true;
}

static bool check_received(const struct opcode *op, uint32_t size)
{
	uint32_t grh = type == IBV_QPT_UD ? GRH_BYTES : 0;
	struct ibv_wc wc;

	CHECK(poll_one(e.b.rcq, &wc), "the receive does not complete");
	CHECK(wc.status == IBV_WC_SUCCESS, "the receive: %s",
	      ibv_wc_status_str(wc.status));
	CHECK(wc.wr_id == RECV_ID && wc.qp_num == e.b.qp->qp_num,
	      "wr_id %llu qp_num %#x", (unsigned long long)wc.wr_id,
	      wc.qp_num);
	CHECK(wc.opcode == (op->writes ? IBV_WC_RECV_RDMA_WITH_IMM :
				      IBV_WC_RECV), "opcode %d", wc.opcode);
	CHECK(wc.byte_len == size + grh, "byte_len %u", wc.byte_len);
	CHECK(!(wc.wc_flags & IBV_WC_WITH_IMM) == !op->imm &&
	      !(wc.wc_flags & IBV_WC_WITH_INV), "wc_flags %#x", wc.wc_flags);
	CHECK(!op->imm || ntohl(wc.imm_data) == 0x5eed0000u + op->wr,
	      "imm_data %#x", ntohl(wc.imm_data));
	CHECK(!grh || (wc.wc_flags & IBV_WC_GRH &&
		       wc.src_qp == e.a.qp->qp_num),
	      "wc_flags %#x src_qp %#x", wc.wc_flags, wc.src_qp);
	return true;
}

/* IBTA A17.4.5.1: an IPv4 header is in the last 20 bytes of the GRH. */
static bool check_grh(const uint8_t *grh)
{
	const uint8_t *ip = grh + 20;

	if (e.ipv6) {
		CHECK(grh[0] >> 4 == 6 && grh[6] == IPPROTO_UDP,
		      "version %u, next header %u", grh[0] >> 4, grh[6]);
		CHECK(!memcmp(grh + 8, &e.a.gid, 16) &&
		      !memcmp(grh + 24, &e.b.gid, 16), "IPv6 addresses");
		return true;
	}
	CHECK(ip[0] == 0x45 && ip[9] == IPPROTO_UDP,
	      "version and length %#x, protocol %u", ip[0], ip[9]);
	CHECK(!memcmp(ip + 12, e.a.gid.raw + 12, 4) &&
	      !memcmp(ip + 16, e.b.gid.raw + 12, 4), "IPv4 addresses");
	return true;
}

static bool is_poison(const uint8_t *at, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (at[i] != POISON)
			return false;
	return true;
}

/* Transfer a message of @size bytes and compare all bytes. */
static bool transfer(const struct opcode *op, uint32_t size, enum manner how)
{
	static uint8_t want[END_MEMORY];
	struct end *src = op->reads ? &e.b : &e.a;
	struct end *dst = op->reads ? &e.a : &e.b;
	uint32_t grh = type == IBV_QPT_UD ? GRH_BYTES : 0;
	uint8_t *got = msg(dst);

	fill(msg(src), size);
	memcpy(want, msg(src), size);
	memset(got - GUARD, POISON, size + grh + 2 * GUARD);
	if (op->receives && !prepare_receive(op, size, how))
		return false;
	if (!post_one(op, size, how) || !check_sent(op, size))
		return false;
	if (op->receives && !check_received(op, size))
		return false;
	if (grh && !check_grh(got))
		return false;
	/* No completion tells that a UC WRITE has arrived. */
	if (op->receives || type == IBV_QPT_RC)
		CHECK(!memcmp(got + grh, want, size), "the data differ");
	else
		CHECK(memory_becomes(got, want, size), "the data differ");
	CHECK(is_poison(got - GUARD, GUARD) &&
	      is_poison(got + grh + size, GUARD), "bytes around were written");
	return true;
}

static bool transfers(const struct opcode *op, enum ibv_mtu path_mtu,
		      enum manner how)
{
	uint32_t mtu = mtu_bytes(path_mtu);
	uint32_t sizes[] = { 0, 1, 3, 4, mtu - 1, mtu, mtu + 1, 3 * mtu,
			     64 << 10, 1 << 20 };
	uint32_t most = how == INLINE ? e.a.max_inline :
			type == IBV_QPT_UD ? mtu :
			e.quick && path_mtu != e.a.active_mtu ? 64 << 10 :
			1 << 20;
	size_t i;

	if (e.most && most > e.most)
		most = e.most;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (sizes[i] <= most && !transfer(op, sizes[i], how)) {
			tap_diag("at %u bytes", sizes[i]);
			return false;
		}
	return true;
}

static void test_opcodes(const char *transport, size_t count,
			 enum ibv_mtu mtu, enum manner how)
{
	struct qp_conf conf = {
		.type = type, .mtu = mtu, .sges = 4,
		.inline_data = how == INLINE ? 256 : 0,
	};
	size_t i;

	for (i = 0; i < count; i++) {
		if (how == INLINE && opcodes[i].reads)
			continue;
		ends_connect(&e, &conf);
		tap_result(transfers(&opcodes[i], mtu, how),
			   "%s %s%s, MTU %u", transport, opcodes[i].name,
			   manners[how], mtu_bytes(mtu));
		ends_disconnect(&e);
	}
}

static bool atomic(enum ibv_wr_opcode opcode, uint64_t compare_add,
		   uint64_t swap, uint64_t before, uint64_t after)
{
	struct ibv_sge sge = end_sge(&e.a, sizeof(uint64_t));
	struct ibv_send_wr wr = work(&e, opcode, &sge);
	uint64_t *result = (uint64_t *)msg(&e.a);
	uint64_t *target = (uint64_t *)msg(&e.b);
	struct ibv_wc wc;
	int err;

	*target = before;
	*result = ~before;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	err = post(&e.a, &wr);
	CHECK(!err, "post_send: %s", strerror(err));
	CHECK(poll_one(e.a.scq, &wc) && wc.status == IBV_WC_SUCCESS,
	      "no success");
	CHECK(wc.opcode == (opcode == IBV_WR_ATOMIC_CMP_AND_SWP ?
			    IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD) &&
	      wc.byte_len == sizeof(uint64_t), "opcode %d byte_len %u",
	      wc.opcode, wc.byte_len);
	CHECK(*result == before, "the old value is %#llx, not %#llx",
	      (unsigned long long)*result, (unsigned long long)before);
	CHECK(*target == after, "the new value is %#llx, not %#llx",
	      (unsigned long long)*target, (unsigned long long)after);
	return true;
}

static bool compare_and_swap(void)
{
	const uint64_t x = 0x0123456789abcdef, y = 0xfedcba9876543210;

	return atomic(IBV_WR_ATOMIC_CMP_AND_SWP, x, y, x, y) &&
	       atomic(IBV_WR_ATOMIC_CMP_AND_SWP, x, y, x + 1, x + 1);
}

static bool fetch_and_add(void)
{
	const uint64_t x = 0x0123456789abcdef;

	return atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, x, x + 1) &&
	       atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0, ~0ull, 1);
}

/* 2^30 bytes need lengths beyond 16 bits and PSNs beyond 18 bits. */
static bool huge(const struct opcode *op)
{
	uint8_t *mem = mmap(NULL, 2ul * HUGE_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *local = mem, *remote = mem + HUGE_SIZE;
	uint8_t *src = op->reads ? remote : local;
	struct ibv_mr *a, *b;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	bool same;

	CHECK(mem != MAP_FAILED, "no memory");
	fill(src, HUGE_SIZE);
	a = ibv_reg_mr(e.a.pd, local, HUGE_SIZE, IBV_ACCESS_LOCAL_WRITE);
	b = ibv_reg_mr(e.b.pd, remote, HUGE_SIZE,
		       IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE);
	CHECK(a && b, "no MR: %s", strerror(errno));
	sge = (struct ibv_sge){ (uintptr_t)local, HUGE_SIZE, a->lkey };
	wr = work(&e, op->wr, &sge);
	wr.wr.rdma.remote_addr = (uintptr_t)remote;
	wr.wr.rdma.rkey = b->rkey;
	if (op->receives && !op->writes) {
		struct ibv_sge to = { (uintptr_t)remote, HUGE_SIZE, b->lkey };

		CHECK(!post_recv(&e.b, RECV_ID, &to, 1), "post_recv");
	}
	CHECK(!post(&e.a, &wr), "post_send");
	CHECK(poll_within(e.a.scq, &wc, 12 * WAIT_MS) &&
	      wc.status == IBV_WC_SUCCESS, "no success");
	CHECK(!op->receives || check_received(op, HUGE_SIZE), "no receive");
	same = !memcmp(local, remote, HUGE_SIZE);
	ibv_dereg_mr(a);
	ibv_dereg_mr(b);
	munmap(mem, 2ul * HUGE_SIZE);
	CHECK(same, "the data differ");
	return true;
}

static void test_rc_one(bool (*test)(void), const char *name)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };

	ends_connect(&e, &conf);
	tap_result(test(), "RC %s", name);
	ends_disconnect(&e);
}

static void test_huge(void)
{
	static const size_t rows[] = { 0, 2, 4 }; /* SEND, WRITE, READ */
	struct qp_conf conf = { .type = IBV_QPT_RC };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ends_connect(&e, &conf);
		tap_result(huge(&opcodes[rows[i]]), "RC %s of 1 GiB",
			   opcodes[rows[i]].name);
		ends_disconnect(&e);
	}
}

static bool skips(enum ibv_mtu mtu)
{
	return e.quick && mtu != e.a.active_mtu && mtu != IBV_MTU_256;
}

int main(int argc, char **argv)
{
	unsigned int mtus = 0, per_mtu = RC_OPCODES + UC_OPCODES;
	enum ibv_mtu mtu, top;

	ends_open(&e, argc, argv);
	top = e.a.active_mtu;
	for (mtu = IBV_MTU_256; mtu <= top; mtu++)
		mtus += !skips(mtu);
	/* Each row has three forms, but a READ is never inline. */
	tap_plan(per_mtu * mtus + per_mtu + (per_mtu - 1) + 3 * UD_OPCODES +
		 2 + (e.huge ? 3 : 0));

	for (mtu = IBV_MTU_256; mtu <= top; mtu++) {
		if (skips(mtu))
			continue;
		type = IBV_QPT_RC;
		test_opcodes("RC", RC_OPCODES, mtu, PLAIN);
		type = IBV_QPT_UC;
		test_opcodes("UC", UC_OPCODES, mtu, PLAIN);
	}
	test_opcodes("UC", UC_OPCODES, top, SGE_LIST);
	test_opcodes("UC", UC_OPCODES, top, INLINE);
	type = IBV_QPT_UD;
	test_opcodes("UD", UD_OPCODES, top, PLAIN);
	test_opcodes("UD", UD_OPCODES, top, SGE_LIST);
	test_opcodes("UD", UD_OPCODES, top, INLINE);
	type = IBV_QPT_RC;
	test_opcodes("RC", RC_OPCODES, top, SGE_LIST);
	test_opcodes("RC", RC_OPCODES, top, INLINE);
	test_rc_one(compare_and_swap, "CMP_AND_SWP");
	test_rc_one(fetch_and_add, "FETCH_AND_ADD");
	if (e.huge)
		test_huge();
	ends_close(&e);
	return tap_done();
}
