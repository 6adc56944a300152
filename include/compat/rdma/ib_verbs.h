/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_RDMA_IB_VERBS_H
#define COMPAT_RDMA_IB_VERBS_H

#include_next <rdma/ib_verbs.h>

/* Older kernels have no flag that tells udev to keep the name. */
#ifndef COMPAT_HAVE_NAME_ASSIGNED_BY_USER
static inline void ib_mark_name_assigned_by_user(struct ib_device *ibdev)
{
}
#endif

/*
 * FLUSH and ATOMIC WRITE, with the values of later kernels. A core without the
 * access flags of FLUSH refuses regions with them, so FLUSH is not advertised.
 * ATOMIC WRITE needs no support by the core.
 */
#ifndef COMPAT_HAVE_MEMORY_PLACEMENT
#define IB_WR_FLUSH			14
#define IB_WR_ATOMIC_WRITE		15
#define IB_WC_FLUSH			8
#define IB_WC_ATOMIC_WRITE		9
#define IB_ACCESS_FLUSH_GLOBAL		(1 << 8)
#define IB_ACCESS_FLUSH_PERSISTENT	(1 << 9)
#define IB_DEVICE_FLUSH_GLOBAL		0
#define IB_DEVICE_ATOMIC_WRITE		BIT_ULL(40)
#endif

/* On-demand paging of FLUSH and ATOMIC WRITE */
#ifndef COMPAT_HAVE_ODP_PLACEMENT
#ifdef COMPAT_HAVE_MEMORY_PLACEMENT
#define IB_ODP_SUPPORT_FLUSH		BIT(6)
#else
#define IB_ODP_SUPPORT_FLUSH		0
#endif
#define IB_ODP_SUPPORT_ATOMIC_WRITE	BIT(7)
#endif

/*
 * In shared mode, devices belong to init_net and are visible in each namespace. In
 * exclusive mode, a device is visible only in its own namespace, so set the namespace
 * before the device is registered.
 */
#ifndef ib_alloc_device_with_net
static inline void compat_device_set_net(struct ib_device *ibdev,
					 struct net *net)
{
	if (!rdma_dev_access_netns(ibdev, net))
		write_pnet(&ibdev->coredev.rdma_net, net);
}

#define ib_alloc_device_with_net(drv_struct, member, net)		\
({									\
	struct drv_struct *__dev = ib_alloc_device(drv_struct, member);	\
									\
	if (__dev)							\
		compat_device_set_net(&__dev->member, net);		\
	__dev;								\
})
#endif

#endif
