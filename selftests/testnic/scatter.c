// SPDX-License-Identifier: GPL-2.0-only
/*
 * Received frames in pieces, as from a NIC with small buffers
 */
#include <linux/etherdevice.h>
#include "nic.h"

enum {
	/* Bytes of the linear part, as drivers copy them for the stack */
	HEAD		= 64,
	MOST_PIECES	= MAX_SKB_FRAGS,
};

/* Return: 0, or -ENOMEM; pieces that were added stay */
static int add_piece(struct sk_buff *skb, const u8 *from, unsigned int len)
{
	void *piece = netdev_alloc_frag(len);
	struct page *page;

	if (!piece)
		return -ENOMEM;
	memcpy(piece, from, len);
	page = virt_to_head_page(piece);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page,
			piece - page_address(page), len, len);
	return 0;
}

struct sk_buff *nic_scatter(struct nic *nic, struct sk_buff *frame)
{
	unsigned int size = READ_ONCE(nic->scatter), done = HEAD, len;
	struct sk_buff *skb;

	if (!size || skb_is_nonlinear(frame) || frame->len <= HEAD)
		return frame;
	size = max(size, DIV_ROUND_UP(frame->len - HEAD, MOST_PIECES));
	skb = netdev_alloc_skb_ip_align(nic->ndev, HEAD);
	if (!skb)
		return frame;
	skb_put_data(skb, frame->data, HEAD);
	skb->ip_summed = frame->ip_summed;
	skb->csum_level = frame->csum_level;
	for (; done < frame->len; done += len) {
		len = min(size, frame->len - done);
		if (add_piece(skb, frame->data + done, len)) {
			kfree_skb(skb);
			return frame;
		}
	}
	atomic_inc(&nic->scattered);
	consume_skb(frame);
	return skb;
}
