/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of the kernel as Verve's pure functions and their tests ask for.
 *
 * Headers of the kernel that user space has are used as they are; every other
 * name that a pure file includes leads here (see the Makefile).
 */
#ifndef UNIT_KERNEL_H
#define UNIT_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <asm/byteorder.h>
#include <linux/const.h>
#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/stddef.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef unsigned long long u64;
typedef __s32 s32;
typedef unsigned int gfp_t;

#define U32_MAX		UINT32_MAX
#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_SEC	1000000000L

#define __packed	__attribute__((packed))
#define __rcu

#define BIT(n)			(1UL << (n))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define ALIGN(x, a)		(((x) + (a) - 1) & ~((typeof(x))(a) - 1))
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)
#define DECLARE_FLEX_ARRAY(type, name) __DECLARE_FLEX_ARRAY(type, name)
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define max3(a, b, c)	max(max(a, b), c)
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b) ((type)(a) > (type)(b) ? (type)(a) : (type)(b))

#define READ_ONCE(x)	(*(const volatile typeof(x) *)&(x))
#define clamp(val, lo, hi) min(max(val, lo), hi)
#define clamp_t(type, val, lo, hi) min_t(type, max_t(type, val, lo), hi)

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

#define cpu_to_be16	__cpu_to_be16
#define cpu_to_be32	__cpu_to_be32
#define cpu_to_be64	__cpu_to_be64
#define cpu_to_le32	__cpu_to_le32
#define be16_to_cpu	__be16_to_cpu
#define be32_to_cpu	__be32_to_cpu
#define be64_to_cpu	__be64_to_cpu

/* Slow, and says that there is nothing faster to be looked for. */
#define CRC32_LE_OPTIMIZATION	BIT(0)
u32 crc32_le(u32 crc, const void *data, size_t len);

/* Members of objects that pure functions only know the size or name of */
struct completion { int unused; };
struct iosys_map { int unused; };
struct rcu_head { int unused; };
struct rhash_head { int unused; };
typedef struct { int unused; } refcount_t;

struct llist_node { struct llist_node *next; };

/* One thread */
typedef struct { int counter; } atomic_t;

static inline int atomic_read(const atomic_t *v)
{
	return v->counter;
}

static inline void atomic_set(atomic_t *v, int i)
{
	v->counter = i;
}

static inline void atomic_dec(atomic_t *v)
{
	v->counter--;
}

static inline bool atomic_add_unless(atomic_t *v, int a, int u)
{
	if (v->counter == u)
		return false;
	v->counter += a;
	return true;
}

#endif
