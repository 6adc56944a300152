// SPDX-License-Identifier: GPL-2.0-only
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caller.h"
#include "tap.h"
#include "uverbs.h"
#include "wc.h"

enum {
	ARENA	= 1 << 20,
	BOARD	= 16,
};

/* ---------------------------------------------------------------- objects */

/* Numbers and keys that threads share, for use in requests */
static atomic_uint qpns[BOARD], rkeys[BOARD];

static struct dice *dice(struct caller *c)
{
	return &c->mangle.dice;
}

/* A random place for an object of a kind: an object, or NULL */
#define ANY(c, kind)	((c)->kind[dice_roll(dice(c), KEPT)])

#define ROOM(c, kind) ({						\
	unsigned int _i = 0;						\
									\
	while (_i < KEPT && (c)->kind[_i])				\
		_i++;							\
	_i < KEPT ? &(c)->kind[_i] : NULL;				\
})

static uint8_t *place(struct caller *c)
{
	return c->arena + dice_roll(dice(c), ARENA / 2);
}

static uint32_t small_or_edge(struct caller *c, uint32_t small)
{
	return dice_one_in(dice(c), 8) ? dice_edge(dice(c)) :
					 dice_roll(dice(c), small);
}

/* Destroy a random object, and forget it unless the kernel refused. */
#define END(kind, destroy)						\
static void end_##kind(struct caller *c)				\
{									\
	typeof(c->kind[0]) *at = &ANY(c, kind);				\
									\
	if (*at && !destroy(*at))					\
		*at = NULL;						\
}

END(pd, ibv_dealloc_pd)
END(cq, ibv_destroy_cq)
END(srq, ibv_destroy_srq)
END(mr, ibv_dereg_mr)
END(mw, ibv_dealloc_mw)
END(ah, ibv_destroy_ah)
END(qp, ibv_destroy_qp)

/* ---------------------------------------------------------------- PDs, CQs, SRQs */

static void new_pd(struct caller *c)
{
	struct ibv_pd **at = ROOM(c, pd);

	if (at)
		*at = ibv_alloc_pd(c->end->ctx);
}

static void new_cq(struct caller *c)
{
	struct ibv_cq **at = ROOM(c, cq);

	if (at)
		*at = ibv_create_cq(c->end->ctx, small_or_edge(c, 300), NULL,
				    NULL, small_or_edge(c, 2));
}

static void use_cq(struct caller *c)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = dice_roll(dice(c), 4),
		.moderate = {
			.cq_count = small_or_edge(c, 100),
			.cq_period = small_or_edge(c, 1000),
		},
	};
	struct ibv_cq *cq = ANY(c, cq);
	struct ibv_wc wc[8];

	if (!cq)
		return;
	switch (dice_roll(dice(c), 4)) {
	case 0:
		ibv_resize_cq(cq, small_or_edge(c, 500));
		break;
	case 1:
		ibv_modify_cq(cq, &attr);
		break;
	case 2:
		ibv_req_notify_cq(cq, dice_roll(dice(c), 2));
		break;
	default:
		ibv_poll_cq(cq, 8, wc);
	}
}

static void new_srq(struct caller *c)
{
	struct ibv_srq_init_attr init = {
		.attr = {
			.max_wr = small_or_edge(c, 200),
			.max_sge = small_or_edge(c, 5),
			.srq_limit = small_or_edge(c, 10),
		},
	};
	struct ibv_srq **at = ROOM(c, srq);
	struct ibv_pd *pd = ANY(c, pd);

	if (at && pd)
		*at = ibv_create_srq(pd, &init);
}

static struct ibv_sge sge_of(struct caller *c)
{
	struct ibv_mr *mr = ANY(c, mr);

	return (struct ibv_sge){
		.addr = (uintptr_t)place(c),
		.length = small_or_edge(c, 6000),
		.lkey = mr && !dice_one_in(dice(c), 16) ? mr->lkey :
							 dice_edge(dice(c)),
	};
}

static void use_srq(struct caller *c)
{
	struct ibv_srq_attr attr = {
		.max_wr = small_or_edge(c, 400),
		.srq_limit = small_or_edge(c, 20),
	};
	struct ibv_sge sge = sge_of(c);
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_srq *srq = ANY(c, srq);

	if (!srq)
		return;
	if (dice_one_in(dice(c), 4))
		ibv_modify_srq(srq, &attr, dice_roll(dice(c), 4));
	else if (dice_one_in(dice(c), 4))
		ibv_query_srq(srq, &attr);
	else
		ibv_post_srq_recv(srq, &wr, &bad);
}

/* ---------------------------------------------------------------- memory */

static int access_of(struct caller *c)
{
	static const int usual[] = {
		IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE, IBV_ACCESS_LOCAL_WRITE, 0,
		IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE | IBV_ACCESS_ON_DEMAND,
		IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE | IBV_ACCESS_MW_BIND,
	};

	return dice_one_in(dice(c), 4) ? (int)dice_edge(dice(c)) :
					 dice_pick(dice(c), usual);
}

static void new_mr(struct caller *c)
{
	struct ibv_mr **at = ROOM(c, mr);
	struct ibv_pd *pd = ANY(c, pd);

	if (!at || !pd)
		return;
	/* Any address, often at the end of the address space, or one in the arena */
	if (dice_one_in(dice(c), 8))
		*at = ibv_reg_mr(pd, (void *)(uintptr_t)dice_edge(dice(c)),
				 dice_edge(dice(c)), access_of(c));
	else
		*at = ibv_reg_mr(pd, place(c), dice_roll(dice(c), ARENA / 2),
				 access_of(c));
	if (*at)
		rkeys[dice_roll(dice(c), BOARD)] = (*at)->rkey;
}

static void use_mr(struct caller *c)
{
	struct ibv_mr *mr = ANY(c, mr);
	struct ibv_pd *pd = ANY(c, pd);
	struct ibv_sge sge = sge_of(c);

	if (mr && dice_one_in(dice(c), 2))
		uverbs_rereg_mr(mr, dice_roll(dice(c), 9), pd, place(c),
				dice_roll(dice(c), ARENA / 2), access_of(c));
	else if (pd && dice_one_in(dice(c), 2))
		uverbs_advise_mr(pd, dice_roll(dice(c), 4),
				 dice_roll(dice(c), 3), &sge, 1);
	else
		madvise(c->arena + dice_roll(dice(c), ARENA / 8192) * 4096,
			dice_roll(dice(c), 16) * 4096, MADV_DONTNEED);
}

static void new_mw(struct caller *c)
{
	struct ibv_mw **at = ROOM(c, mw);
	struct ibv_pd *pd = ANY(c, pd);

	if (at && pd)
		*at = ibv_alloc_mw(pd, small_or_edge(c, 3));
}

static struct ibv_mw_bind_info bind_info(struct caller *c)
{
	return (struct ibv_mw_bind_info){
		.mr = ANY(c, mr),
		.addr = (uintptr_t)place(c),
		.length = small_or_edge(c, ARENA / 4),
		.mw_access_flags = dice_roll(dice(c), 64),
	};
}

static void use_mw(struct caller *c)
{
	struct ibv_mw_bind bind = { .bind_info = bind_info(c) };
	struct ibv_mw *mw = ANY(c, mw);
	struct ibv_qp *qp = ANY(c, qp);

	if (mw && qp && bind.bind_info.mr && mw->type == IBV_MW_TYPE_1)
		ibv_bind_mw(qp, mw, &bind);
}

/* ---------------------------------------------------------------- AHs, groups */

static struct ibv_ah_attr path_of(struct caller *c)
{
	const struct end *to = dice_one_in(dice(c), 2) ?
				&c->ends->a : &c->ends->b;
	struct ibv_ah_attr path = {
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.dgid = to->gid,
			.sgid_index = c->end->gid_index,
			.hop_limit = 64,
		},
	};

	switch (dice_roll(dice(c), 12)) {
	case 0:
		path.grh.sgid_index = dice_edge(dice(c));
		break;
	case 1:
		path.port_num = dice_edge(dice(c));
		break;
	case 2:
		path.is_global = 0;
		break;
	case 3:
		path.grh.dgid.raw[dice_roll(dice(c), 16)] ^= 1;
		break;
	}
	return path;
}

static void new_ah(struct caller *c)
{
	struct ibv_ah_attr path = path_of(c);
	struct ibv_ah **at = ROOM(c, ah);
	struct ibv_pd *pd = ANY(c, pd);

	if (at && pd)
		*at = ibv_create_ah(pd, &path);
}

/* Joining a group again is no error and has no effect. */
static bool is_member(const struct caller *c, const struct membership *in)
{
	int i;

	for (i = 0; i < GROUPS; i++)
		if (c->in[i].qp == in->qp &&
		    !memcmp(&c->in[i].group, &in->group, sizeof(in->group)))
			return true;
	return false;
}

static void join(struct caller *c, struct membership *at)
{
	struct membership in = {
		.qp = ANY(c, qp),
		.group.raw = { [10] = 0xff, [11] = 0xff, [12] = 239, [13] = 1 },
	};

	in.group.raw[15] = dice_roll(dice(c), 4);
	if (dice_one_in(dice(c), 8))
		in.group.raw[dice_roll(dice(c), 16)] = dice_any(dice(c));
	if (in.qp && !is_member(c, &in) &&
	    !ibv_attach_mcast(in.qp, &in.group, 0))
		*at = in;
}

static int leave(struct membership *in)
{
	int err = ibv_detach_mcast(in->qp, &in->group, 0);

	if (!err)
		in->qp = NULL;
	return err;
}

/* A QP that is attached to a group cannot be destroyed. */
static void use_group(struct caller *c)
{
	struct membership *in = &c->in[dice_roll(dice(c), GROUPS)];

	if (in->qp)
		leave(in);
	else
		join(c, in);
}

/* ---------------------------------------------------------------- QPs */

static void new_qp(struct caller *c)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
	};
	struct ibv_qp_init_attr init = {
		.send_cq = ANY(c, cq),
		.recv_cq = ANY(c, cq),
		.srq = dice_one_in(dice(c), 3) ? ANY(c, srq) : NULL,
		.cap = {
			.max_send_wr = small_or_edge(c, 100),
			.max_recv_wr = small_or_edge(c, 100),
			.max_send_sge = small_or_edge(c, 6),
			.max_recv_sge = small_or_edge(c, 6),
			.max_inline_data = small_or_edge(c, 200),
		},
		.qp_type = dice_one_in(dice(c), 16) ? dice_edge(dice(c)) :
						      dice_pick(dice(c), types),
		.sq_sig_all = dice_roll(dice(c), 2),
	};
	struct ibv_qp **at = ROOM(c, qp);
	struct ibv_pd *pd = ANY(c, pd);

	if (!at || !pd || !init.send_cq || !init.recv_cq)
		return;
	*at = ibv_create_qp(pd, &init);
	if (*at)
		qpns[dice_roll(dice(c), BOARD)] = (*at)->qp_num;
}

/* Connect to the peer of another thread, which may also connect to this one's. */
static void connect_qp(struct caller *c)
{
	struct qp_conf conf = { .mtu = dice_roll(dice(c), 6) };
	struct end self = *c->end;
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;
	int mask;

	qp = ANY(c, qp);
	if (!qp)
		return;
	self.qp = qp;
	conf.type = qp->qp_type;
	mask = attr_init(&attr, &conf);
	ibv_modify_qp(qp, &attr, mask);
	mask = attr_rtr(&attr, &conf, &self, &self);
	attr.dest_qp_num = qpns[dice_roll(dice(c), BOARD)];
	attr.ah_attr = path_of(c);
	attr.rq_psn = 0;
	ibv_modify_qp(qp, &attr, mask);
	mask = attr_rts(&attr, &conf, &self);
	attr.sq_psn = 0;
	attr.timeout = 1 + dice_roll(dice(c), 12);
	attr.retry_cnt = dice_roll(dice(c), 3);
	ibv_modify_qp(qp, &attr, mask);
}

static void modify_qp(struct caller *c)
{
	struct ibv_qp_attr attr = {
		.qp_state = small_or_edge(c, 7),
		.cur_qp_state = small_or_edge(c, 7),
		.path_mtu = small_or_edge(c, 7),
		.qkey = dice_edge(dice(c)),
		.rq_psn = dice_edge(dice(c)),
		.sq_psn = dice_edge(dice(c)),
		.dest_qp_num = dice_edge(dice(c)),
		.qp_access_flags = access_of(c),
		.cap.max_send_wr = small_or_edge(c, 100),
		.ah_attr = path_of(c),
		.pkey_index = small_or_edge(c, 2),
		.max_rd_atomic = dice_edge(dice(c)),
		.max_dest_rd_atomic = dice_edge(dice(c)),
		.min_rnr_timer = dice_edge(dice(c)),
		.port_num = small_or_edge(c, 3),
		.timeout = dice_edge(dice(c)),
		.retry_cnt = small_or_edge(c, 9),
		.rnr_retry = small_or_edge(c, 9),
	};
	struct ibv_qp *qp = ANY(c, qp);
	int mask = dice_any(dice(c)) & dice_any(dice(c)) & 0x3ffffff;

	if (qp)
		ibv_modify_qp(qp, &attr, mask | dice_roll(dice(c), 2));
}

static void query_qp(struct caller *c)
{
	struct ibv_qp *qp = ANY(c, qp);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (qp)
		ibv_query_qp(qp, &attr, dice_any(dice(c)), &init);
}

/* ---------------------------------------------------------------- requests */

static void aim(struct caller *c, struct ibv_send_wr *wr)
{
	uint32_t rkey = rkeys[dice_roll(dice(c), BOARD)];
	struct ibv_mw *mw = ANY(c, mw);

	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = (uintptr_t)place(c) & ~7ull;
		wr->wr.atomic.rkey = rkey;
		break;
	case IBV_WR_BIND_MW:
		wr->bind_mw.mw = mw;
		wr->bind_mw.rkey = dice_edge(dice(c));
		wr->bind_mw.bind_info = bind_info(c);
		break;
	default:
		wr->wr.rdma.remote_addr = (uintptr_t)place(c);
		wr->wr.rdma.rkey = rkey;
	}
}

static void post_send(struct caller *c)
{
	struct ibv_sge sges[2] = { sge_of(c), sge_of(c) };
	struct ibv_send_wr *bad, wr = {
		.sg_list = sges,
		.num_sge = dice_roll(dice(c), 3),
		.opcode = dice_roll(dice(c), IBV_WR_BIND_MW + 2),
		/* The library would read inline data at a wild address. */
		.send_flags = dice_roll(dice(c), 32) & ~IBV_SEND_INLINE,
		.imm_data = dice_edge(dice(c)),
	};
	struct ibv_qp *qp = ANY(c, qp);

	if (!qp)
		return;
	aim(c, &wr);
	if (wr.opcode == IBV_WR_BIND_MW && (!wr.bind_mw.mw ||
					    !wr.bind_mw.bind_info.mr))
		return;
	if (qp->qp_type == IBV_QPT_UD) {
		wr.wr.ud.ah = ANY(c, ah);
		wr.wr.ud.remote_qpn = qpns[dice_roll(dice(c), BOARD)];
		wr.wr.ud.remote_qkey = UD_QKEY;
		if (!wr.wr.ud.ah)
			return;
	}
	ibv_post_send(qp, &wr, &bad);
}

static void post_receive(struct caller *c)
{
	struct ibv_sge sge = sge_of(c);
	struct ibv_recv_wr *bad, wr = {
		.sg_list = &sge, .num_sge = dice_roll(dice(c), 2),
	};
	struct ibv_qp *qp = ANY(c, qp);

	if (qp && !qp->srq)
		ibv_post_recv(qp, &wr, &bad);
}

/* The child gets a copy of registered memory and exits at once. */
static void fork_once(struct caller *c)
{
	pid_t pid = dice_one_in(dice(c), 32) ? fork() : -1;

	if (!pid) {
		*place(c) = 1;
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* ---------------------------------------------------------------- callers */

static void call_once(struct caller *c)
{
	static void (*const calls[])(struct caller *c) = {
		new_pd, end_pd, new_cq, new_cq, end_cq, use_cq, use_cq, new_srq,
		end_srq, use_srq, use_srq, new_mr, new_mr, end_mr, use_mr,
		new_mw, end_mw, use_mw, new_ah, end_ah, use_group, new_qp,
		new_qp, end_qp, connect_qp, connect_qp, connect_qp, modify_qp,
		query_qp, post_send, post_send, post_send, post_send, post_send,
		post_receive, post_receive, post_receive, fork_once,
	};

	dice_pick(dice(c), calls)(c);
	if (!c->mangle.one_in || !dice_one_in(dice(c), c->mangle.one_in))
		return;
	if (dice_one_in(dice(c), 2))
		mangle_write(&c->mangle, c->end->ctx);
	else
		mangle_ioctl(&c->mangle, c->end->ctx);
}

static void *make_calls(void *arg)
{
	struct caller *c = arg;

	mangle_begin(&c->mangle);
	while (now_ms() < c->until)
		call_once(c);
	mangle_begin(NULL);
	return NULL;
}

#define DESTROY_ALL(c, kind, destroy) do {				\
	unsigned int _i;						\
									\
	for (_i = 0; _i < KEPT; _i++)					\
		CHECK(!(c)->kind[_i] || !destroy((c)->kind[_i]),	\
		      "%s of %u", #destroy, _i);			\
} while (0)

/* Detach from groups before destroying QPs, windows before regions, users before PDs. */
bool caller_destroy(struct caller *c)
{
	int i;

	for (i = 0; i < GROUPS; i++)
		CHECK(!c->in[i].qp || !leave(&c->in[i]), "group %d", i);
	DESTROY_ALL(c, qp, ibv_destroy_qp);
	DESTROY_ALL(c, mw, ibv_dealloc_mw);
	DESTROY_ALL(c, mr, ibv_dereg_mr);
	DESTROY_ALL(c, ah, ibv_destroy_ah);
	DESTROY_ALL(c, srq, ibv_destroy_srq);
	DESTROY_ALL(c, cq, ibv_destroy_cq);
	DESTROY_ALL(c, pd, ibv_dealloc_pd);
	return true;
}

void caller_begin(struct caller *c, const struct ends *ends,
		  const struct end *end, struct dice dice, unsigned int one_in,
		  unsigned int ms)
{
	*c = (struct caller){
		.ends = ends,
		.end = end,
		.until = now_ms() + ms,
		.mangle = { .dice = dice, .one_in = one_in, .size = ARENA / 2 },
	};
	c->arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->arena == MAP_FAILED)
		tap_bail("mmap");
	c->mangle.memory = c->arena;
	if (pthread_create(&c->thread, NULL, make_calls, c))
		tap_bail("pthread_create");
}

void caller_end(struct caller *c)
{
	pthread_join(c->thread, NULL);
}
