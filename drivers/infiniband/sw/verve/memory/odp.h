/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory regions with on-demand paging (ODP)
 */
#ifndef VERVE_MEMORY_ODP_H
#define VERVE_MEMORY_ODP_H

#include "odp_table.h"
#include "pager.h"
#include "region.h"

struct verve_odp;

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
/**
 * verve_odp_attach() - make unpinned user memory the memory of a region
 * @mr: new region; kind, start and length are set. A length of U64_MAX from
 *	address 0 is set to the size of the address space
 *
 * Context: process that owns the memory.
 * Return: 0; -EINVAL for a range beyond the address space; -ENOMEM; or the error of
 * mmu_interval_notifier_insert().
 */
int verve_odp_attach(struct verve_mr *mr);
/* Prepare for dropping the region's first reference. Context: process. */
void verve_odp_close(struct verve_mr *mr);
/*
 * Reverse verve_odp_attach() for a region without users. Does not wait for page
 * faults under way, which end without effect. Context: process.
 */
void verve_odp_detach(struct verve_mr *mr);

/* Implement verve_mr_map() at @offset bytes from the region's first page. */
void *verve_odp_map(const struct verve_mr *mr, u64 offset, int access);

/* Take a reference on a region's pages, which may outlive the region. Context: any. */
struct verve_odp *verve_odp_get(const struct verve_mr *mr);
/* Context: any. */
void verve_odp_put(struct verve_odp *odp);
/*
 * Queue an idle job of the process that owns @odp. The job has a reference on @odp.
 * Context: up to softirq.
 */
void verve_odp_queue(struct verve_odp *odp, struct verve_job *job);

/**
 * verve_odp_fault() - fault pages in
 * @odp: referenced pages
 * @addr: user address of the first byte
 * @len: bytes, at least 1; within the region
 * @access: IB_ACCESS_LOCAL_WRITE to write, 0 to read
 * @present_only: skip pages that the process has not mapped
 *
 * Pages may be gone again when this function returns.
 *
 * Context: a process or work item that holds no locks; of any address space.
 * Return: bytes from @addr on that were present, perhaps fewer than @len; -EFAULT
 * if the first page does not exist; -EAGAIN if it was invalidated during each try;
 * -EINTR; -ENOMEM.
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
