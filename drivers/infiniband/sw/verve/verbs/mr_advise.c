// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prefetch of on-demand memory (ibv_advise_mr()).
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "../device.h"
#include "../memory/odp.h"
#include "mr.h"

/**
 * struct advice - a range to fault in
 * @job: work item for advice without IB_UVERBS_ADVISE_MR_FLAG_FLUSH
 * @odp: referenced pages of the region
 * @addr: user address
 * @len: bytes
 * @access: IB_ACCESS_LOCAL_WRITE to write, 0 to read
 * @present_only: skip pages that the process has not mapped
 */
struct advice {
	struct verve_job job;
	struct verve_odp *odp;
	unsigned long addr;
	size_t len;
	int access;
	bool present_only;
};

static int follow(const struct advice *p)
{
	unsigned long addr = p->addr, end = p->addr + p->len;

	while (addr < end) {
		ssize_t got = verve_odp_fault(p->odp, addr, end - addr,
					      p->access, p->present_only);

		if (got < 0)
			return got;
		if (fatal_signal_pending(current))
			return -EINTR;
		addr += got;
		cond_resched();
	}
	return 0;
}

static void follow_job(struct verve_job *job)
{
	struct advice *p = container_of(job, struct advice, job);

	/* Ignore errors. An operation that needs the memory reports them. */
	follow(p);
	verve_odp_put(p->odp);
	kfree(p);
}

/* Drop the reference on the region, so that deregistration waits for no page fault. */
static int describe(struct ib_pd *pd, const struct ib_sge *sge,
		    struct advice *p)
{
	struct verve_mr *mr = verve_mr_get(to_vdev(pd->device), pd, sge->lkey,
					   p->access);
	int err = -EINVAL;

	if (!mr)
		return err;
	if (mr->kind != VERVE_MR_ODP)
		goto put;
	err = -EFAULT;
	if (!verve_mr_covers(mr, sge->addr, sge->length))
		goto put;
	p->addr = mr->start + (sge->addr - mr->iova);
	p->len = sge->length;
	p->odp = verve_odp_get(mr);
	err = 0;
put:
	verve_mr_put(mr);
	return err;
}

static int follow_now(struct ib_pd *pd, const struct ib_sge *sge,
		      struct advice *p)
{
	int err = describe(pd, sge, p);

	if (err)
		return err;
	err = follow(p);
	verve_odp_put(p->odp);
	return err;
}

static int follow_later(struct ib_pd *pd, const struct ib_sge *sge,
			const struct advice *like)
{
	struct advice *p = kmemdup(like, sizeof(*like), GFP_KERNEL_ACCOUNT);
	int err;

	if (!p)
		return -ENOMEM;
	err = describe(pd, sge, p);
	if (err) {
		kfree(p);
		return err;
	}
	verve_job_init(&p->job, follow_job);
	verve_odp_queue(p->odp, &p->job);
	return 0;
}

/*
 * Return: 0; -EINVAL for a key that does not exist, lacks the right or is not of an
 * on-demand region; -EFAULT for a range beyond the region or without memory.
 */
int verve_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sge, u32 num_sge,
		    struct uverbs_attr_bundle *attrs)
{
	struct advice p = {};
	int err;

	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		p.access = IB_ACCESS_LOCAL_WRITE;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		p.present_only = true;
		break;
	default:
		return -EOPNOTSUPP;
	}
	for (; num_sge; num_sge--, sge++) {
		if (flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
			err = follow_now(pd, sge, &p);
		else
			err = follow_later(pd, sge, &p);
		if (err)
			return err;
	}
	return 0;
}
