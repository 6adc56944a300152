// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: ICRC offload on transmit
 *
 * The transport leaves out the ICRC of a packet whose route leads to a device with ICRC
 * offload, and gives the packet a socket. Where the packet leaves the stack, right before
 * a driver gets it, the kernel calls the socket's sk_validate_xmit_skb, which is here.
 * Only now the egress device is known. Either the device takes the packet, or software
 * computes the ICRC now. A VLAN or a bond is not the egress device yet.
 *
 * The destructor tells that an ICRC is due; nothing is guessed from the bytes of a
 * packet. It is unsettled() before the decision, and roce_offload_due() once the packet
 * belongs to a device. A packet may lose its socket before the decision: it is freed, or
 * turned back, or another socket takes it. That calls the destructor, which computes the
 * ICRC. So a packet has a socket or an ICRC, except for copies without a socket, as those
 * of a mirror port.
 *
 * The packets of a train behind the first have no socket. When a queue uncouples trains
 * by itself, as tbf does, their ICRCs are never computed. They are lost, and the peer
 * asks for them again. But the first packet still has its socket, and the destructor of
 * a train though it is none any more. That reveals the loss, and no ICRC is offloaded
 * for a while.
 *
 * A packet holds its socket, and the socket holds this module. So the code stays as long
 * as a packet may call it. If the transport is gone by then, the packet is dropped.
 */
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <net/bonding.h>
#include <net/gso.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include "offload.h"

/* If every train is uncoupled on its way, one is lost in each pause. */
#define PAUSE	(60 * HZ)

static struct proto sender_proto = {
	.name = "ROCE_OFFLOAD",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct roce_offload_sender),
};

static const struct roce_offload_transport __rcu *current_transport;

static u32 fill(struct sk_buff *skb)
{
	const struct roce_offload_transport *transport;
	u32 packets = 0;

	rcu_read_lock();
	transport = rcu_dereference(current_transport);
	if (transport)
		packets = transport->fill(skb);
	rcu_read_unlock();
	return packets;
}

struct sk_buff *roce_offload_segment(struct sk_buff *skb)
{
	const struct roce_offload_transport *transport;
	struct sk_buff *train = NULL;

	rcu_read_lock();
	transport = rcu_dereference(current_transport);
	if (transport)
		train = transport->segment(skb);
	rcu_read_unlock();
	return train;
}

void roce_offload_let_go(const struct sk_buff *skb)
{
	percpu_ref_put(&roce_offload_sender(skb->sk)->users);
}

/* Destructor before the decision: the packet was dropped, or loses its socket. */
static void unsettled(struct sk_buff *skb)
{
	roce_offload_count(skb->sk, unsettled, roce_offload_packets(skb));
	fill(skb);
	roce_offload_let_go(skb);
}

/* The same destructor for a train, told apart by its address (see settle()) */
static void train_unsettled(struct sk_buff *skb)
{
	unsettled(skb);
}

static bool is_unsettled(const struct sk_buff *skb)
{
	return skb->destructor == unsettled ||
	       skb->destructor == train_unsettled;
}

/* Destructor after the decision: the driver has sent or dropped the packet. */
void roce_offload_due(struct sk_buff *skb)
{
	roce_offload_let_go(skb);
}
EXPORT_SYMBOL_GPL(roce_offload_due);

void roce_offload_attach_socket(struct sk_buff *skb, struct sock *sk,
				void (*destructor)(struct sk_buff *skb))
{
	percpu_ref_get(&roce_offload_sender(sk)->users);
	skb->sk = sk;
	skb->destructor = destructor;
}

void roce_offload_detach_socket(struct sk_buff *skb)
{
	roce_offload_let_go(skb);
	skb->sk = NULL;
	skb->destructor = NULL;
}

/* A bond in broadcast mode sends copies without the socket. */
bool roce_offload_passes_on(const struct net_device *ndev)
{
	if (netif_is_bond_master(ndev)) {
		struct bonding *bond = netdev_priv(ndev);

		return BOND_MODE(bond) != BOND_MODE_BROADCAST;
	}
	return is_vlan_dev(ndev);
}

/* Segment a train into a list of packets, all with the socket. The first is the train. */
static struct sk_buff *uncouple(struct sk_buff *train)
{
	struct sk_buff *skb, *packets = skb_gso_segment(train, 0);
	struct sock *sk = train->sk;

	if (IS_ERR_OR_NULL(packets)) {
		kfree_skb(train);
		return NULL;
	}
	if (is_unsettled(train))
		train->destructor = unsettled;
	for (skb = packets; skb; skb = skb->next) {
		if (!skb->sk)
			roce_offload_attach_socket(skb, sk, train->destructor);
	}
	/* skb_gso_segment() took a reference on the train as the head of its list. */
	consume_skb(train);
	return packets;
}

/*
 * Pass a packet on to the netdev. A train is uncoupled here unless the netdev takes
 * trains: the stack would uncouple it next, and its packets would lack the socket.
 */
static struct sk_buff *go_on(struct sk_buff *skb)
{
	if (skb_is_gso(skb) && netif_needs_gso(skb, netif_skb_features(skb)))
		return uncouple(skb);
	return skb;
}

static struct sk_buff *fall_back(struct sk_buff *skb)
{
	u32 packets = fill(skb);

	if (packets) {
		roce_offload_count(skb->sk, fallback, packets);
		roce_offload_detach_socket(skb);
		return skb;
	}
	/* The ICRC is unknown: the transport is gone, or the packet was reshaped. */
	roce_offload_count(skb->sk, unsettled, roce_offload_packets(skb));
	roce_offload_detach_socket(skb);
	kfree_skb(skb);
	return NULL;
}

/* A device's segmentation may give packets other identifications than software's. */
static bool is_uso(const struct sk_buff *skb)
{
	return skb_is_gso(skb) &&
	       !(skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST);
}

int roce_offload_help(struct sk_buff *skb)
{
	u32 packets;

	if (!roce_offload_is_due(skb) || is_uso(skb))
		return -EOPNOTSUPP;
	packets = fill(skb);
	if (!packets)
		return -EINVAL;
	roce_offload_count(skb->sk, fallback, packets);
	roce_offload_detach_socket(skb);
	return 0;
}
EXPORT_SYMBOL_GPL(roce_offload_help);

/* The other packets of the train are on their way to a driver, without ICRCs. */
static void was_uncoupled(const struct sk_buff *skb)
{
	struct roce_offload_sender *sender = roce_offload_sender(skb->sk);

	roce_offload_count(skb->sk, unsettled, 1);
	roce_offload_begin_pause(&sender->no_trains_until, PAUSE);
}

bool roce_offload_takes_trains(struct roce_offload_sender *sender)
{
	return !roce_offload_is_pause(&sender->no_trains_until);
}

/*
 * sk_validate_xmit_skb callback, with BH off and RCU. A packet that is requeued because
 * its driver was busy goes to that driver without another call: see
 * roce_offload_help().
 */
static __maybe_unused struct sk_buff *
settle(struct sock *sk, struct net_device *ndev, struct sk_buff *skb)
{
	skb = roce_offload_settle_segmented(ndev, skb);
	if (!skb || !is_unsettled(skb))
		return skb;
	if (skb->destructor == train_unsettled && !skb_is_gso(skb))
		was_uncoupled(skb);
	if (roce_offload_passes_on(ndev))
		return go_on(skb);
	skb->destructor = roce_offload_due;
	if (!roce_offload_may_send(ndev, skb, ROCE_OFFLOAD_TX_ICRC))
		return fall_back(skb);
	roce_offload_count(sk, device, roce_offload_packets(skb));
	return go_on(skb);
}

void roce_offload_tx_icrc(struct roce_offload_sender *sender,
			  struct sk_buff *skb)
{
	roce_offload_attach_socket(skb, &sender->inet.sk,
				   skb_is_gso(skb) ? train_unsettled :
						      unsettled);
}

void roce_offload_set_transport(const struct roce_offload_transport *transport)
{
	rcu_assign_pointer(current_transport, transport);
}

void roce_offload_detach(void)
{
	RCU_INIT_POINTER(current_transport, NULL);
	synchronize_rcu();
}

/* The last reference is gone: the sender is closed, and all its packets are freed. */
static void end_sender(struct percpu_ref *users)
{
	struct roce_offload_sender *sender =
		container_of(users, struct roce_offload_sender, users);

	sock_put(&sender->inet.sk);
}

static void free_sender(struct sock *sk)
{
	struct roce_offload_sender *sender = roce_offload_sender(sk);

	percpu_ref_exit(&sender->users);
	free_percpu(sender->stats);
}

static int init_sender(struct roce_offload_sender *sender)
{
	sender->stats = alloc_percpu(struct roce_offload_stats);
	if (!sender->stats)
		return -ENOMEM;
	return percpu_ref_init(&sender->users, end_sender, 0, GFP_KERNEL);
}

struct roce_offload_sender *roce_offload_open(void)
{
	struct sock *sk;

	/* A socket of the initial namespace, as packets may outlive their own. */
	sk = sk_alloc(&init_net, PF_UNSPEC, GFP_KERNEL, &sender_proto, 1);
	if (!sk)
		return NULL;
	sock_init_data(NULL, sk);
	sk->sk_destruct = free_sender;
#ifdef CONFIG_SOCK_VALIDATE_XMIT
	sk->sk_validate_xmit_skb = settle;
#endif
	if (init_sender(roce_offload_sender(sk))) {
		sock_put(sk);
		return NULL;
	}
	return roce_offload_sender(sk);
}

void roce_offload_close(struct roce_offload_sender *sender)
{
	/*
	 * In atomic mode, a put can drop the count to zero. percpu_ref_kill() would call
	 * end_sender() under a lock that percpu_ref_exit() takes.
	 */
	percpu_ref_switch_to_atomic_sync(&sender->users);
	percpu_ref_put(&sender->users);
}

void roce_offload_stats(const struct roce_offload_sender *sender,
			struct roce_offload_stats *stats)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct roce_offload_stats *part =
			per_cpu_ptr(sender->stats, cpu);

		stats->device += READ_ONCE(part->device);
		stats->fallback += READ_ONCE(part->fallback);
		stats->unsettled += READ_ONCE(part->unsettled);
		stats->uso_skbs += READ_ONCE(part->uso_skbs);
		stats->uso_pkts += READ_ONCE(part->uso_pkts);
		stats->uso_fallback += READ_ONCE(part->uso_fallback);
	}
}

int __init roce_offload_tx_icrc_init(void)
{
	return proto_register(&sender_proto, 0);
}

void roce_offload_tx_icrc_exit(void)
{
	proto_unregister(&sender_proto);
}
