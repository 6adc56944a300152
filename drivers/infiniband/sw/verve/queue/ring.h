/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Queues shared with user space
 *
 * The layout is struct rxe_queue_buf of librxe: log2 of the element size at
 * offset 0, the index mask at 4, the producer index at 128, the consumer index
 * at 256, and elements from 384. The number of slots is a power of two. One slot
 * stays free, so that producer == consumer means that the ring is empty.
 *
 * Each index has one writer. The writer finishes its access to the slot and then
 * store-releases the index. The reader load-acquires the index, masks it, and
 * then accesses the slot.
 *
 * The kernel keeps its own index in @index and only publishes copies, so user
 * space cannot change it. The kernel masks the user's index and trusts it no
 * further. A wrong index makes the user read stale slots, or makes the kernel
 * process stale entries of that user.
 *
 * The kernel copies each slot that user space wrote once, and validates the copy.
 */
#ifndef VERVE_QUEUE_RING_H
#define VERVE_QUEUE_RING_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

/**
 * struct verve_ring - a queue shared with user space, or private to the kernel
 * @buf: memory of the ring, from vmalloc(), which user space may map
 * @size: bytes of @buf, whole pages
 * @mask: number of slots - 1; private copy
 * @elem_shift: log2 of the element size; private copy
 * @index: the kernel's index, masked: producer of a CQ, consumer of other queues
 * @other: the user's index at the last read, masked
 * @entry: mmap entry, which owns @buf; NULL for kernel queues
 * @is_moving: a struct verve_ring_move copies the entries to another ring
 */
struct verve_ring {
	struct rxe_queue_buf *buf;
	size_t size;
	u32 mask;
	u8 elem_shift;
	u32 index;
	u32 other;
	struct rdma_user_mmap_entry *entry;
	bool is_moving;
};

/**
 * verve_ring_alloc() - allocate a ring
 * @ring: ring to initialise
 * @entries: minimum capacity; the number of slots is the next power of two above
 * @elem_size: bytes of an element, rounded up to a power of two >= 64
 * @uctx: context of the process that maps the ring, or NULL for a kernel queue
 *
 * Context: process.
 * Return: 0 or -ENOMEM, -EINVAL.
 */
int verve_ring_alloc(struct verve_ring *ring, u32 entries, u32 elem_size,
		     struct ib_ucontext *uctx);
/* Free a ring. Mapped pages live until user space unmaps them. Context: process. */
void verve_ring_free(struct verve_ring *ring);
/* Fill in the offset and size with which user space maps the ring. */
void verve_ring_describe(const struct verve_ring *ring, struct mminfo *mi);

static inline u32 verve_ring_capacity(const struct verve_ring *ring)
{
	return ring->mask;
}

/*
 * Count the entries that the user has produced and the kernel has not consumed
 * (SQ, RQ, SRQ). The load-acquire lets the caller read that many slots.
 */
u32 verve_ring_pending(struct verve_ring *ring);
/* Slot at distance @ahead from the kernel's index; 0 is the next slot. */
void *verve_ring_slot(const struct verve_ring *ring, u32 ahead);
/* Consume @n entries: advance the kernel's index and publish it (release). */
void verve_ring_advance(struct verve_ring *ring, u32 n);
/* Consume all pending entries unread. */
void verve_ring_discard(struct verve_ring *ring);

/**
 * verve_ring_unread() - count the entries that the user has not consumed (CQ)
 * @ring: ring
 *
 * The load-acquire lets the caller overwrite all other slots.
 *
 * After an extended poll, librxe before version 55 may leave the consumer index
 * one beyond the producer index. librxe reads the slot there next. So the kernel
 * moves its producer index to that slot.
 *
 * Context: the lock that protects @ring is held.
 * Return: number of entries.
 */
u32 verve_ring_unread(struct verve_ring *ring);
/* Count the free slots. See verve_ring_unread(). */
static inline u32 verve_ring_room(struct verve_ring *ring)
{
	return ring->mask - verve_ring_unread(ring);
}

/* Publish @n entries, beginning with verve_ring_slot(ring, 0) (release). */
void verve_ring_produce(struct verve_ring *ring, u32 n);

/* The user's side of kernel RQs and SRQs: ib_post_recv() produces. */
u32 verve_ring_peer_room(const struct verve_ring *ring);
void *verve_ring_peer_slot(const struct verve_ring *ring);
void verve_ring_peer_advance(struct verve_ring *ring);

/* The user's side of kernel CQs: ib_poll_cq() consumes. */
void *verve_ring_peer_next(const struct verve_ring *ring);
void verve_ring_peer_consume(struct verve_ring *ring);

/**
 * struct verve_ring_move - state of copying a ring's entries to another ring
 * @from: ring in use
 * @to: ring from verve_ring_alloc() with elements of the same size
 * @consumes: the kernel is the consumer of @from
 * @base: index in @from of the entry that goes to the first slot of @to
 * @copied: entries from @base on that have been copied or consumed
 * @total: entries from @base on at the last call of verve_ring_move()
 * @passes: calls of verve_ring_move() that returned -EAGAIN
 *
 * A ring may hold 2^20 entries, so verve_ring_copy() runs without the lock and
 * with BH on. Entries in the ring do not change meanwhile. User space that writes
 * to them against the protocol corrupts only its own entries.
 */
struct verve_ring_move {
	struct verve_ring *from, *to;
	bool consumes;
	u32 base;
	u32 copied;
	u32 total;
	unsigned int passes;
};

/**
 * verve_ring_move() - replace a ring and keep its entries
 * @move: @from, @to and @consumes are set, all other fields are 0
 *
 * On -EAGAIN, drop the lock, call verve_ring_copy() and call this function again.
 * On success the two rings have been exchanged, and the caller frees @to.
 *
 * Context: the lock that protects @from is held. Copies some hundred entries at most.
 * Return: 0; -EAGAIN; -EINVAL when @to is too small; -EBUSY during another move of
 * @from, or when entries arrive faster than they are copied. @from is unchanged
 * after an error.
 */
int verve_ring_move(struct verve_ring_move *move);
/* Copy the entries that verve_ring_move() has found. Context: process, no lock held. */
void verve_ring_copy(struct verve_ring_move *move);

/* Free the memory of a ring with the last reference to its mmap entry. */
void verve_ring_mmap_free(struct rdma_user_mmap_entry *entry);
/* Map the ring of a mmap entry. */
int verve_ring_mmap(struct rdma_user_mmap_entry *entry,
		    struct vm_area_struct *vma);

#endif
