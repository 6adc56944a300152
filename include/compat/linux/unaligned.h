/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_LINUX_UNALIGNED_H
#define COMPAT_LINUX_UNALIGNED_H

#ifdef COMPAT_HAVE_LINUX_UNALIGNED
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif
