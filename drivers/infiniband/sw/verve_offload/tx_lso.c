// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: The way of an LSO packet
 *
 * Only the egress device may segment an LSO packet, which is longer than the path MTU.
 * Like a train, the packet has a socket on its way. Where it leaves the stack, the
 * socket's callback decides. Either the device segments the packet, or the packet
 * becomes a train right there. The ICRCs of the train are due, as for other trains
 * (tx_icrc.c).
 *
 * On its way, an LSO packet has the GSO type SKB_GSO_SCTP, which means nothing with UDP.
 * VLANs and other netdevs in software take this type whole, and no NIC does. So any
 * attempt of the stack to segment the packet fails, and drops it. The same happens to a
 * copy without a socket at the queue of a NIC. The transport sends a lost LSO packet
 * again in single packets. There may be a lasting reason for the loss, so no LSO packets
 * are sent for a while.
 */
#include <linux/netdevice.h>
#include <net/gso.h>
#include <net/sock.h>
#include "offload.h"

/* If LSO packets never arrive, one is lost in each pause. */
#define PAUSE	HZ

#define NEEDED	(VERVE_OFFLOAD_TX_ICRC | VERVE_OFFLOAD_TX_LSO)

/* Destructor before a decision: the packet was dropped, or lost its socket on the way. */
static void undecided(struct sk_buff *skb)
{
	struct verve_offload_sender *sender = verve_offload_sender(skb->sk);

	verve_offload_count(skb->sk, unsettled, verve_offload_packets(skb));
	verve_offload_begin_pause(&sender->barred_until, PAUSE);
	verve_offload_let_go(skb);
}

/* Destructor after the decision: the driver has sent or dropped the packet. */
void verve_offload_lso_due(struct sk_buff *skb)
{
	verve_offload_let_go(skb);
}
EXPORT_SYMBOL_GPL(verve_offload_lso_due);

void verve_offload_tx_lso(struct verve_offload_sender *sender,
			  struct sk_buff *skb)
{
	skb_shinfo(skb)->gso_type = VERVE_OFFLOAD_LSO_GSO;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	verve_offload_attach_socket(skb, &sender->inet.sk, undecided);
}

bool verve_offload_takes_lso(struct verve_offload_sender *sender)
{
	return !verve_offload_is_pause(&sender->barred_until);
}

/*
 * Hand an LSO packet to the device. It is no GSO packet any more, so the stack does not
 * ask for features of the netdev. Clones on other ways must keep their GSO type.
 */
static bool offload_lso(struct net_device *ndev, struct sk_buff *skb)
{
	skb->destructor = verve_offload_lso_due;
	if (!verve_offload_may_send(ndev, skb, NEEDED) ||
	    skb_unclone(skb, GFP_ATOMIC)) {
		skb->destructor = undecided;
		return false;
	}
	skb_shinfo(skb)->gso_type = 0;
	verve_offload_count(skb->sk, lso_skbs, 1);
	verve_offload_count(skb->sk, lso_pkts, verve_offload_packets(skb));
	verve_offload_count(skb->sk, device, verve_offload_packets(skb));
	return true;
}

/* Does a packet stay an LSO packet at this netdev? */
static bool stays(struct net_device *ndev, struct sk_buff *skb)
{
	if (verve_offload_passes_on(ndev))
		return !netif_needs_gso(skb, netif_skb_features(skb));
	return offload_lso(ndev, skb);
}

static struct sk_buff *become_train(struct sk_buff *skb)
{
	struct sk_buff *train = verve_offload_segment(skb);

	if (!train) {
		kfree_skb(skb);
		return NULL;
	}
	verve_offload_count(skb->sk, lso_fallback, verve_offload_packets(skb));
	verve_offload_tx_icrc(verve_offload_sender(skb->sk), train);
	/* validate_xmit_skb_list() expects the last packet of the list in @prev. */
	train->prev = train;
	verve_offload_detach_socket(skb);
	consume_skb(skb);
	return train;
}

struct sk_buff *verve_offload_settle_lso(struct net_device *ndev,
					 struct sk_buff *skb)
{
	if (skb->destructor != undecided || stays(ndev, skb))
		return skb;
	return become_train(skb);
}
