/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the registry share.
 */
#ifndef VERVE_OFFLOAD_OFFLOAD_H
#define VERVE_OFFLOAD_OFFLOAD_H

#include <rdma/verve_offload.h>

/**
 * verve_offload_may_send() - will this very netdev compute a packet's ICRC?
 * @ndev: where it is about to go
 * @skb: packet or train
 * Context: BH off, RCU.
 */
bool verve_offload_may_send(struct net_device *ndev, const struct sk_buff *skb);

/* late.c: the other end of struct verve_offload_registry */
void verve_offload_attach(const struct verve_offload_transport *transport);
void verve_offload_detach(void);
struct verve_offload_sender *verve_offload_open(void);
void verve_offload_close(struct verve_offload_sender *sender);
void verve_offload_stats(const struct verve_offload_sender *sender,
			 struct verve_offload_stats *stats);
void verve_offload_give(struct verve_offload_sender *sender,
			struct sk_buff *skb);

int verve_offload_late_init(void);	/* module load */
void verve_offload_late_exit(void);

#endif
