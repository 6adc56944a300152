/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_LINUX_SYSFS_H
#define COMPAT_LINUX_SYSFS_H

#include_next <linux/sysfs.h>

/* Before 6.9, a group whose files are all invisible has an empty directory. */
#ifndef SYSFS_GROUP_INVISIBLE
#define SYSFS_GROUP_INVISIBLE	0
#endif

#endif
