/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory regions whose pages come on demand
 */
#ifndef VERVE_MEMORY_ODP_H
#define VERVE_MEMORY_ODP_H

#include "odp_table.h"
#include "pager.h"
#include "region.h"

struct verve_odp;

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
/**
 * verve_odp_attach() - have a region be user memory that is not pinned
 * @mr: new; kind, start and length are set. A length of U64_MAX from 0 on becomes
 *	that of the address space
 *
 * Context: process, whose memory it is.
 * Return: 0, -EINVAL for a range that cannot be, -ENOMEM.
 */
int verve_odp_attach(struct verve_mr *mr);
/* Its first reference is about to be dropped. Process. */
void verve_odp_close(struct verve_mr *mr);
/*
 * The reverse of attaching. A page fault that is under way is not waited for: it
 * ends when it does, without effect. Process; nobody uses the region.
 */
void verve_odp_detach(struct verve_mr *mr);

/* As verve_mr_map(); @offset is @mr's from the first page on. */
void *verve_odp_map(const struct verve_mr *mr, u64 offset, int access);

/* One more reference on what outlives the region. Any context. */
struct verve_odp *verve_odp_get(const struct verve_mr *mr);
/* Any context. */
void verve_odp_put(struct verve_odp *odp);
/* Run a job that is not queued and needs @odp, referenced, in its turn. Up to softirq. */
void verve_odp_queue(struct verve_odp *odp, struct verve_job *job);

/**
 * verve_odp_fault() - have pages there
 * @odp: referenced
 * @addr: user address of the first byte
 * @len: bytes, at least 1; within the region
 * @access: IB_ACCESS_LOCAL_WRITE to write them
 * @present_only: of pages that the process has mapped; skip others
 *
 * They may be gone again when this returns.
 *
 * Context: process, of any memory; no locks.
 * Return: bytes from @addr on that are there, which may be fewer; or -EFAULT:
 * the first page cannot be, -EAGAIN: it was taken away each time, -EINTR.
 */
ssize_t verve_odp_fault(struct verve_odp *odp, unsigned long addr, size_t len,
			int access, bool present_only);

#else
static inline int verve_odp_attach(struct verve_mr *mr)
{
	return -EOPNOTSUPP;
}

static inline void verve_odp_close(struct verve_mr *mr)
{
}

static inline void verve_odp_detach(struct verve_mr *mr)
{
}

static inline void *verve_odp_map(const struct verve_mr *mr, u64 offset,
				  int access)
{
	return ERR_PTR(-EACCES);
}
#endif

#endif
