// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address vectors, made of the core's AH attributes
 */
#include <linux/capability.h>
#include <linux/pkt_sched.h>
#include <net/ipv6.h>
#include "../device.h"
#include "av.h"
#include "path.h"

enum {
	/* The largest PCP of a VLAN; service levels go up to 15. */
	MAX_PRIORITY_LEVEL = 7,
};

static void gid_to_addr(struct in6_addr *addr, const union ib_gid *gid)
{
	memcpy(addr, gid->raw, sizeof(*addr));
}

/*
 * A service level above 7 selects no priority. A program may answer with the service
 * level of a completion, whose upper values tell the type of the packet
 * (transport/datagram.c).
 */
static u8 priority_level(const struct rdma_ah_attr *attr)
{
	u8 sl = rdma_ah_get_sl(attr);

	return sl <= MAX_PRIORITY_LEVEL ? sl : 0;
}

/* The limit that SO_PRIORITY has for the same caller */
static u8 max_priority(const struct verve_dev *dev, bool is_user)
{
	bool may = !is_user;
	struct net *net;

	rcu_read_lock();
	net = verve_net_ns(dev->net);
	if (is_user && net)
		may = ns_capable(net->user_ns, CAP_NET_RAW) ||
		      ns_capable(net->user_ns, CAP_NET_ADMIN);
	rcu_read_unlock();
	return may ? TC_PRIO_MAX : TC_PRIO_INTERACTIVE;
}

int verve_av_fill(struct verve_av *av, const struct rdma_ah_attr *attr,
		  bool is_user, u32 lqpn, u32 rqpn)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct ib_gid_attr *sgid = grh->sgid_attr;

	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !sgid ||
	    sgid->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EINVAL;
	av->ifindex = verve_owner_of_gid(sgid);
	if (!av->ifindex)
		return -EINVAL;

	gid_to_addr(&av->saddr, &sgid->gid);
	gid_to_addr(&av->daddr, &grh->dgid);
	if (ipv6_addr_v4mapped(&av->saddr) != ipv6_addr_v4mapped(&av->daddr))
		return -EINVAL;

	av->is_v6 = !ipv6_addr_v4mapped(&av->daddr);
	av->sl = priority_level(attr);
	av->max_priority = av->sl ? max_priority(to_vdev(sgid->device), is_user) :
				    TC_PRIO_INTERACTIVE;
	av->traffic_class = grh->traffic_class;
	av->hop_limit = grh->hop_limit;
	/* A program may set bits above the label, where the header has the version. */
	av->flow_label = grh->flow_label & IB_GRH_FLOWLABEL_MASK;
	av->sgid_index = grh->sgid_index;
	av->sport = rdma_get_udp_sport(av->flow_label, lqpn, rqpn);
	if (attr->type == RDMA_AH_ATTR_TYPE_ROCE)
		ether_addr_copy(av->dmac, attr->roce.dmac);
	return 0;
}

struct verve_av *verve_av_find(struct verve_dev *dev, struct ib_pd *pd,
			       u32 ah_num)
{
	struct verve_av *av = xa_load(&dev->ahs, ah_num);

	return av && av->pd == pd ? av : NULL;
}
