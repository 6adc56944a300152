/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_LINUX_LOCAL_LOCK_H
#define COMPAT_LINUX_LOCAL_LOCK_H

/* The header of 6.1 lacks this include, which PREEMPT_RT needs. */
#include <linux/spinlock.h>
#include_next <linux/local_lock.h>

#ifndef local_lock_nested_bh
#define local_lock_nested_bh local_lock
#define local_unlock_nested_bh local_unlock
#endif

#endif
