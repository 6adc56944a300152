/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stand-ins for the kernel functions that Verve's files use in user space.
 *
 * These files include the kernel's headers that user space has. All other headers
 * that they include lead to this one (see headers.mk).
 */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

#define U8_MAX		UINT8_MAX
#define U32_MAX		UINT32_MAX
#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_SEC	1000000000L

#define __packed	__attribute__((packed))
#define __rcu
#define __percpu
#define __aligned(n)	__attribute__((aligned(n)))
#define likely(x)	(x)
#define unlikely(x)	(x)

#define BIT(n)			(1UL << (n))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define ALIGN(x, a)		(((x) + (a) - 1) & ~((typeof(x))(a) - 1))
#define IS_ALIGNED(x, a)	(!((x) & ((typeof(x))(a) - 1)))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define swap(a, b)	do { typeof(a) t_ = (a); (a) = (b); (b) = t_; } while (0)
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)
#define DECLARE_FLEX_ARRAY(type, name) __DECLARE_FLEX_ARRAY(type, name)
#define offsetofend(type, member) \
	(offsetof(type, member) + sizeof(((type *)0)->member))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define min3(a, b, c)	min(min(a, b), c)
#define max3(a, b, c)	max(max(a, b), c)
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b) ((type)(a) > (type)(b) ? (type)(a) : (type)(b))

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

/* crc32_le() is slow here. The macro keeps the driver from searching a faster CRC. */
#define CRC32_LE_OPTIMIZATION	BIT(0)
u32 crc32_le(u32 crc, const void *data, size_t len);

/* An assertion of the stand-ins, in any program that uses them */
#define shim_expect(cond)						\
	((cond) ? (void)0 : shim_unexpected(__FILE__, __LINE__, #cond))

/* Report a failed assertion and do not return. The program implements this. */
void shim_unexpected(const char *file, int line, const char *what);

/* Objects of which Verve's files need only the size or name */
struct completion { int unused; };
struct ida { int unused; };
struct iosys_map { int unused; };
struct rcu_head { int unused; };
struct rhash_head { int unused; };
struct rhashtable { int unused; };
struct xarray { int unused; };
typedef struct { int unused; } netdevice_tracker;
struct attribute_group;
struct net_device;

static inline bool ipv6_addr_equal(const struct in6_addr *a,
				   const struct in6_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}

#define module_param(name, type, mode)	extern int shim_unused
#define MODULE_PARM_DESC(name, text)	extern int shim_unused

#include "sync.h"
#include "clock.h"
#include "memory.h"

#endif
