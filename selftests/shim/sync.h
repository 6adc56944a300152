/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks for a program with one thread. A lock excludes nobody, but it records
 * whether it is held.
 */
#ifndef SHIM_SYNC_H
#define SHIM_SYNC_H

#include "kernel.h"

#define __must_hold(lock)
#define __must_hold_shared(lock)
#define __acquires(lock)
#define __releases(lock)
#define __acquire(lock)		do { } while (0)
#define __release(lock)		do { } while (0)
#define __guarded_by(lock)
#define __context_unsafe(comment)
#define context_unsafe(...)	({ __VA_ARGS__; })

#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))
#define smp_mb()		do { } while (0)
#define smp_wmb()		do { } while (0)
#define wmb()			do { } while (0)
#define smp_mb__before_atomic()	do { } while (0)
#define smp_mb__after_atomic()	do { } while (0)
#define smp_load_acquire(p)	(*(p))
#define smp_store_release(p, value) (*(p) = (value))

#define rcu_read_lock()		do { } while (0)
#define rcu_read_unlock()	do { } while (0)
#define rcu_dereference(p)	(p)

#define local_bh_disable()	do { } while (0)
#define local_bh_enable()	do { } while (0)
/* Defined by programs whose files call irqs_disabled() */
extern bool shim_irqs_off;

#define irqs_disabled()		shim_irqs_off
#define in_hardirq()		false
#define cond_resched()		do { } while (0)

/* One CPU */
#define DEFINE_PER_CPU(type, name) type name
#define this_cpu_ptr(ptr)	(ptr)
#define __this_cpu_add(x, n)	((x) += (n))

typedef struct { bool held; } spinlock_t;
struct mutex { bool held; };

#define SINGLE_DEPTH_NESTING	1
#define lockdep_assert_held(lock) shim_expect((lock)->held)

static inline void spin_lock_init(spinlock_t *lock)
{
	lock->held = false;
}

static inline bool spin_trylock(spinlock_t *lock)
{
	if (lock->held)
		return false;
	lock->held = true;
	return true;
}

/* Waiting for a held lock would never end in one thread. */
static inline void spin_lock(spinlock_t *lock)
{
	shim_expect(!lock->held);
	lock->held = true;
}

static inline void spin_unlock(spinlock_t *lock)
{
	shim_expect(lock->held);
	lock->held = false;
}

typedef spinlock_t local_lock_t;

#define INIT_LOCAL_LOCK(name)		{}
#define local_lock_nested_bh(lock)	spin_lock(lock)
#define local_unlock_nested_bh(lock)	spin_unlock(lock)

/* Wait for a lock. The program implements this, and runs the owner meanwhile. */
void shim_spin(spinlock_t *lock);

#define spin_lock_nested(lock, depth)	shim_spin(lock)
#define spin_lock_bh(lock)		spin_lock(lock)
#define spin_unlock_bh(lock)		spin_unlock(lock)
#define spin_lock_irqsave(lock, flags)	do { (flags) = 0; spin_lock(lock); } while (0)
#define spin_unlock_irqrestore(lock, flags) \
	do { (void)(flags); spin_unlock(lock); } while (0)

typedef struct { int counter; } atomic_t;
typedef struct { long long counter; } atomic64_t;
typedef struct { int refs; } refcount_t;

static inline int atomic_read(const atomic_t *v)
{
	return v->counter;
}

static inline void atomic_set(atomic_t *v, int i)
{
	v->counter = i;
}

static inline int atomic_inc_return(atomic_t *v)
{
	return ++v->counter;
}

static inline void atomic_sub(int i, atomic_t *v)
{
	v->counter -= i;
}

static inline void atomic_dec(atomic_t *v)
{
	v->counter--;
}

static inline bool atomic_add_unless(atomic_t *v, int a, int u)
{
	if (v->counter == u)
		return false;
	v->counter += a;
	return true;
}

static inline long long atomic64_fetch_add(long long n, atomic64_t *v)
{
	long long old = v->counter;

	v->counter = (unsigned long long)old + n;
	return old;
}

static inline u64 shim_cmpxchg64(u64 *at, u64 old, u64 value)
{
	u64 found = *at;

	if (found == old)
		*at = value;
	return found;
}

#define cmpxchg64(at, old, value) shim_cmpxchg64(at, old, value)

static inline unsigned long shim_xchg(unsigned long *at, unsigned long value)
{
	unsigned long old = *at;

	*at = value;
	return old;
}

#define xchg(at, value) shim_xchg(at, value)

static inline void set_bit(int bit, unsigned long *word)
{
	*word |= BIT(bit);
}

static inline bool test_and_set_bit(int bit, unsigned long *word)
{
	bool was = *word & BIT(bit);

	set_bit(bit, word);
	return was;
}

static inline void clear_bit_unlock(int bit, unsigned long *word)
{
	*word &= ~BIT(bit);
}

#define for_each_set_bit(bit, word, size)		\
	for ((bit) = 0; (bit) < (size); (bit)++)	\
		if (*(word) & BIT(bit))

static inline void refcount_set(refcount_t *r, int n)
{
	r->refs = n;
}

static inline int refcount_read(const refcount_t *r)
{
	return r->refs;
}

static inline void refcount_inc(refcount_t *r)
{
	shim_expect(r->refs > 0);
	r->refs++;
}

static inline bool refcount_inc_not_zero(refcount_t *r)
{
	if (r->refs)
		r->refs++;
	return r->refs;
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	shim_expect(r->refs > 0);
	return !--r->refs;
}

struct llist_node { struct llist_node *next; };
struct llist_head { struct llist_node *first; };
struct list_head { struct list_head *next, *prev; };

static inline void init_llist_head(struct llist_head *list)
{
	list->first = NULL;
}

static inline bool llist_empty(const struct llist_head *list)
{
	return !list->first;
}

static inline bool llist_add_batch(struct llist_node *newest,
				   struct llist_node *oldest,
				   struct llist_head *list)
{
	oldest->next = list->first;
	list->first = newest;
	return !oldest->next;
}

static inline bool llist_add(struct llist_node *node, struct llist_head *list)
{
	return llist_add_batch(node, node, list);
}

static inline struct llist_node *llist_del_all(struct llist_head *list)
{
	struct llist_node *first = list->first;

	list->first = NULL;
	return first;
}

static inline struct llist_node *llist_reverse_order(struct llist_node *node)
{
	struct llist_node *reversed = NULL, *next;

	for (; node; node = next) {
		next = node->next;
		node->next = reversed;
		reversed = node;
	}
	return reversed;
}

#define shim_entry(node, type, member) \
	((node) ? container_of(node, type, member) : NULL)

#define llist_for_each_entry_safe(pos, n, node, member)			\
	for ((pos) = shim_entry(node, typeof(*(pos)), member);		\
	     (pos) && ((n) = shim_entry((pos)->member.next,		\
					typeof(*(pos)), member), true);	\
	     (pos) = (n))

#endif
