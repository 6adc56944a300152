/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs on address handles
 */
#ifndef VERVE_VERBS_AH_H
#define VERVE_VERBS_AH_H

#include <rdma/ib_verbs.h>

struct verve_av;

/**
 * struct verve_ah - an address handle
 * @ibah: AH of the RDMA core
 * @av: address vector, which is freed a grace period after the AH
 * @num: number of the AH in work requests; not 0
 */
struct verve_ah {
	struct ib_ah ibah;
	struct verve_av *av;
	u32 num;
};

static inline struct verve_ah *to_vah(struct ib_ah *ibah)
{
	return container_of(ibah, struct verve_ah, ibah);
}

int verve_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *attr,
		    struct ib_udata *udata);
int verve_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int verve_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int verve_destroy_ah(struct ib_ah *ibah, u32 flags);

#endif
