// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects belong to the process that created them. The kernel refuses commands with
 * handles of another process's objects, and executes the same commands for the owner.
 * Address handles also belong to their protection domain. (Regions: errors.c; windows:
 * windows_bind.c.)
 *
 * The test opens the device twice instead of using two processes, because handles
 * belong to an open file.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>

#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define RESPONSE	(1u << 0)	/* begins with the address of the response */
#define MAKES		(1u << 1)	/* the response begins with a new handle */

enum kind { PD, MR, MW, CQ, SRQ, AH, QP, NEW, NUM_KINDS };

static struct ends e;
static uint32_t handles[NUM_KINDS];
static uint32_t answer[256];

static const struct command {
	const char *name;
	uint32_t number;
	enum kind kind;
	unsigned int flags;
	unsigned int words;	/* length, including the address of the response */
	unsigned int at;	/* index of the handle */
	uint32_t rest[16];
} commands[] = {
	{ "query a QP", IB_USER_VERBS_CMD_QUERY_QP, QP, RESPONSE, 4, 2,
	  { [3] = IBV_QP_STATE } },
	{ "query an SRQ", IB_USER_VERBS_CMD_QUERY_SRQ, SRQ, RESPONSE, 4, 2,
	  {} },
	{ "set the limit of an SRQ", IB_USER_VERBS_CMD_MODIFY_SRQ, SRQ, 0, 4, 0,
	  { [1] = IBV_SRQ_LIMIT, [3] = 1 } },
	{ "arm a CQ", IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, CQ, 0, 2, 0, {} },
	{ "resize a CQ", IB_USER_VERBS_CMD_RESIZE_CQ, CQ, RESPONSE, 4, 2,
	  { [3] = 40 } },
	{ "attach a QP to a group", IB_USER_VERBS_CMD_ATTACH_MCAST, QP, 0, 6, 4,
	  { [2] = 0xffff0000, [3] = 0x01004def, [5] = 0xc000 } },
	{ "detach it", IB_USER_VERBS_CMD_DETACH_MCAST, QP, 0, 6, 4,
	  { [2] = 0xffff0000, [3] = 0x01004def, [5] = 0xc000 } },
	{ "allocate a window in a PD", IB_USER_VERBS_CMD_ALLOC_MW, PD,
	  RESPONSE | MAKES, 4, 2, { [3] = IBV_MW_TYPE_1 } },
	{ "free that window", IB_USER_VERBS_CMD_DEALLOC_MW, NEW, 0, 1, 0, {} },
	{ "destroy an AH", IB_USER_VERBS_CMD_DESTROY_AH, AH, 0, 1, 0, {} },
	{ "destroy a QP", IB_USER_VERBS_CMD_DESTROY_QP, QP, RESPONSE, 4, 2, {} },
	{ "destroy an SRQ", IB_USER_VERBS_CMD_DESTROY_SRQ, SRQ, RESPONSE, 4, 2,
	  {} },
	{ "destroy a CQ", IB_USER_VERBS_CMD_DESTROY_CQ, CQ, RESPONSE, 4, 2, {} },
	{ "free a window", IB_USER_VERBS_CMD_DEALLOC_MW, MW, 0, 1, 0, {} },
	{ "deregister a region", IB_USER_VERBS_CMD_DEREG_MR, MR, 0, 1, 0, {} },
	{ "free a PD", IB_USER_VERBS_CMD_DEALLOC_PD, PD, 0, 1, 0, {} },
};

/* Return: 0 or an errno. */
static int call(struct ibv_context *ctx, const struct command *c)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint32_t words[16];
	} cmd = {
		.hdr.command = c->number,
		.hdr.in_words = 2 + c->words,
		.hdr.out_words = c->flags & RESPONSE ? ARRAY_SIZE(answer) : 0,
	};
	uint64_t to = (uintptr_t)answer;
	size_t len = sizeof(cmd.hdr) + 4 * c->words;

	memcpy(cmd.words, c->rest, sizeof(cmd.words));
	if (c->flags & RESPONSE)
		memcpy(cmd.words, &to, sizeof(to));
	cmd.words[c->at] = handles[c->kind];
	return write(ctx->cmd_fd, &cmd, len) == (ssize_t)len ? 0 : errno;
}

static bool is_owners(struct ibv_context *owner, struct ibv_context *other,
		      const struct command *c)
{
	int err = call(other, c);

	CHECK(err, "another process may");
	CHECK(err == ENOENT || err == EINVAL || err == EBADF, "another's: %s",
	      strerror(err));
	err = call(owner, c);
	CHECK(!err, "its owner may not: %s", strerror(err));
	if (c->flags & MAKES)
		handles[NEW] = answer[0];
	return true;
}

/* Create an object of each kind in the owner's context, by the library. */
static void make_objects(struct ibv_context *ctx)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_ah_attr ah = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = e.b.gid, .sgid_index = e.a.gid_index,
			 .hop_limit = 1 },
	};
	struct ibv_qp_init_attr qp = {
		.qp_type = IBV_QPT_UD,
		.cap = { 4, 4, 1, 1, 0 },
	};
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 20, NULL, NULL, 0);
	struct ibv_srq *shared = pd ? ibv_create_srq(pd, &srq) : NULL;
	struct ibv_mr *mr = pd ? ibv_reg_mr(pd, e.a.buf, 4096, 0) : NULL;
	struct ibv_mw *mw = pd ? ibv_alloc_mw(pd, IBV_MW_TYPE_1) : NULL;
	struct ibv_ah *handle = pd ? ibv_create_ah(pd, &ah) : NULL;
	struct ibv_qp *queue;

	qp.send_cq = cq;
	qp.recv_cq = cq;
	queue = pd && cq ? ibv_create_qp(pd, &qp) : NULL;
	if (!shared || !mr || !mw || !handle || !queue)
		tap_bail("no objects: %s", strerror(errno));
	handles[PD] = pd->handle;
	handles[CQ] = cq->handle;
	handles[SRQ] = shared->handle;
	handles[MR] = mr->handle;
	handles[MW] = mw->handle;
	handles[AH] = handle->handle;
	handles[QP] = queue->handle;
}

static struct ibv_context *open_again(void)
{
	struct ibv_context *ctx = ibv_open_device(e.a.ctx->device);

	if (!ctx)
		tap_bail("the device does not open again");
	return ctx;
}

static bool datagram_ends(struct ibv_ah *ah, enum ibv_wc_status status)
{
	struct qp_conf conf = { .type = IBV_QPT_UD };
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	bool good;

	ends_connect(&e, &conf);
	sge = end_sge(&e.a, 64);
	wr = work(&e, IBV_WR_SEND, &sge);
	if (ah)
		wr.wr.ud.ah = ah;
	receive(&e.b, 1, 200);
	good = !post(&e.a, &wr) && expect_wc(e.a.scq, wr.wr_id, status) &&
	       (status == IBV_WC_SUCCESS ? expect_wc(e.b.rcq, 1, status) :
					   expect_none(e.b.rcq));
	ends_disconnect(&e);
	return good;
}

static bool handle_of_other_pd(void)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = e.b.gid, .sgid_index = e.a.gid_index,
			 .hop_limit = 64 },
	};
	struct ibv_pd *pd = ibv_alloc_pd(e.a.ctx);
	struct ibv_ah *foreign = ibv_create_ah(pd, &attr);
	struct ibv_ah *own = ibv_create_ah(e.a.pd, &attr);

	CHECK(foreign && own, "create_ah: %s", strerror(errno));
	CHECK(datagram_ends(own, IBV_WC_SUCCESS), "with one of its own PD");
	CHECK(datagram_ends(foreign, IBV_WC_LOC_QP_OP_ERR), "with the other's");
	CHECK(!ibv_destroy_ah(foreign) && !ibv_destroy_ah(own) &&
	      !ibv_dealloc_pd(pd), "destroy");
	return true;
}

int main(int argc, char **argv)
{
	struct ibv_context *owner, *other;
	unsigned int i;

	ends_open(&e, argc, argv);
	owner = open_again();
	other = open_again();
	make_objects(owner);
	tap_plan(ARRAY_SIZE(commands) + 1);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		tap_result(is_owners(owner, other, &commands[i]), "%s",
			   commands[i].name);
	tap_result(handle_of_other_pd(), "an AH of another PD");
	ibv_close_device(owner);
	ibv_close_device(other);
	ends_close(&e);
	return tap_done();
}
