/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_LINUX_WORKQUEUE_H
#define COMPAT_LINUX_WORKQUEUE_H

#include_next <linux/workqueue.h>

/* Older kernels bind all workqueues without WQ_UNBOUND to CPUs. */
#ifndef COMPAT_HAVE_WQ_PERCPU
#define WQ_PERCPU 0
#endif

#endif
