/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs on memory windows
 */
#ifndef VERVE_VERBS_MW_H
#define VERVE_VERBS_MW_H

#include <rdma/ib_verbs.h>

struct verve_mr;

/**
 * struct verve_mw - a memory window
 * @ibmw: MW of the RDMA core, which frees it without a grace period
 * @window: window in the table of keys
 */
struct verve_mw {
	struct ib_mw ibmw;
	struct verve_mr *window;
};

static inline struct verve_mw *to_vmw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct verve_mw, ibmw);
}

int verve_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int verve_dealloc_mw(struct ib_mw *ibmw);

#endif
