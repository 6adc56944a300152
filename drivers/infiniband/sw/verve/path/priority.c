// SPDX-License-Identifier: GPL-2.0-only
/*
 * Priorities of packets in the stack (verve_flow_priority() in net.h)
 */
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <net/dst.h>
#include <net/route.h>
#include "net.h"

static u32 pcp_of(struct net_device *vlan, u32 priority)
{
	return (vlan_dev_get_egress_qos_mask(vlan, priority) & VLAN_PRIO_MASK) >>
	       VLAN_PRIO_SHIFT;
}

/*
 * The service level that a priority stands for: the PCP of a VLAN, or a traffic class.
 * The core's rdma_cm derives the service level of a connection from its TOS in this way.
 */
static u32 level_of(struct net_device *ndev, u32 priority)
{
	if (is_vlan_dev(ndev))
		return pcp_of(ndev, priority);
	if (READ_ONCE(ndev->num_tc))
		return netdev_get_prio_tc_map(ndev, priority);
	return priority;
}

u32 verve_flow_priority(const struct verve_flow *flow)
{
	const struct verve_av *av = &flow->av;
	u32 usual = rt_tos2priority(av->traffic_class);
	struct net_device *ndev = flow->dst->dev;
	u32 priority;

	if (likely(!av->sl) || level_of(ndev, usual) == av->sl)
		return usual;
	if (av->sl <= av->max_priority && level_of(ndev, av->sl) == av->sl)
		return av->sl;
	for (priority = 0; priority <= av->max_priority; priority++)
		if (level_of(ndev, priority) == av->sl)
			return priority;
	return min(av->sl, av->max_priority);
}

u8 verve_flow_pcp(const struct verve_flow *flow)
{
	struct net_device *ndev = flow->dst->dev;

	return is_vlan_dev(ndev) ? pcp_of(ndev, verve_flow_priority(flow)) : 0;
}
