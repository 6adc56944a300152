/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_RDMA_ITER_H
#define COMPAT_RDMA_ITER_H

#ifdef COMPAT_HAVE_RDMA_ITER
#include_next <rdma/iter.h>
#else
#include <rdma/ib_umem.h>
#endif

#endif
