/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_RDMA_IB_UMEM_H
#define COMPAT_RDMA_IB_UMEM_H

#include_next <rdma/ib_umem.h>

#ifndef COMPAT_HAVE_UMEM_GET_VA
#define ib_umem_get_va ib_umem_get
#endif

#endif
