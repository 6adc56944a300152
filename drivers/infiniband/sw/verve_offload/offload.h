/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the registry share.
 */
#ifndef VERVE_OFFLOAD_OFFLOAD_H
#define VERVE_OFFLOAD_OFFLOAD_H

#include <linux/if_vlan.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/percpu-refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <rdma/verve_offload.h>

/*
 * Spinlock, BH off: the table, what each entry's features are, and which RDMA
 * devices belong to it. No driver is called under it, so whoever holds RTNL may
 * take it.
 */
extern spinlock_t verve_offload_table_lock;

/**
 * struct verve_offload - a netdev that offers something
 * @entry: in the table; RCU
 * @ndev: the netdev, which its driver keeps
 * @ops: its driver's
 * @able: features that it has at best
 * @is_up: the netdev is, as the notifier was told
 * @active: features that are used now; 0 while it is down
 * @losses: how often it has lost some for which it knows objects
 * @lock: mutex: one call of the driver's at a time, but for those about packets
 * @renewal: verve_offload_update(), for who cannot wait for the driver
 * @recheck: do the terms still hold that offloaded QPs have? Delayed, so that those who
 *	make neighbours change all the time do not keep it running
 * @rcu: readers may still look at it when it is unregistered
 *
 * From @is_up to @losses under the table's lock.
 */
struct verve_offload {
	struct hlist_node entry;
	struct net_device *ndev;
	const struct verve_offload_ops *ops;
	u32 able;
	bool is_up __guarded_by(&verve_offload_table_lock);
	u32 active __guarded_by(&verve_offload_table_lock);
	u32 losses __guarded_by(&verve_offload_table_lock);
	struct mutex lock; /* see above */
	struct work_struct renewal;
	struct delayed_work recheck;
	struct rcu_head rcu;
};

/* The features that are used now, or were a moment ago. Any context. */
static inline u32 verve_offload_active(const struct verve_offload *offload)
{
	return context_unsafe(READ_ONCE(offload->active));
}

/* What LSO packets are on their way, and the netdevs that take it: see tx_lso.c. */
#define VERVE_OFFLOAD_LSO_GSO		SKB_GSO_SCTP
#define VERVE_OFFLOAD_LSO_FEATURE	NETIF_F_GSO_SCTP

/* Where drivers are called for those who cannot wait for them */
extern struct workqueue_struct *verve_offload_wq;

/* What this very netdev offers, or NULL. Under RCU, or the lock. */
struct verve_offload *verve_offload_find(const struct net_device *ndev);

/* Are packets of this netdev those of others below it, and the same? */
static inline bool verve_offload_is_layer(const struct net_device *ndev)
{
	return is_vlan_dev(ndev) || netif_is_bond_master(ndev);
}

/**
 * verve_offload_may_send() - will this very netdev do what is due for a packet?
 * @ndev: where it is about to go
 * @skb: packet, train or LSO packet, with the destructor that says what is due
 * @needed: features that this takes
 *
 * Context: BH off, RCU.
 * Return: true if its driver has these features active, and takes the packet.
 */
bool verve_offload_may_send(struct net_device *ndev, const struct sk_buff *skb,
			    u32 needed);

/**
 * struct verve_offload_sender - a socket that stands for a sender
 * @inet: the socket; first, as the kernel allocates it. IP looks into it, as into any
 *	that a packet has
 * @users: the sender and its packets, which keep the socket together. Counted per CPU,
 *	as all CPUs send and free packets
 * @stats: per-CPU counters; freed with the socket
 * @barred_until: jiffies: no LSO until then; 0: there may be
 * @no_trains_until: jiffies: no trains without ICRCs until then; 0: there may be
 */
struct verve_offload_sender {
	struct inet_sock inet;
	struct percpu_ref users;
	struct verve_offload_stats __percpu *stats;
	unsigned long barred_until;
	unsigned long no_trains_until;
};

static inline struct verve_offload_sender *verve_offload_sender(struct sock *sk)
{
	return container_of(sk, struct verve_offload_sender, inet.sk);
}

/* @n of @name of struct verve_offload_stats, for the sender with socket @sk */
#define verve_offload_count(sk, name, n) \
	this_cpu_add(verve_offload_sender(sk)->stats->name, n)

/* What a sender must not do for a while. @until: jiffies, 0: no pause. Any context */
static inline void verve_offload_begin_pause(unsigned long *until,
					     unsigned long length)
{
	/* Not 0 */
	WRITE_ONCE(*until, (jiffies + length) | 1);
}

static inline bool verve_offload_is_pause(unsigned long *until)
{
	unsigned long end = READ_ONCE(*until);

	if (likely(!end))
		return false;
	if (time_before(jiffies, end))
		return true;
	WRITE_ONCE(*until, 0);
	return false;
}

/* How many packets a train or LSO packet stands for */
static inline u32 verve_offload_packets(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;
}

/* A packet gets a sender's socket, with a reference, and loses it. */
void verve_offload_attach_socket(struct sk_buff *skb, struct sock *sk,
				 void (*destructor)(struct sk_buff *skb));
void verve_offload_detach_socket(struct sk_buff *skb);
/* What each destructor ends with. Any context. */
void verve_offload_let_go(const struct sk_buff *skb);

/* Is a netdev not the end of a packet's way, and keeps its socket? */
bool verve_offload_passes_on(const struct net_device *ndev);

/* transport->segment(), if the transport is there; else NULL. Any context. */
struct sk_buff *verve_offload_segment(struct sk_buff *lso);

/**
 * verve_offload_settle_lso() - a packet is about to go to a netdev
 * @ndev: netdev
 * @skb: any with a sender's socket; consumed
 *
 * Context: BH off, RCU.
 * Return: @skb; the train that an LSO packet has become, whose ICRCs are due;
 * or NULL, if it is lost.
 */
struct sk_buff *verve_offload_settle_lso(struct net_device *ndev,
					 struct sk_buff *skb);

/* The other end of struct verve_offload_registry: tx_lso.c */
void verve_offload_tx_lso(struct verve_offload_sender *sender,
			  struct sk_buff *skb);
bool verve_offload_takes_lso(struct verve_offload_sender *sender);

/* tx_icrc.c */
void verve_offload_attach(const struct verve_offload_transport *transport);
void verve_offload_detach(void);
struct verve_offload_sender *verve_offload_open(void);
void verve_offload_close(struct verve_offload_sender *sender);
void verve_offload_stats(const struct verve_offload_sender *sender,
			 struct verve_offload_stats *stats);
void verve_offload_tx_icrc(struct verve_offload_sender *sender,
			   struct sk_buff *skb);
bool verve_offload_takes_trains(struct verve_offload_sender *sender);

/* objects.c: likewise; and what follows from changes */

/**
 * verve_offload_settle() - features of a device are not as they were, or it goes
 * @offload: device
 *
 * When this returns, it knows the objects that it should, and no others.
 *
 * Context: process; waits for the driver.
 */
void verve_offload_settle(struct verve_offload *offload);
/* Lent QPs whose terms do not hold any more come back. Process; likewise */
void verve_offload_check_terms(struct verve_offload *offload);
/* Neighbours of a netdev have changed: have that done. Any context */
void verve_offload_recheck(const struct net_device *ndev);
/* A netdev goes away. */
void verve_offload_evict(const struct net_device *ndev)
	__must_hold(&verve_offload_table_lock);

/**
 * verve_offload_lock_object() - let nobody else call the driver about an object
 * @object: published once
 *
 * Until verve_offload_unlock_object(), it is known to the same device, or none.
 *
 * Context: process; waits for the driver.
 */
void verve_offload_lock_object(struct verve_offload_object *object);
void verve_offload_unlock_object(struct verve_offload_object *object);

struct verve_offload_ibdev *verve_offload_join(struct net_device *ndev);
void verve_offload_leave(struct verve_offload_ibdev *ibdev);
void verve_offload_publish(struct verve_offload_ibdev *ibdev,
			   enum verve_offload_object_kind kind,
			   struct verve_offload_object *object);
void verve_offload_withdraw(enum verve_offload_object_kind kind,
			    struct verve_offload_object *object);
u64 verve_offload_refused(const struct verve_offload_ibdev *ibdev);
bool verve_offload_rx_sync(struct verve_offload_qp *qp,
			   const struct verve_offload_rx_point *point);
void verve_offload_rx_stop(struct verve_offload_qp *qp);

/* rc.c: likewise */
void verve_offload_rc_offload(struct verve_offload_qp *qp);
void verve_offload_rc_return(struct verve_offload_qp *qp);
int verve_offload_rc_post(struct verve_offload_qp *qp,
			  const struct verve_offload_rc_wr *wr);
/* Has a driver all that is needed for VERVE_OFFLOAD_RC? */
bool verve_offload_has_rc(const struct verve_offload_ops *ops);
/**
 * verve_offload_rc_stop() - a QP comes back, if it is offloaded
 * @qp: known to a device, whose lock is held
 * Context: process.
 */
void verve_offload_rc_stop(struct verve_offload_qp *qp);

int verve_offload_tx_icrc_init(void);	/* module load */
void verve_offload_tx_icrc_exit(void);

#endif
