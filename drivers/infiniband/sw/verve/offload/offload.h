/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the registry share.
 */
#ifndef VERVE_OFFLOAD_OFFLOAD_H
#define VERVE_OFFLOAD_OFFLOAD_H

#include <linux/if_vlan.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <rdma/verve_offload.h>

/**
 * struct verve_offload - a netdev that offers something
 * @entry: in the table; RCU
 * @ndev: the netdev, which its driver keeps
 * @ops: its driver's
 * @able: features that it has at best
 * @active: features that are used now; 0 while it is down
 * @rcu: readers may still look at it when it is unregistered
 */
struct verve_offload {
	struct hlist_node entry;
	struct net_device *ndev;
	const struct verve_offload_ops *ops;
	u32 able;
	u32 active;
	struct rcu_head rcu;
};

/* The table, what each entry's features are, and objects. Taken inside RTNL. */
extern struct mutex verve_offload_table_lock;

/* What this very netdev offers, or NULL. Under RCU, or the mutex. */
struct verve_offload *verve_offload_find(const struct net_device *ndev);

/* Are packets of this netdev those of others below it, and the same? */
static inline bool verve_offload_is_layer(const struct net_device *ndev)
{
	return is_vlan_dev(ndev) || netif_is_bond_master(ndev);
}

/**
 * verve_offload_may_send() - will this very netdev compute a packet's ICRC?
 * @ndev: where it is about to go
 * @skb: packet or train
 * Context: BH off, RCU.
 */
bool verve_offload_may_send(struct net_device *ndev, const struct sk_buff *skb);

/* late.c: the other end of struct verve_offload_registry */
void verve_offload_attach(const struct verve_offload_transport *transport);
void verve_offload_detach(void);
struct verve_offload_sender *verve_offload_open(void);
void verve_offload_close(struct verve_offload_sender *sender);
void verve_offload_stats(const struct verve_offload_sender *sender,
			 struct verve_offload_stats *stats);
void verve_offload_give(struct verve_offload_sender *sender,
			struct sk_buff *skb);

/*
 * objects.c: likewise; and what follows from changes, under the mutex. Features of
 * devices, or what lies on top of what, are not as they were:
 */
void verve_offload_resettle(void);
/* A netdev goes away. */
void verve_offload_evict(const struct net_device *ndev);

struct verve_offload_home *verve_offload_join(struct net_device *ndev);
void verve_offload_leave(struct verve_offload_home *home);
void verve_offload_publish(struct verve_offload_home *home,
			   enum verve_offload_object_kind kind,
			   struct verve_offload_object *object);
void verve_offload_withdraw(enum verve_offload_object_kind kind,
			    struct verve_offload_object *object);
u64 verve_offload_refused(const struct verve_offload_home *home);
bool verve_offload_rx_sync(struct verve_offload_qp *qp,
			   const struct verve_offload_rx_point *point);
void verve_offload_rx_stop(struct verve_offload_qp *qp);

int verve_offload_late_init(void);	/* module load */
void verve_offload_late_exit(void);

#endif
