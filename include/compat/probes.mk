# SPDX-License-Identifier: GPL-2.0-only
#
# Probes for functions, members and prototypes, which the preprocessor cannot test.
# Each COMPAT_HAVE_* comes from a search of the kernel's headers, and never from its
# version, because distributions backport.

compat-probe = $(if $(shell grep -sF -e '$(2)' $(srctree)/include/$(1)),-DCOMPAT_HAVE_$(3))

compat-flags := $(call compat-probe,linux/hrtimer.h,void hrtimer_setup,HRTIMER_SETUP)
compat-flags += $(call compat-probe,linux/dma-buf.h,dma_buf_vmap_unlocked,DMA_BUF_VMAP_UNLOCKED)
compat-flags += $(call compat-probe,linux/dma-buf.h,invalidate_mappings,DMA_BUF_INVALIDATE_MAPPINGS)
compat-flags += $(call compat-probe,linux/mm.h,struct vm_area_struct **vmas$(comma) int *locked,GUP_VMAS)
compat-flags += $(call compat-probe,linux/mm.h,void vm_flags_set,VM_FLAGS_SET)
compat-flags += $(call compat-probe,linux/unaligned.h,get_unaligned,LINUX_UNALIGNED)
compat-flags += $(call compat-probe,linux/workqueue.h,WQ_PERCPU,WQ_PERCPU)
compat-flags += $(call compat-probe,net/gso.h,skb_gso_segment,NET_GSO)
compat-flags += $(call compat-probe,net/ipv6_stubs.h,ipv6_dst_lookup_flow,IPV6_STUB)
compat-flags += $(call compat-probe,net/net_namespace.h,ptype_specific,NET_PTYPE)
compat-flags += $(call compat-probe,net/rps.h,sock_rps_record_flow_hash,NET_RPS)
compat-flags += $(call compat-probe,net/udp_tunnel.h,udp_tunnel_sock_release(struct sock *sk),UDP_TUNNEL_SOCK)
compat-flags += $(call compat-probe,rdma/ib_umem.h,ib_umem_get_va,UMEM_GET_VA)
compat-flags += $(call compat-probe,rdma/ib_verbs.h,ib_mark_name_assigned_by_user,NAME_ASSIGNED_BY_USER)
compat-flags += $(call compat-probe,rdma/ib_verbs.h,IB_WR_ATOMIC_WRITE,MEMORY_PLACEMENT)
compat-flags += $(call compat-probe,rdma/ib_verbs.h,IB_ODP_SUPPORT_FLUSH,ODP_PLACEMENT)
compat-flags += $(call compat-probe,rdma/ib_verbs.h,*counter_init,COUNTER_INIT)
compat-flags += $(call compat-probe,rdma/ib_verbs.h,*fill_res_srq_entry,FILL_RES_SRQ)
compat-flags += $(call compat-probe,rdma/ib_verbs.h,*resize_user_cq,RESIZE_USER_CQ)
compat-flags += $(call compat-probe,rdma/ib_verbs.h,*query_port_speed,QUERY_PORT_SPEED)
compat-flags += $(call compat-probe,rdma/iter.h,rdma_umem_for_each_dma_block,RDMA_ITER)

ccflags-y += $(compat-flags)
