/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Types of links
 *
 * `rdma link add NAME type TYPE netdev NETDEV` adds a device of the driver that has
 * registered TYPE. Scripts written for rdma_rxe say "rxe". The parameter rxe makes that
 * type Verve's, too. The RDMA core warns of a second driver with the same type, and is
 * damaged when that driver leaves. So Verve does not load with this parameter beside
 * rdma_rxe, and rdma_rxe is not allowed to load beside it.
 */
#ifndef VERVE_LINK_H
#define VERVE_LINK_H

/* Return: 0, or -EBUSY if the type rxe is wanted and rdma_rxe has it. Module load. */
int verve_link_init(void);
void verve_link_exit(void);	/* module exit; waits for link additions under way */

#endif
