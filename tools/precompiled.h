/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's headers that cc-precompiled and context parse once. Most files of the
 * driver include these, or headers that they include.
 */
#include <rdma/ib_verbs.h>
#include <linux/if_vlan.h>
#include <net/ip.h>
#include <net/ipv6.h>
