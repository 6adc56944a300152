// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registry of netdevs and the features that their drivers offer
 *
 * Drivers and the netdev notifier write to the table under a spinlock. Senders read it
 * under RCU. The table has no references on drivers: a driver is called under RCU or
 * under the mutex of its device, and unregistration waits for both.
 *
 * The notifier runs under RTNL and never calls a driver. It records at once that a netdev
 * goes down. Calls of the driver are left to a work item of the device.
 */
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include "offload.h"

#define TABLE_BITS	5

static DEFINE_HASHTABLE(table, TABLE_BITS);
/* Lock order and rules are in offload.h. */
DEFINE_SPINLOCK(roce_offload_table_lock);
struct workqueue_struct *roce_offload_wq;

/* Union of the active features of all entries */
static u32 any_active;

static unsigned long key_of(const struct net_device *ndev)
{
	return (unsigned long)ndev / L1_CACHE_BYTES;
}

struct roce_offload *roce_offload_find(const struct net_device *ndev)
{
	struct roce_offload *offload;

	hash_for_each_possible_rcu(table, offload, entry, key_of(ndev),
				   lockdep_is_held(&roce_offload_table_lock)) {
		if (offload->ndev == ndev)
			return offload;
	}
	return NULL;
}

/* UDP segmentation and fragments, which are switched by ethtool */
#define USO	(NETIF_F_GSO_UDP_L4 | NETIF_F_SG)

/* The active features, as far as the netdev's own features allow them now */
static u32 present_features(const struct roce_offload *offload)
{
	u32 active = roce_offload_active(offload);

	if ((READ_ONCE(offload->ndev->features) & USO) != USO)
		active &= ~ROCE_OFFLOAD_TX_ICRC_SEGMENTED;
	return active;
}

static u32 active_features(const struct net_device *ndev)
{
	struct roce_offload *offload = roce_offload_find(ndev);

	return offload ? present_features(offload) : 0;
}

bool roce_offload_may_send(struct net_device *ndev, const struct sk_buff *skb,
			   u32 needed)
{
	struct roce_offload *offload = roce_offload_find(ndev);

	if (!offload || needed & ~present_features(offload))
		return false;
	return !offload->ops->may_send ||
	       offload->ops->may_send(offload->priv, skb);
}

/*
 * Features of the netdevs below a layer. Received packets may come by each of them, so
 * all must have a feature; for packets sent, one is enough. The netdevs in between must
 * pass on packets that a device segments.
 */
struct below {
	u32 any;
	u32 all;
	netdev_features_t between;
};

static int look_below(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	struct below *below = priv->data;
	u32 active;

	if (roce_offload_is_layer(ndev)) {
		below->between &= READ_ONCE(ndev->features);
		return 0;
	}
	active = active_features(ndev);
	if ((READ_ONCE(ndev->vlan_features) & USO) != USO)
		active &= ~ROCE_OFFLOAD_TX_ICRC_SEGMENTED;
	below->any |= active;
	below->all &= active;
	return 0;
}

struct disabled {
	u32 feature;
	const struct net_device *found;
};

static int look_for_disabled(struct net_device *ndev,
			     struct netdev_nested_priv *priv)
{
	const struct roce_offload *offload = roce_offload_find(ndev);
	struct disabled *disabled = priv->data;
	u32 off;

	if (!offload)
		return 0;
	/* It may change at any time. */
	off = ~context_unsafe(READ_ONCE(offload->enabled));
	if (off & offload->able & disabled->feature)
		disabled->found = ndev;
	return !!disabled->found;
}

static const struct net_device *disabled(struct net_device *ndev, u32 feature)
{
	struct disabled disabled = { .feature = feature };
	struct netdev_nested_priv priv = { .data = &disabled };

	if (!roce_offload_is_layer(ndev))
		look_for_disabled(ndev, &priv);
	else
		netdev_walk_all_lower_dev_rcu(ndev, look_for_disabled, &priv);
	return disabled.found;
}

/* Only VLANs and bonds: other netdevs change packets, copy them, or add their own. */
static u32 features(struct net_device *ndev)
{
	struct below below = {
		.all = ROCE_OFFLOAD_FEATURES,
		.between = READ_ONCE(ndev->features),
	};
	struct netdev_nested_priv priv = { .data = &below };
	u32 out = ROCE_OFFLOAD_TX_ICRC;

	if (!roce_offload_is_layer(ndev))
		return active_features(ndev);
	netdev_walk_all_lower_dev_rcu(ndev, look_below, &priv);
	if (below.between & ROCE_OFFLOAD_WAY_FEATURE)
		out |= ROCE_OFFLOAD_TX_ICRC_SEGMENTED;
	return (below.any & out) |
	       (below.any & below.all &
		(ROCE_OFFLOAD_RX_ICRC | ROCE_OFFLOAD_STATEFUL));
}

static void set_active(struct roce_offload *offload, u32 active)
	__must_hold(&roce_offload_table_lock)
{
	struct roce_offload *other;
	u32 any = 0;
	int bucket;

	if (offload->active & ~active & ROCE_OFFLOAD_STATEFUL)
		offload->losses++;
	WRITE_ONCE(offload->active, active);
	hash_for_each(table, bucket, other, entry)
		any |= other->active;
	WRITE_ONCE(any_active, any);
}

/* Segmentation needs the ICRC of what is sent, and DDP that of what is received. */
static u32 complete_features(u32 features)
{
	if (!(features & ROCE_OFFLOAD_TX_ICRC))
		features &= ~ROCE_OFFLOAD_TX_ICRC_SEGMENTED;
	if (!(features & ROCE_OFFLOAD_RX_ICRC))
		features &= ~ROCE_OFFLOAD_RX_DDP;
	return features;
}

/*
 * Ask the driver for its features. They count only if the netdev is still up afterwards.
 * Only the notifier knows: netif_running() is still true when a netdev begins to go down.
 *
 * Return: true if the device has lost features.
 */
static bool renew(struct roce_offload *offload)
	__must_hold(&offload->lock)
{
	/* It is looked at again under the table's lock. */
	bool is_up = context_unsafe(READ_ONCE(offload->is_up));
	u32 active = is_up ? offload->able : 0, before;

	if (active && offload->ops->features)
		active &= offload->ops->features(offload->priv);
	spin_lock_bh(&roce_offload_table_lock);
	before = offload->active;
	active &= offload->is_up ? offload->enabled : 0;
	set_active(offload, complete_features(active));
	spin_unlock_bh(&roce_offload_table_lock);
	return before & ~active;
}

/*
 * Wait for senders that saw the old features. Afterwards their packets are with the
 * driver, or requeued in front of the device because the driver was busy.
 */
static void await_senders(void)
{
	synchronize_net();
}

void roce_offload_update(struct roce_offload *offload)
{
	bool lost;

	mutex_lock(&offload->lock);
	lost = renew(offload);
	mutex_unlock(&offload->lock);
	roce_offload_settle(offload);
	if (lost)
		await_senders();
}
EXPORT_SYMBOL_GPL(roce_offload_update);

static void renewal_work(struct work_struct *work)
{
	roce_offload_update(container_of(work, struct roce_offload, renewal));
}

static void recheck_work(struct work_struct *work)
{
	roce_offload_check_terms(container_of(to_delayed_work(work),
					      struct roce_offload, recheck));
}

static bool can_know(const struct roce_offload_ops *ops)
{
	return ops->mr_add && ops->mr_del && ops->qp_add && ops->qp_del;
}

/* ICRC offload needs sk_validate_xmit_skb. */
static u32 usable_features(const struct roce_offload_ops *ops, u32 able)
{
	if (!IS_ENABLED(CONFIG_SOCK_VALIDATE_XMIT))
		able &= ~ROCE_OFFLOAD_TX_ICRC;
	if (!can_know(ops))
		able &= ~ROCE_OFFLOAD_STATEFUL;
	if (!ops->rx_start || !ops->rx_stop)
		able &= ~ROCE_OFFLOAD_RX_DDP;
	if (able & ROCE_OFFLOAD_RC && !roce_offload_has_rc(ops))
		able &= ~ROCE_OFFLOAD_RC;
	return complete_features(able & ROCE_OFFLOAD_FEATURES);
}

static struct roce_offload *create(struct net_device *ndev,
				   const struct roce_offload_ops *ops,
				   const struct roce_offload_caps *caps,
				   void *priv)
{
	struct roce_offload *offload = kzalloc_obj(*offload);

	if (!offload)
		return NULL;
	offload->ndev = ndev;
	offload->ops = ops;
	offload->priv = priv;
	offload->able = usable_features(ops, caps->features);
	offload->rx_after = max(caps->rx_after, 1U);
	offload->rc_recvs = max(caps->rc_recvs, 1U);
	offload->ranges[ROCE_OFFLOAD_MR] = caps->keys;
	offload->ranges[ROCE_OFFLOAD_QP] = caps->qpns;
	/* No other thread has the object yet. */
	context_unsafe(offload->enabled = ROCE_OFFLOAD_FROM_START);
	mutex_init(&offload->lock);
	INIT_WORK(&offload->renewal, renewal_work);
	INIT_DELAYED_WORK(&offload->recheck, recheck_work);
	return offload;
}

/* Add an entry to the table. From here on, the notifier keeps @is_up current. */
static int add(struct roce_offload *offload)
{
	const struct net_device *ndev = offload->ndev;
	int err = -EEXIST;

	spin_lock_bh(&roce_offload_table_lock);
	if (!roce_offload_find(ndev)) {
		offload->is_up = READ_ONCE(ndev->flags) & IFF_UP;
		hash_add_rcu(table, &offload->entry, key_of(ndev));
		err = 0;
	}
	spin_unlock_bh(&roce_offload_table_lock);
	return err;
}

static bool is_valid(struct roce_offload_range range)
{
	u32 numbers = BIT(24);

	return range.first < numbers && range.count <= numbers - range.first;
}

struct roce_offload *
roce_offload_register(struct net_device *ndev,
		      const struct roce_offload_ops *ops,
		      const struct roce_offload_caps *caps, void *priv)
{
	struct roce_offload *offload;
	int err;

	if (caps->abi != ROCE_OFFLOAD_ABI)
		return ERR_PTR(-EPROTONOSUPPORT);
	if (!is_valid(caps->qpns) || !is_valid(caps->keys))
		return ERR_PTR(-EINVAL);
	offload = create(ndev, ops, caps, priv);
	if (!offload)
		return ERR_PTR(-ENOMEM);
	err = add(offload);
	if (err) {
		kfree(offload);
		return ERR_PTR(err);
	}
	roce_offload_update(offload);
	return offload;
}
EXPORT_SYMBOL_GPL(roce_offload_register);

/*
 * The work items can be cancelled for good once the entry is neither in the table nor
 * bound to an RDMA device, as nothing can queue them any more.
 */
void roce_offload_unregister(struct roce_offload *offload)
{
	spin_lock_bh(&roce_offload_table_lock);
	offload->is_up = false;
	set_active(offload, 0);
	hash_del_rcu(&offload->entry);
	spin_unlock_bh(&roce_offload_table_lock);
	roce_offload_settle(offload);
	cancel_work_sync(&offload->renewal);
	cancel_delayed_work_sync(&offload->recheck);
	await_senders();
	kfree_rcu(offload, rcu);
}
EXPORT_SYMBOL_GPL(roce_offload_unregister);

/* Handle an event that may change a device's features or its @is_up. */
static void device_event(struct roce_offload *offload, unsigned long event)
	__must_hold(&roce_offload_table_lock)
{
	switch (event) {
	case NETDEV_UP:
		offload->is_up = true;
		fallthrough;
	case NETDEV_FEAT_CHANGE:
		roce_offload_queue_renewal(offload);
		break;
	case NETDEV_GOING_DOWN:
	case NETDEV_DOWN:
		offload->is_up = false;
		set_active(offload, 0);
		roce_offload_queue_renewal(offload);
		break;
	case NETDEV_UNREGISTER:
		/* Perhaps it moves to another namespace, with another administrator. */
		WRITE_ONCE(offload->enabled, ROCE_OFFLOAD_FROM_START);
		break;
	}
}

/* The stacking of netdevs has changed, so any device may get or lose RDMA devices. */
static void upper_event(void)
	__must_hold(&roce_offload_table_lock)
{
	struct roce_offload *offload;
	int bucket;

	hash_for_each(table, bucket, offload, entry)
		roce_offload_queue_renewal(offload);
}

/*
 * No wait for senders here: the core waits for them when it sets a netdev down, and sets
 * a netdev down before it unregisters it.
 */
static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct roce_offload *offload;

	spin_lock_bh(&roce_offload_table_lock);
	offload = roce_offload_find(ndev);
	if (offload)
		device_event(offload, event);
	if (event == NETDEV_CHANGEUPPER)
		upper_event();
	else if (event == NETDEV_UNREGISTER)
		roce_offload_evict(ndev);
	spin_unlock_bh(&roce_offload_table_lock);
	return NOTIFY_DONE;
}

/* Offloaded QPs have the address of the next hop in their terms. */
static int neighbour_event(struct notifier_block *nb, unsigned long event,
			   void *info)
{
	const struct neighbour *neigh = info;

	if (event == NETEVENT_NEIGH_UPDATE &&
	    READ_ONCE(any_active) & ROCE_OFFLOAD_RC)
		roce_offload_recheck(neigh->dev);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

static struct notifier_block neighbour_notifier = {
	.notifier_call = neighbour_event,
};

static const struct roce_offload_registry registry = {
	.detach = roce_offload_detach,
	.open = roce_offload_open,
	.close = roce_offload_close,
	.stats = roce_offload_stats,
	.any = &any_active,
	.features = features,
	.disabled = disabled,
	.tx_icrc = roce_offload_tx_icrc,
	.takes_trains = roce_offload_takes_trains,
	.tx_uso = roce_offload_tx_uso,
	.takes_segmented = roce_offload_takes_segmented,
	.join = roce_offload_join,
	.leave = roce_offload_leave,
	.range = roce_offload_range,
	.publish = roce_offload_publish,
	.withdraw = roce_offload_withdraw,
	.refused = roce_offload_refused,
	.rx_start = roce_offload_rx_start,
	.rx_stop = roce_offload_rx_stop,
	.rc_offload = roce_offload_rc_offload,
	.rc_return = roce_offload_rc_return,
	.rc_post = roce_offload_rc_post,
	.rc_post_recv = roce_offload_rc_post_recv,
};

const struct roce_offload_registry *
roce_offload_attach(u32 abi, const struct roce_offload_transport *transport)
{
	if (abi != ROCE_OFFLOAD_ABI)
		return NULL;
	roce_offload_set_transport(transport);
	return &registry;
}
EXPORT_SYMBOL_GPL(roce_offload_attach);

static int __init offload_init(void)
{
	int err;

	roce_offload_wq = alloc_workqueue("roce_offload", WQ_UNBOUND, 0);
	if (!roce_offload_wq)
		return -ENOMEM;
	err = roce_offload_tx_icrc_init();
	if (err)
		goto destroy_wq;
	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		goto exit_icrc_offload;
	err = register_netevent_notifier(&neighbour_notifier);
	if (err)
		goto unregister_netdev;
	err = roce_offload_netlink_init();
	if (!err)
		return 0;

	unregister_netevent_notifier(&neighbour_notifier);
unregister_netdev:
	unregister_netdevice_notifier(&netdev_notifier);
exit_icrc_offload:
	roce_offload_tx_icrc_exit();
destroy_wq:
	destroy_workqueue(roce_offload_wq);
	return err;
}

/* Registered drivers and open senders hold references on the module. */
static void __exit offload_exit(void)
{
	roce_offload_netlink_exit();
	unregister_netevent_notifier(&neighbour_notifier);
	unregister_netdevice_notifier(&netdev_notifier);
	roce_offload_tx_icrc_exit();
	destroy_workqueue(roce_offload_wq);
}

module_init(offload_init);
module_exit(offload_exit);

MODULE_DESCRIPTION("Registry of NICs with offloads for RoCE in software");
MODULE_LICENSE("GPL");
