// SPDX-License-Identifier: GPL-2.0-only
/*
 * What devices know: memory regions and QPs
 *
 * DOC: Homes
 *
 * The objects of an RDMA device are at home at the netdev that it is on. They are
 * told to the device of the registry's that is the only one below that netdev. The
 * list of them is kept while there is no such device, too, so that one that comes can
 * be told; nothing else is done then.
 *
 * All of it is done under the registry's mutex, but for what concerns the receiving of
 * a QP, which has a spinlock: whoever holds that may call the driver for that QP as
 * long as the object names a device.
 */
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "offload.h"

/**
 * struct verve_offload_home - objects of an RDMA device
 * @entry: in the list of them
 * @ndev: what the RDMA device is on; NULL once that has gone
 * @offload: device that knows the objects, or NULL
 * @features: of that device, for which it does
 * @objects: by kind
 * @refused: how often adding one has failed
 *
 * Under the registry's mutex.
 */
struct verve_offload_home {
	struct list_head entry;
	struct net_device *ndev;
	struct verve_offload *offload;
	u32 features;
	struct list_head objects[VERVE_OFFLOAD_KINDS];
	u64 refused;
};

static LIST_HEAD(homes);

static struct verve_offload_mr *to_mr(struct verve_offload_object *object)
{
	return container_of(object, struct verve_offload_mr, object);
}

static struct verve_offload_qp *to_qp(struct verve_offload_object *object)
{
	return container_of(object, struct verve_offload_qp, object);
}

static bool add_mr(struct verve_offload_object *object,
		   struct verve_offload *offload)
{
	if (offload->ops->mr_add(offload->ndev, to_mr(object),
				 &object->context))
		return false;
	object->offload = offload;
	return true;
}

static void del_mr(struct verve_offload_object *object)
{
	struct verve_offload *offload = object->offload;

	object->offload = NULL;
	offload->ops->mr_del(offload->ndev, object->context);
}

static bool add_qp(struct verve_offload_object *object,
		   struct verve_offload *offload)
{
	struct verve_offload_qp *qp = to_qp(object);

	if (offload->ops->qp_add(offload->ndev, qp, &object->context))
		return false;
	spin_lock_bh(&qp->lock);
	object->offload = offload;
	spin_unlock_bh(&qp->lock);
	WRITE_ONCE(qp->is_offered, qp->user &&
		   object->home->features & VERVE_OFFLOAD_RC);
	return true;
}

/* It stops before it is not found any more: see verve_offload_rx_stop() */
static void del_qp(struct verve_offload_object *object)
{
	struct verve_offload *offload = object->offload;
	struct verve_offload_qp *qp = to_qp(object);

	WRITE_ONCE(qp->is_offered, false);
	verve_offload_rc_stop(qp);
	spin_lock_bh(&qp->lock);
	if (offload->ops->rx_stop)
		offload->ops->rx_stop(offload->ndev, object->context);
	object->offload = NULL;
	spin_unlock_bh(&qp->lock);
	offload->ops->qp_del(offload->ndev, object->context);
	WRITE_ONCE(qp->rx, VERVE_OFFLOAD_RX_IDLE);
}

static const struct {
	bool (*add)(struct verve_offload_object *object,
		    struct verve_offload *offload);
	void (*del)(struct verve_offload_object *object);
} kinds[] = {
	[VERVE_OFFLOAD_MR] = { add_mr, del_mr },
	[VERVE_OFFLOAD_QP] = { add_qp, del_qp },
};

/* Regions that peers do not write to are of use to who runs QPs only. */
static bool is_of_use(const struct verve_offload_home *home,
		      enum verve_offload_object_kind kind,
		      struct verve_offload_object *object)
	__must_hold(&verve_offload_table_lock)
{
	return kind != VERVE_OFFLOAD_MR || home->features & VERVE_OFFLOAD_RC ||
	       to_mr(object)->access & IB_ACCESS_REMOTE_WRITE;
}

static void tell(struct verve_offload_home *home,
		 enum verve_offload_object_kind kind,
		 struct verve_offload_object *object)
	__must_hold(&verve_offload_table_lock)
{
	if (!is_of_use(home, kind, object))
		return;
	if (!kinds[kind].add(object, home->offload))
		WRITE_ONCE(home->refused, home->refused + 1);
}

static void tell_all(struct verve_offload_home *home)
	__must_hold(&verve_offload_table_lock)
{
	struct verve_offload_object *object;
	int kind;

	for (kind = 0; kind < VERVE_OFFLOAD_KINDS; kind++)
		list_for_each_entry(object, &home->objects[kind], entry)
			tell(home, kind, object);
}

static void take_all_back(struct verve_offload_home *home)
	__must_hold(&verve_offload_table_lock)
{
	struct verve_offload_object *object;
	int kind;

	for (kind = VERVE_OFFLOAD_KINDS - 1; kind >= 0; kind--) {
		list_for_each_entry(object, &home->objects[kind], entry) {
			if (object->offload)
				kinds[kind].del(object);
		}
	}
}

/* Netdevs that are below one, and nothing but VLANs and bonds above them */
struct search {
	struct verve_offload *found;
	unsigned int netdevs;
};

static int look_at(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	struct search *search = priv->data;

	if (verve_offload_is_layer(ndev))
		return 0;
	search->found = verve_offload_find(ndev);
	search->netdevs++;
	return 0;
}

/* The device that gets all that comes in by a netdev, or NULL */
static struct verve_offload *only_device(struct net_device *ndev)
	__must_hold(&verve_offload_table_lock)
{
	struct search search = {};
	struct netdev_nested_priv priv = { .data = &search };

	if (!verve_offload_is_layer(ndev))
		return verve_offload_find(ndev);
	rcu_read_lock();
	netdev_walk_all_lower_dev_rcu(ndev, look_at, &priv);
	rcu_read_unlock();
	return search.netdevs == 1 ? search.found : NULL;
}

static void resettle(struct verve_offload_home *home)
	__must_hold(&verve_offload_table_lock)
{
	struct verve_offload *offload = NULL;
	u32 features = 0;

	if (home->ndev)
		offload = only_device(home->ndev);
	if (offload)
		features = offload->active & VERVE_OFFLOAD_STATEFUL;
	if (!features)
		offload = NULL;
	if (offload == home->offload && features == home->features)
		return;
	if (home->offload)
		take_all_back(home);
	home->offload = offload;
	home->features = features;
	if (offload)
		tell_all(home);
}

void verve_offload_resettle(void)
{
	struct verve_offload_home *home;

	lockdep_assert_held(&verve_offload_table_lock);
	list_for_each_entry(home, &homes, entry)
		resettle(home);
}

void verve_offload_evict(const struct net_device *ndev)
{
	struct verve_offload_home *home;

	lockdep_assert_held(&verve_offload_table_lock);
	list_for_each_entry(home, &homes, entry) {
		if (home->ndev != ndev)
			continue;
		home->ndev = NULL;
		resettle(home);
	}
}

struct verve_offload_home *verve_offload_join(struct net_device *ndev)
{
	struct verve_offload_home *home = kzalloc_obj(*home);
	int kind;

	if (!home)
		return NULL;
	home->ndev = ndev;
	for (kind = 0; kind < VERVE_OFFLOAD_KINDS; kind++)
		INIT_LIST_HEAD(&home->objects[kind]);
	mutex_lock(&verve_offload_table_lock);
	list_add_tail(&home->entry, &homes);
	resettle(home);
	mutex_unlock(&verve_offload_table_lock);
	return home;
}

void verve_offload_leave(struct verve_offload_home *home)
{
	mutex_lock(&verve_offload_table_lock);
	list_del(&home->entry);
	mutex_unlock(&verve_offload_table_lock);
	kfree(home);
}

void verve_offload_publish(struct verve_offload_home *home,
			   enum verve_offload_object_kind kind,
			   struct verve_offload_object *object)
{
	object->home = home;
	object->offload = NULL;
	mutex_lock(&verve_offload_table_lock);
	list_add_tail(&object->entry, &home->objects[kind]);
	if (home->offload)
		tell(home, kind, object);
	mutex_unlock(&verve_offload_table_lock);
}

void verve_offload_withdraw(enum verve_offload_object_kind kind,
			    struct verve_offload_object *object)
{
	mutex_lock(&verve_offload_table_lock);
	list_del(&object->entry);
	if (object->offload)
		kinds[kind].del(object);
	mutex_unlock(&verve_offload_table_lock);
}

u64 verve_offload_refused(const struct verve_offload_home *home)
{
	return READ_ONCE(home->refused);
}

bool verve_offload_rx_sync(struct verve_offload_qp *qp,
			   const struct verve_offload_rx_point *point)
{
	struct verve_offload *offload;
	bool placing = false;

	spin_lock(&qp->lock);
	offload = qp->object.offload;
	if (offload && READ_ONCE(offload->active) & VERVE_OFFLOAD_RX_PLACE)
		placing = offload->ops->rx_sync(offload->ndev,
						qp->object.context, point);
	spin_unlock(&qp->lock);
	return placing;
}

void verve_offload_rx_stop(struct verve_offload_qp *qp)
{
	struct verve_offload *offload;

	spin_lock(&qp->lock);
	offload = qp->object.offload;
	if (offload && offload->ops->rx_stop)
		offload->ops->rx_stop(offload->ndev, qp->object.context);
	spin_unlock(&qp->lock);
}
