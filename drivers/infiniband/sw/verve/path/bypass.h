/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Bypass
 *
 * Between two devices of one machine, packets pass through lo or a pair of veths. Two RC
 * QPs connected over such a way need no packets, as long as nothing on it would see,
 * change, delay or drop them. They then run as a pair, as QPs of one device do
 * (transport/pair.h), so no packet without an ICRC ever exists.
 *
 * Each round decides anew. It looks for whatever can act on a packet: transforms,
 * netfilter, the qdisc, tc, taps, the neighbour; and at the other end taps, XDP, tc, a
 * bridge or macvlan, netfilter, policies. If there is anything, or if the other end would
 * not take the packets, there are packets. A sniffer that starts sees those of the next
 * round.
 *
 * Not looked for are policy rules for received packets and, before Linux 7, packet
 * sockets for one protocol on all netdevs: the kernel does not tell modules of them.
 *
 * The module parameter bypass=N sends packets always.
 */
#ifndef VERVE_PATH_BYPASS_H
#define VERVE_PATH_BYPASS_H

#include <linux/types.h>

struct verve_dev;
struct verve_flow;

/*
 * Is the bypass enabled, and does a flow of @dev leave by lo or by a veth? All other
 * questions cost more. BH off. The caller owns @flow, whose route may be renewed.
 */
bool verve_bypass_is_near(const struct verve_dev *dev, struct verve_flow *flow);

/**
 * verve_bypass_leads() - would packets of a flow reach a device, unseen and unchanged?
 * @dev: device that sends
 * @flow: flow for which verve_bypass_is_near(); its route may be renewed
 * @to: device of this machine, perhaps @dev
 * @mtu: path MTU of the QP, in bytes
 *
 * Context: BH off. The caller owns @flow.
 * Return: true if the packets need not exist.
 */
bool verve_bypass_leads(const struct verve_dev *dev, struct verve_flow *flow,
			const struct verve_dev *to, u32 mtu);

/**
 * verve_bypass_returns() - would the answers take the same way back?
 * @flow: flow of requests, for which verve_bypass_leads()
 * @dev: device that answers
 * @back: flow of the answers; its route may be renewed
 * @to: device of @flow
 * @mtu: path MTU of the QPs, in bytes
 *
 * Context: BH off. The caller owns both flows.
 * Return: true if the answers need not be packets either.
 */
bool verve_bypass_returns(const struct verve_flow *flow,
			  const struct verve_dev *dev, struct verve_flow *back,
			  const struct verve_dev *to, u32 mtu);

#endif
