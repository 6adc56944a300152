// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations for the RDMA core, and thunks for prototypes that differ between
 * kernels.
 */
#include <linux/module.h>
#include <rdma/uverbs_ioctl.h>
#include "device.h"
#include "ops.h"
#include "queue/cq.h"
#include "queue/ring.h"
#include "queue/rq.h"
#include "transport/mcast.h"
#include "transport/qp.h"
#include "verbs/ah.h"
#include "verbs/counter.h"
#include "verbs/cq.h"
#include "verbs/mr.h"
#include "verbs/mw.h"
#include "verbs/pd.h"
#include "verbs/qp.h"
#include "verbs/resource.h"
#include "verbs/srq.h"
#include "verbs/ucontext.h"

struct ib_dmah;

/* Select the function whose type is that of the operation in this kernel. */
#define OP(op, one, other)						\
	__builtin_choose_expr(						\
		__same_type(((const struct ib_device_ops *)NULL)->op,	\
			    &one),					\
		one, other)

static int __maybe_unused
create_cq_attrs(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		struct uverbs_attr_bundle *attrs)
{
	return verve_create_cq(ibcq, attr, attrs ? &attrs->driver_udata : NULL);
}

static struct ib_mr *__maybe_unused
reg_user_mr_dmah(struct ib_pd *pd, u64 start, u64 length, u64 iova, int access,
		 struct ib_dmah *dmah, struct ib_udata *udata)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return verve_reg_user_mr(pd, start, length, iova, access, udata);
}

static struct ib_mr *__maybe_unused
reg_user_mr_dmabuf_dmah(struct ib_pd *pd, u64 offset, u64 length, u64 iova,
			int fd, int access, struct ib_dmah *dmah,
			struct uverbs_attr_bundle *attrs)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return verve_reg_user_mr_dmabuf(pd, offset, length, iova, fd, access,
					&attrs->driver_udata);
}

static struct ib_mr *__maybe_unused
reg_user_mr_dmabuf_attrs(struct ib_pd *pd, u64 offset, u64 length, u64 iova,
			 int fd, int access, struct uverbs_attr_bundle *attrs)
{
	return verve_reg_user_mr_dmabuf(pd, offset, length, iova, fd, access,
					&attrs->driver_udata);
}

static int __maybe_unused
counter_bind_qp_port(struct rdma_counter *counter, struct ib_qp *qp, u32 port)
{
	return verve_counter_bind_qp(counter, qp);
}

static int __maybe_unused counter_unbind_qp_port(struct ib_qp *qp, u32 port)
{
	return verve_counter_unbind_qp(qp);
}

#ifndef COMPAT_HAVE_RESIZE_USER_CQ
static int resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	return cqe > 0 ? verve_resize_cq(ibcq, cqe, udata) : -EINVAL;
}
#endif

const struct ib_device_ops verve_device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_RXE,
	.uverbs_abi_ver = 2,
	.device_group = &verve_attr_group,

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
	.advise_mr = verve_advise_mr,
#endif
	.alloc_hw_port_stats = verve_alloc_hw_port_stats,
	.alloc_mr = verve_alloc_mr,
	.alloc_mw = verve_alloc_mw,
	.alloc_pd = verve_alloc_pd,
	.alloc_ucontext = verve_alloc_ucontext,
	.attach_mcast = verve_attach_mcast,
	.counter_alloc_stats = verve_counter_alloc_stats,
	.counter_bind_qp = OP(counter_bind_qp, counter_bind_qp_port,
			      verve_counter_bind_qp),
	.counter_dealloc = verve_counter_dealloc,
	.counter_unbind_qp = OP(counter_unbind_qp, counter_unbind_qp_port,
				verve_counter_unbind_qp),
	.counter_update_stats = verve_counter_update_stats,
	.create_ah = verve_create_ah,
	.create_cq = OP(create_cq, create_cq_attrs, verve_create_cq),
	.create_qp = verve_create_qp,
	.create_srq = verve_create_srq,
	.create_user_ah = verve_create_ah,
	.dealloc_driver = verve_dealloc_device,
	.dealloc_mw = verve_dealloc_mw,
	.dealloc_pd = verve_dealloc_pd,
	.dealloc_ucontext = verve_dealloc_ucontext,
	.dereg_mr = verve_dereg_mr,
	.detach_mcast = verve_detach_mcast,
	.destroy_ah = verve_destroy_ah,
	.destroy_cq = verve_destroy_cq,
	.destroy_qp = verve_destroy_qp,
	.destroy_srq = verve_destroy_srq,
	.disassociate_ucontext = verve_disassociate_ucontext,
	.fill_res_cq_entry = verve_fill_res_cq_entry,
	.fill_res_mr_entry = verve_fill_res_mr_entry,
	.fill_res_qp_entry = verve_fill_res_qp_entry,
	.get_dev_fw_str = verve_get_dev_fw_str,
	.get_dma_mr = verve_get_dma_mr,
	.get_hw_stats = verve_get_hw_stats,
	.get_link_layer = verve_get_link_layer,
	.get_netdev = verve_get_netdev,
	.get_port_immutable = verve_get_port_immutable,
	.map_mr_sg = verve_map_mr_sg,
	.mmap = verve_mmap,
	.mmap_free = verve_ring_mmap_free,
	.modify_ah = verve_modify_ah,
	.modify_cq = verve_modify_cq,
	.modify_device = verve_modify_device,
	.modify_qp = verve_modify_qp,
	.modify_srq = verve_modify_srq,
	.peek_cq = verve_peek_cq,
	.poll_cq = verve_poll_cq,
	.port_groups = verve_port_groups,
	.post_recv = verve_post_recv,
	.post_send = verve_post_send,
	.post_srq_recv = verve_post_srq_recv,
	.process_mad = verve_process_mad,
	.query_ah = verve_query_ah,
	.query_device = verve_query_device,
	.query_pkey = verve_query_pkey,
	.query_port = verve_query_port,
	.query_qp = verve_query_qp,
	.query_srq = verve_query_srq,
	.reg_user_mr = OP(reg_user_mr, reg_user_mr_dmah, verve_reg_user_mr),
#ifdef CONFIG_DMA_SHARED_BUFFER
	.reg_user_mr_dmabuf = OP(reg_user_mr_dmabuf, reg_user_mr_dmabuf_dmah,
				 OP(reg_user_mr_dmabuf,
				    reg_user_mr_dmabuf_attrs,
				    verve_reg_user_mr_dmabuf)),
#endif
	.req_notify_cq = verve_req_notify_cq,
	.rereg_user_mr = verve_rereg_user_mr,
#ifdef COMPAT_HAVE_RESIZE_USER_CQ
	.resize_user_cq = verve_resize_cq,
#else
	.resize_cq = resize_cq,
#endif

#ifdef COMPAT_HAVE_QUERY_PORT_SPEED
	.query_port_speed = verve_query_port_speed,
#endif
#ifdef COMPAT_HAVE_FILL_RES_SRQ
	.fill_res_srq_entry = verve_fill_res_srq_entry,
#endif
#ifdef COMPAT_HAVE_COUNTER_INIT
	.counter_init = verve_counter_init,

	INIT_RDMA_OBJ_SIZE(rdma_counter, verve_counter_handle, counter),
#endif

	INIT_RDMA_OBJ_SIZE(ib_ah, verve_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, verve_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, verve_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, verve_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, verve_qp_handle, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, verve_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, verve_ucontext, ibuctx),
};
