// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module init and exit, its two netdevs, and their registration for offloads
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include "nic.h"
#include "rc.h"

static unsigned int abi = ROCE_OFFLOAD_ABI;
module_param(abi, uint, 0400);
MODULE_PARM_DESC(abi, "Which interface the driver says that it was built for");

static unsigned int gso_max_size;
module_param(gso_max_size, uint, 0400);
MODULE_PARM_DESC(gso_max_size, "The most bytes that the hardware takes at once");

static unsigned int lacks;
module_param(lacks, uint, 0400);
MODULE_PARM_DESC(lacks, "Features that the hardware never has");

static const char * const names[2] = { "va", "vb" };
static struct nic nics[2];

static struct nic *to_nic(struct net_device *ndev)
{
	return *(struct nic **)netdev_priv(ndev);
}

static u32 features(void *priv)
{
	struct nic *nic = priv;

	return READ_ONCE(nic->able);
}

static bool may_send(void *priv, const struct sk_buff *skb)
{
	struct nic *nic = priv;

	return !atomic_add_unless(&nic->refuse, -1, 0);
}

static const struct roce_offload_ops offload_ops = {
	.features = features,
	.may_send = may_send,
	.mr_add = nic_mr_add,
	.mr_del = nic_mr_del,
	.qp_add = nic_qp_add,
	.qp_del = nic_qp_del,
	.rx_start = nic_rx_start,
	.rx_stop = nic_rx_stop,
	.rc = &nic_rc_ops,
};

int nic_offer(struct nic *nic)
{
	const struct roce_offload_caps caps = {
		.abi = abi,
		.features = ROCE_OFFLOAD_FEATURES & ~lacks,
		.rx_after = 1,
		.rc_recvs = min_t(u32, READ_ONCE(nic->recvs), NIC_RECVS),
		.qpns = { NIC_FIRST_NUMBER, READ_ONCE(nic->num_qpns) },
		.keys = { NIC_FIRST_NUMBER, READ_ONCE(nic->num_keys) },
	};
	struct roce_offload *offload;

	nic->most_recvs = caps.rc_recvs;
	nic->qpns = caps.qpns;
	nic->keys = caps.keys;
	offload = roce_offload_register(nic->ndev, &offload_ops, &caps, nic);
	if (IS_ERR(offload)) {
		netdev_info(nic->ndev, "offers nothing (%ld)\n",
			    PTR_ERR(offload));
		return PTR_ERR(offload);
	}
	nic->offload = offload;
	return 0;
}

void nic_withdraw(struct nic *nic)
{
	if (nic->offload)
		roce_offload_unregister(nic->offload);
	nic->offload = NULL;
}

/* Process a frame from the wire. Return: packet for the stack, or NULL. */
static struct sk_buff *receive(struct nic *nic, struct sk_buff *frame)
{
	u64 begun = nic_works();

	frame = nic_check(nic, frame);
	if (frame)
		frame = nic_scatter(nic, frame);
	nic_worked(nic, begun);
	return frame;
}

/* Drop all frames on the wire, and forget QPs and regions for a while. */
void nic_reset(struct nic *nic)
{
	u32 able = nic->able;

	WRITE_ONCE(nic->able, 0);
	if (nic->offload)
		roce_offload_update(nic->offload);
	skb_queue_purge(&nic->arrived);
	skb_queue_purge(&nic->peer->arrived);
	WRITE_ONCE(nic->able, able);
	if (nic->offload)
		roce_offload_update(nic->offload);
}

static int poll(struct napi_struct *napi, int budget)
{
	struct nic *nic = container_of(napi, struct nic, napi);
	struct sk_buff *skb;
	int done = 0;
	bool more;

	while (done < budget && (skb = skb_dequeue(&nic->arrived))) {
		done++;
		skb = receive(nic, skb);
		if (!skb)
			continue;
		nic->ndev->stats.rx_packets++;
		nic->ndev->stats.rx_bytes += skb->len;
		skb->protocol = eth_type_trans(skb, nic->ndev);
		napi_gro_receive(napi, skb);
	}
	more = nic_rc_run(nic);
	if (more && budget)
		return budget;
	if (done < budget && napi_complete_done(napi, done) &&
	    !skb_queue_empty_lockless(&nic->arrived))
		napi_schedule(napi);
	return done;
}

static int open(struct net_device *ndev)
{
	napi_enable(&to_nic(ndev)->napi);
	netif_start_queue(ndev);
	return 0;
}

static int stop(struct net_device *ndev)
{
	struct nic *nic = to_nic(ndev);

	netif_tx_disable(ndev);
	napi_disable(&nic->napi);
	hrtimer_cancel(&nic->tick);
	skb_queue_purge(&nic->arrived);
	kfree_skb(nic->late);
	nic->late = NULL;
	return 0;
}

static const struct net_device_ops netdev_ops = {
	.ndo_open = open,
	.ndo_stop = stop,
	.ndo_start_xmit = nic_transmit,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

/* A driver that resets its device in a notifier, behind that of the registry */
static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct nic *nic;

	if (event != NETDEV_GOING_DOWN || ndev->netdev_ops != &netdev_ops)
		return NOTIFY_DONE;
	nic = to_nic(ndev);
	if (nic->restless && nic->offload)
		roce_offload_update(nic->offload);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
	.priority = -1,
};

static const struct ethtool_ops ethtool_ops = {
	.get_link = ethtool_op_get_link,
};

static int create(struct nic *nic, const char *name, struct nic *peer)
{
	struct net_device *ndev = alloc_etherdev(sizeof(struct nic *));
	int err;

	if (!ndev)
		return -ENOMEM;
	*(struct nic **)netdev_priv(ndev) = nic;
	nic->ndev = ndev;
	nic->peer = peer;
	nic->able = ROCE_OFFLOAD_TX_ICRC | ROCE_OFFLOAD_RX_ICRC;
	nic->recvs = NIC_RECVS;
	mutex_init(&nic->lock);
	init_waitqueue_head(&nic->holding);
	spin_lock_init(&nic->placing);
	nic_rc_init(nic);
	INIT_LIST_HEAD(&nic->mrs);
	INIT_LIST_HEAD(&nic->qps);
	skb_queue_head_init(&nic->arrived);
	strscpy(ndev->name, name, sizeof(ndev->name));
	eth_hw_addr_random(ndev);
	ndev->netdev_ops = &netdev_ops;
	ndev->ethtool_ops = &ethtool_ops;
	ndev->max_mtu = 9000;
	ndev->features = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM |
			 NETIF_F_HIGHDMA;
	ndev->hw_features = ndev->features | NETIF_F_GSO_UDP_L4 |
			    NETIF_F_GSO_FRAGLIST;
	ndev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	ndev->vlan_features = ndev->hw_features;
	if (gso_max_size)
		netif_set_tso_max_size(ndev, gso_max_size);
	SET_NETDEV_DEV(ndev, nic_board());
	netif_napi_add(ndev, &nic->napi, poll);
	err = register_netdev(ndev);
	if (!err)
		return 0;
	free_netdev(ndev);
	nic->ndev = NULL;
	return err;
}

/* Unload the driver of a NIC amid traffic: unregister the offload first. */
static void remove(void)
{
	int i;

	nic_knobs_exit();
	unregister_netdevice_notifier(&netdev_notifier);
	for (i = 0; i < 2; i++) {
		if (nics[i].ndev)
			nic_withdraw(&nics[i]);
	}
	rtnl_lock();
	for (i = 0; i < 2; i++) {
		if (nics[i].ndev)
			dev_close(nics[i].ndev);
	}
	rtnl_unlock();
	for (i = 0; i < 2; i++) {
		if (nics[i].ndev) {
			skb_queue_purge(&nics[i].arrived);
			unregister_netdev(nics[i].ndev);
			free_netdev(nics[i].ndev);
		}
	}
	nic_hw_roce_exit();
}

static int __init testnic_init(void)
{
	int i, err;

	nic_crc_init();
	nic_knobs_init();
	err = nic_hw_roce_init() ?:
				register_netdevice_notifier(&netdev_notifier);
	if (err) {
		nic_hw_roce_exit();
		nic_knobs_exit();
		return err;
	}
	for (i = 0; i < 2; i++) {
		err = create(&nics[i], names[i], &nics[!i]);
		if (err) {
			remove();
			return err;
		}
	}
	for (i = 0; i < 2; i++) {
		nic_offer(&nics[i]);
		nic_knobs_add(&nics[i], names[i]);
	}
	return 0;
}

module_init(testnic_init);
module_exit(remove);

MODULE_DESCRIPTION("NIC in software that takes work from Verve, for tests");
MODULE_LICENSE("GPL");
