/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_NET_IPV6_H
#define COMPAT_NET_IPV6_H

#include_next <net/ipv6.h>

/* In kernels with IPv6 as a module, a stub provides its functions. */
#ifdef COMPAT_HAVE_IPV6_STUB
#include <net/ipv6_stubs.h>
#define ip6_dst_lookup_flow(net, sk, fl6, final_dst) \
	ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl6, final_dst)
#endif

#endif
