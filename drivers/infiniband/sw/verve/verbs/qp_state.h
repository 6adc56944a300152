/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Validation of QP attributes.
 */
#ifndef VERVE_VERBS_QP_STATE_H
#define VERVE_VERBS_QP_STATE_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

/**
 * verve_qp_attr_check() - validate a change of QP attributes
 * @type: QP type
 * @cur: present state of the QP
 * @max_mtu: largest path MTU of the port
 * @attr: attributes
 * @mask: enum ib_qp_attr_mask of the attributes to set
 *
 * ib_modify_qp_is_ok() of the core checks the transition, and its required and
 * optional attributes (IBTA vol. 1, 11.2.5.2). This function also checks values.
 *
 * Context: any. Pure.
 * Return: 0; -EINVAL; -EOPNOTSUPP for alternate paths and rate limits.
 */
int verve_qp_attr_check(enum ib_qp_type type, enum ib_qp_state cur,
			enum ib_mtu max_mtu, const struct ib_qp_attr *attr,
			int mask);

#endif
