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

/**
 * verve_link_init() - keep rdma_rxe out, if the type rxe is wanted
 *
 * Context: module load, before everything else.
 * Return: 0 or an error.
 */
int verve_link_init(void);
void verve_link_exit(void);	/* module exit, after everything else */

/**
 * verve_link_register() - let users add links
 *
 * Context: module load, after everything else.
 * Return: 0, or -EBUSY if the type rxe is wanted and rdma_rxe has it.
 */
int verve_link_register(void);
void verve_link_unregister(void);	/* module exit; waits for link additions under way */

#endif
