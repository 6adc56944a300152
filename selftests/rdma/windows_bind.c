// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory windows: illegal bindings. Each fails with the right status, moves the QP to the
 * Error state, and leaves no valid key.
 */
#include <errno.h>
#include <string.h>

#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/window.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

enum spoil {
	MW_KEY, NEW_KEY, LKEY, MR_NOT_FOR_WINDOWS, MR_READ_ONLY, MR_OTHER_PD,
	WINDOW_AS_MR, PAST_END, BEFORE_START, WRAPS, STRANGE_ACCESS,
	MW_OTHER_PD, TYPE_1_ZERO_BASED, TYPE_2_EMPTY, TYPE_2_BOUND,
};

/*
 * Make the binding illegal. The provider checks few of these conditions, so most
 * requests reach the device. Return: a region to deregister afterwards, or NULL.
 */
static struct ibv_mr *spoil(enum spoil how, struct ibv_pd *other,
			    struct ibv_send_wr *wr, struct ibv_mr *fake)
{
	struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
	struct ibv_pd *pd = w.e.b.pd;

	*fake = *w.base;
	info->mr = fake;
	switch (how) {
	case NEW_KEY:
		wr->bind_mw.rkey ^= 0x100;
		return NULL;
	case LKEY:
		fake->lkey ^= 0x5a5a00;
		return NULL;
	case WINDOW_AS_MR:
		fake->lkey = w.mw->rkey;
		return NULL;
	case PAST_END:
		info->addr = (uintptr_t)w.base->addr + END_MEMORY - SIZE + 1;
		return NULL;
	case BEFORE_START:
		info->addr = (uintptr_t)w.base->addr - 1;
		return NULL;
	case WRAPS:
		info->length = ~0ull;
		return NULL;
	case STRANGE_ACCESS:
		info->mw_access_flags |= IBV_ACCESS_ON_DEMAND;
		return NULL;
	case TYPE_1_ZERO_BASED:
		info->mw_access_flags |= IBV_ACCESS_ZERO_BASED;
		return NULL;
	case TYPE_2_EMPTY:
		info->length = 0;
		return NULL;
	case MR_NOT_FOR_WINDOWS:
		access = IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE;
		break;
	case MR_READ_ONLY:
		access = IBV_ACCESS_MW_BIND;
		break;
	case MR_OTHER_PD:
		pd = other;
		break;
	default:
		return NULL;
	}
	info->mr = ibv_reg_mr(pd, w.e.b.buf, END_MEMORY, access);
	if (!info->mr)
		tap_bail("no MR: %s", strerror(errno));
	return info->mr;
}

static bool fails_to_bind(struct ibv_send_wr *wr)
{
	CHECK(!post(&w.e.b, wr), "post_send");
	if (!expect_wc(w.e.b.scq, BIND_ID, IBV_WC_MW_BIND_ERR))
		return false;
	CHECK(end_state(&w.e.b) == IBV_QPS_ERR, "the QP lives on");
	return true;
}

static bool bind_spoilt(enum spoil how, struct ibv_pd *other,
			struct ibv_mw *foreign)
{
	struct ibv_send_wr wr;
	struct ibv_mr fake, *extra;
	struct ibv_mw wrong;
	bool ok;

	if (how == TYPE_2_BOUND && !bind_all(ALL_REMOTE))
		return false;
	wr = bind_wr(ALL_REMOTE);
	extra = spoil(how, other, &wr, &fake);
	if (how == MW_KEY) {
		wrong = *w.mw;
		wrong.rkey ^= 1;
		wr.bind_mw.mw = &wrong;
	} else if (how == MW_OTHER_PD) {
		wr.bind_mw.mw = foreign;
		wr.bind_mw.rkey = ibv_inc_rkey(foreign->rkey);
	}
	ok = fails_to_bind(&wr);
	if (extra)
		ibv_dereg_mr(extra);
	reconnect();
	/* Neither the requested key nor another one is valid now. */
	return ok && key_is_closed(wr.bind_mw.rkey) &&
	       key_is_closed(w.mw->rkey);
}

static bool refused(enum spoil how)
{
	struct ibv_pd *other = ibv_alloc_pd(w.e.b.ctx);
	struct ibv_mw *foreign = other ? ibv_alloc_mw(other, w.type) : NULL;
	bool ok;

	CHECK(foreign, "no PD or no window");
	ok = bind_spoilt(how, other, foreign);
	CHECK(!ibv_dealloc_mw(foreign) && !ibv_dealloc_pd(other),
	      "a refused binding holds on to something");
	return ok;
}

#define REFUSAL(how)							\
static bool refuse_##how(void)						\
{									\
	return refused(how);						\
}

REFUSAL(MW_KEY)
REFUSAL(NEW_KEY)
REFUSAL(LKEY)
REFUSAL(MR_NOT_FOR_WINDOWS)
REFUSAL(MR_READ_ONLY)
REFUSAL(MR_OTHER_PD)
REFUSAL(WINDOW_AS_MR)
REFUSAL(PAST_END)
REFUSAL(BEFORE_START)
REFUSAL(WRAPS)
REFUSAL(STRANGE_ACCESS)
REFUSAL(MW_OTHER_PD)
REFUSAL(TYPE_1_ZERO_BASED)
REFUSAL(TYPE_2_EMPTY)
REFUSAL(TYPE_2_BOUND)

static const struct window_test tests[] = {
	{ .name = "another key than the window's",
	  .run = refuse_MW_KEY },
	{ .name = "a new key of another window",
	  .run = refuse_NEW_KEY },
	{ .name = "an lkey that is none",
	  .run = refuse_LKEY },
	{ .name = "a region that is not for windows",
	  .run = refuse_MR_NOT_FOR_WINDOWS },
	{ .name = "remote write to a region without local write",
	  .run = refuse_MR_READ_ONLY },
	{ .name = "a region of another PD",
	  .run = refuse_MR_OTHER_PD },
	{ .name = "a window to a window",
	  .run = refuse_WINDOW_AS_MR },
	{ .name = "a range past the end of the region",
	  .run = refuse_PAST_END },
	{ .name = "a range before the region",
	  .run = refuse_BEFORE_START },
	{ .name = "a range that wraps",
	  .run = refuse_WRAPS },
	{ .name = "rights that no window has",
	  .run = refuse_STRANGE_ACCESS },
	{ .name = "a window of another PD",
	  .run = refuse_MW_OTHER_PD },
	{ .name = "a zero-based window of type 1",
	  .run = refuse_TYPE_1_ZERO_BASED, .only = IBV_MW_TYPE_1 },
	{ .name = "an empty window of type 2",
	  .run = refuse_TYPE_2_EMPTY, .only = IBV_MW_TYPE_2 },
	{ .name = "a window of type 2 that is bound",
	  .run = refuse_TYPE_2_BOUND, .only = IBV_MW_TYPE_2 },
};

int main(int argc, char **argv)
{
	return windows_run(tests, ARRAY_SIZE(tests), argc, argv);
}
