/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Page faults of a process
 *
 * A page fault occupies a worker for its whole duration, which may be unlimited if
 * user space provides the memory (userfaultfd). So at most VERVE_MAX_FAULTS page
 * faults of a process run at a time, those of stalled engines and those of
 * ibv_advise_mr() together. Further ones wait for these, and never for page faults
 * of another process. A process is an address space here, with any number of
 * contexts.
 *
 * Work items that only free memory run in another workqueue and wait for no page
 * fault (verve_pager_release()).
 */
#ifndef VERVE_MEMORY_PAGER_H
#define VERVE_MEMORY_PAGER_H

#include <linux/list.h>
#include <linux/workqueue.h>

struct mm_struct;
struct verve_pager;

/**
 * struct verve_job - work with one or more page faults
 * @work: work item
 * @run: function of the job, which may sleep without bound, and may free or queue
 *	the job
 * @entry: entry in the list of waiting jobs
 * @pager: pager of the process, referenced from queueing until @run has returned
 */
struct verve_job {
	struct work_struct work;
	void (*run)(struct verve_job *job);
	struct list_head entry;
	struct verve_pager *pager;
};

/* Run a job and start the next one of its process (work_func_t). */
void verve_job_work(struct work_struct *work);

static inline void verve_job_init(struct verve_job *job,
				  void (*run)(struct verve_job *job))
{
	INIT_WORK(&job->work, verve_job_work);
	job->run = run;
}

/*
 * Find or create the pager of an address space and take a reference. Context:
 * process. Return: NULL without memory.
 */
struct verve_pager *verve_pager_get(struct mm_struct *mm);
/* Context: process. */
void verve_pager_put(struct verve_pager *pager);
/* Queue an idle job. The caller has a reference on @pager. Context: up to softirq. */
void verve_pager_queue(struct verve_pager *pager, struct verve_job *job);
/* Queue a work item that frees memory. Context: any. */
void verve_pager_release(struct work_struct *work);

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
int verve_pager_init(void);	/* module load */
/* Module unload. Waits for page faults under way. */
void verve_pager_exit(void);
#else
static inline int verve_pager_init(void)
{
	return 0;
}

static inline void verve_pager_exit(void)
{
}
#endif

#endif
