/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_LINUX_RCUPDATE_H
#define COMPAT_LINUX_RCUPDATE_H

#include_next <linux/rcupdate.h>

#ifndef lockdep_assert_in_rcu_reader
#define lockdep_assert_in_rcu_reader() \
	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(), "not in a reader's section")
#endif

#endif
