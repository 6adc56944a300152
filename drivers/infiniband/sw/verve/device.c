// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creation and removal of devices, and events of their netdevs.
 */
/**
 * DOC: Removal
 *
 * A device is removed with its netdev, by `rdma link delete`, with the module, or
 * because another driver unregisters all devices of its driver_id. Each way ends in
 * ib_unregister_device(). One caller executes it, concurrent callers wait, and
 * verve_dealloc_device() is called last. ib_unregister_device() does not wait for
 * processes. They find their QPs in the error state, and later their contexts
 * disassociated.
 *
 * A work item removes the device of an unregistered netdev, because RTNL must not be
 * held. The same work item runs after each removal. It waits until
 * verve_dealloc_device() has returned, and then takes the device off the list. So
 * the module may be unloaded when the list is empty and the workqueue is drained.
 */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/unaligned.h>
#include <net/addrconf.h>
#include "device.h"
#include "memory/keys.h"
#include "memory/region.h"
#include "offload/icrc.h"
#include "offload/rc/qpc.h"
#include "offload/uso.h"
#include "ops.h"
#include "parent.h"
#include "path/path.h"
#include "services.h"
#include "transport/mcast.h"
#include "transport/qp.h"
#include "verbs/qp.h"

/* Protects the list, and ndev and port_active of each device. Taken inside RTNL. */
static DEFINE_MUTEX(devices_lock);
static struct list_head devices __guarded_by(&devices_lock) =
	LIST_HEAD_INIT(devices);
static struct workqueue_struct *removal_wq;

/* rdma_rxe has the same driver_id, so compare an operation. */
static bool is_ours(const struct ib_device *ibdev)
{
	return ibdev->ops.post_send == verve_post_send;
}

static struct verve_dev *find_device(const struct net_device *ndev)
	__must_hold(&devices_lock)
{
	struct verve_dev *dev;

	lockdep_assert_held(&devices_lock);
	list_for_each_entry(dev, &devices, entry) {
		if (rcu_access_pointer(dev->ndev) == ndev)
			return dev;
	}
	return NULL;
}

static void remove_device(struct work_struct *work)
{
	struct verve_dev *dev = container_of(work, struct verve_dev, removal);
	bool listed;

	ib_unregister_device(&dev->ibdev);

	mutex_lock(&devices_lock);
	listed = !list_empty(&dev->entry);
	list_del_init(&dev->entry);
	mutex_unlock(&devices_lock);
	if (listed)
		put_device(&dev->ibdev.dev);
	put_device(&dev->ibdev.dev);
}

/* Context: any. The caller holds a reference or devices_lock. */
static void queue_removal(struct verve_dev *dev)
{
	get_device(&dev->ibdev.dev);
	if (!queue_work(removal_wq, &dev->removal))
		put_device(&dev->ibdev.dev);
}

/* RCU readers may still use the netdev, which is freed after a grace period. */
static void drop_netdev(struct verve_dev *dev)
	__must_hold(&devices_lock)
{
	struct net_device *ndev;

	ndev = rcu_replace_pointer(dev->ndev, NULL,
				   lockdep_is_held(&devices_lock));
	netdev_put(ndev, &dev->ndev_tracker);
}

void verve_dealloc_device(struct ib_device *ibdev)
{
	struct verve_dev *dev = to_vdev(ibdev);

	verve_hw_roce_exit(dev);
	mutex_lock(&devices_lock);
	drop_netdev(dev);
	mutex_unlock(&devices_lock);
	verve_parent_put(dev);
	verve_net_detach(dev->net, dev);
	verve_net_put(dev->net);
	verve_icrc_offload_close(dev);
	verve_nic_leave(dev);
	kfree(dev->dma_mr);
	verve_keys_exit(dev);
	verve_mcast_exit(dev);
	xa_destroy(&dev->ahs);
	ida_destroy(&dev->srq_nums);
	xa_destroy(&dev->apart);
	free_percpu(dev->stats);
	queue_removal(dev);
}

/* Allocate the resources that verve_dealloc_device() frees, but for the netdev. */
static int open_device(struct verve_dev *dev, struct net *net)
{
	int err = -ENOMEM;

	dev->stats = alloc_percpu(struct verve_stats);
	if (!dev->stats)
		return -ENOMEM;
	dev->dma_mr = verve_mr_alloc_dma(dev, NULL);
	if (!dev->dma_mr)
		goto free_stats;
	err = verve_keys_init(dev);
	if (err)
		goto free_dma_mr;
	err = verve_mcast_init(dev);
	if (err)
		goto exit_keys;
	dev->net = verve_net_get(net);
	if (!IS_ERR(dev->net)) {
		verve_icrc_offload_open(dev);
		return 0;
	}

	err = PTR_ERR(dev->net);
	verve_mcast_exit(dev);
exit_keys:
	verve_keys_exit(dev);
free_dma_mr:
	kfree(dev->dma_mr);
free_stats:
	free_percpu(dev->stats);
	return err;
}

static void describe_device(struct verve_dev *dev)
{
	struct ib_device *ibdev = &dev->ibdev;

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->local_dma_lkey = 0;
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				  BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	strscpy(ibdev->node_desc, "Verve " VERVE_VERSION,
		sizeof(ibdev->node_desc));
	ib_mark_name_assigned_by_user(ibdev);
}

static struct verve_dev *alloc_device(struct net *net)
{
	struct verve_dev *dev;
	int err;

	dev = ib_alloc_device_with_net(verve_dev, ibdev, net);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&dev->entry);
	INIT_WORK(&dev->removal, remove_device);
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	ida_init(&dev->srq_nums);
	spin_lock_init(&dev->mw_lock);
	verve_cc_params_init(&dev->cc);
	verve_hw_roce_init(dev);
	verve_uso_reset(dev);
	dev->gid_table_len = net_eq(net, &init_net) ? VERVE_GID_TABLE_LEN :
						      VERVE_GID_TABLE_LEN_NETNS;
	xa_init_flags(&dev->apart, XA_FLAGS_ALLOC1);
	mutex_init(&dev->qp_lock);
	/* No other thread has the object yet. */
	context_unsafe(INIT_LIST_HEAD(&dev->qps));

	err = open_device(dev, net);
	if (err) {
		ib_dealloc_device(&dev->ibdev);
		return ERR_PTR(err);
	}
	describe_device(dev);
	/* From here on, ib_dealloc_device() calls verve_dealloc_device(). */
	ib_set_device_ops(&dev->ibdev, &verve_device_ops);
	verve_services_show(&dev->ibdev);
	return dev;
}

/*
 * Return: namespace of a registered netdev, with a reference, or NULL. The notifier
 * reports a later change.
 */
static struct net *netdev_namespace(struct net_device *ndev)
{
	struct net *net = NULL;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED)
		net = maybe_get_net(dev_net(ndev));
	rtnl_unlock();
	return net;
}

/* Netdevs that do not carry IP, such as CAN, have no in_device. */
static bool carries_ip(const struct net_device *ndev)
{
	ASSERT_RTNL();
	return __in_dev_get_rtnl(ndev) || __in6_dev_get(ndev);
}

/*
 * librdmacm may identify a device by its GUID alone. So two devices must not have the
 * same, although a VLAN has the Ethernet address of the netdev below it.
 */
static bool is_guid_taken(const u8 *guid)
	__must_hold(&devices_lock)
{
	struct verve_dev *dev;

	lockdep_assert_held(&devices_lock);
	list_for_each_entry(dev, &devices, entry) {
		if (!memcmp(&dev->ibdev.node_guid, guid, sizeof(__be64)))
			return true;
	}
	return false;
}

/*
 * Set the GUID to a local EUI-64: the Ethernet address of the netdev, or a random one,
 * around a number, which is 0 for most. With FFFE it would be the GUID of a device of
 * another driver on the netdev.
 */
static void set_guid(struct verve_dev *dev, const struct net_device *ndev)
	__must_hold(&devices_lock)
{
	u8 mac[ETH_ALEN], guid[sizeof(__be64)];
	u16 number = 0;

	if (ndev->addr_len == ETH_ALEN && is_valid_ether_addr(ndev->dev_addr))
		ether_addr_copy(mac, ndev->dev_addr);
	else
		eth_random_addr(mac);
	memcpy(guid, mac, 3);
	memcpy(guid + 5, mac + 3, 3);
	guid[0] |= 0x02;
	do {
		put_unaligned_be16(number, guid + 3);
	} while (is_guid_taken(guid) && ++number);
	memcpy(&dev->ibdev.node_guid, guid, sizeof(guid));
}

static int attach_netdev(struct verve_dev *dev, struct net_device *ndev,
			 struct net *net)
{
	int err = -ENODEV;

	rtnl_lock();
	mutex_lock(&devices_lock);
	if (ndev->reg_state != NETREG_REGISTERED ||
	    !net_eq(dev_net(ndev), net))
		goto unlock;
	err = -EOPNOTSUPP;
	if (!carries_ip(ndev))
		goto unlock;
	err = -EEXIST;
	if (find_device(ndev))
		goto unlock;
	err = verve_net_attach(dev->net, dev, ndev->ifindex);
	if (err)
		goto unlock;

	set_guid(dev, ndev);
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
	rcu_assign_pointer(dev->ndev, ndev);
	verve_parent_set(dev, ndev);
	dev->port_active = verve_port_is_active(ndev);
	get_device(&dev->ibdev.dev);
	list_add_tail(&dev->entry, &devices);
unlock:
	mutex_unlock(&devices_lock);
	if (!err)
		verve_nic_join(dev, ndev);
	rtnl_unlock();
	return err;
}

static int register_device(struct verve_dev *dev, const char *name)
{
	int err;

	/* A registered device may be removed at any time. */
	get_device(&dev->ibdev.dev);
	err = ib_register_device(&dev->ibdev, name, NULL);
	/* The notifier could not remove the device before its registration. */
	if (!err && !rcu_access_pointer(dev->ndev))
		queue_removal(dev);
	if (err)
		ib_dealloc_device(&dev->ibdev);
	put_device(&dev->ibdev.dev);
	return err;
}

static const char *refusal(int err)
{
	switch (err) {
	case -EADDRINUSE:
		return "UDP port 4791 is in use in its namespace";
	case -EEXIST:
		return "it has a Verve device already";
	case -ENFILE:
		return "the name is taken";
	case -EOPNOTSUPP:
		return "it does not carry IP";
	case -ENODEV:
		return "it is going away";
	default:
		return "see the error";
	}
}

int verve_device_add(const char *name, struct net_device *ndev)
{
	struct net *net = netdev_namespace(ndev);
	struct verve_dev *dev;
	int err = -ENODEV;

	if (!net)
		goto out;
	dev = alloc_device(net);
	err = PTR_ERR_OR_ZERO(dev);
	if (err)
		goto put_net;
	err = attach_netdev(dev, ndev, net);
	if (err)
		ib_dealloc_device(&dev->ibdev);
	else
		err = register_device(dev, name);
put_net:
	put_net(net);
out:
	/* The caller has no extack for the reason. */
	if (err)
		netdev_info(ndev, "no RDMA device %s on this: %s (%d)\n", name,
			    refusal(err), err);
	return err;
}

/* Dispatch an event to the core's clients if the state of the port has changed. */
static void report_port(struct verve_dev *dev, const struct net_device *ndev)
	__must_hold(&devices_lock)
{
	bool active = verve_port_is_active(ndev);
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = 1,
		.event = active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	if (active == dev->port_active)
		return;
	dev->port_active = active;
	if (!active)
		verve_count_bh(dev, link_downed, 1);
	if (ib_device_try_get(&dev->ibdev)) {
		ib_dispatch_event(&event);
		ib_device_put(&dev->ibdev);
	}
}

/* The netdev may be a VLAN on top of any device's netdev, with GIDs of that device. */
static void readdress_devices(void)
	__must_hold(&devices_lock)
{
	struct verve_dev *dev;

	list_for_each_entry(dev, &devices, entry) {
		if (rcu_access_pointer(dev->ndev))
			verve_nic_readdress(dev);
	}
}

/*
 * MTU and name of a netdev are read on use, and the core follows IP addresses. So
 * the notifier ignores their events.
 */
static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct verve_dev *dev;

	mutex_lock(&devices_lock);
	if (event == NETDEV_CHANGEADDR)
		readdress_devices();
	dev = find_device(ndev);
	if (!dev)
		goto unlock;

	switch (event) {
	case NETDEV_UNREGISTER:
		drop_netdev(dev);
		queue_removal(dev);
		break;
	case NETDEV_FEAT_CHANGE:
		verve_uso_reset(dev);
		break;
	case NETDEV_UP:
		verve_uso_reset(dev);
		fallthrough;
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		report_port(dev, ndev);
		break;
	}
unlock:
	mutex_unlock(&devices_lock);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/* The core gives a device to its clients anew when it moves between namespaces. */
static int client_add(struct ib_device *ibdev)
{
	static atomic_long_t seq;

	if (!is_ours(ibdev))
		return -EOPNOTSUPP;
	WRITE_ONCE(to_vdev(ibdev)->is_going, false);
	WRITE_ONCE(to_vdev(ibdev)->client_seq, atomic_long_inc_return(&seq));
	return 0;
}

/*
 * The core removes clients in reverse order. So this client is removed before uverbs
 * destroys the objects of processes, which may still poll for flushed completions. It is
 * removed after that if ib_uverbs was loaded later, and then nothing is flushed.
 */
static void client_remove(struct ib_device *ibdev, void *data)
{
	struct verve_dev *dev = to_vdev(ibdev);

	WRITE_ONCE(dev->client_seq, 0);
	WRITE_ONCE(dev->is_going, true);
	verve_qp_flush_users(dev);
}

static struct ib_client client = {
	.name = "verve",
	.add = client_add,
	.remove = client_remove,
};

int __init verve_device_init(void)
{
	int err;

	removal_wq = alloc_workqueue("verve_removal", WQ_UNBOUND, 0);
	if (!removal_wq)
		return -ENOMEM;
	/* Its client must be registered before this one, if the module exists. */
	request_module("ib_uverbs");
	err = ib_register_client(&client);
	if (err)
		goto destroy_wq;
	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		goto unregister_client;
	return 0;

unregister_client:
	ib_unregister_client(&client);
destroy_wq:
	destroy_workqueue(removal_wq);
	return err;
}

/* Return: the first device of the list, with a reference, or NULL. */
static struct verve_dev *any_device(void)
{
	struct verve_dev *dev;

	mutex_lock(&devices_lock);
	dev = list_first_entry_or_null(&devices, struct verve_dev, entry);
	if (dev)
		get_device(&dev->ibdev.dev);
	mutex_unlock(&devices_lock);
	return dev;
}

void verve_device_exit(void)
{
	struct verve_dev *dev;

	/* This calls the notifier with NETDEV_UNREGISTER for each netdev. */
	unregister_netdevice_notifier(&netdev_notifier);
	while ((dev = any_device())) {
		queue_removal(dev);
		flush_work(&dev->removal);
		put_device(&dev->ibdev.dev);
	}
	destroy_workqueue(removal_wq);
	ib_unregister_client(&client);
}
