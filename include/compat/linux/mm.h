/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_LINUX_MM_H
#define COMPAT_LINUX_MM_H

#include_next <linux/mm.h>

#ifdef COMPAT_HAVE_GUP_VMAS
#define get_user_pages_remote(mm, start, nr_pages, flags, pages, locked) \
	get_user_pages_remote(mm, start, nr_pages, flags, pages, NULL, locked)
#endif

#ifndef COMPAT_HAVE_VM_FLAGS_SET
#define vm_flags_set(vma, flags) ((vma)->vm_flags |= (flags))
#endif

#endif
