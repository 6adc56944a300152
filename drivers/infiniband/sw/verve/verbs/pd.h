/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Protection domains
 */
#ifndef VERVE_VERBS_PD_H
#define VERVE_VERBS_PD_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

/* The core allocates objects of this size. */
struct verve_pd {
	struct ib_pd ibpd;
};

int verve_alloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int verve_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata);

#endif
