/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Segmentation in software of what a device was to segment, at the egress device. The
 * results are those of struct roce_offload_transport; their ICRCs are not computed.
 */
#ifndef VERVE_OFFLOAD_SEGMENT_H
#define VERVE_OFFLOAD_SEGMENT_H

struct sk_buff;

/**
 * verve_segment_lso() - make a train of an LSO packet
 * @skb: LSO packet, data at the link header if there is one; not changed
 *
 * Context: BH off or on.
 * Return: train, or a single packet; NULL without memory, or if the stack has reshaped
 * the packet.
 */
struct sk_buff *verve_segment_lso(struct sk_buff *skb);

/* Likewise for UDP segmentation: packets of gso_size bytes behind one UDP header */
struct sk_buff *verve_segment_uso(struct sk_buff *skb);

#endif
