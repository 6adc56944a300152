// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets from the stack to the wire, and frames from the wire to the stack
 */
#include <linux/etherdevice.h>
#include <net/gso.h>
#include "nic.h"
#include "rc.h"

/* Frames that may be on the wire */
#define MAX_ARRIVED	4096

bool nic_take_one(atomic_t *left)
{
	return atomic_add_unless(left, -1, 0);
}

static void arrive(struct nic *nic, struct sk_buff *frame)
{
	if (!netif_running(nic->ndev) ||
	    skb_queue_len_lockless(&nic->arrived) >= MAX_ARRIVED) {
		kfree_skb(frame);
		return;
	}
	skb_queue_tail(&nic->arrived, frame);
	napi_schedule(&nic->napi);
}

static bool is_turn(const struct nic *nic, u32 interval)
{
	return interval && nic->frames % interval == interval - 1;
}

void nic_send_frame(struct nic *nic, struct sk_buff *frame)
{
	struct sk_buff *late = nic->late;

	nic->frames++;
	nic->late = NULL;
	if (is_turn(nic, READ_ONCE(nic->lose)))
		kfree_skb(frame);
	else if (!late && is_turn(nic, READ_ONCE(nic->reorder)))
		nic->late = frame;
	else
		arrive(nic->peer, frame);
	if (late)
		arrive(nic->peer, late);
}

void nic_put_icrc(struct nic *nic, struct sk_buff *frame)
{
	u8 icrc[4];
	unsigned int at = nic_icrc(frame->data, frame->len, icrc);

	if (!at) {
		atomic_inc(&nic->unable);
		return;
	}
	if (memchr_inv(frame->data + at, 0, sizeof(icrc)))
		atomic_inc(&nic->dirty);
	if (nic_take_one(&nic->corrupt))
		icrc[0] ^= 1;
	memcpy(frame->data + at, icrc, sizeof(icrc));
	atomic_inc(&nic->made);
}

struct sk_buff *nic_read(const struct sk_buff *skb)
{
	struct sk_buff *frame;

	frame = alloc_skb(NET_SKB_PAD + NET_IP_ALIGN + skb->len, GFP_ATOMIC);
	if (!frame)
		return NULL;
	skb_reserve(frame, NET_SKB_PAD + NET_IP_ALIGN);
	if (skb_copy_bits(skb, 0, skb_put(frame, skb->len), skb->len)) {
		kfree_skb(frame);
		return NULL;
	}
	return frame;
}

/* Put a frame on the wire. */
static void send_frame(struct nic *nic, struct sk_buff *frame)
{
	nic->ndev->stats.tx_packets++;
	nic->ndev->stats.tx_bytes += frame->len;
	nic_send_frame(nic, frame);
}

/* @is_due: the ICRC of the packet, or of its train, is due */
static void send_packet(struct nic *nic, struct sk_buff *skb, bool is_due)
{
	struct sk_buff *frame = NULL;

	if (skb->ip_summed != CHECKSUM_PARTIAL || !skb_checksum_help(skb))
		frame = nic_read(skb);
	if (!frame) {
		nic->ndev->stats.tx_dropped++;
		return;
	}
	if (is_due)
		nic_put_icrc(nic, frame);
	send_frame(nic, frame);
}

static void send_train(struct nic *nic, struct sk_buff *train, bool is_due)
{
	struct sk_buff *skb, *next, *packets = skb_gso_segment(train, 0);

	atomic_inc(&nic->trains);
	if (IS_ERR_OR_NULL(packets)) {
		nic->ndev->stats.tx_dropped++;
		return;
	}
	skb_list_walk_safe(packets, skb, next) {
		skb_mark_not_on_list(skb);
		send_packet(nic, skb, is_due);
		consume_skb(skb);
	}
}

/* UDP segmentation, and not a train */
static bool is_uso(const struct sk_buff *skb)
{
	return skb_is_gso(skb) && !(skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST);
}

/* Abilities that a packet needs */
static u32 asked(const struct sk_buff *skb)
{
	if (!roce_offload_is_due(skb))
		return 0;
	return is_uso(skb) ? ROCE_OFFLOAD_TX_ICRC |
			     ROCE_OFFLOAD_TX_ICRC_SEGMENTED :
			     ROCE_OFFLOAD_TX_ICRC;
}

static void send(struct nic *nic, struct sk_buff *skb)
{
	bool is_due = roce_offload_is_due(skb);

	if (is_uso(skb))
		nic_segment(nic, skb, is_due);
	else if (skb_is_gso(skb))
		send_train(nic, skb, is_due);
	else
		send_packet(nic, skb, is_due);
}

/* Stop the queue while there is no room. */
static bool is_full(struct nic *nic)
{
	if (!READ_ONCE(nic->full))
		return false;
	netif_stop_queue(nic->ndev);
	/* Pairs with nic_make_room(): either this sees room, or the queue is woken. */
	smp_mb__after_atomic();
	if (!READ_ONCE(nic->full)) {
		netif_start_queue(nic->ndev);
		return false;
	}
	atomic_inc(&nic->turned_away);
	return true;
}

void nic_make_room(struct nic *nic)
{
	WRITE_ONCE(nic->full, 0);
	/* Pairs with is_full(). */
	smp_mb();
	netif_wake_queue(nic->ndev);
}

/* Is the hardware still able to do what was chosen for it earlier? */
static bool is_able(struct nic *nic, struct sk_buff *skb)
{
	if (!(asked(skb) & ~READ_ONCE(nic->able)))
		return true;
	if (roce_offload_help(skb)) {
		atomic_inc(&nic->given_up);
		return false;
	}
	atomic_inc(&nic->helped);
	return true;
}

netdev_tx_t nic_transmit(struct sk_buff *skb, struct net_device *ndev)
{
	struct nic *nic = *(struct nic **)netdev_priv(ndev);
	u64 begun;

	if (is_full(nic))
		return NETDEV_TX_BUSY;
	if (!is_able(nic, skb)) {
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	begun = nic_works();
	send(nic, skb);
	nic_worked(nic, begun);
	consume_skb(skb);
	return NETDEV_TX_OK;
}

/* Return: packet for the stack, or NULL */
struct sk_buff *nic_check(struct nic *nic, struct sk_buff *skb)
{
	u32 able = READ_ONCE(nic->able);
	unsigned int at;
	u8 icrc[4];

	if (!(able & (ROCE_OFFLOAD_RX_ICRC | ROCE_OFFLOAD_STATEFUL)))
		return skb;
	at = nic_icrc(skb->data, skb->len, icrc);
	if (!at || memcmp(skb->data + at, icrc, sizeof(icrc)))
		return skb;
	if (able & ROCE_OFFLOAD_RC &&
	    nic_rc_receive(nic, skb->data, skb->len, at)) {
		consume_skb(skb);
		return NULL;
	}
	if (able & ROCE_OFFLOAD_RX_ICRC) {
		roce_offload_verified(skb);
		atomic_inc(&nic->verified);
	}
	if (able & ROCE_OFFLOAD_RX_DDP)
		return nic_place(nic, skb, at);
	return skb;
}
