// SPDX-License-Identifier: GPL-2.0-only
/*
 * LSO: a device makes the packets
 *
 * DOC: The way of an LSO packet
 *
 * An LSO packet is one that is too long: nobody but its device may send it. It goes
 * as a train does, with a socket, and where it leaves the stack it is decided who makes
 * packets of it. The device does, or it becomes a train right there, whose ICRCs are
 * due, and the rest is as for other trains (tx_icrc.c).
 *
 * On its way it is GSO of a kind that VLANs take whole, as other netdevs in software
 * do, and no NIC does: SKB_GSO_SCTP, which with UDP has no meaning. So whoever would
 * segment it fails, and drops it, as do the queues of a NIC with a copy that has no
 * socket. One that was lost so is sent again in packets; and as there may be
 * a reason why they do not get through, there are none for a while.
 */
#include <linux/netdevice.h>
#include <net/gso.h>
#include <net/sock.h>
#include "offload.h"

/* An LSO packet is lost at most once in that time, if all are lost. */
#define PAUSE	HZ

#define NEEDED	(VERVE_OFFLOAD_TX_ICRC | VERVE_OFFLOAD_TX_LSO)

/* Nobody has decided; it was dropped, or is not Verve's any more. */
static void undecided(struct sk_buff *skb)
{
	struct verve_offload_sender *sender = verve_offload_sender(skb->sk);

	verve_offload_count(skb->sk, unsettled, verve_offload_packets(skb));
	verve_offload_begin_pause(&sender->barred_until, PAUSE);
	verve_offload_let_go(skb);
}

/* The driver is done with it. */
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
 * From here on it is no GSO, so nothing more is asked of the netdev's features. Clones
 * that are on other ways have to see what they saw.
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

/* Does it stay as it is at this netdev? */
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
	/* The last of a list of one, as validate_xmit_skb_list() expects */
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
