/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_LINUX_SLAB_H
#define COMPAT_LINUX_SLAB_H

#include_next <linux/slab.h>

/* The optional argument, or else GFP_KERNEL */
#ifndef default_gfp
#define __default_gfp(none, gfp, ...) gfp
#define default_gfp(...) __default_gfp(, ##__VA_ARGS__, GFP_KERNEL)
#endif

#ifndef kzalloc_obj
#define kzalloc_obj(obj, ...) \
	kzalloc(sizeof(obj), default_gfp(__VA_ARGS__))
#endif

#ifndef kvmalloc_objs
#define kvmalloc_objs(obj, count, ...) \
	kvmalloc_array(count, sizeof(obj), default_gfp(__VA_ARGS__))
#endif

#endif
