/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Segmentation in software of what a device was to segment, at the egress device. The
 * results are those of struct roce_offload_transport; their ICRCs are not computed.
 */
#ifndef VERVE_OFFLOAD_SEGMENT_H
#define VERVE_OFFLOAD_SEGMENT_H

struct sk_buff;

/**
 * verve_segment() - make a train of a packet for UDP segmentation
 * @skb: packets of gso_size bytes behind one UDP header, data at the link header if there
 *	is one; not changed
 *
 * Context: BH off or on.
 * Return: train, or a single packet; NULL without memory, or if the stack has reshaped
 * the packet.
 */
struct sk_buff *verve_segment(struct sk_buff *skb);

#endif
