// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink family: features of devices are shown and switched
 * (uapi/rdma/roce_offload.h)
 *
 * A request names a netdev of its own network namespace, and finds no other. No request
 * waits for a driver: a switch is recorded under the table's lock, and the work item of
 * the device does the rest.
 */
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include "offload.h"

/* A device as it is reported */
struct view {
	u32 able;
	u32 enabled;
	u32 active;
	u32 known[ROCE_OFFLOAD_KINDS];
	u64 refused;
};

static struct genl_family family;

/* Return: false if no driver has registered the netdev */
static bool look(const struct net_device *ndev, struct view *view)
{
	const struct roce_offload *offload;
	int kind;

	spin_lock_bh(&roce_offload_table_lock);
	offload = roce_offload_find(ndev);
	if (offload) {
		view->able = offload->able;
		view->enabled = offload->enabled & offload->able;
		view->active = offload->active;
		/* The mutex would wait for the driver. */
		view->refused = context_unsafe(READ_ONCE(offload->refused));
		for (kind = 0; kind < ROCE_OFFLOAD_KINDS; kind++)
			/* Likewise */
			view->known[kind] = context_unsafe(READ_ONCE(offload->known[kind]));
	}
	spin_unlock_bh(&roce_offload_table_lock);
	return offload;
}

static int put_attributes(struct sk_buff *skb, const struct net_device *ndev,
			  const struct view *view)
{
	if (nla_put_u32(skb, ROCE_OFFLOAD_A_DEV_IFINDEX, ndev->ifindex) ||
	    nla_put_string(skb, ROCE_OFFLOAD_A_DEV_IFNAME, ndev->name) ||
	    nla_put_u32(skb, ROCE_OFFLOAD_A_DEV_CAPABLE, view->able) ||
	    nla_put_bitfield32(skb, ROCE_OFFLOAD_A_DEV_FEATURES,
			       view->enabled, view->able) ||
	    nla_put_u32(skb, ROCE_OFFLOAD_A_DEV_ACTIVE, view->active) ||
	    nla_put_u32(skb, ROCE_OFFLOAD_A_DEV_REGIONS,
			view->known[ROCE_OFFLOAD_MR]) ||
	    nla_put_u32(skb, ROCE_OFFLOAD_A_DEV_QPS,
			view->known[ROCE_OFFLOAD_QP]) ||
	    nla_put_u64_64bit(skb, ROCE_OFFLOAD_A_DEV_REFUSED, view->refused,
			      ROCE_OFFLOAD_A_DEV_PAD))
		return -EMSGSIZE;
	return 0;
}

static int put_message(struct sk_buff *skb, u32 portid, u32 seq, int flags,
		       const struct net_device *ndev, const struct view *view)
{
	void *header = genlmsg_put(skb, portid, seq, &family, flags,
				   ROCE_OFFLOAD_CMD_DEV_GET);

	if (!header)
		return -EMSGSIZE;
	if (put_attributes(skb, ndev, view)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* The netdev that a request names, or NULL and a message. RCU. */
static struct net_device *find_netdev(struct genl_info *info)
{
	struct nlattr *index = info->attrs[ROCE_OFFLOAD_A_DEV_IFINDEX];
	struct net_device *ndev;

	ndev = dev_get_by_index_rcu(genl_info_net(info), nla_get_u32(index));
	if (!ndev)
		NL_SET_ERR_MSG_ATTR(info->extack, index, "no such netdev");
	return ndev;
}

static int unregistered(struct genl_info *info)
{
	NL_SET_ERR_MSG_ATTR(info->extack,
			    info->attrs[ROCE_OFFLOAD_A_DEV_IFINDEX],
			    "no driver offers anything for this netdev");
	return -EOPNOTSUPP;
}

static int fill_reply(struct sk_buff *reply, struct genl_info *info)
{
	struct net_device *ndev;
	struct view view;
	int err = -ENODEV;

	rcu_read_lock();
	ndev = find_netdev(info);
	if (ndev && look(ndev, &view))
		err = put_message(reply, info->snd_portid, info->snd_seq, 0,
				  ndev, &view);
	else if (ndev)
		err = unregistered(info);
	rcu_read_unlock();
	return err;
}

static int answer(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, ROCE_OFFLOAD_A_DEV_IFINDEX))
		return -EINVAL;
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	err = fill_reply(reply, info);
	if (!err)
		return genlmsg_reply(reply, info);
	nlmsg_free(reply);
	return err;
}

static int begin_dump(struct netlink_callback *cb)
{
	if (!nlmsg_attrlen(cb->nlh, GENL_HDRLEN))
		return 0;
	NL_SET_ERR_MSG(cb->extack, "a dump takes no attributes");
	return -EINVAL;
}

/* args[0] is the number of netdevs that were looked at. */
static int dump_devices(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net_device *ndev;
	struct view view;
	long seen = 0;
	int err = 0;

	rcu_read_lock();
	for_each_netdev_rcu(sock_net(skb->sk), ndev) {
		if (seen >= cb->args[0] && look(ndev, &view))
			err = put_message(skb, NETLINK_CB(cb->skb).portid,
					  cb->nlh->nlmsg_seq, NLM_F_MULTI,
					  ndev, &view);
		if (err)
			break;
		seen++;
	}
	rcu_read_unlock();
	cb->args[0] = seen;
	return skb->len ?: err;
}

/* Record the switches of a registered netdev. */
static int set_enabled(const struct net_device *ndev, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[ROCE_OFFLOAD_A_DEV_FEATURES];
	struct nla_bitfield32 wanted = nla_get_bitfield32(attr);
	struct roce_offload *offload;
	int err = 0;

	spin_lock_bh(&roce_offload_table_lock);
	offload = roce_offload_find(ndev);
	if (!offload) {
		err = unregistered(info);
	} else if (wanted.selector & ~offload->able) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "the device does not have this feature");
		err = -EOPNOTSUPP;
	} else {
		WRITE_ONCE(offload->enabled,
			   (offload->enabled & ~wanted.selector) |
			   wanted.value);
		roce_offload_queue_renewal(offload);
	}
	spin_unlock_bh(&roce_offload_table_lock);
	return err;
}

static int switch_features(struct sk_buff *skb, struct genl_info *info)
{
	struct net_device *ndev;
	int err = -ENODEV;

	if (GENL_REQ_ATTR_CHECK(info, ROCE_OFFLOAD_A_DEV_IFINDEX) ||
	    GENL_REQ_ATTR_CHECK(info, ROCE_OFFLOAD_A_DEV_FEATURES))
		return -EINVAL;
	/*
	 * A netdev that moves to another namespace is out of the list for a grace period
	 * before its switches are reset, so none of them comes too late.
	 */
	rcu_read_lock();
	ndev = find_netdev(info);
	if (ndev)
		err = set_enabled(ndev, info);
	rcu_read_unlock();
	return err;
}

static const struct nla_policy get_policy[] = {
	[ROCE_OFFLOAD_A_DEV_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy set_policy[] = {
	[ROCE_OFFLOAD_A_DEV_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCE_OFFLOAD_A_DEV_FEATURES] =
		NLA_POLICY_BITFIELD32(ROCE_OFFLOAD_FEATURES),
};

static const struct genl_ops ops[] = {
	{
		.cmd = ROCE_OFFLOAD_CMD_DEV_GET,
		.doit = answer,
		.start = begin_dump,
		.dumpit = dump_devices,
		.policy = get_policy,
		.maxattr = ARRAY_SIZE(get_policy) - 1,
	},
	{
		.cmd = ROCE_OFFLOAD_CMD_DEV_SET,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = switch_features,
		.policy = set_policy,
		.maxattr = ARRAY_SIZE(set_policy) - 1,
	},
};

/* The family is written when it is registered. */
static struct genl_family family __ro_after_init = {
	.name = ROCE_OFFLOAD_FAMILY_NAME,
	.version = ROCE_OFFLOAD_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.parallel_ops = true,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
};

int __init roce_offload_netlink_init(void)
{
	return genl_register_family(&family);
}

void roce_offload_netlink_exit(void)
{
	genl_unregister_family(&family);
}
