/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_NET_FLOW_H
#define COMPAT_NET_FLOW_H

#include_next <net/flow.h>
#include <net/inet_dscp.h>

/* Older name and type of the field: DSCP in the upper six bits, ECN bits zero */
#ifndef flowi4_dscp
#define flowi4_dscp flowi4_tos
#define inet_dsfield_to_dscp(dsfield) \
	inet_dscp_to_dsfield((inet_dsfield_to_dscp)(dsfield))
#endif

#endif
