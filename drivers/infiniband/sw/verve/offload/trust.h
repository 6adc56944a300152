/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Trust in a device that segments
 *
 * A driver offers segmentation with ICRCs by the device, and its offer is trusted until
 * it fails. The peer's ACKs are the evidence: a QP watches one segmented packet at a
 * time, the longest that it finds. If the peer acknowledges all packets made of it, none
 * of which was sent again, the device does its work. If one of them is lost, that may be
 * chance, or the device's fault. Eight watched packets in a row that lose something bar
 * the flow for ten seconds. Then one burst is tried.
 *
 * Losses of the network may bar a right device as well, where nearly every segmented
 * packet loses something. Single packets serve such a path better.
 *
 * A watched packet of which all is sent again for another reason proves nothing.
 */
#ifndef VERVE_OFFLOAD_TRUST_H
#define VERVE_OFFLOAD_TRUST_H

#include <linux/types.h>

/**
 * struct verve_trust - evidence that what a device segments arrives
 * @barred_until: end of the time without segmentation in jiffies; 0: not barred
 * @first: PSN of the first watched packet that was sent only once
 * @packets: number of these; 0: nothing is watched
 * @length: number of all packets that were made together with these
 * @failures: watched packets in a row that were lost
 */
struct verve_trust {
	unsigned long barred_until;
	u32 first;
	u16 packets;
	u16 length;
	u8 failures;
};

/* May a device segment anything for this flow now, in jiffies? */
bool verve_trust_allows(const struct verve_trust *trust, unsigned long now);

/* Is this flow on trial, after a time without segmentation? */
static inline bool verve_trust_is_on_trial(const struct verve_trust *trust)
{
	return trust->barred_until;
}

/**
 * verve_trust_watch() - let the outcome of packets count
 * @trust: trust in the device
 * @first: PSN of the first packet
 * @packets: number of packets that the device makes of one
 *
 * If other packets are watched, these take their place only if they are more.
 */
void verve_trust_watch(struct verve_trust *trust, u32 first, u32 packets);

/* Has the peer acknowledged some of the watched packets, and not all? */
bool verve_trust_is_in_doubt(const struct verve_trust *trust, u32 una);

/* All packets before @end, if they are watched, are sent again by software. */
void verve_trust_repeated(struct verve_trust *trust, u32 end);

/* The peer has acknowledged all packets before @una. */
void verve_trust_acknowledged(struct verve_trust *trust, u32 una);

/**
 * verve_trust_lost() - count a loss against the device, if it may be to blame
 * @trust: trust in the device
 * @una: PSN of the packet that the peer lacks
 * @now: in jiffies
 *
 * Return: true if this bars the flow for the first time.
 */
bool verve_trust_lost(struct verve_trust *trust, u32 una, unsigned long now);

#endif
