/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation of memory, from the program's heap
 */
#ifndef SHIM_MEMORY_H
#define SHIM_MEMORY_H

#include "kernel.h"

#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0
#define __GFP_ZERO		0

#define PAGE_SHIFT	12
#define PAGE_SIZE	(1UL << PAGE_SHIFT)
#define PAGE_ALIGN(n)	ALIGN(n, PAGE_SIZE)

#define kcalloc(n, size, gfp)	calloc(n, size)
#define kvcalloc(n, size, gfp)	calloc(n, size)
#define kfree(p)		free(p)
#define kvfree(p)		free(p)
#define vfree(p)		free(p)

#define SHIM_SIZE(obj, ...)	sizeof(obj)
#define kzalloc_obj(...)	calloc(1, SHIM_SIZE(__VA_ARGS__))
#define struct_size_t(type, member, n) \
	(offsetof(type, member) + (n) * sizeof(((type *)0)->member[0]))

#define MAX_ERRNO	4095
#define ERR_PTR(err)	((void *)(long)(err))
#define PTR_ERR(p)	((long)(p))
#define IS_ERR(p)	((unsigned long)(p) >= (unsigned long)-MAX_ERRNO)

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	unsigned long power = 1;

	while (power < n)
		power <<= 1;
	return power;
}

static inline unsigned int order_base_2(unsigned long n)
{
	return __builtin_ctzl(roundup_pow_of_two(n));
}

struct ib_ucontext;

/* No other process maps rings here. */
struct vm_area_struct { unsigned long vm_start; };
struct rdma_user_mmap_entry { int unused; };

#define vm_flags_set(vma, flags)			((void)(vma))
#define vmalloc_to_page(addr)				(addr)
#define vm_insert_page(vma, addr, page)			((void)(page), -EINVAL)
#define rdma_user_mmap_entry_insert(uctx, entry, size)	(-EINVAL)
#define rdma_user_mmap_entry_remove(entry)		((void)(entry))
#define rdma_user_mmap_get_offset(entry)		((void)(entry), 0)

#define __vmalloc(size, gfp)	calloc(1, size)

#endif
