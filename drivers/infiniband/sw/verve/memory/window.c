// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory windows: additional keys to parts of regions, with fewer rights (IBTA
 * vol. 1, 10.6.7). Type 2 windows are type 2B: only the QP that bound a window may
 * use it.
 *
 * Look-ups find a window like a region. Its addresses translate to memory of the
 * region below. A region with windows cannot be deregistered, so users of a window
 * need no reference on its region. mw_lock protects all bindings of a device.
 */
#include <linux/slab.h>
#include "keys.h"
#include "window.h"

#define WINDOW_REMOTE	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC)
/* Programs may set local write, which has no effect: the region's rights decide. */
#define WINDOW_ACCESS	(WINDOW_REMOTE | IB_ACCESS_LOCAL_WRITE | \
			 IB_ZERO_BASED | IB_ACCESS_OPTIONAL)

/**
 * struct verve_window - a memory window
 * @mr: window in the table of keys, with the reference count; first member
 * @type: 1, or 2 (B)
 * @is_dead: the window is being deallocated and must not be bound
 * @base: region that the window is bound to, or NULL
 * @base_va: address in @base of the first byte
 * @owner: scope of the QP that bound a type 2 window
 * @entry: entry in @owner's list
 *
 * mw_lock protects all fields but @mr and @type. They are constant while @mr is
 * valid.
 */
struct verve_window {
	struct verve_mr mr;
	enum ib_mw_type type;
	bool is_dead;
	struct verve_mr *base;
	u64 base_va;
	struct verve_mr_scope *owner;
	struct list_head entry;
};

static struct verve_window *to_window(struct verve_mr *mr)
{
	return container_of(mr, struct verve_window, mr);
}

bool verve_window_admits(const struct verve_mr *mr, const struct verve_mr_scope *scope)
{
	const struct verve_window *window =
		container_of(mr, const struct verve_window, mr);

	return window->type == IB_MW_TYPE_1 || window->owner == scope;
}

void *verve_window_map(const struct verve_mr *mr, u64 va, u32 *len, int access)
{
	const struct verve_window *window =
		container_of(mr, const struct verve_window, mr);

	return verve_mr_map(window->base, va - mr->iova + window->base_va, len,
			    access);
}

/* The window has been withdrawn and has no users. */
static void unbind(struct verve_dev *dev, struct verve_window *window)
	__must_hold(&dev->mw_lock)
{
	lockdep_assert_held(&dev->mw_lock);
	if (!window->base)
		return;
	list_del_init(&window->entry);
	/* Pairs with the cmpxchg() in verve_dereg_mr(): no access comes later. */
	smp_mb__before_atomic();
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
		     const struct verve_mr_scope *scope, const struct verve_binding *bind)
{
	if (window->is_dead || window->mr.key != bind->mw_rkey ||
	    window->mr.ibmr.pd != scope->pd)
		return false;
	if (verve_key_index(bind->key) != window->mr.index)
		return false;
	/* o10-37.2.30, o10-37.2.40 */
	if (window->type == IB_MW_TYPE_2 && (window->base || !bind->bytes))
		return false;
	return access_is_legal(window, bind->access);
}

static bool may_be_base(const struct verve_mr *mr, const struct verve_mr_scope *scope,
			const struct verve_binding *bind)
{
	/* Pairs with verve_mr_publish(): rights and PD are as published. */
	if (mr->kind != VERVE_MR_USER || !smp_load_acquire(&mr->valid) ||
	    mr->key != bind->mr_lkey ||
	    mr->ibmr.pd != scope->pd)
		return false;
	/* C10-73, C10-74, C10-75 */
	if (!(mr->access & IB_ACCESS_MW_BIND))
		return false;
	if (bind->access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	return verve_mr_covers(mr, bind->addr, bind->bytes);
}

/* Count a window on the region of @bind, so that it stays. Context: RCU reader. */
static struct verve_mr *get_base(const struct verve_mr_scope *scope,
				 const struct verve_binding *bind)
	__must_hold_shared(RCU)
{
	struct verve_mr *mr = verve_key_find(scope->dev, bind->mr_lkey);

	if (!mr || !may_be_base(mr, scope, bind) ||
	    !atomic_inc_unless_negative(&mr->windows))
		return NULL;
	return mr;
}

static void attach(struct verve_window *window, struct verve_mr *base,
		   struct verve_mr_scope *scope, const struct verve_binding *bind)
	__must_hold(&scope->dev->mw_lock)
{
	struct verve_mr *mr = &window->mr;

	mr->key = bind->key;
	if (!base)
		return;
	window->base = base;
	window->base_va = bind->addr;
	mr->access = bind->access & WINDOW_REMOTE;
	mr->iova = bind->access & IB_ZERO_BASED ? 0 : bind->addr;
	mr->length = bind->bytes;
	if (window->type == IB_MW_TYPE_2) {
		window->owner = scope;
		list_add(&window->entry, &scope->windows);
	}
	verve_mr_publish(mr);
}

static int rebind(struct verve_window *window, struct verve_mr_scope *scope,
		  const struct verve_binding *bind)
	__must_hold(&scope->dev->mw_lock)
	__must_hold_shared(RCU)
{
	struct verve_mr *base = NULL;

	if (!may_bind(window, scope, bind))
		return -EINVAL;
	if (bind->bytes) {
		base = get_base(scope, bind);
		if (!base)
			return -EINVAL;
	}
	if (!verve_mr_withdraw(&window->mr)) {
		if (base)
			atomic_dec(&base->windows);
		return -EAGAIN;
	}
	unbind(scope->dev, window);
	attach(window, base, scope, bind);
	return 0;
}

int verve_window_bind(struct verve_mr_scope *scope, const struct verve_binding *bind)
{
	struct verve_mr *mr;
	int err = -EINVAL;

	rcu_read_lock();
	mr = verve_key_find(scope->dev, bind->mw_rkey);
	if (mr && mr->kind == VERVE_MR_WINDOW) {
		spin_lock(&scope->dev->mw_lock);
		err = rebind(to_window(mr), scope, bind);
		spin_unlock(&scope->dev->mw_lock);
	}
	rcu_read_unlock();
	return err;
}

static int free_window(struct verve_window *window, struct verve_mr_scope *scope,
		       u32 key, bool is_remote)
	__must_hold(&scope->dev->mw_lock)
{
	/* o10-37.2.26 */
	if (window->mr.key != key || window->type == IB_MW_TYPE_1)
		return -EINVAL;
	/* LOCAL_INV of an unbound window has no effect. */
	if (!window->base)
		return is_remote ? -EINVAL : 0;
	if (window->owner != scope)
		return -EINVAL;
	if (!verve_mr_withdraw(&window->mr))
		return -EAGAIN;
	unbind(scope->dev, window);
	return 0;
}

int verve_window_invalidate(struct verve_mr *mr, struct verve_mr_scope *scope, u32 key,
			    bool is_remote)
{
	int err;

	spin_lock(&scope->dev->mw_lock);
	err = free_window(to_window(mr), scope, key, is_remote);
	spin_unlock(&scope->dev->mw_lock);
	return err;
}

void verve_window_release_all(struct verve_mr_scope *scope)
{
	struct verve_window *window, *next;

	spin_lock_bh(&scope->dev->mw_lock);
	list_for_each_entry_safe(window, next, &scope->windows, entry) {
		/* Look-ups of other QPs may hold a reference, but are refused. */
		verve_mr_withdraw(&window->mr);
		unbind(scope->dev, window);
	}
	spin_unlock_bh(&scope->dev->mw_lock);
}

struct verve_mr *verve_window_alloc(struct ib_pd *pd, enum ib_mw_type type)
{
	struct verve_window *window = kzalloc_obj(*window, GFP_KERNEL_ACCOUNT);

	if (!window)
		return NULL;
	verve_mr_init(&window->mr, pd, VERVE_MR_WINDOW, 0);
	window->type = type;
	INIT_LIST_HEAD(&window->entry);
	return &window->mr;
}

void verve_window_free(struct verve_dev *dev, struct verve_mr *mr)
{
	struct verve_window *window = to_window(mr);

	spin_lock_bh(&dev->mw_lock);
	window->is_dead = true;
	verve_mr_withdraw(mr);
	spin_unlock_bh(&dev->mw_lock);
	verve_mr_put(mr);
	wait_for_completion(&mr->idle);

	spin_lock_bh(&dev->mw_lock);
	unbind(dev, window);
	spin_unlock_bh(&dev->mw_lock);
	kfree_rcu(window, mr.rcu);
}
