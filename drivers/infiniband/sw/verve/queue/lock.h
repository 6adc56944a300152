/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks of queues of kernel users or user space.
 *
 * Kernel users may post and poll with interrupts off, so the locks of their
 * queues are taken with interrupts off. Only system calls and softirqs access
 * queues of user space, whose locks therefore only turn BH off.
 */
#ifndef VERVE_QUEUE_LOCK_H
#define VERVE_QUEUE_LOCK_H

#include <linux/spinlock.h>

/* The two call sites give lockdep two classes. */
static inline void verve_lock_init(spinlock_t *lock, bool is_user)
{
	if (is_user)
		spin_lock_init(lock);
	else
		spin_lock_init(lock);
}

/* Return: the interrupt flags for verve_unlock(). */
static inline unsigned long verve_lock(spinlock_t *lock, bool is_user)
	__acquires(lock)
{
	unsigned long flags = 0;

	if (is_user)
		spin_lock_bh(lock);
	else
		spin_lock_irqsave(lock, flags);
	return flags;
}

static inline void verve_unlock(spinlock_t *lock, bool is_user,
				unsigned long flags)
	__releases(lock)
{
	if (is_user)
		spin_unlock_bh(lock);
	else
		spin_unlock_irqrestore(lock, flags);
}

#endif
