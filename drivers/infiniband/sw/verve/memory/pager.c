// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults of a process (see pager.h)
 */
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "../limits.h"
#include "pager.h"

/**
 * struct verve_pager - page faults of a process
 * @node: entry in pagers
 * @mm: address space, grabbed (mmgrab())
 * @ref: 1 for each region, 1 for each job
 * @lock: protects the fields below; a leaf; BH off
 * @running: number of jobs in the workqueue
 * @waiting: list of struct verve_job, oldest first; empty while @running is below
 *	VERVE_MAX_FAULTS
 */
struct verve_pager {
	struct hlist_node node;
	struct mm_struct *mm;
	refcount_t ref;
	spinlock_t lock; /* running, waiting */
	u32 running __guarded_by(&lock);
	struct list_head waiting __guarded_by(&lock);
};

static DEFINE_MUTEX(pagers_lock);
static DEFINE_HASHTABLE(pagers, 6);

static struct workqueue_struct *fault_wq;
static struct workqueue_struct *release_wq;

static struct verve_pager *find(const struct mm_struct *mm)
	__must_hold(&pagers_lock)
{
	struct verve_pager *pager;

	lockdep_assert_held(&pagers_lock);
	hash_for_each_possible(pagers, pager, node, (unsigned long)mm) {
		if (pager->mm == mm)
			return pager;
	}
	return NULL;
}

static struct verve_pager *create(struct mm_struct *mm)
	__must_hold(&pagers_lock)
{
	struct verve_pager *pager = kzalloc_obj(*pager, GFP_KERNEL_ACCOUNT);

	if (!pager)
		return NULL;
	mmgrab(mm);
	pager->mm = mm;
	refcount_set(&pager->ref, 1);
	spin_lock_init(&pager->lock);
	/* No other thread has the object yet. */
	context_unsafe(INIT_LIST_HEAD(&pager->waiting));
	hash_add(pagers, &pager->node, (unsigned long)mm);
	return pager;
}

struct verve_pager *verve_pager_get(struct mm_struct *mm)
{
	struct verve_pager *pager;

	mutex_lock(&pagers_lock);
	pager = find(mm);
	if (pager)
		refcount_inc(&pager->ref);
	else
		pager = create(mm);
	mutex_unlock(&pagers_lock);
	return pager;
}

void verve_pager_put(struct verve_pager *pager)
{
	if (!refcount_dec_and_mutex_lock(&pager->ref, &pagers_lock))
		return;
	hash_del(&pager->node);
	mutex_unlock(&pagers_lock);
	mmdrop(pager->mm);
	kfree(pager);
}

void verve_pager_queue(struct verve_pager *pager, struct verve_job *job)
{
	refcount_inc(&pager->ref);
	job->pager = pager;
	spin_lock_bh(&pager->lock);
	if (pager->running < VERVE_MAX_FAULTS) {
		pager->running++;
		queue_work(fault_wq, &job->work);
	} else {
		list_add_tail(&job->entry, &pager->waiting);
	}
	spin_unlock_bh(&pager->lock);
}

/* A job has ended. The next one queues up behind those of other processes. */
static void start_next(struct verve_pager *pager)
{
	struct verve_job *job;

	spin_lock_bh(&pager->lock);
	job = list_first_entry_or_null(&pager->waiting, struct verve_job,
				       entry);
	if (job) {
		list_del(&job->entry);
		queue_work(fault_wq, &job->work);
	} else {
		pager->running--;
	}
	spin_unlock_bh(&pager->lock);
}

void verve_job_work(struct work_struct *work)
{
	struct verve_job *job = container_of(work, struct verve_job, work);
	struct verve_pager *pager = job->pager;

	job->run(job);
	start_next(pager);
	verve_pager_put(pager);
}

void verve_pager_release(struct work_struct *work)
{
	queue_work(release_wq, work);
}

int verve_pager_init(void)
{
	fault_wq = alloc_workqueue("verve_fault", WQ_UNBOUND,
				   VERVE_MAX_FAULTS_TOTAL);
	if (!fault_wq)
		return -ENOMEM;
	release_wq = alloc_workqueue("verve_release", WQ_UNBOUND, 0);
	if (release_wq)
		return 0;
	destroy_workqueue(fault_wq);
	return -ENOMEM;
}

void verve_pager_exit(void)
{
	destroy_workqueue(fault_wq);
	destroy_workqueue(release_wq);
}
