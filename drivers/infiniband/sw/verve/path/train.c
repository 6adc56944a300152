// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trains: packets coupled for the way through the IP stack
 */
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "../device.h"
#include "late.h"
#include "net.h"
#include "train.h"

static bool trains = true;
module_param(trains, bool, 0644);
MODULE_PARM_DESC(trains,
		 "Send packets coupled where possible (default: Y). N makes every packet pass the IP stack, qdiscs and firewalls alone, for debugging");

/* An IPsec transform or a lightweight tunnel wants packets one by one. */
static bool may_couple(const struct dst_entry *dst)
{
	return READ_ONCE(trains) && !dst_xfrm(dst) && !dst->lwtstate;
}

/* One skb must stay below what the device takes and IP can say. */
static void set_limits(struct verve_train *train, const struct dst_entry *dst)
{
	const struct net_device *ndev = dst->dev;

	train->max_packets = 1;
	if (may_couple(dst))
		train->max_packets = min_t(u32, VERVE_BUDGET_PACKETS,
					   READ_ONCE(ndev->gso_max_segs));
	train->max_len = min_t(u32, U16_MAX, READ_ONCE(ndev->gso_max_size) - 1);
	train->max_len -= LL_RESERVED_SPACE(ndev);
}

static u32 headers_len(const struct sk_buff *skb)
{
	return skb_network_header_len(skb) + sizeof(struct udphdr);
}

static void put_head(struct verve_train *train, const struct verve_flow *flow,
		     struct sk_buff *skb)
{
	set_limits(train, flow->dst);
	skb_dst_set(skb, dst_clone(flow->dst));
	skb->dev = flow->dst->dev;
	train->head = skb;
	train->tail = NULL;
	train->is_late = flow->is_late;
	train->packets = 1;
	train->bytes = skb->len - headers_len(skb);
}

/*
 * As GRO would have coupled it: the length counts what follows the UDP header,
 * the headers stand in front of the data.
 */
static void put_behind(struct verve_train *train, struct sk_buff *skb)
{
	struct sk_buff *head = train->head;

	__skb_pull(skb, headers_len(skb));
	if (train->tail)
		train->tail->next = skb;
	else
		skb_shinfo(head)->frag_list = skb;
	train->tail = skb;
	head->len += skb->len;
	head->data_len += skb->len;
	head->truesize += skb->truesize;
	train->packets++;
	train->bytes += skb->len;
}

void verve_train_couple(struct verve_train *train,
			const struct verve_flow *flow, struct sk_buff *skb)
{
	u32 len = skb->len - headers_len(skb);

	if (train->head && (train->packets == train->max_packets ||
			    train->head->len + len > train->max_len))
		verve_train_flush(train);
	if (train->head)
		put_behind(train, skb);
	else
		put_head(train, flow, skb);
}

/* IP's own length is written by ip_local_out() and ip6_local_out(). */
static void seal(struct verve_train *train)
{
	struct sk_buff *head = train->head;
	struct skb_shared_info *shinfo = skb_shinfo(head);

	shinfo->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	shinfo->gso_size = skb_headlen(head) - headers_len(head);
	shinfo->gso_segs = train->packets;
	head->ip_summed = CHECKSUM_UNNECESSARY;
	udp_hdr(head)->len = htons(head->len - skb_network_header_len(head));
}

static int send(const struct verve_train *train)
{
	struct net *net = verve_net_ns(train->dev->net);
	struct sk_buff *skb = train->head;
	int err;

	if (unlikely(!net)) {
		kfree_skb(skb);
		return -ENETDOWN;
	}
	if (ip_hdr(skb)->version == 6)
		err = ip6_local_out(net, NULL, skb);
	else
		err = ip_local_out(net, NULL, skb);
	return net_xmit_eval(err);
}

void verve_train_flush(struct verve_train *train)
{
	if (!train->head)
		return;
	if (train->packets > 1)
		seal(train);
	if (train->is_late)
		verve_late_give(train->dev, train->head);

	rcu_read_lock();
	if (likely(!send(train))) {
		verve_count(train, sent_pkts, train->packets);
		verve_count(train, sent_bytes, train->bytes);
	} else {
		verve_count(train, send_err, train->packets);
	}
	rcu_read_unlock();
	train->head = NULL;
}
