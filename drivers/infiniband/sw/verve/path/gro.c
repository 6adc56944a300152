// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trains made on arrival: GRO
 *
 * What the NIC of another machine sent comes in packet by packet. Drivers with
 * NAPI offer what one poll brought to GRO, and those of a flow are coupled here,
 * in the form that trains have which never were uncoupled (train.h): each packet
 * keeps its headers. So a train that is forwarded after all can be uncoupled by
 * anybody. Switched off, as for all protocols, by `ethtool -K DEV gro off`.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/gro.h>
#include <net/sock.h>
#include "../limits.h"
#include "net.h"

/*
 * Could the packet be part of a train? Its headers are to be linear. Its UDP checksum
 * has been verified, or there is none.
 */
static bool may_couple(struct sk_buff *skb)
{
	return !NAPI_GRO_CB(skb)->flush && !skb_is_gso(skb) &&
	       pskb_may_pull(skb, skb_gro_offset(skb));
}

static bool is_full(const struct sk_buff *head, const struct sk_buff *skb)
{
	return NAPI_GRO_CB(head)->count == VERVE_BUDGET_PACKETS ||
	       head->len + skb_gro_len(skb) > U16_MAX;
}

/* Behind a VLAN's tag, the kernel has not told where IP begins. */
static void set_network_header(const struct sock *sk, struct sk_buff *skb)
{
	u32 len = sk->sk_family == AF_INET6 ? sizeof(struct ipv6hdr) :
					      sizeof(struct iphdr);

	skb_set_network_header(skb, skb_transport_offset(skb) - (int)len);
}

static void couple(const struct sock *sk, struct sk_buff *head,
		   struct sk_buff *skb)
{
	struct napi_gro_cb *train = NAPI_GRO_CB(head);

	set_network_header(sk, skb);
	skb_pull(skb, skb_gro_offset(skb));
	if (train->last == head)
		skb_shinfo(head)->frag_list = skb;
	else
		train->last->next = skb;
	train->last = skb;
	train->count++;
	head->len += skb->len;
	head->data_len += skb->len;
	head->truesize += skb->truesize;
	NAPI_GRO_CB(skb)->same_flow = 1;
}

/* The train that is being made of the same flow's packets, or NULL */
static struct sk_buff *find_train(struct list_head *held)
{
	struct sk_buff *skb;

	list_for_each_entry(skb, held, list) {
		if (NAPI_GRO_CB(skb)->same_flow)
			return skb;
	}
	return NULL;
}

struct sk_buff *verve_gro_receive(struct sock *sk, struct list_head *held,
				  struct sk_buff *skb)
{
	struct sk_buff *head = find_train(held);

	if (!may_couple(skb)) {
		NAPI_GRO_CB(skb)->flush = 1;
		return head;
	}
	if (!head || is_full(head, skb))
		return head;
	couple(sk, head, skb);
	return NULL;
}

int verve_gro_complete(struct sock *sk, struct sk_buff *skb, int offset)
{
	struct udphdr *udp = (void *)(skb->data + offset - sizeof(*udp));

	/*
	 * If there was a checksum, it was right, and UDP has put that of the pseudo
	 * header in its place.
	 */
	udp->check = 0;
	/* No tunnel, as UDP thinks that has called. */
	skb->encapsulation = 0;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	skb_shinfo(skb)->gso_segs = NAPI_GRO_CB(skb)->count;
	return 0;
}
