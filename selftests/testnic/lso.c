// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segmentation of messages (IBTA vol. 1, 9.2.1 and 9.7.2), only by the specification and
 * without code of Verve: offsets, opcodes and bits are literal.
 */
#include <linux/etherdevice.h>
#include <linux/string.h>
#include "nic.h"

enum {
	IPV6		= 40,
	UDP		= 8,
	BTH		= 12,
	ICRC		= 4,
	/* Bits of an opcode: the service */
	SERVICE		= 0xe0,
	UC		= 0x20,
	/* Bits of BTH bytes 1 and 8 */
	SOLICITED	= 0x80,
	PADS		= 0x30,
	ACK_REQUEST	= 0x80,
};

/**
 * struct operation - opcodes and headers of an operation
 * @first: opcode of the first packet
 * @middle: opcode of a middle packet
 * @last: opcode of the last packet
 * @only: opcode of a single packet
 * @front: bytes of the extended header in the first packet
 * @back: bytes of another extended header, in the last packet
 * @has_both: the header of the first packet is in the last one, too
 */
struct operation {
	u8 first;
	u8 middle;
	u8 last;
	u8 only;
	u8 front;
	u8 back;
	bool has_both;
};

static const struct operation operations[] = {
	{ 0x00, 0x01, 0x02, 0x04 },			/* SEND */
	{ 0x00, 0x01, 0x03, 0x05, .back = 4 },		/* with immediate data */
	{ 0x00, 0x01, 0x16, 0x17, .back = 4 },		/* with Invalidate */
	{ 0x06, 0x07, 0x08, 0x0a, .front = 16 },	/* RDMA WRITE */
	{ 0x06, 0x07, 0x09, 0x0b, .front = 16, .back = 4 },
	{ 0x0d, 0x0e, 0x0f, 0x10, .front = 4, .has_both = true }, /* READ response */
};

/**
 * struct message - a parsed LSO packet
 * @frame: all of it, linear
 * @op: operation
 * @ip: offset of the IP header
 * @bth: offset of the BTH
 * @front: offset of the header of the first packet
 * @back: offset of the header of the last packet
 * @payload: offset of the payload
 * @end: offset of the end of the payload, where the pad begins
 * @mtu: payload of a packet
 * @service: bits of the opcode for RC or UC
 * @starts: has the first packet of the message
 * @ends: has the last packet of the message
 */
struct message {
	const u8 *frame;
	const struct operation *op;
	unsigned int ip;
	unsigned int bth;
	unsigned int front;
	unsigned int back;
	unsigned int payload;
	unsigned int end;
	unsigned int mtu;
	u8 service;
	bool starts;
	bool ends;
};

static void put16(u8 *at, unsigned int value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static unsigned int get16(const u8 *at)
{
	return at[0] << 8 | at[1];
}

static const struct operation *find(u8 opcode)
{
	const struct operation *op;

	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		if (opcode == op->first || opcode == op->middle ||
		    opcode == op->last || opcode == op->only)
			return op;
	}
	return NULL;
}

/* Find the extended headers of an opcode in the message. */
static bool find_headers(struct message *message, u8 opcode)
{
	const struct operation *op = find(opcode & ~SERVICE);

	message->service = opcode & SERVICE;
	if (!op || (message->service && message->service != UC))
		return false;
	opcode &= ~SERVICE;
	message->op = op;
	message->starts = opcode == op->first || opcode == op->only;
	message->ends = opcode == op->last || opcode == op->only;
	message->front = message->bth + BTH;
	message->payload = message->front;
	if (message->starts || (message->ends && op->has_both))
		message->payload += op->front;
	message->back = op->has_both ? message->front : message->payload;
	if (message->ends && !op->has_both)
		message->payload += op->back;
	return true;
}

static bool read_message(const struct sk_buff *skb, struct sk_buff *whole,
			 struct message *message)
{
	const u8 *frame = whole->data, *bth;
	unsigned int ip = nic_find_ip(frame, whole->len), ip_len, pads;

	if (!ip)
		return false;
	ip_len = frame[ip] >> 4 == 6 ? IPV6 : 20;
	message->frame = frame;
	message->ip = ip;
	message->bth = ip + ip_len + UDP;
	message->mtu = skb_shinfo(skb)->gso_size;
	bth = frame + message->bth;
	if (whole->len < message->bth + BTH + ICRC || !message->mtu ||
	    !find_headers(message, bth[0]))
		return false;
	pads = (bth[1] & PADS) >> 4;
	message->end = whole->len - ICRC - pads;
	/* Headers must be linear, and the lengths must be consistent. */
	return message->payload <= skb_headlen(skb) &&
	       message->payload < message->end &&
	       get16(frame + ip + ip_len + 4) == whole->len - ip - ip_len &&
	       DIV_ROUND_UP(message->end - message->payload, message->mtu) ==
	       skb_shinfo(skb)->gso_segs;
}

static void put_ip(u8 *ip, unsigned int len, unsigned int i)
{
	unsigned int sum = 0, at, ip_len = 20;

	if (ip[0] >> 4 == 6) {
		ip_len = IPV6;
		put16(ip + 4, len - IPV6);
	} else {
		put16(ip + 2, len);
		put16(ip + 4, get16(ip + 4) + i);
		put16(ip + 10, 0);
		for (at = 0; at < ip_len; at += 2)
			sum += get16(ip + at);
		while (sum >> 16)
			sum = (sum & 0xffff) + (sum >> 16);
		put16(ip + 10, ~sum);
	}
	put16(ip + ip_len + 4, len - ip_len);
}

static void put_bth(const struct message *message, u8 *bth, unsigned int i,
		    bool first, bool last)
{
	const struct operation *op = message->op;
	u32 psn = bth[9] << 16 | bth[10] << 8 | bth[11];

	if (first)
		bth[0] = last ? op->only : op->first;
	else
		bth[0] = last ? op->last : op->middle;
	bth[0] |= message->service;
	psn += i;
	bth[9] = psn >> 16;
	bth[10] = psn >> 8;
	bth[11] = psn;
}

/* Build packet @i without its ICRC. Return: NULL without memory */
static struct sk_buff *make(const struct message *message, unsigned int i)
{
	unsigned int from = message->payload + i * message->mtu;
	unsigned int len = min(message->mtu, message->end - from);
	bool tail = from + len == message->end, first, last;
	const struct operation *op = message->op;
	struct sk_buff *frame;

	first = !i && message->starts;
	last = tail && message->ends;
	frame = alloc_skb(NET_SKB_PAD + NET_IP_ALIGN + message->payload + len +
			  op->back + 3 + ICRC, GFP_ATOMIC);
	if (!frame)
		return NULL;
	skb_reserve(frame, NET_SKB_PAD + NET_IP_ALIGN);
	skb_put_data(frame, message->frame, message->bth + BTH);
	if (first || (last && op->has_both))
		skb_put_data(frame, message->frame + message->front, op->front);
	if (last && !op->has_both)
		skb_put_data(frame, message->frame + message->back, op->back);
	skb_put_data(frame, message->frame + from, len);
	skb_put_zero(frame, (-len & 3) + ICRC);

	put_bth(message, frame->data + message->bth, i, first, last);
	if (!tail) {
		frame->data[message->bth + 1] &= ~(SOLICITED | PADS);
		frame->data[message->bth + 8] &= ~ACK_REQUEST;
	}
	put_ip(frame->data + message->ip, frame->len - message->ip, i);
	return frame;
}

void nic_lso(struct nic *nic, const struct sk_buff *skb)
{
	struct sk_buff *whole = nic_read(skb), *frame;
	struct message message;
	unsigned int i;
	bool is_bad;

	if (!whole)
		return;
	if (!read_message(skb, whole, &message)) {
		atomic_inc(&nic->unable);
		goto out;
	}
	if (memchr_inv(message.frame + message.end, 0, whole->len - message.end))
		atomic_inc(&nic->dirty);
	is_bad = nic_take_one(&nic->miscut);
	atomic_inc(&nic->messages);
	for (i = 0; i < skb_shinfo(skb)->gso_segs; i++) {
		frame = make(&message, i);
		if (!frame)
			break;
		atomic_inc(&nic->cut);
		if (is_bad)
			atomic_inc(&nic->corrupt);
		nic_finish(nic, frame);
	}
out:
	kfree_skb(whole);
}
