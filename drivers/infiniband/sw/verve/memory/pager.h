/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Whose page faults
 *
 * A page fault may take for ever, where user space provides the memory, and occupies
 * a worker as long. So a process has VERVE_MAX_FAULTS of them under way at most, of
 * those that operations need and of its advice together; the others wait for these,
 * and for nobody else's. A process is what has one address space, however many
 * contexts it opens.
 *
 * What is only let go does not wait for any page (verve_pager_release()).
 */
#ifndef VERVE_MEMORY_PAGER_H
#define VERVE_MEMORY_PAGER_H

#include <linux/list.h>
#include <linux/workqueue.h>

struct mm_struct;
struct verve_pager;

/**
 * struct verve_job - a page fault, or many
 * @work: its turn has come
 * @run: does it, may sleep for long, and may free or queue the job
 * @entry: of those that wait for their turn
 * @pager: whose, referenced from queueing until @run has returned
 */
struct verve_job {
	struct work_struct work;
	void (*run)(struct verve_job *job);
	struct list_head entry;
	struct verve_pager *pager;
};

/* Of the workqueue: the turn of a job. */
void verve_job_work(struct work_struct *work);

static inline void verve_job_init(struct verve_job *job,
				  void (*run)(struct verve_job *job))
{
	INIT_WORK(&job->work, verve_job_work);
	job->run = run;
}

/* That of an address space, with a reference. Process. Return: NULL: no memory. */
struct verve_pager *verve_pager_get(struct mm_struct *mm);
/* Process. */
void verve_pager_put(struct verve_pager *pager);
/* Run a job that is not queued, in its turn. @pager is referenced. Up to softirq. */
void verve_pager_queue(struct verve_pager *pager, struct verve_job *job);
/* Run what frees memory. Any context. */
void verve_pager_release(struct work_struct *work);

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
int verve_pager_init(void);	/* module load */
/* Waits for page faults that are under way. */
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
