// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trains: packets coupled for the way through the IP stack
 */
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/netdevice.h>
#include <linux/sctp.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/udp.h>
#include "../device.h"
#include "../offload/icrc.h"
#include "../offload/uso.h"
#include "../wire/headers.h"
#include "../wire/icrc.h"
#include "../wire/psn.h"
#include "net.h"
#include "pmtu.h"
#include "room.h"
#include "train.h"

static bool trains = true;
module_param(trains, bool, 0644);
MODULE_PARM_DESC(trains,
		 "Send packets in trains where possible (default: Y). N sends every packet alone through the IP stack, qdiscs and firewalls, for debugging");

bool verve_train_is_allowed(void)
{
	return READ_ONCE(trains);
}

/* IPsec transforms and lightweight tunnels work on single packets. */
static bool may_couple(const struct dst_entry *dst)
{
	return verve_train_is_allowed() && !dst_xfrm(dst) && !dst->lwtstate;
}

/* The length of a train is limited by the netdev and by the IP header. */
static void set_limits(struct verve_train *train, const struct dst_entry *dst)
{
	const struct net_device *ndev = dst->dev;

	train->max_packets = 1;
	if (may_couple(dst))
		train->max_packets = min_t(u32, VERVE_BUDGET_PACKETS,
					   READ_ONCE(ndev->gso_max_segs));
	train->max_len = verve_train_room(READ_ONCE(ndev->gso_max_size),
					  LL_RESERVED_SPACE(ndev));
}

static u32 headers_len(const struct sk_buff *skb)
{
	return skb_network_header_len(skb) + sizeof(struct udphdr);
}

/* A packet for the registry's way counts as GSO of SCTP, whose header is longer. */
static bool fits_way(const struct verve_flow *flow, const struct sk_buff *skb)
{
	return !flow->has_uso ||
	       skb->len - sizeof(struct udphdr) + sizeof(struct sctphdr) <=
	       dst_mtu(flow->dst);
}

/* May further packets be appended to @skb for USO? Return: 0, or the limit of packets */
static u32 max_segs(const struct verve_train *train, struct verve_flow *flow,
		    const struct verve_burst *burst, const struct sk_buff *skb)
{
	if (train->max_packets <= 1 || !fits_way(flow, skb))
		return 0;
	return verve_uso_segs(train->dev, flow, burst);
}

static bool is_acknowledged(const struct verve_burst *burst)
{
	return burst->segmentation >= VERVE_SEGMENT_PROVEN;
}

static void put_head(struct verve_train *train, struct verve_flow *flow,
		     const struct verve_burst *burst, u32 psn,
		     struct sk_buff *skb)
{
	set_limits(train, flow->dst);
	skb_dst_set(skb, dst_clone(flow->dst));
	skb->dev = flow->dst->dev;
	train->head = skb;
	train->tail = NULL;
	train->is_v6 = flow->av.is_v6;
	train->icrc_offload = flow->icrc_offload;
	train->packets = 1;
	train->bytes = skb->len - headers_len(skb);
	train->max_segs = max_segs(train, flow, burst, skb);
	train->first_psn = psn;
	train->requests = is_acknowledged(burst);
	train->is_trial = train->max_segs == VERVE_USO_TRIAL_SEGS;
	train->is_closed = false;
}

/*
 * Append a packet in the form that GRO makes: skb->len counts the bytes behind the UDP
 * header, and the headers lie in front of skb->data.
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

void verve_train_couple(struct verve_train *train, struct sk_buff *skb)
{
	if (train->head) {
		put_behind(train, skb);
	} else {
		train->head = skb;
		train->packets = 1;
	}
}

/* Is there room for a packet with @len bytes behind its UDP header? */
static bool has_room(const struct verve_train *train, u32 len)
{
	const struct sk_buff *head = train->head;

	return train->packets < train->max_packets &&
	       head->len + len <= train->max_len &&
	       len <= skb_headlen(head) - headers_len(head) + VERVE_MAX_EXCESS;
}

/*
 * May a packet be appended for USO? All packets have the length of the first, only the
 * last may be shorter.
 */
static bool may_append(const struct verve_train *train,
		       const struct verve_flow *flow,
		       const struct verve_burst *burst, u32 len)
{
	u8 least = train->is_trial ? VERVE_SEGMENT_TRY : VERVE_SEGMENT_PROVEN;

	if (train->icrc_offload ? !verve_icrc_offload_segments(flow, burst) :
				  burst->segmentation < least)
		return false;
	return !train->is_closed && train->packets < train->max_segs && has_room(train, len) &&
	       len <= skb_headlen(train->head) - headers_len(train->head);
}

static u32 len_of(const struct verve_pdu *pdu)
{
	return pdu->hdr_len + pdu->length + verve_wire_pad(pdu->length) +
	       VERVE_ICRC_LEN;
}

/* The ACKs of requests tell whether the device makes right packets of them. */
static void watch(struct verve_train *train, struct verve_flow *flow,
		  const struct verve_burst *burst, u32 psn)
{
	if (!train->icrc_offload || !is_acknowledged(burst) ||
	    train->requests != train->packets ||
	    verve_psn_diff(psn, train->first_psn) != train->requests)
		return;
	train->requests++;
	verve_trust_watch(&flow->trust, train->first_psn, train->requests);
}

/* Return: 0; -ENOBUFS when the packet must be built by itself; or another error */
static int append(struct verve_train *train, struct verve_flow *flow,
		  const struct verve_burst *burst, const struct verve_pdu *pdu)
{
	struct sk_buff *head = train->head;
	u32 len = len_of(pdu);
	int err;

	if (!may_append(train, flow, burst, len) ||
	    (train->is_trial && !verve_uso_try(train->dev, flow, pdu->psn)))
		return -ENOBUFS;
	err = verve_packet_append(head, flow, pdu, burst->qpn, burst->payload);
	if (unlikely(err)) {
		if (train->is_trial)
			verve_uso_cancel(train->dev, flow);
		return err;
	}
	watch(train, flow, burst, pdu->psn);
	train->packets++;
	train->bytes += len;
	train->is_closed = len < skb_headlen(head) - headers_len(head);
	return 0;
}

static void couple(struct verve_train *train, struct verve_flow *flow,
		   const struct verve_burst *burst, u32 psn,
		   struct sk_buff *skb)
{
	if (train->head &&
	    (train->max_segs || !has_room(train, skb->len - headers_len(skb))))
		verve_train_flush(train);
	if (train->head)
		put_behind(train, skb);
	else
		put_head(train, flow, burst, psn, skb);
}

int verve_train_put(struct verve_train *train, struct verve_flow *flow,
		    const struct verve_burst *burst,
		    const struct verve_pdu *pdu)
{
	struct sk_buff *skb;
	int err;

	if (unlikely(train->head && train->max_segs)) {
		err = append(train, flow, burst, pdu);
		if (err != -ENOBUFS)
			return err;
	}
	skb = verve_packet_build(flow, pdu, burst->qpn, burst->payload);
	if (IS_ERR(skb))
		return PTR_ERR(skb);
	couple(train, flow, burst, pdu->psn, skb);
	return 0;
}

static void seal_train(struct verve_train *train)
{
	struct skb_shared_info *shinfo = skb_shinfo(train->head);

	shinfo->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	train->head->ip_summed = CHECKSUM_UNNECESSARY;
}

/*
 * The kernel has no UDP segmentation without checksums. The NIC, or the stack, computes
 * each from the sum of the pseudo header in the checksum field. The ICRC masks that
 * field.
 */
static void seal_uso(struct verve_train *train)
{
	struct sk_buff *head = train->head;
	u32 len = head->len - skb_network_header_len(head);
	struct udphdr *udp = udp_hdr(head);

	skb_shinfo(head)->gso_type = SKB_GSO_UDP_L4;
	head->ip_summed = CHECKSUM_PARTIAL;
	head->csum_start = skb_transport_header(head) - head->head;
	head->csum_offset = offsetof(struct udphdr, check);
	if (train->is_v6)
		udp->check = ~udp_v6_check(len, &ipv6_hdr(head)->saddr,
					   &ipv6_hdr(head)->daddr, 0);
	else
		udp->check = ~udp_v4_check(len, ip_hdr(head)->saddr,
					   ip_hdr(head)->daddr, 0);
	verve_count(train, tx_uso_pkts, train->packets);
	verve_count(train, tx_uso_skbs, 1);
}

/* ip_local_out() and ip6_local_out() write the length in the IP header. */
void verve_train_seal(struct verve_train *train)
{
	struct sk_buff *head = train->head;

	if (train->packets == 1)
		return;
	skb_shinfo(head)->gso_size = skb_headlen(head) - headers_len(head);
	skb_shinfo(head)->gso_segs = train->packets;
	if (likely(!train->max_segs))
		seal_train(train);
	else if (!train->icrc_offload)
		seal_uso(train);
	udp_hdr(head)->len = htons(head->len - skb_network_header_len(head));
}

static int send(const struct verve_train *train)
{
	struct net *net = verve_net_ns(train->dev->net);
	struct sk_buff *skb = train->head;
	struct sock *sk;
	int err;

	if (unlikely(!net)) {
		kfree_skb(skb);
		return -ENETDOWN;
	}
	sk = verve_pmtu_override(skb);
	if (train->is_v6)
		err = ip6_local_out(net, sk, skb);
	else
		err = ip_local_out(net, sk, skb);
	return net_xmit_eval(err);
}

static void transmit(struct verve_train *train)
{
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

static void leave_icrcs(struct verve_train *train)
{
	if (train->max_segs && train->packets > 1)
		verve_icrc_offload_tx_uso(train->dev, train->head);
	else
		verve_icrc_offload_tx(train->dev, train->head);
}

void verve_train_flush(struct verve_train *train)
{
	if (!train->head)
		return;
	verve_train_seal(train);
	if (train->icrc_offload)
		leave_icrcs(train);
	transmit(train);
}
