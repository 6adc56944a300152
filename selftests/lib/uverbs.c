// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "uverbs.h"

#define MOST_ATTRS 10

struct call {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[MOST_ATTRS];
};

static struct call call_of(uint16_t object, uint16_t method)
{
	return (struct call){
		.hdr = {
			.object_id = object,
			.method_id = method,
			.driver_id = RDMA_DRIVER_RXE,
		},
	};
}

static struct ib_uverbs_attr *add(struct call *c, uint16_t id, uint16_t len,
				  uint64_t data)
{
	struct ib_uverbs_attr *attr = &c->attrs[c->hdr.num_attrs++];

	attr->attr_id = id;
	attr->len = len;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	attr->data = data;
	return attr;
}

static int call_kernel(struct ibv_context *ctx, struct call *c)
{
	c->hdr.length = sizeof(c->hdr) + c->hdr.num_attrs * sizeof(c->attrs[0]);
	return ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &c->hdr) ? errno : 0;
}

int uverbs_advise_mr(struct ibv_pd *pd, int advice, uint32_t flags,
		     struct ibv_sge *sge, uint32_t num)
{
	struct call c = call_of(UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR);

	add(&c, UVERBS_ATTR_ADVISE_MR_PD_HANDLE, 0, pd->handle);
	add(&c, UVERBS_ATTR_ADVISE_MR_ADVICE, sizeof(uint64_t), advice);
	add(&c, UVERBS_ATTR_ADVISE_MR_FLAGS, sizeof(flags), flags);
	add(&c, UVERBS_ATTR_ADVISE_MR_SGE_LIST, num * sizeof(*sge),
	    (uintptr_t)sge);
	return call_kernel(pd->context, &c);
}

int uverbs_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, uint64_t length,
			 uint64_t iova, int fd, int access,
			 struct dmabuf_mr *mr)
{
	struct call c = call_of(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR);
	struct ib_uverbs_attr *handle;
	int err;

	handle = add(&c, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, 0);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0, pd->handle);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, sizeof(offset), offset);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, sizeof(length), length);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_IOVA, sizeof(iova), iova);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_FD, sizeof(uint32_t), (uint32_t)fd);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, sizeof(uint32_t),
	    access);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, sizeof(mr->lkey),
	    (uintptr_t)&mr->lkey);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, sizeof(mr->rkey),
	    (uintptr_t)&mr->rkey);
	err = call_kernel(pd->context, &c);
	mr->ctx = pd->context;
	mr->handle = handle->data;
	return err;
}

int uverbs_dereg_dmabuf_mr(struct dmabuf_mr *mr)
{
	struct call c = call_of(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY);

	add(&c, UVERBS_ATTR_DESTROY_MR_HANDLE, 0, mr->handle);
	return call_kernel(mr->ctx, &c);
}

int uverbs_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
		    size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp = {};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_rereg_mr req;
	} cmd = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_REREG_MR,
			.in_words = sizeof(cmd) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.req = {
			.response = (uintptr_t)&resp,
			.mr_handle = mr->handle,
			.flags = flags,
			.start = (uintptr_t)addr,
			.length = length,
			.hca_va = (uintptr_t)addr,
			.pd_handle = pd ? pd->handle : 0,
			.access_flags = access,
		},
	};

	if (write(mr->context->cmd_fd, &cmd, sizeof(cmd)) != sizeof(cmd))
		return errno;
	mr->lkey = resp.lkey;
	mr->rkey = resp.rkey;
	return 0;
}

int uverbs_doorbell(struct ibv_qp *qp)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send cmd;
	} call = {
		.hdr.command = IB_USER_VERBS_CMD_POST_SEND,
		.hdr.in_words = sizeof(call) / 4,
		.hdr.out_words = sizeof(struct ib_uverbs_post_send_resp) / 4,
		.cmd.qp_handle = qp->handle,
		.cmd.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	struct ib_uverbs_post_send_resp resp;

	call.cmd.response = (uintptr_t)&resp;
	return write(qp->context->cmd_fd, &call, sizeof(call)) < 0 ? errno : 0;
}
