/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_LINUX_WORKQUEUE_H
#define COMPAT_LINUX_WORKQUEUE_H

#include_next <linux/workqueue.h>

/* Without the flag, whatever is not WQ_UNBOUND is bound to a CPU. */
#ifndef COMPAT_HAVE_WQ_PERCPU
#define WQ_PERCPU 0
#endif

#endif
