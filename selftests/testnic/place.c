// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement of RDMA WRITEs, from the wire into memory: a copy in place of DMA
 */
#include <linux/highmem.h>
#include <rdma/ib_verbs.h>
#include "nic.h"

enum {
	ICRC		= 4,
	WRITE_FIRST	= 6,
	WRITE_LAST	= 8,
	WRITE_ONLY	= 10,
	RESPONSE_FIRST	= 13,
	ATOMIC_ACK	= 18,
	SERVICES	= 0xe0,
	CNP		= 0x81,
};

static bool is_write(u8 opcode)
{
	return (opcode >= WRITE_FIRST && opcode <= WRITE_LAST) ||
	       opcode == WRITE_ONLY;
}

static bool begins(u8 opcode)
{
	return opcode == WRITE_FIRST || opcode == WRITE_ONLY;
}

static bool ends(u8 opcode)
{
	return opcode == WRITE_LAST || opcode == WRITE_ONLY;
}

/* Responses have PSNs of the other direction, and CNPs have none. */
static bool is_response(u8 opcode)
{
	return (opcode >= RESPONSE_FIRST && opcode <= ATOMIC_ACK) ||
	       opcode == CNP;
}

/* Check opcode and lengths against the message so far. */
static bool is_next(struct known_qp *known, const struct nic_packet *p)
{
	u32 mtu = known->qp->mtu;

	if (!is_write(p->opcode) || !p->len)
		return false;
	if (begins(p->opcode) == !!known->left)
		return false;
	if (begins(p->opcode)) {
		known->va = p->va;
		known->rkey = p->rkey;
		known->left = p->dmalen;
	}
	if (ends(p->opcode))
		return p->len == known->left && p->len <= mtu;
	return p->len == mtu && known->left > mtu;
}

static struct known_mr *find_target(struct nic *nic, struct known_qp *known)
{
	struct known_mr *target = nic_find_mr(nic, known->qp->pd, known->rkey);
	const struct roce_offload_mr *mr;
	u64 offset;

	if (!target || !target->pages ||
	    !(known->qp->access & IB_ACCESS_REMOTE_WRITE))
		return NULL;
	mr = target->mr;
	offset = known->va - mr->iova;
	if (!(mr->access & IB_ACCESS_REMOTE_WRITE) || known->va < mr->iova ||
	    offset > mr->length || known->left > mr->length - offset)
		return NULL;
	return target;
}

/* Put the payload into other memory, which a test must notice. */
static int add_elsewhere(struct sk_buff *skb, const u8 *from, unsigned int len)
{
	struct page *page = alloc_page(GFP_ATOMIC);
	unsigned int i;
	u8 *to;

	if (!page)
		return -ENOMEM;
	to = page_address(page);
	for (i = 0; i < len; i++)
		to[i] = ~from[i];
	skb_add_rx_frag(skb, 0, page, 0, len, PAGE_SIZE);
	return 0;
}

/* Write the payload, and let fragments of the packet refer to it. */
static void write_payload(struct sk_buff *skb, struct known_mr *target, u64 va,
			  const u8 *from, unsigned int len)
{
	u64 at = va - target->mr->iova + target->mr->offset;

	while (len) {
		struct page *page = target->pages[at >> PAGE_SHIFT];
		unsigned int offset = offset_in_page(at);
		unsigned int part = min_t(u64, len, PAGE_SIZE - offset);
		u8 *to = kmap_local_page(page);

		memcpy(to + offset, from, part);
		kunmap_local(to);
		if (skb) {
			get_page(page);
			skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page,
					offset, part, part);
		}
		at += part;
		from += part;
		len -= part;
	}
}

/* Begin a packet with the headers, and with room for what follows the payload. */
static struct sk_buff *begin_packet(struct nic *nic, const u8 *frame,
				    const struct nic_packet *p, u8 **trailer)
{
	struct sk_buff *skb = netdev_alloc_skb_ip_align(nic->ndev, p->payload);

	*trailer = netdev_alloc_frag(L1_CACHE_BYTES);
	if (skb && *trailer) {
		skb_put_data(skb, frame, p->payload);
		return skb;
	}
	kfree_skb(skb);
	if (*trailer)
		skb_free_frag(*trailer);
	return NULL;
}

/* Append pad and ICRC. */
static void end_packet(struct sk_buff *skb, const u8 *frame,
		       const struct nic_packet *p, u8 *trailer)
{
	unsigned int from = p->payload + p->len;
	unsigned int len = p->end + ICRC - from;
	struct page *page = virt_to_head_page(trailer);

	memcpy(trailer, frame + from, len);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page,
			trailer - (u8 *)page_address(page), len,
			L1_CACHE_BYTES);
}

/* Return: packet with its payload placed, or NULL without memory */
static struct sk_buff *write_packet(struct nic *nic, struct known_qp *known,
				    struct known_mr *target, const u8 *frame,
				    const struct nic_packet *p, u32 mangle)
{
	struct sk_buff *skb;
	u8 *trailer;

	skb = begin_packet(nic, frame, p, &trailer);
	if (!skb)
		return NULL;
	if (mangle & NIC_ELSEWHERE) {
		if (add_elsewhere(skb, frame + p->payload, p->len)) {
			skb_free_frag(trailer);
			kfree_skb(skb);
			return NULL;
		}
		write_payload(NULL, target, known->va, frame + p->payload,
			      p->len);
	} else {
		write_payload(skb, target, known->va, frame + p->payload,
			      p->len);
	}
	end_packet(skb, frame, p, trailer);
	roce_offload_placed(skb);
	return skb;
}

static void pass_on(struct known_qp *known, const struct nic_packet *p)
{
	known->placed = p->psn;
	known->next = (p->psn + 1) & 0xffffff;
	known->va += p->len;
	known->left -= p->len;
}

/* Place the next packet of a run, or end the run. Return: the placed packet, or NULL */
static struct sk_buff *place_next(struct nic *nic, struct known_qp *known,
				  const u8 *frame, const struct nic_packet *p,
				  u32 mangle)
{
	struct known_mr *target = NULL;
	struct sk_buff *skb = NULL;

	if (is_next(known, p))
		target = find_target(nic, known);
	if (target)
		skb = write_packet(nic, known, target, frame, p, mangle);
	if (skb)
		pass_on(known, p);
	else
		nic_end_run(known);
	return skb;
}

/* Return: packet with its payload placed, or NULL if the frame is not placed */
static struct sk_buff *try_placing(struct nic *nic, const u8 *frame,
				   const struct nic_packet *p, u32 mangle)
{
	struct sk_buff *skb = NULL;
	struct known_qp *known;

	spin_lock(&nic->placing);
	known = nic_find_qp(nic, frame, p);
	if (!known || is_response(p->opcode) ||
	    (p->opcode & SERVICES))
		goto unlock;
	if (known->is_placing && p->psn == known->next)
		skb = place_next(nic, known, frame, p, mangle);
	if (!skb && is_write(p->opcode))
		atomic_inc(&nic->watched);
unlock:
	spin_unlock(&nic->placing);
	return skb;
}

static struct sk_buff *copy_of(struct sk_buff *skb)
{
	struct sk_buff *copy = skb_copy(skb, GFP_ATOMIC);

	consume_skb(skb);
	return copy;
}

/* Change a packet as its way to the transport might. Return: packet, or NULL. */
static struct sk_buff *mangle_packet(struct sk_buff *skb, u32 mangle)
{
	if (mangle & NIC_LOSE) {
		kfree_skb(skb);
		return NULL;
	}
	if (mangle & NIC_DOUBT)
		skb->ip_summed = CHECKSUM_NONE;
	if (mangle & NIC_PULL && !pskb_may_pull(skb, skb_headlen(skb) + 1))
		return skb;
	if (mangle & NIC_COPY)
		return copy_of(skb);
	return skb;
}

/* The changes that are due for the next packet */
static u32 its_mangling(const struct nic *nic)
{
	u32 one = READ_ONCE(nic->mangle_one);

	if (!one || atomic_read(&nic->placed) % one)
		return 0;
	return READ_ONCE(nic->mangle);
}

struct sk_buff *nic_place(struct nic *nic, struct sk_buff *frame,
			  unsigned int end)
{
	struct nic_packet p = {
		.ip = nic_find_ip(frame->data, frame->len),
		.end = end,
	};
	u32 mangle = its_mangling(nic);
	struct sk_buff *skb;

	if (!nic_read_packet(frame->data, &p))
		return frame;
	skb = try_placing(nic, frame->data, &p, mangle);
	if (!skb)
		return frame;
	atomic_inc(&nic->placed);
	atomic_add(p.len, &nic->placed_bytes);
	consume_skb(frame);
	return mangle_packet(skb, mangle);
}
