/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory regions that NICs know (rdma/roce_offload.h)
 */
#ifndef VERVE_OFFLOAD_MPT_H
#define VERVE_OFFLOAD_MPT_H

#include <rdma/roce_offload.h>

struct verve_mr;

/* The upper 24 bits of keys that NICs could know @mr by. Process context. */
struct roce_offload_range verve_nic_keys(const struct verve_mr *mr);

/**
 * verve_nic_add_mr() - tell NICs of a region
 * @mr: complete region; ignored if NICs cannot use it
 *
 * Context: process.
 */
void verve_nic_add_mr(struct verve_mr *mr);
/**
 * verve_nic_del_mr() - withdraw a region before it or its memory changes
 * @mr: region of any kind, known to NICs or not
 *
 * No NIC writes to the region when this returns.
 *
 * Context: process.
 */
void verve_nic_del_mr(struct verve_mr *mr);

#endif
