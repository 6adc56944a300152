// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of queue pairs, their look-up, and their memory */
#include <linux/slab.h>
#include <rdma/roce_offload_registry.h>
#include "../device.h"
#include "../memory/number_hash.h"
#include "../wire/headers.h"
#include "qp.h"
#include "transport.h"

enum {
	GSI_QPN = 1,
	/* Draws from a range before a number outside it does */
	MAX_DRAWS = 32,
};

/* A cache of its own, because kmalloc() would round up to twice the size */
static struct kmem_cache *qp_cache;

/* All QPs of all devices, because a packet's QPN selects the device */
static struct rhashtable qp_table;

static int compare(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct verve_qp *qp = obj;

	return qp->qpn != *(const u32 *)arg->key;
}

static const struct rhashtable_params qp_params = {
	.key_len = sizeof_field(struct verve_qp, qpn),
	.key_offset = offsetof(struct verve_qp, qpn),
	.head_offset = offsetof(struct verve_qp, node),
	.hashfn = verve_number_hash,
	.obj_cmpfn = compare,
	.automatic_shrinking = true,
};

struct verve_qp *verve_qp_find_any(u32 qpn)
{
	struct verve_qp *qp;

	rcu_read_lock();
	qp = rhashtable_lookup(&qp_table, &qpn, qp_params);
	if (qp && !verve_qp_get(qp))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

struct verve_qp *verve_qp_find(const struct verve_net *vnet, u32 qpn)
{
	struct verve_qp *qp = verve_qp_find_any(qpn);

	/* A QP keeps its device. */
	if (qp && qp->dev->net != vnet) {
		verve_qp_put(qp);
		return NULL;
	}
	return qp;
}

struct verve_qp *verve_qp_hold(struct ib_qp *ibqp)
{
	struct verve_qp *qp;

	rcu_read_lock();
	qp = READ_ONCE(to_handle(ibqp)->qp);
	if (qp && !verve_qp_get(qp))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

struct verve_qp *verve_qp_find_gsi(struct verve_dev *dev)
{
	struct verve_qp *qp;

	rcu_read_lock();
	qp = rcu_dereference(dev->gsi);
	if (qp && !verve_qp_get(qp))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

void verve_qp_put(struct verve_qp *qp)
{
	if (refcount_dec_and_test(&qp->ref))
		complete(&qp->idle);
}

static bool is_reserved(u32 qpn)
{
	return qpn <= GSI_QPN || qpn == VERVE_MULTICAST_QPN;
}

/*
 * Assign a random number, which is unused, and which an attacker cannot guess unless the
 * range is short. There are always numbers outside a range.
 */
static int assign_qpn(struct verve_qp *qp, struct roce_offload_range qpns)
{
	int draws = 0, err = -EEXIST;

	while (err == -EEXIST) {
		if (draws++ == MAX_DRAWS)
			qpns.count = 0;
		qp->qpn = roce_offload_draw(qpns);
		if (!is_reserved(qp->qpn))
			err = rhashtable_lookup_insert_fast(&qp_table, &qp->node,
							    qp_params);
	}
	return err;
}

int verve_qp_publish(struct verve_qp *qp, struct roce_offload_range qpns)
{
	struct verve_dev *dev = qp->dev;

	if (qp->type != IB_QPT_GSI)
		return assign_qpn(qp, qpns);
	qp->qpn = GSI_QPN;
	mutex_lock(&dev->qp_lock);
	if (rcu_access_pointer(dev->gsi)) {
		mutex_unlock(&dev->qp_lock);
		return -EBUSY;
	}
	rcu_assign_pointer(dev->gsi, qp);
	mutex_unlock(&dev->qp_lock);
	return 0;
}

void verve_qp_withdraw(struct verve_qp *qp)
{
	if (qp->type == IB_QPT_GSI)
		RCU_INIT_POINTER(qp->dev->gsi, NULL);
	else
		rhashtable_remove_fast(&qp_table, &qp->node, qp_params);
}

struct verve_qp *verve_qp_alloc(void)
{
	return kmem_cache_zalloc(qp_cache, GFP_KERNEL);
}

/* A QP that is destroyed has released its route before it leaves the table. */
static void release_route(struct verve_qp *qp)
{
	if (verve_net_ns(qp->dev->net) || !verve_qp_get(qp))
		return;
	verve_engine_lock(qp);
	verve_flow_reset(&qp->flow);
	verve_engine_unlock(qp);
	verve_qp_put(qp);
}

/*
 * The RCU section is not left in between: if the QP at which a walk stops leaves the
 * table, the walk may miss the next one.
 */
void verve_qp_release_routes(void)
{
	struct rhashtable_iter iter;
	struct verve_qp *qp;

	rhashtable_walk_enter(&qp_table, &iter);
	rhashtable_walk_start(&iter);
	/* When the table is resized, the walk begins anew. */
	while ((qp = rhashtable_walk_next(&iter)))
		if (!IS_ERR(qp))
			release_route(qp);
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
}

static void free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(qp_cache, container_of(rcu, struct verve_qp, rcu));
}

void verve_qp_free(struct verve_qp *qp)
{
	call_rcu(&qp->rcu, free_rcu);
}

int verve_qp_table_init(void)
{
	int err;

	qp_cache = KMEM_CACHE(verve_qp, SLAB_ACCOUNT);
	if (!qp_cache)
		return -ENOMEM;
	err = rhashtable_init(&qp_table, &qp_params);
	if (err)
		kmem_cache_destroy(qp_cache);
	return err;
}

void verve_qp_table_exit(void)
{
	/* QPs are freed after a grace period. */
	rcu_barrier();
	rhashtable_destroy(&qp_table);
	kmem_cache_destroy(qp_cache);
}
