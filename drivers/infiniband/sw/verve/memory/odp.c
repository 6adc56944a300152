// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: On-demand paging
 *
 * A region with on-demand paging pins no pages. Its table (odp_table.h) has an
 * entry for each page: the kernel address of the page while the process has it
 * mapped, else NULL. An engine that finds NULL stalls, and a work item faults the
 * page in as an access of the process would (transport/stall.c).
 *
 * The process or the kernel may unmap pages at any time. The MMU notifier is called
 * before a page goes. The notifier removes the entries and then waits until no
 * engine uses a page that it found there. Engines keep BH off from the look-up of a
 * page to the last byte copied, so synchronize_rcu_expedited() waits for them. The
 * notifier does not wait if the region has no users. This is common while pages are
 * faulted in, when many pages are replaced.
 *
 * A page fault that races with the notifier detects stale pages by the notifier's
 * sequence number, and looks the pages up again.
 *
 * A page is referenced only during its look-up. The look-up for writing marks the
 * page dirty. The notifier is called before the page is cleaned.
 *
 * odp->lock serialises writers of entries. Reclaim may call notifiers, so code that
 * holds odp->lock must not allocate memory.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "odp.h"

/* Flag in an entry, which is page aligned: the page may be written. */
#define ENTRY_WRITABLE	1UL

enum {
	/* Pages of one look-up */
	FAULT_PAGES	= 64,
	/* Tries with invalidated pages before verve_odp_fault() gives up */
	FAULT_TRIES	= 8,
};

/**
 * struct verve_odp - pages of a region with on-demand paging
 * @notifier: MMU notifier of @table's range, until detached
 * @ref: 1 for the region, 1 for each page fault under way
 * @dev: device, or NULL after verve_odp_detach(); protected by @lock
 * @mr: region, or NULL after verve_odp_close(); protected by @lock
 * @mm: address space; @pager has grabbed it
 * @pager: runs page faults of the process
 * @lock: serialises writers of @table
 * @table: kernel address of each page with ENTRY_WRITABLE, or NULL
 * @release: work item that frees the struct, because that may sleep
 */
struct verve_odp {
	struct mmu_interval_notifier notifier;
	refcount_t ref;
	struct verve_dev *dev __guarded_by(&lock);
	struct verve_mr *mr __guarded_by(&lock);
	struct mm_struct *mm;
	struct verve_pager *pager;
	struct mutex lock; /* table, dev, mr */
	struct verve_odp_table table;
	struct work_struct release;
};

/*
 * Return: true if an engine may use a page whose entry was just removed. An engine
 * that takes its reference after this check finds no entry.
 */
static bool is_in_use(const struct verve_odp *odp)
	__must_hold(&odp->lock)
{
	/* Remove entries before reading ref. Pairs with verve_odp_map(). */
	smp_mb();
	if (!odp->mr || refcount_read(&odp->mr->ref) > 1)
		return true;
	/* Pairs with the release in verve_mr_put(): former users are done. */
	smp_acquire__after_ctrl_dep();
	return false;
}

static bool invalidate(struct mmu_interval_notifier *notifier,
		       const struct mmu_notifier_range *range,
		       unsigned long seq)
{
	struct verve_odp *odp =
		container_of(notifier, struct verve_odp, notifier);

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&odp->lock);
	mmu_interval_set_seq(notifier, seq);
	if (verve_odp_table_clear(&odp->table, range->start, range->end)) {
		/* Keep the lock: a second notifier for these pages must wait, too. */
		if (is_in_use(odp))
			synchronize_rcu_expedited();
		if (odp->dev)
			verve_count_bh(odp->dev, page_invalidations, 1);
	}
	mutex_unlock(&odp->lock);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = invalidate,
};

static void free_odp(struct verve_odp *odp)
{
	verve_pager_put(odp->pager);
	verve_odp_table_free(&odp->table);
	kfree(odp);
}

static void release(struct work_struct *work)
{
	free_odp(container_of(work, struct verve_odp, release));
}

struct verve_odp *verve_odp_get(const struct verve_mr *mr)
{
	refcount_inc(&mr->odp->ref);
	return mr->odp;
}

void verve_odp_put(struct verve_odp *odp)
{
	if (refcount_dec_and_test(&odp->ref))
		verve_pager_release(&odp->release);
}

void verve_odp_queue(struct verve_odp *odp, struct verve_job *job)
{
	verve_pager_queue(odp->pager, job);
}

/* An implicit region covers the whole address space. */
static bool is_implicit(const struct verve_mr *mr)
{
	return !mr->start && mr->length == TASK_SIZE;
}

static struct verve_odp *alloc_odp(const struct verve_mr *mr)
{
	struct verve_odp *odp = kzalloc_obj(*odp, GFP_KERNEL_ACCOUNT);
	struct verve_odp_table *table;

	if (!odp)
		return NULL;
	table = &odp->table;
	table->start = mr->start & PAGE_MASK;
	table->num_pages = (PAGE_ALIGN(mr->start + mr->length) - table->start) >>
			   PAGE_SHIFT;
	odp->pager = verve_pager_get(current->mm);
	if (!odp->pager)
		goto free;
	if (verve_odp_table_init(table, is_implicit(mr)))
		goto put;
	refcount_set(&odp->ref, 1);
	mutex_init(&odp->lock);
	INIT_WORK(&odp->release, release);
	/* No other thread has the object yet. */
	context_unsafe(odp->dev = to_vdev(mr->ibmr.pd->device));
	odp->mm = current->mm;
	return odp;

put:
	verve_pager_put(odp->pager);
free:
	kfree(odp);
	return NULL;
}

int verve_odp_attach(struct verve_mr *mr)
{
	struct verve_odp *odp;
	int err;

	/* ibv_reg_mr() registers an implicit region with these values. */
	if (!mr->start && mr->length == U64_MAX)
		mr->length = TASK_SIZE;
	if (mr->start >= TASK_SIZE || mr->length > TASK_SIZE - mr->start)
		return -EINVAL;
	odp = alloc_odp(mr);
	if (!odp)
		return -ENOMEM;
	err = mmu_interval_notifier_insert(&odp->notifier, odp->mm,
					   odp->table.start,
					   odp->table.num_pages * PAGE_SIZE,
					   &notifier_ops);
	if (err) {
		free_odp(odp);
		return err;
	}
	mutex_lock(&odp->lock);
	odp->mr = mr;
	mutex_unlock(&odp->lock);
	mr->odp = odp;
	mr->num_blocks = min_t(size_t, odp->table.num_pages, U32_MAX);
	mr->block_shift = PAGE_SHIFT;
	mr->block_offset = offset_in_page(mr->start);
	return 0;
}

void verve_odp_close(struct verve_mr *mr)
{
	mutex_lock(&mr->odp->lock);
	mr->odp->mr = NULL;
	mutex_unlock(&mr->odp->lock);
}

void verve_odp_detach(struct verve_mr *mr)
{
	struct verve_odp *odp = mr->odp;

	mutex_lock(&odp->lock);
	odp->dev = NULL;
	odp->mr = NULL;
	mutex_unlock(&odp->lock);
	mmu_interval_notifier_remove(&odp->notifier);
	verve_odp_put(odp);
}

void *verve_odp_map(const struct verve_mr *mr, u64 offset, int access)
{
	struct verve_odp_table *table = &mr->odp->table;
	unsigned long entry = 0;
	void **at;

	/* Read the entry after the caller's verve_mr_get(). Pairs with is_in_use(). */
	smp_mb();
	at = verve_odp_table_entry(table, table->start + offset);
	if (at)
		entry = (unsigned long)READ_ONCE(*at);
	if (!entry || (access && !(entry & ENTRY_WRITABLE)))
		return ERR_PTR(-EAGAIN);
	return (void *)(entry & PAGE_MASK) + offset_in_page(offset);
}

/* Return: number of pages looked up and referenced, or -errno for the first. */
static long look_up(struct verve_odp *odp, unsigned long addr,
		    struct page **pages, unsigned long num, unsigned int flags)
{
	int locked = 1;
	long got;

	if (mmap_read_lock_killable(odp->mm))
		return -EINTR;
	got = get_user_pages_remote(odp->mm, addr, num, flags, pages, &locked);
	if (locked)
		mmap_read_unlock(odp->mm);
	return got ?: -EFAULT;
}

/* Return: 0; -EAGAIN when @seq is stale; -EFAULT after verve_odp_detach(); -ENOMEM. */
static int enter(struct verve_odp *odp, unsigned long addr, struct page **pages,
		 long num, bool writable, unsigned long seq)
{
	int err;
	long i;

	err = verve_odp_table_prepare(&odp->table, addr, num);
	if (err)
		return err;
	mutex_lock(&odp->lock);
	if (!odp->dev)
		err = -EFAULT;
	else if (mmu_interval_read_retry(&odp->notifier, seq))
		err = -EAGAIN;
	for (i = 0; !err && i < num; i++) {
		unsigned long entry = (unsigned long)page_address(pages[i]);
		void **at = verve_odp_table_entry(&odp->table,
						  addr + i * PAGE_SIZE);

		/* Do not replace a writable entry by a read-only one. */
		if (!writable && *at)
			continue;
		if (writable)
			entry |= ENTRY_WRITABLE;
		/*
		 * An engine that reads the entry sees the contents of the page. Pairs
		 * with the dependency in verve_odp_map().
		 */
		smp_store_release(at, (void *)entry);
	}
	if (!err)
		verve_count_bh(odp->dev, page_faults, num);
	mutex_unlock(&odp->lock);
	return err;
}

static void put_pages(struct page **pages, long num)
{
	while (num-- > 0)
		put_page(pages[num]);
}

/* Return: number of pages entered in the table, or -errno. */
static long fault_pages(struct verve_odp *odp, unsigned long addr,
			unsigned long num, unsigned int flags)
{
	struct page *pages[FAULT_PAGES];
	unsigned int tries = FAULT_TRIES;
	unsigned long seq;
	long got;
	int err;

	do {
		seq = mmu_interval_read_begin(&odp->notifier);
		got = look_up(odp, addr, pages, num, flags);
		if (got < 0)
			return got;
		err = enter(odp, addr, pages, got, flags & FOLL_WRITE, seq);
		put_pages(pages, got);
	} while (err == -EAGAIN && --tries);
	return err ?: got;
}

/* Charge pages and table to the process's control group, like its own page faults. */
static long fault_charged(struct verve_odp *odp, unsigned long addr,
			  unsigned long num, unsigned int flags)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(odp->mm);
	struct mem_cgroup *old = set_active_memcg(memcg);
	long got = fault_pages(odp, addr, num, flags);

	set_active_memcg(old);
	mem_cgroup_put(memcg);
	return got;
}

ssize_t verve_odp_fault(struct verve_odp *odp, unsigned long addr, size_t len,
			int access, bool present_only)
{
	unsigned long first = addr & PAGE_MASK;
	unsigned long num = (PAGE_ALIGN(addr + len) - first) >> PAGE_SHIFT;
	unsigned int flags = 0;
	long got;

	if (access)
		flags |= FOLL_WRITE;
	if (present_only)
		flags |= FOLL_NOFAULT;
	/* mm_users keeps a dead process's memory, so hold it for the look-up only. */
	if (!mmget_not_zero(odp->mm))
		return -EFAULT;
	got = fault_charged(odp, first, min_t(unsigned long, num, FAULT_PAGES),
			    flags);
	mmput_async(odp->mm);
	if (got == -EFAULT && present_only)
		got = 1;
	if (got < 0)
		return got;
	return min_t(size_t, first + got * PAGE_SIZE - addr, len);
}
