/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface between the files of the registry
 */
#ifndef ROCE_OFFLOAD_OFFLOAD_H
#define ROCE_OFFLOAD_OFFLOAD_H

#include <linux/if_vlan.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/percpu-refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <rdma/roce_offload_registry.h>

/*
 * Protects the table, the features of each entry, and the binding of RDMA devices to
 * entries. Taken with BH off. No driver is called under it, so a holder of RTNL may take
 * it.
 */
extern spinlock_t roce_offload_table_lock;

/**
 * struct roce_offload - a netdev whose driver has registered
 * @entry: entry in the table; RCU
 * @ndev: netdev; the driver keeps it
 * @ops: functions of the driver
 * @priv: the driver's, passed to @ops
 * @able: features that the device has at best
 * @is_up: the netdev is up, by the events of the notifier
 * @rx_after: as in the caps
 * @rc_recvs: as in the caps
 * @ranges: numbers of objects that the device can know, by kind
 * @enabled: features that are switched on
 * @active: features in use: the device has them now, and they are switched on; 0 while
 *	the netdev is down
 * @losses: number of times that the device lost stateful features
 * @lock: serializes calls of the driver, except those about packets and posted requests
 * @known: number of objects that the device knows, by kind
 * @refused: number of objects that the driver has refused, or that are out of @ranges
 * @renewal: runs roce_offload_update() for callers that cannot wait for the driver
 * @recheck: checks the terms of offloaded QPs; delayed, so that frequent changes of
 *	neighbours do not keep it running
 * @rcu: readers may still use the entry after it is unregistered
 *
 * The table's lock protects @is_up, @enabled, @active and @losses.
 */
struct roce_offload {
	struct hlist_node entry;
	struct net_device *ndev;
	const struct roce_offload_ops *ops;
	void *priv;
	u32 able;
	u32 rx_after;
	u32 rc_recvs;
	struct roce_offload_range ranges[ROCE_OFFLOAD_KINDS];
	bool is_up __guarded_by(&roce_offload_table_lock);
	u32 enabled __guarded_by(&roce_offload_table_lock);
	u32 active __guarded_by(&roce_offload_table_lock);
	u32 losses __guarded_by(&roce_offload_table_lock);
	struct mutex lock; /* see above */
	u32 known[ROCE_OFFLOAD_KINDS] __guarded_by(&lock);
	u64 refused __guarded_by(&lock);
	struct work_struct renewal;
	struct delayed_work recheck;
	struct rcu_head rcu;
};

/* The features in use, or in use a moment ago. Context: any. */
static inline u32 roce_offload_active(const struct roce_offload *offload)
{
	/* See above */
	return context_unsafe(READ_ONCE(offload->active));
}

/* The features that are on until an administrator switches them */
#define ROCE_OFFLOAD_FROM_START		(ROCE_OFFLOAD_FEATURES & \
					 ~ROCE_OFFLOAD_STATEFUL)

/* GSO type of packets to be segmented on their way, and the feature of netdevs for it */
#define ROCE_OFFLOAD_WAY_GSO		SKB_GSO_SCTP
#define ROCE_OFFLOAD_WAY_FEATURE	NETIF_F_GSO_SCTP

/* Work items that call drivers, for callers that cannot wait for them */
extern struct workqueue_struct *roce_offload_wq;

/* Have the work item run roce_offload_update(). Context: the table's lock. */
static inline void roce_offload_queue_renewal(struct roce_offload *offload)
{
	queue_work(roce_offload_wq, &offload->renewal);
}

/* The entry of a netdev itself, or NULL. Context: RCU, or the table's lock. */
struct roce_offload *roce_offload_find(const struct net_device *ndev);

/* Does a netdev only pass on the packets of netdevs below it, unchanged? */
static inline bool roce_offload_is_layer(const struct net_device *ndev)
{
	return is_vlan_dev(ndev) || netif_is_bond_master(ndev);
}

/**
 * roce_offload_may_send() - can a netdev itself do what is due for a packet?
 * @ndev: netdev that the packet is about to go to
 * @skb: packet, train or packet to be segmented; its destructor tells what is due
 * @needed: features for what is due
 *
 * Context: BH off, RCU.
 * Return: true if the features are active and the driver accepts the packet.
 */
bool roce_offload_may_send(struct net_device *ndev, const struct sk_buff *skb,
			   u32 needed);

/**
 * struct roce_offload_sender - a sender of packets, and their socket
 * @inet: socket; first, as the kernel allocates it; an inet_sock, as IP reads fields
 *	of it
 * @users: references of the sender and its packets; per CPU, as all CPUs send and free
 *	packets
 * @stats: per-CPU counters; freed with the socket
 * @barred_until: end of a pause without segmentation in jiffies; 0: no pause
 * @no_trains_until: end of a pause without ICRC offload of trains in jiffies; 0: no
 *	pause
 */
struct roce_offload_sender {
	struct inet_sock inet;
	struct percpu_ref users;
	struct roce_offload_stats __percpu *stats;
	unsigned long barred_until;
	unsigned long no_trains_until;
};

static inline struct roce_offload_sender *roce_offload_sender(struct sock *sk)
{
	return container_of(sk, struct roce_offload_sender, inet.sk);
}

/* Add @n to counter @name of the sender with socket @sk (struct roce_offload_stats) */
#define roce_offload_count(sk, name, n) \
	this_cpu_add(roce_offload_sender(sk)->stats->name, n)

/* Begin a pause of an offload. @until: its end in jiffies, 0: no pause. Any context. */
static inline void roce_offload_begin_pause(unsigned long *until,
					    unsigned long length)
{
	/* 0 stands for no pause. */
	WRITE_ONCE(*until, (jiffies + length) | 1);
}

static inline bool roce_offload_is_pause(unsigned long *until)
{
	unsigned long end = READ_ONCE(*until);

	if (likely(!end))
		return false;
	if (time_before(jiffies, end))
		return true;
	WRITE_ONCE(*until, 0);
	return false;
}

/* Number of packets in a train, or of a packet to be segmented */
static inline u32 roce_offload_packets(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;
}

/* Give a packet the socket of a sender, with a reference; take it away. */
void roce_offload_attach_socket(struct sk_buff *skb, struct sock *sk,
				void (*destructor)(struct sk_buff *skb));
void roce_offload_detach_socket(struct sk_buff *skb);
/* Release the reference of a packet. Every destructor ends with this. Any context. */
void roce_offload_let_go(const struct sk_buff *skb);

/* Does a netdev pass a packet on to another netdev, with its socket? */
bool roce_offload_passes_on(const struct net_device *ndev);

/* Call segment() of the transport. Any context. Return: NULL also without it. */
struct sk_buff *roce_offload_segment(struct sk_buff *skb);

/**
 * roce_offload_settle_segmented() - decide how a packet to be segmented is segmented
 * @ndev: netdev that the packet is about to go to
 * @skb: any packet with the socket of a sender; consumed
 *
 * Context: BH off, RCU.
 * Return: @skb; or the train that the packet has become, whose ICRCs are due; or NULL
 * if the packet is lost.
 */
struct sk_buff *roce_offload_settle_segmented(struct net_device *ndev,
					      struct sk_buff *skb);

/* Functions of struct roce_offload_registry: tx_segmented.c */
void roce_offload_tx_uso(struct roce_offload_sender *sender,
			 struct sk_buff *skb);
bool roce_offload_takes_segmented(struct roce_offload_sender *sender);

/* tx_icrc.c */
void roce_offload_set_transport(const struct roce_offload_transport *transport);
void roce_offload_detach(void);
struct roce_offload_sender *roce_offload_open(void);
void roce_offload_close(struct roce_offload_sender *sender);
void roce_offload_stats(const struct roce_offload_sender *sender,
			struct roce_offload_stats *stats);
void roce_offload_tx_icrc(struct roce_offload_sender *sender,
			  struct sk_buff *skb);
bool roce_offload_takes_trains(struct roce_offload_sender *sender);

/* objects.c: likewise, and reactions to events */

/**
 * roce_offload_settle() - bring the objects of a device up to date
 * @offload: device whose features have changed, or that is unregistered
 *
 * When this returns, the device knows exactly the objects that it should.
 *
 * Context: process; waits for the driver.
 */
void roce_offload_settle(struct roce_offload *offload);
/* Return offloaded QPs whose terms no longer hold. Process; waits for the driver. */
void roce_offload_check_terms(struct roce_offload *offload);
/* Schedule that check after a change of neighbours of a netdev. Any context. */
void roce_offload_recheck(const struct net_device *ndev);
/* A netdev is unregistered: RDMA devices forget it. */
void roce_offload_evict(const struct net_device *ndev)
	__must_hold(&roce_offload_table_lock);

/**
 * roce_offload_lock_object() - lock the device that knows an object
 * @object: published object
 *
 * The binding of the object does not change, and nothing else calls the driver, until
 * roce_offload_unlock_object().
 *
 * Context: process; waits for the driver.
 */
void roce_offload_lock_object(struct roce_offload_object *object);
void roce_offload_unlock_object(struct roce_offload_object *object);

struct roce_offload_ibdev *roce_offload_join(struct net_device *ndev);
void roce_offload_leave(struct roce_offload_ibdev *ibdev);
struct roce_offload_range
roce_offload_range(struct roce_offload_ibdev *ibdev,
		   enum roce_offload_object_kind kind,
		   const struct roce_offload_object *object);
void roce_offload_publish(struct roce_offload_ibdev *ibdev,
			  enum roce_offload_object_kind kind,
			  struct roce_offload_object *object);
void roce_offload_withdraw(enum roce_offload_object_kind kind,
			   struct roce_offload_object *object);
u64 roce_offload_refused(const struct roce_offload_ibdev *ibdev);

/* rx.c: likewise */
bool roce_offload_rx_start(struct roce_offload_qp *qp,
			   const struct roce_offload_rx_point *point);
void roce_offload_rx_stop(struct roce_offload_qp *qp);
/* A run is ending, but the device is not asked: the driver is to delete the QP. */
void roce_offload_rx_close(struct roce_offload_qp *qp)
	__must_hold(&qp->lock);
/* End a run that the driver has not ended. The device does not know the QP any more. */
void roce_offload_rx_end(struct roce_offload_qp *qp);

/* rc.c: likewise */
void roce_offload_rc_offload(struct roce_offload_qp *qp);
void roce_offload_rc_return(struct roce_offload_qp *qp);
int roce_offload_rc_post(struct roce_offload_qp *qp,
			 const struct roce_offload_rc_wr *wr);
void roce_offload_rc_post_recv(struct roce_offload_qp *qp,
			       const struct roce_offload_rc_recv *recv);
/* Does a driver have all functions that ROCE_OFFLOAD_RC needs? */
bool roce_offload_has_rc(const struct roce_offload_ops *ops);
/**
 * roce_offload_rc_stop() - return a QP to software, if it is offloaded
 * @qp: QP; if a device knows it, the caller holds the lock of that device
 *
 * Context: process.
 */
void roce_offload_rc_stop(struct roce_offload_qp *qp);

int roce_offload_tx_icrc_init(void);	/* module load */
void roce_offload_tx_icrc_exit(void);
int roce_offload_netlink_init(void);
void roce_offload_netlink_exit(void);

#endif
