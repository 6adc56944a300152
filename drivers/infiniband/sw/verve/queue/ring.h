/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: Queues shared with user space
 *
 * The layout is struct rxe_queue_buf as librxe knows it: log2 of the element
 * size at 0, the index mask at 4, the producer index at 128, the consumer
 * index at 256, elements from 384. There is a power of two of slots; one stays
 * free, so that producer == consumer means empty.
 *
 * One side writes each index: it finishes its access to the slot, then
 * store-releases the index; the other load-acquires it, masks it, and only
 * then looks at the slot. The kernel keeps its own index privately in @index
 * and only publishes copies: whatever user space writes over the page changes
 * what the kernel reads as the user's index, never the kernel's own. The
 * user's index is a number of entries modulo the mask and nothing more: any
 * value is legal, a wild one makes the user read or repeat its own garbage.
 *
 * Slot contents that the user wrote are copied once and validated in the copy.
 */
#ifndef VERVE_QUEUE_RING_H
#define VERVE_QUEUE_RING_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

/**
 * struct verve_ring - one queue shared with user space (or kept by the kernel)
 * @buf: vmalloc() memory, zeroed, pages that may be mapped
 * @size: bytes of @buf, whole pages
 * @mask: slots - 1, kernel's copy
 * @elem_shift: log2 of the element size, kernel's copy
 * @index: the kernel's own index, masked: producer of a CQ, consumer of others
 * @other: the user's index as last read
 * @entry: for mmap, NULL for kernel queues; owns @buf
 * @is_moving: its entries are being copied (struct verve_ring_move)
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
 * verve_ring_alloc() - make a ring
 * @ring: to be filled
 * @entries: that it must hold; slots are the next power of two above
 * @elem_size: bytes of an element, rounded up to a power of two >= 64
 * @uctx: the mapping process's context, or NULL for a kernel queue
 *
 * Context: process.
 * Return: 0 or -ENOMEM, -EINVAL.
 */
int verve_ring_alloc(struct verve_ring *ring, u32 entries, u32 elem_size,
		     struct ib_ucontext *uctx);
/* Process context. Mapped pages live on until user space unmaps them. */
void verve_ring_free(struct verve_ring *ring);
/* What user space needs to map it. */
void verve_ring_describe(const struct verve_ring *ring, struct mminfo *mi);

static inline u32 verve_ring_capacity(const struct verve_ring *ring)
{
	return ring->mask;
}

/*
 * Consumer side (SQ, RQ, SRQ): entries the user has produced and the kernel
 * has not consumed; acquires, so slots may be read up to that count.
 */
u32 verve_ring_pending(struct verve_ring *ring);
/* Slot @ahead of the kernel's index (0: the next one). */
void *verve_ring_slot(const struct verve_ring *ring, u32 ahead);
/* Kernel has done with @n slots of its side: advance and publish (release). */
void verve_ring_advance(struct verve_ring *ring, u32 n);
/* Forget all that is pending. */
void verve_ring_discard(struct verve_ring *ring);

/**
 * verve_ring_unread() - producer side (CQ): entries not yet consumed
 * @ring: ring
 *
 * Acquires, so other slots may be overwritten. librxe before its version 55
 * may leave its index one beyond the producer's after an extended poll: it has
 * consumed more than there was. The producer then follows it to that slot, the
 * next one that it will look at, so that both agree again.
 *
 * Context: the lock that protects @ring is held.
 * Return: entries.
 */
u32 verve_ring_unread(struct verve_ring *ring);
/* Free slots; as verve_ring_unread(). */
static inline u32 verve_ring_room(struct verve_ring *ring)
{
	return ring->mask - verve_ring_unread(ring);
}

/* @n slots from verve_ring_slot(ring, 0) have been filled: publish (release). */
void verve_ring_produce(struct verve_ring *ring, u32 n);

/* Kernel RQs and SRQs: the kernel is the producer, too. */
u32 verve_ring_peer_room(const struct verve_ring *ring);
void *verve_ring_peer_slot(const struct verve_ring *ring);
void verve_ring_peer_advance(struct verve_ring *ring);

/* Kernel CQs: the kernel is the consumer, too. */
void *verve_ring_peer_next(const struct verve_ring *ring);
void verve_ring_peer_consume(struct verve_ring *ring);

/**
 * struct verve_ring_move - the entries of a ring, on their way into another
 * @from: in use
 * @to: from verve_ring_alloc(), elements of the same size
 * @consumes: which side of @from the kernel is
 * @base: index in @from of the entry that goes into the first slot of @to
 * @copied: entries from there on that have been copied, or consumed
 * @total: those that there were when verve_ring_move() looked last
 * @passes: how often it has looked
 *
 * A ring may hold 2^20 entries: the lock is not held, and BH are not off, while they
 * are copied. Those that lie in the ring stay as they are meanwhile, unless user space
 * breaks the rules of its side; then it finds garbage of its own.
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
 * verve_ring_move() - replace a ring, keeping the entries in it
 * @move: @from, @to and @consumes set, the rest 0
 *
 * Call it until it says something else than -EAGAIN, and verve_ring_copy() in between.
 * When it has said 0, @to is what @from was, to be freed.
 *
 * Context: the lock that protects @from is held, for at most some hundred entries.
 * Return: 0; -EAGAIN; -EINVAL when @to is too small; -EBUSY while another moves them,
 * or when more entries come than can be copied. With an error nothing has changed.
 */
int verve_ring_move(struct verve_ring_move *move);
/* Copy what verve_ring_move() has found. Process, no lock held. */
void verve_ring_copy(struct verve_ring_move *move);

/* The ring's memory, when the last user of the mmap entry has gone. */
void verve_ring_mmap_free(struct rdma_user_mmap_entry *entry);
/* Map the ring that a mmap entry stands for. */
int verve_ring_mmap(struct rdma_user_mmap_entry *entry,
		    struct vm_area_struct *vma);

#endif
