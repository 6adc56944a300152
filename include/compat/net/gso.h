/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_NET_GSO_H
#define COMPAT_NET_GSO_H

#ifdef COMPAT_HAVE_NET_GSO
#include_next <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

#endif
