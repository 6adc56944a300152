// SPDX-License-Identifier: GPL-2.0-only
/*
 * ICRC offload of packets that are sent
 *
 * DOC: Who computes it
 *
 * The transport leaves out the ICRC of a packet whose route leads to a device that
 * may compute it, and attaches a socket. Where the packet leaves the stack, right
 * before a driver gets it, the kernel asks the socket's owner, which is here: only
 * now is it known which device that is. It takes the packet, or the ICRC is computed
 * now. A VLAN or a bond is not the end of the way.
 *
 * That an ICRC is due is never guessed from what is in a packet. The destructor says
 * so: unsettled() as long as nobody has decided, verve_offload_due() once the packet
 * is a device's. Whoever takes the socket from an undecided packet, because it turns
 * back, becomes another's or dies, calls the destructor, and the ICRC is computed
 * right then: so there is no packet without socket and ICRC, unless somebody makes
 * a copy for himself, as a mirror port does.
 *
 * The packets of a train have no socket of their own. A queue that uncouples trains
 * for itself, such as tbf, lets go of them without a word: their ICRCs are lost, and
 * the peer asks for them again. But the first of them still has its socket, and tells:
 * it says that it is a train, and is none. No ICRC is offloaded for a while then.
 *
 * Packets hold their socket, and sockets this module, so the code is there as long
 * as somebody may call it. The transport may have gone by then, and its packets go
 * with it.
 */
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <net/bonding.h>
#include <net/gso.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include "offload.h"

/* The packets of a train are lost at most once in that time. */
#define PAUSE	(60 * HZ)

static struct proto sender_proto = {
	.name = "VERVE_OFFLOAD",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct verve_offload_sender),
};

static const struct verve_offload_transport __rcu *current_transport;

static u32 fill(struct sk_buff *skb)
{
	const struct verve_offload_transport *transport;
	u32 packets = 0;

	rcu_read_lock();
	transport = rcu_dereference(current_transport);
	if (transport)
		packets = transport->fill(skb);
	rcu_read_unlock();
	return packets;
}

struct sk_buff *verve_offload_segment(struct sk_buff *lso)
{
	const struct verve_offload_transport *transport;
	struct sk_buff *train = NULL;

	rcu_read_lock();
	transport = rcu_dereference(current_transport);
	if (transport)
		train = transport->segment(lso);
	rcu_read_unlock();
	return train;
}

void verve_offload_let_go(const struct sk_buff *skb)
{
	percpu_ref_put(&verve_offload_sender(skb->sk)->users);
}

/* The packet was dropped, or goes on without its socket. */
static void unsettled(struct sk_buff *skb)
{
	verve_offload_count(skb->sk, unsettled, verve_offload_packets(skb));
	fill(skb);
	verve_offload_let_go(skb);
}

/* The same for a train */
static void train_unsettled(struct sk_buff *skb)
{
	unsettled(skb);
}

static bool is_unsettled(const struct sk_buff *skb)
{
	return skb->destructor == unsettled ||
	       skb->destructor == train_unsettled;
}

/* The driver is done with the packet. */
void verve_offload_due(struct sk_buff *skb)
{
	verve_offload_let_go(skb);
}
EXPORT_SYMBOL_GPL(verve_offload_due);

void verve_offload_attach_socket(struct sk_buff *skb, struct sock *sk,
				 void (*destructor)(struct sk_buff *skb))
{
	percpu_ref_get(&verve_offload_sender(sk)->users);
	skb->sk = sk;
	skb->destructor = destructor;
}

void verve_offload_detach_socket(struct sk_buff *skb)
{
	verve_offload_let_go(skb);
	skb->sk = NULL;
	skb->destructor = NULL;
}

/* A bond that sends copies makes them without the socket. */
bool verve_offload_passes_on(const struct net_device *ndev)
{
	if (netif_is_bond_master(ndev)) {
		struct bonding *bond = netdev_priv(ndev);

		return BOND_MODE(bond) != BOND_MODE_BROADCAST;
	}
	return is_vlan_dev(ndev);
}

/* A list of its packets, all with the same socket; the first is the train itself. */
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
			verve_offload_attach_socket(skb, sk, train->destructor);
	}
	/* The head of the list is the train, with another reference. */
	consume_skb(train);
	return packets;
}

/*
 * It goes to the netdev as it is: a train, too, if that takes those. Otherwise the
 * stack would uncouple it next, and its packets would lose their socket.
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
		verve_offload_count(skb->sk, fallback, packets);
		verve_offload_detach_socket(skb);
		return skb;
	}
	/* Without the transport, or reshaped: nobody knows any more what is due. */
	verve_offload_count(skb->sk, unsettled, verve_offload_packets(skb));
	verve_offload_detach_socket(skb);
	kfree_skb(skb);
	return NULL;
}

int verve_offload_help(struct sk_buff *skb)
{
	u32 packets;

	if (!verve_offload_is_due(skb))
		return -EOPNOTSUPP;
	packets = fill(skb);
	if (!packets)
		return -EINVAL;
	verve_offload_count(skb->sk, fallback, packets);
	verve_offload_detach_socket(skb);
	return 0;
}
EXPORT_SYMBOL_GPL(verve_offload_help);

/* Its other packets are on their way to a driver without ICRCs. */
static void was_uncoupled(const struct sk_buff *skb)
{
	struct verve_offload_sender *sender = verve_offload_sender(skb->sk);

	verve_offload_count(skb->sk, unsettled, 1);
	verve_offload_begin_pause(&sender->no_trains_until, PAUSE);
}

bool verve_offload_takes_trains(struct verve_offload_sender *sender)
{
	return !verve_offload_is_pause(&sender->no_trains_until);
}

/*
 * As sk_validate_xmit_skb: BH off, RCU. A packet that a driver was too busy for comes
 * back to that driver only, and not by here: see verve_offload_help().
 */
static __maybe_unused struct sk_buff *
settle(struct sock *sk, struct net_device *ndev, struct sk_buff *skb)
{
	skb = verve_offload_settle_lso(ndev, skb);
	if (!skb || !is_unsettled(skb))
		return skb;
	if (skb->destructor == train_unsettled && !skb_is_gso(skb))
		was_uncoupled(skb);
	if (verve_offload_passes_on(ndev))
		return go_on(skb);
	skb->destructor = verve_offload_due;
	if (!verve_offload_may_send(ndev, skb, VERVE_OFFLOAD_TX_ICRC))
		return fall_back(skb);
	verve_offload_count(sk, device, verve_offload_packets(skb));
	return go_on(skb);
}

void verve_offload_tx_icrc(struct verve_offload_sender *sender,
			   struct sk_buff *skb)
{
	verve_offload_attach_socket(skb, &sender->inet.sk,
				    skb_is_gso(skb) ? train_unsettled :
						      unsettled);
}

void verve_offload_attach(const struct verve_offload_transport *transport)
{
	rcu_assign_pointer(current_transport, transport);
}

void verve_offload_detach(void)
{
	RCU_INIT_POINTER(current_transport, NULL);
	synchronize_rcu();
}

/* The sender has gone, and so have its packets. */
static void end_sender(struct percpu_ref *users)
{
	struct verve_offload_sender *sender =
		container_of(users, struct verve_offload_sender, users);

	sock_put(&sender->inet.sk);
}

static void free_sender(struct sock *sk)
{
	struct verve_offload_sender *sender = verve_offload_sender(sk);

	percpu_ref_exit(&sender->users);
	free_percpu(sender->stats);
}

static int init_sender(struct verve_offload_sender *sender)
{
	sender->stats = alloc_percpu(struct verve_offload_stats);
	if (!sender->stats)
		return -ENOMEM;
	return percpu_ref_init(&sender->users, end_sender, 0, GFP_KERNEL);
}

struct verve_offload_sender *verve_offload_open(void)
{
	struct sock *sk;

	/* Packets may outlive the namespace they come from. */
	sk = sk_alloc(&init_net, PF_UNSPEC, GFP_KERNEL, &sender_proto, 1);
	if (!sk)
		return NULL;
	sock_init_data(NULL, sk);
	sk->sk_destruct = free_sender;
#ifdef CONFIG_SOCK_VALIDATE_XMIT
	sk->sk_validate_xmit_skb = settle;
#endif
	if (init_sender(verve_offload_sender(sk))) {
		sock_put(sk);
		return NULL;
	}
	return verve_offload_sender(sk);
}

void verve_offload_close(struct verve_offload_sender *sender)
{
	/*
	 * In one place the count can fall to zero. percpu_ref_kill() would do it with
	 * a lock that percpu_ref_exit() takes.
	 */
	percpu_ref_switch_to_atomic_sync(&sender->users);
	percpu_ref_put(&sender->users);
}

void verve_offload_stats(const struct verve_offload_sender *sender,
			 struct verve_offload_stats *stats)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct verve_offload_stats *part =
			per_cpu_ptr(sender->stats, cpu);

		stats->device += READ_ONCE(part->device);
		stats->fallback += READ_ONCE(part->fallback);
		stats->unsettled += READ_ONCE(part->unsettled);
		stats->lso_skbs += READ_ONCE(part->lso_skbs);
		stats->lso_pkts += READ_ONCE(part->lso_pkts);
		stats->lso_fallback += READ_ONCE(part->lso_fallback);
	}
}

int __init verve_offload_tx_icrc_init(void)
{
	return proto_register(&sender_proto, 0);
}

void verve_offload_tx_icrc_exit(void)
{
	proto_unregister(&sender_proto);
}
