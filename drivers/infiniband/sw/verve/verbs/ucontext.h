/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User contexts, and driver data of verbs
 */
#ifndef VERVE_VERBS_UCONTEXT_H
#define VERVE_VERBS_UCONTEXT_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

/**
 * verve_udata_check() - check the driver data of a verb
 * @udata: driver data; NULL for kernel users
 * @response: bytes of the response, for which user space must have room
 *
 * Input that Verve does not know must be zero.
 *
 * Context: process.
 * Return: 0; -EINVAL when the response does not fit; -EOPNOTSUPP for unknown input;
 * -EFAULT.
 */
static inline int verve_udata_check(struct ib_udata *udata, size_t response)
{
	if (udata && udata->outlen < response)
		return -EINVAL;
	return ib_is_udata_in_empty(udata);
}

/* Return: user context of a verb, or NULL for kernel users. */
static inline struct ib_ucontext *verve_udata_context(struct ib_udata *udata)
{
	if (!udata)
		return NULL;
	return rdma_udata_to_uverbs_attr_bundle(udata)->context;
}

/* The core allocates objects of this size. */
struct verve_ucontext {
	struct ib_ucontext ibuctx;
};

int verve_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata);
void verve_dealloc_ucontext(struct ib_ucontext *uctx);
void verve_disassociate_ucontext(struct ib_ucontext *uctx);
int verve_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma);

#endif
