/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What may be asked of a QP: decisions without effects.
 */
#ifndef VERVE_VERBS_QP_STATE_H
#define VERVE_VERBS_QP_STATE_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

/**
 * verve_qp_attr_check() - may these attributes be set?
 * @type: QP type
 * @cur: state the QP is in
 * @max_mtu: largest path MTU the port can take
 * @attr: attributes
 * @mask: which of them
 *
 * The table of transitions and of what each requires and allows is the
 * core's, ib_modify_qp_is_ok() (IBTA vol. 1, 11.2.5.2); here are the values.
 *
 * Context: any. Pure.
 * Return: 0, -EINVAL, or -EOPNOTSUPP: alternate paths and rate limits.
 */
int verve_qp_attr_check(enum ib_qp_type type, enum ib_qp_state cur,
			enum ib_mtu max_mtu, const struct ib_qp_attr *attr,
			int mask);

#endif
