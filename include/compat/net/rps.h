/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_NET_RPS_H
#define COMPAT_NET_RPS_H

#ifdef COMPAT_HAVE_NET_RPS
#include_next <net/rps.h>
#else
#include <net/sock.h>
#endif

#endif
