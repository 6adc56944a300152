/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What NICs know of a device's memory regions (rdma/verve_offload.h)
 */
#ifndef VERVE_OFFLOAD_MPT_H
#define VERVE_OFFLOAD_MPT_H

struct verve_mr;

/**
 * verve_nic_add_mr() - a region is complete
 * @mr: with key and memory; one that NICs have no use for is ignored
 * Context: process.
 */
void verve_nic_add_mr(struct verve_mr *mr);
/**
 * verve_nic_del_mr() - what it is, or its memory, will change
 * @mr: of any kind, added or not
 *
 * When this returns, no NIC writes there.
 *
 * Context: process.
 */
void verve_nic_del_mr(struct verve_mr *mr);

#endif
