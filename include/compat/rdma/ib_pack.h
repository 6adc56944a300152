/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_RDMA_IB_PACK_H
#define COMPAT_RDMA_IB_PACK_H

#include_next <rdma/ib_pack.h>

/* IBTA vol. 1, Annex A19 */
#ifndef COMPAT_HAVE_MEMORY_PLACEMENT
#define IB_OPCODE_RC_FLUSH		0x1c
#define IB_OPCODE_RC_ATOMIC_WRITE	0x1d
#endif

#endif
