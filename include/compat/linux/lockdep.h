/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_LINUX_LOCKDEP_H
#define COMPAT_LINUX_LOCKDEP_H

#include_next <linux/lockdep.h>

/*
 * Macros of context analysis, which no compiler does with headers that lack them. They
 * are here, as all headers of locks include this one.
 */
#ifndef __must_hold_shared
#define __must_hold_shared(...)
#endif

#ifndef __guarded_by
#define __guarded_by(...)
#endif

#ifndef __context_unsafe
#define __context_unsafe(comment)
#endif

#ifndef context_unsafe
#define context_unsafe(...) ({ __VA_ARGS__; })
#endif

#endif
