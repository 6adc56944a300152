/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_NET_NET_NAMESPACE_H
#define COMPAT_NET_NET_NAMESPACE_H

#include_next <net/net_namespace.h>

/*
 * Do packet sockets receive one protocol from all netdevs of a namespace? Older kernels
 * keep them in a list that modules cannot see.
 */
static inline bool compat_net_has_taps(const struct net *net)
{
#ifdef COMPAT_HAVE_NET_PTYPE
	return !list_empty(&net->ptype_specific);
#else
	return false;
#endif
}

#endif
