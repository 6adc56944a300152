// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Objects and devices
 *
 * The objects of an RDMA device are its memory regions and QPs. They are told to the
 * registered device that is the only one below the netdev of the RDMA device. The list of
 * objects is kept also while there is no such device, for one that registers later.
 *
 * A driver may take its time. A caller that waits for it holds the locks of the RDMA
 * device and of the registered device: none of another device, and none that is taken
 * under RTNL. So netdev events only change which binding is right (under the table's
 * lock), and a work item of the device then changes the binding.
 *
 * The receive side of a QP has a spinlock. Under it, the driver may be called for that QP
 * as long as the object names a device.
 */
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/roce_offload_rc.h>
#include "offload.h"

/**
 * struct binding - device that knows the objects of an RDMA device
 * @offload: device, or NULL
 * @features: stateful features of the device at the time of binding
 * @losses: @losses of the device at that time; a device that has lost features since
 *	may have forgotten the objects
 */
struct binding {
	struct roce_offload *offload;
	u32 features;
	u32 losses;
};

/**
 * struct roce_offload_ibdev - an RDMA device and its objects
 * @entry: entry in the list of RDMA devices
 * @users: references of the RDMA device and of walks through the list; the last one
 *	frees it
 * @ndev: netdev of the RDMA device; NULL once it is gone
 * @lock: mutex for @objects and their devices; the lock of the device is taken inside
 * @binding: current binding; read under @lock, written under the table's lock as well
 * @objects: objects by kind
 * @refused: number of objects that drivers have refused, or cannot know by their number
 *
 * The table's lock protects @entry, @users and @ndev.
 */
struct roce_offload_ibdev {
	struct list_head entry __guarded_by(&roce_offload_table_lock);
	unsigned int users __guarded_by(&roce_offload_table_lock);
	struct net_device *ndev __guarded_by(&roce_offload_table_lock);
	struct mutex lock; /* see above */
	struct binding binding __guarded_by(&lock, &roce_offload_table_lock);
	struct list_head objects[ROCE_OFFLOAD_KINDS] __guarded_by(&lock);
	u64 refused;
};

/* Delay in jiffies from a change of a neighbour to the check of QPs */
#define RECHECK_DELAY	(HZ / 20 + 1)

static struct list_head ibdevs __guarded_by(&roce_offload_table_lock) =
	LIST_HEAD_INIT(ibdevs);

#define to_mr(object)	container_of(object, struct roce_offload_mr, object)
#define to_qp(object)	container_of(object, struct roce_offload_qp, object)

static bool add_mr(struct roce_offload_object *object,
		   struct roce_offload *offload)
{
	if (offload->ops->mr_add(offload->priv, to_mr(object),
				 &object->context))
		return false;
	object->offload = offload;
	return true;
}

static void del_mr(struct roce_offload_object *object)
{
	struct roce_offload *offload = object->offload;

	object->offload = NULL;
	offload->ops->mr_del(object->context);
}

static bool add_qp(struct roce_offload_object *object,
		   struct roce_offload *offload)
{
	struct roce_offload_qp *qp = to_qp(object);

	lockdep_assert_held(&object->ibdev->lock);
	if (offload->ops->qp_add(offload->priv, qp, &object->context))
		return false;
	spin_lock_bh(&qp->lock);
	object->offload = offload;
	spin_unlock_bh(&qp->lock);
	WRITE_ONCE(qp->rx_after, object->ibdev->binding.features &
		   ROCE_OFFLOAD_RX_DDP ? offload->rx_after : 0);
	qp->rc_recvs = offload->rc_recvs;
	WRITE_ONCE(qp->is_offered, qp->user &&
		   object->ibdev->binding.features & ROCE_OFFLOAD_RC);
	return true;
}

static void del_qp(struct roce_offload_object *object)
{
	struct roce_offload *offload = object->offload;
	struct roce_offload_qp *qp = to_qp(object);

	WRITE_ONCE(qp->rx_after, 0);
	WRITE_ONCE(qp->is_offered, false);
	roce_offload_rc_stop(qp);
	spin_lock_bh(&qp->lock);
	roce_offload_rx_close(qp);
	object->offload = NULL;
	spin_unlock_bh(&qp->lock);
	offload->ops->qp_del(object->context);
	roce_offload_rx_end(qp);
}

static const struct {
	bool (*add)(struct roce_offload_object *object,
		    struct roce_offload *offload);
	void (*del)(struct roce_offload_object *object);
} kinds[] = {
	[ROCE_OFFLOAD_MR] = { add_mr, del_mr },
	[ROCE_OFFLOAD_QP] = { add_qp, del_qp },
};

static u32 number_of(enum roce_offload_object_kind kind,
		     const struct roce_offload_object *object)
{
	return kind == ROCE_OFFLOAD_QP ? to_qp(object)->qpn :
					 to_mr(object)->rkey >> 8;
}

/* Can a device know an object with this number? */
static bool is_in_range(const struct roce_offload *offload,
			enum roce_offload_object_kind kind,
			const struct roce_offload_object *object)
{
	struct roce_offload_range range = offload->ranges[kind];

	return !range.count ||
	       number_of(kind, object) - range.first < range.count;
}

/* Placed packets need pages to be handed over. */
static bool is_target(const struct roce_offload_mr *mr)
{
	return mr->access & IB_ACCESS_REMOTE_WRITE && !mr->dmabuf;
}

/* Is an object of use to a device with these features? */
static bool is_of_use(u32 features, enum roce_offload_object_kind kind,
		      const struct roce_offload_object *object)
{
	if (kind == ROCE_OFFLOAD_QP)
		return features & ROCE_OFFLOAD_RX_DDP ||
		       (features & ROCE_OFFLOAD_RC && to_qp(object)->user);
	return features & ROCE_OFFLOAD_RC ||
	       (features & ROCE_OFFLOAD_RX_DDP && is_target(to_mr(object)));
}

/* Lock an RDMA device and its registered device, so nothing else calls the driver. */
static void enter(struct roce_offload_ibdev *ibdev)
	__acquires(&ibdev->lock)
	__context_unsafe(/* there may be no driver */)
{
	mutex_lock(&ibdev->lock);
	/* Sparse does not know mutexes. */
	__acquire(&ibdev->lock);
	if (ibdev->binding.offload)
		mutex_lock(&ibdev->binding.offload->lock);
}

static void leave(struct roce_offload_ibdev *ibdev)
	__releases(&ibdev->lock)
	__context_unsafe(/* as in enter() */)
{
	if (ibdev->binding.offload)
		mutex_unlock(&ibdev->binding.offload->lock);
	__release(&ibdev->lock);
	mutex_unlock(&ibdev->lock);
}

/* Other files do not know what an RDMA device is, nor that it is locked. */
void roce_offload_lock_object(struct roce_offload_object *object)
	__acquires(&object->ibdev->lock)
{
	enter(object->ibdev);
}

void roce_offload_unlock_object(struct roce_offload_object *object)
	__releases(&object->ibdev->lock)
{
	leave(object->ibdev);
}

static void tell(struct roce_offload_ibdev *ibdev,
		 enum roce_offload_object_kind kind,
		 struct roce_offload_object *object)
	__must_hold(&ibdev->lock)
{
	struct roce_offload *offload = ibdev->binding.offload;

	lockdep_assert_held(&offload->lock);
	if (!is_of_use(ibdev->binding.features, kind, object))
		return;
	if (is_in_range(offload, kind, object) &&
	    kinds[kind].add(object, offload)) {
		WRITE_ONCE(offload->known[kind], offload->known[kind] + 1);
		return;
	}
	WRITE_ONCE(offload->refused, offload->refused + 1);
	WRITE_ONCE(ibdev->refused, ibdev->refused + 1);
}

/* Does nothing for an object that no device knows */
static void take_back(enum roce_offload_object_kind kind,
		      struct roce_offload_object *object)
{
	struct roce_offload *offload = object->offload;

	if (!offload)
		return;
	lockdep_assert_held(&offload->lock);
	kinds[kind].del(object);
	WRITE_ONCE(offload->known[kind], offload->known[kind] - 1);
}

static void tell_all(struct roce_offload_ibdev *ibdev)
	__must_hold(&ibdev->lock)
{
	struct roce_offload_object *object;
	int kind;

	for (kind = 0; kind < ROCE_OFFLOAD_KINDS; kind++)
		list_for_each_entry(object, &ibdev->objects[kind], entry)
			tell(ibdev, kind, object);
}

static void take_all_back(struct roce_offload_ibdev *ibdev)
	__must_hold(&ibdev->lock)
{
	struct roce_offload_object *object;
	int kind;

	for (kind = ROCE_OFFLOAD_KINDS - 1; kind >= 0; kind--) {
		list_for_each_entry(object, &ibdev->objects[kind], entry)
			take_back(kind, object);
	}
}

/* State of a walk to the lowest netdevs below a VLAN or bond */
struct search {
	struct roce_offload *found;
	unsigned int netdevs;
};

static int look_at(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	struct search *search = priv->data;

	if (roce_offload_is_layer(ndev))
		return 0;
	search->found = roce_offload_find(ndev);
	search->netdevs++;
	return 0;
}

/* The device through which all packets of a netdev come in, or NULL */
static struct roce_offload *only_device(struct net_device *ndev)
	__must_hold(&roce_offload_table_lock)
{
	struct search search = {};
	struct netdev_nested_priv priv = { .data = &search };

	if (!roce_offload_is_layer(ndev))
		return roce_offload_find(ndev);
	rcu_read_lock();
	netdev_walk_all_lower_dev_rcu(ndev, look_at, &priv);
	rcu_read_unlock();
	return search.netdevs == 1 ? search.found : NULL;
}

static struct binding find_binding(const struct roce_offload_ibdev *ibdev)
	__must_hold(&roce_offload_table_lock)
{
	struct roce_offload *offload = NULL;
	u32 features;

	if (ibdev->ndev)
		offload = only_device(ibdev->ndev);
	features = offload ? offload->active & ROCE_OFFLOAD_STATEFUL : 0;
	if (!features)
		return (struct binding) {};
	return (struct binding) { offload, features, offload->losses };
}

static bool is_same(const struct binding *a, const struct binding *b)
{
	return a->offload == b->offload && a->features == b->features &&
	       a->losses == b->losses;
}

static bool is_settled(const struct roce_offload_ibdev *ibdev)
	__must_hold(&ibdev->lock)
{
	struct binding binding;

	spin_lock_bh(&roce_offload_table_lock);
	binding = find_binding(ibdev);
	spin_unlock_bh(&roce_offload_table_lock);
	return is_same(&binding, &ibdev->binding);
}

/* concerns() must find the binding until all objects are taken back. */
static void move_out(struct roce_offload_ibdev *ibdev)
	__must_hold(&ibdev->lock)
{
	struct roce_offload *offload = ibdev->binding.offload;

	mutex_lock(&offload->lock);
	take_all_back(ibdev);
	mutex_unlock(&offload->lock);
	spin_lock_bh(&roce_offload_table_lock);
	ibdev->binding = (struct binding) {};
	spin_unlock_bh(&roce_offload_table_lock);
}

static void move_in(struct roce_offload_ibdev *ibdev)
	__must_hold(&ibdev->lock)
{
	struct roce_offload *offload;

	spin_lock_bh(&roce_offload_table_lock);
	ibdev->binding = find_binding(ibdev);
	spin_unlock_bh(&roce_offload_table_lock);
	offload = ibdev->binding.offload;
	if (!offload)
		return;
	mutex_lock(&offload->lock);
	tell_all(ibdev);
	mutex_unlock(&offload->lock);
}

static void resettle(struct roce_offload_ibdev *ibdev)
{
	mutex_lock(&ibdev->lock);
	if (ibdev->binding.offload && !is_settled(ibdev))
		move_out(ibdev);
	if (!ibdev->binding.offload)
		move_in(ibdev);
	mutex_unlock(&ibdev->lock);
}

/* Is a device bound to an RDMA device, or should it be? */
static bool concerns(const struct roce_offload_ibdev *ibdev,
		     const struct roce_offload *offload)
	__must_hold(&roce_offload_table_lock)
{
	return ibdev->binding.offload == offload ||
	       (ibdev->ndev && only_device(ibdev->ndev) == offload);
}

static void put_ibdev(struct roce_offload_ibdev *ibdev)
	__must_hold(&roce_offload_table_lock)
{
	if (--ibdev->users)
		return;
	list_del(&ibdev->entry);
	kfree(ibdev);
}

/*
 * Walk the RDMA devices that a registered device is bound to, or should be. Takes a
 * reference on the next one, and drops that on @ibdev. NULL begins the walk.
 */
static struct roce_offload_ibdev *next_ibdev(struct roce_offload_ibdev *ibdev,
					     struct roce_offload *offload)
{
	struct roce_offload_ibdev *next, *found = NULL;

	spin_lock_bh(&roce_offload_table_lock);
	next = list_prepare_entry(ibdev, &ibdevs, entry);
	list_for_each_entry_continue(next, &ibdevs, entry) {
		if (!concerns(next, offload))
			continue;
		next->users++;
		found = next;
		break;
	}
	if (ibdev)
		put_ibdev(ibdev);
	spin_unlock_bh(&roce_offload_table_lock);
	return found;
}

void roce_offload_settle(struct roce_offload *offload)
{
	struct roce_offload_ibdev *ibdev = NULL;

	while ((ibdev = next_ibdev(ibdev, offload)))
		resettle(ibdev);
}

static void check_terms(struct roce_offload_ibdev *ibdev)
{
	struct roce_offload_object *object;

	enter(ibdev);
	list_for_each_entry(object, &ibdev->objects[ROCE_OFFLOAD_QP], entry) {
		struct roce_offload_qp *qp = to_qp(object);

		if (qp->is_offloaded && !qp->user->may_stay(qp))
			roce_offload_rc_stop(qp);
	}
	leave(ibdev);
}

void roce_offload_check_terms(struct roce_offload *offload)
{
	struct roce_offload_ibdev *ibdev = NULL;

	while ((ibdev = next_ibdev(ibdev, offload)))
		check_terms(ibdev);
}

/* Offloaded QPs send by the netdev of the RDMA device itself. */
void roce_offload_recheck(const struct net_device *ndev)
{
	struct roce_offload_ibdev *ibdev;

	spin_lock_bh(&roce_offload_table_lock);
	list_for_each_entry(ibdev, &ibdevs, entry) {
		if (ibdev->ndev == ndev && ibdev->binding.offload)
			queue_delayed_work(roce_offload_wq,
					   &ibdev->binding.offload->recheck,
					   RECHECK_DELAY);
	}
	spin_unlock_bh(&roce_offload_table_lock);
}

void roce_offload_evict(const struct net_device *ndev)
{
	struct roce_offload_ibdev *ibdev;

	lockdep_assert_held(&roce_offload_table_lock);
	list_for_each_entry(ibdev, &ibdevs, entry) {
		if (ibdev->ndev != ndev)
			continue;
		ibdev->ndev = NULL;
		if (ibdev->binding.offload)
			roce_offload_queue_renewal(ibdev->binding.offload);
	}
}

static struct roce_offload_ibdev *alloc_ibdev(struct net_device *ndev)
	__context_unsafe(/* nobody else has it yet */)
{
	struct roce_offload_ibdev *ibdev = kzalloc_obj(*ibdev);
	int kind;

	if (!ibdev)
		return NULL;
	ibdev->ndev = ndev;
	ibdev->users = 1;
	mutex_init(&ibdev->lock);
	for (kind = 0; kind < ROCE_OFFLOAD_KINDS; kind++)
		INIT_LIST_HEAD(&ibdev->objects[kind]);
	return ibdev;
}

struct roce_offload_ibdev *roce_offload_join(struct net_device *ndev)
{
	struct roce_offload_ibdev *ibdev = alloc_ibdev(ndev);

	if (!ibdev)
		return NULL;
	spin_lock_bh(&roce_offload_table_lock);
	/* No other thread has the object yet. */
	context_unsafe(ibdev->binding = find_binding(ibdev));
	list_add_tail(&ibdev->entry, &ibdevs);
	spin_unlock_bh(&roce_offload_table_lock);
	return ibdev;
}

void roce_offload_leave(struct roce_offload_ibdev *ibdev)
{
	spin_lock_bh(&roce_offload_table_lock);
	ibdev->ndev = NULL;
	put_ibdev(ibdev);
	spin_unlock_bh(&roce_offload_table_lock);
}

/* The caller does not wait for a driver that is adding other objects. */
struct roce_offload_range
roce_offload_range(struct roce_offload_ibdev *ibdev,
		   enum roce_offload_object_kind kind,
		   const struct roce_offload_object *object)
{
	struct roce_offload_range range = {};

	spin_lock_bh(&roce_offload_table_lock);
	if (is_of_use(ibdev->binding.features, kind, object))
		range = ibdev->binding.offload->ranges[kind];
	spin_unlock_bh(&roce_offload_table_lock);
	return range;
}

void roce_offload_publish(struct roce_offload_ibdev *ibdev,
			  enum roce_offload_object_kind kind,
			  struct roce_offload_object *object)
{
	object->ibdev = ibdev;
	object->offload = NULL;
	enter(ibdev);
	list_add_tail(&object->entry, &ibdev->objects[kind]);
	if (ibdev->binding.offload)
		tell(ibdev, kind, object);
	leave(ibdev);
}

void roce_offload_withdraw(enum roce_offload_object_kind kind,
			   struct roce_offload_object *object)
{
	struct roce_offload_ibdev *ibdev = object->ibdev;

	enter(ibdev);
	list_del(&object->entry);
	take_back(kind, object);
	leave(ibdev);
}

u64 roce_offload_refused(const struct roce_offload_ibdev *ibdev)
{
	return READ_ONCE(ibdev->refused);
}
