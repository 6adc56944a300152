// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory windows: further keys, with fewer rights, to a part of a region
 * (IBTA vol. 1, 10.6.7). Windows of type 2 are of kind B: bound to the QP that
 * bound them.
 *
 * A window is a region of its own to look-ups, and shows memory of the one that
 * it is bound to. That one cannot be deregistered meanwhile, so nobody holds it
 * but by the window. All bindings of a device change under mw_lock.
 */
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "mw.h"
#include "qp.h"

#define WINDOW_REMOTE	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC)
/* Local write is the region's matter, and programs ask for it. */
#define WINDOW_ACCESS	(WINDOW_REMOTE | IB_ACCESS_LOCAL_WRITE | \
			 IB_ZERO_BASED | IB_ACCESS_OPTIONAL)

/**
 * struct verve_window - what look-ups find of a memory window
 * @mr: first member; its users hold this one
 * @type: 1, or 2 (B)
 * @is_dead: being deallocated: never bound again
 * @base: region that it is bound to, or NULL
 * @base_va: address in @base of the first byte
 * @owner: type 2, bound: the only QP that may use it
 * @entry: in @owner's list
 *
 * All but @mr and @type under mw_lock; constant while @mr is valid.
 */
struct verve_window {
	struct verve_mr mr;
	enum ib_mw_type type;
	bool is_dead;
	struct verve_mr *base;
	u64 base_va;
	struct verve_qp *owner;
	struct list_head entry;
};

static struct verve_window *to_window(struct verve_mr *mr)
{
	return container_of(mr, struct verve_window, mr);
}

bool verve_window_admits(const struct verve_mr *mr, const struct verve_qp *qp)
{
	const struct verve_window *window =
		container_of(mr, const struct verve_window, mr);

	return window->type == IB_MW_TYPE_1 || window->owner == qp;
}

void *verve_window_map(const struct verve_mr *mr, u64 va, u32 *len, int access)
{
	const struct verve_window *window =
		container_of(mr, const struct verve_window, mr);

	return verve_mr_map(window->base, va - mr->iova + window->base_va, len,
			    access);
}

/* Nobody uses the binding, and look-ups fail. */
static void unbind(struct verve_dev *dev, struct verve_window *window)
	__must_hold(&dev->mw_lock)
{
	lockdep_assert_held(&dev->mw_lock);
	if (!window->base)
		return;
	list_del_init(&window->entry);
	atomic_dec(&window->base->windows);
	window->base = NULL;
	window->owner = NULL;
}

static bool access_is_legal(const struct verve_window *window, u32 access)
{
	/* o10-36.2.2 */
	if (window->type == IB_MW_TYPE_1 && access & IB_ZERO_BASED)
		return false;
	return !(access & ~WINDOW_ACCESS);
}

static bool may_bind(const struct verve_window *window,
		     const struct verve_qp *qp, const struct verve_swqe *wqe)
{
	if (window->is_dead || window->mr.key != wqe->mw_rkey ||
	    window->mr.ibmr.pd != qp->ibqp->pd)
		return false;
	if (verve_key_index(wqe->key) != window->mr.index)
		return false;
	/* o10-37.2.30, o10-37.2.40 */
	if (window->type == IB_MW_TYPE_2 && (window->base || !wqe->bytes))
		return false;
	return access_is_legal(window, wqe->access);
}

static bool may_be_base(const struct verve_mr *mr, const struct verve_qp *qp,
			const struct verve_swqe *wqe)
{
	if (mr->kind != VERVE_MR_USER || !READ_ONCE(mr->valid) ||
	    mr->key != wqe->mr_lkey ||
	    mr->ibmr.pd != qp->ibqp->pd)
		return false;
	/* C10-73, C10-74, C10-75 */
	if (!(mr->access & IB_ACCESS_MW_BIND))
		return false;
	if (wqe->access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	return verve_mr_covers(mr, wqe->addr, wqe->bytes);
}

/* RCU. The region that it is to be bound to, which then stays; or NULL. */
static struct verve_mr *get_base(const struct verve_qp *qp,
				 const struct verve_swqe *wqe)
{
	struct verve_mr *mr = verve_key_find(qp->dev, wqe->mr_lkey);

	if (!mr || !may_be_base(mr, qp, wqe) ||
	    !atomic_inc_unless_negative(&mr->windows))
		return NULL;
	return mr;
}

static void attach(struct verve_window *window, struct verve_mr *base,
		   struct verve_qp *qp, const struct verve_swqe *wqe)
	__must_hold(&qp->dev->mw_lock)
{
	struct verve_mr *mr = &window->mr;

	mr->key = wqe->key;
	if (!base)
		return;
	window->base = base;
	window->base_va = wqe->addr;
	mr->access = wqe->access & WINDOW_REMOTE;
	mr->iova = wqe->access & IB_ZERO_BASED ? 0 : wqe->addr;
	mr->length = wqe->bytes;
	if (window->type == IB_MW_TYPE_2) {
		window->owner = qp;
		list_add(&window->entry, &qp->windows);
	}
	verve_mr_publish(mr);
}

static int rebind(struct verve_window *window, struct verve_qp *qp,
		  const struct verve_swqe *wqe)
	__must_hold(&qp->dev->mw_lock)
{
	struct verve_mr *base = NULL;

	if (!may_bind(window, qp, wqe))
		return -EINVAL;
	if (wqe->bytes) {
		base = get_base(qp, wqe);
		if (!base)
			return -EINVAL;
	}
	if (!verve_mr_withdraw(&window->mr)) {
		if (base)
			atomic_dec(&base->windows);
		return -EAGAIN;
	}
	unbind(qp->dev, window);
	attach(window, base, qp, wqe);
	return 0;
}

int verve_window_bind(struct verve_qp *qp, const struct verve_swqe *wqe)
{
	struct verve_mr *mr;
	int err = -EINVAL;

	rcu_read_lock();
	mr = verve_key_find(qp->dev, wqe->mw_rkey);
	if (mr && mr->kind == VERVE_MR_WINDOW) {
		spin_lock(&qp->dev->mw_lock);
		err = rebind(to_window(mr), qp, wqe);
		spin_unlock(&qp->dev->mw_lock);
	}
	rcu_read_unlock();
	return err;
}

static int free_window(struct verve_window *window, struct verve_qp *qp,
		       u32 key, bool is_remote)
	__must_hold(&qp->dev->mw_lock)
{
	/* o10-37.2.26 */
	if (window->mr.key != key || window->type == IB_MW_TYPE_1)
		return -EINVAL;
	/* To the owner, freeing what is free is no error. */
	if (!window->base)
		return is_remote ? -EINVAL : 0;
	if (window->owner != qp)
		return -EINVAL;
	if (!verve_mr_withdraw(&window->mr))
		return -EAGAIN;
	unbind(qp->dev, window);
	return 0;
}

int verve_window_invalidate(struct verve_mr *mr, struct verve_qp *qp, u32 key,
			    bool is_remote)
{
	int err;

	spin_lock(&qp->dev->mw_lock);
	err = free_window(to_window(mr), qp, key, is_remote);
	spin_unlock(&qp->dev->mw_lock);
	return err;
}

void verve_window_release_all(struct verve_qp *qp)
{
	struct verve_window *window, *next;

	spin_lock_bh(&qp->dev->mw_lock);
	list_for_each_entry_safe(window, next, &qp->windows, entry) {
		/* Others' look-ups may hold it, but it admits none of them. */
		verve_mr_withdraw(&window->mr);
		unbind(qp->dev, window);
	}
	spin_unlock_bh(&qp->dev->mw_lock);
}

int verve_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct verve_window *window;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;
	window = kzalloc_obj(*window, GFP_KERNEL_ACCOUNT);
	if (!window)
		return -ENOMEM;
	verve_mr_init(&window->mr, ibmw->pd, VERVE_MR_WINDOW, 0);
	window->type = ibmw->type;
	INIT_LIST_HEAD(&window->entry);
	err = verve_key_insert(to_vdev(ibmw->device), &window->mr);
	if (err) {
		kfree(window);
		return err;
	}
	ibmw->rkey = window->mr.key;
	to_vmw(ibmw)->window = window;
	return 0;
}

int verve_dealloc_mw(struct ib_mw *ibmw)
{
	struct verve_dev *dev = to_vdev(ibmw->device);
	struct verve_window *window = to_vmw(ibmw)->window;

	verve_key_remove(dev, &window->mr);
	spin_lock_bh(&dev->mw_lock);
	window->is_dead = true;
	verve_mr_withdraw(&window->mr);
	spin_unlock_bh(&dev->mw_lock);
	verve_mr_put(&window->mr);
	wait_for_completion(&window->mr.idle);

	spin_lock_bh(&dev->mw_lock);
	unbind(dev, window);
	spin_unlock_bh(&dev->mw_lock);
	kfree_rcu(window, mr.rcu);
	return 0;
}
