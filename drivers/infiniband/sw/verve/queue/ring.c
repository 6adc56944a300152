// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues shared with user space. See ring.h for the protocol.
 */
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "ring.h"

/*
 * vmalloc_user() does not charge the memory cgroup. A process can have many
 * large rings, so charge them.
 */
#define RING_GFP	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN)

enum {
	/* Entries copied without a reschedule; the last ones with BH off */
	MOVED_AT_ONCE	= 256,
	/* Each pass finds far fewer new entries than the one before. */
	MAX_PASSES	= 16,
};

/**
 * struct ring_mmap - mmap entry of a ring
 * @rdma: entry of the RDMA core
 * @buf: memory of the ring, freed with the last reference to @rdma
 * @size: bytes of @buf
 */
struct ring_mmap {
	struct rdma_user_mmap_entry rdma;
	struct rxe_queue_buf *buf;
	size_t size;
};

static struct ring_mmap *to_ring_mmap(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct ring_mmap, rdma);
}

void verve_ring_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct ring_mmap *map = to_ring_mmap(entry);

	vfree(map->buf);
	kfree(map);
}

int verve_ring_mmap(struct rdma_user_mmap_entry *entry,
		    struct vm_area_struct *vma)
{
	const struct ring_mmap *map = to_ring_mmap(entry);
	size_t offset;
	int err = 0;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (offset = 0; !err && offset < map->size; offset += PAGE_SIZE)
		err = vm_insert_page(vma, vma->vm_start + offset,
				     vmalloc_to_page((void *)map->buf + offset));
	return err;
}

static int publish_entry(struct verve_ring *ring, struct ib_ucontext *uctx)
{
	struct ring_mmap *map = kzalloc_obj(*map, GFP_KERNEL_ACCOUNT);
	int err;

	if (!map)
		return -ENOMEM;
	map->buf = ring->buf;
	map->size = ring->size;
	err = rdma_user_mmap_entry_insert(uctx, &map->rdma, ring->size);
	if (err) {
		kfree(map);
		return err;
	}
	ring->entry = &map->rdma;
	return 0;
}

int verve_ring_alloc(struct verve_ring *ring, u32 entries, u32 elem_size,
		     struct ib_ucontext *uctx)
{
	size_t slots = roundup_pow_of_two((size_t)entries + 1);
	u32 shift = max(order_base_2(elem_size), 6);
	int err;

	*ring = (struct verve_ring) {
		.size = PAGE_ALIGN(sizeof(*ring->buf) + (slots << shift)),
		.mask = slots - 1,
		.elem_shift = shift,
	};
	if (ring->size > U32_MAX)
		return -EINVAL;
	ring->buf = __vmalloc(ring->size, RING_GFP);
	if (!ring->buf)
		return -ENOMEM;
	ring->buf->log2_elem_size = shift;
	ring->buf->index_mask = ring->mask;
	if (!uctx)
		return 0;

	err = publish_entry(ring, uctx);
	if (err) {
		vfree(ring->buf);
		ring->buf = NULL;
	}
	return err;
}

void verve_ring_free(struct verve_ring *ring)
{
	if (ring->entry)
		rdma_user_mmap_entry_remove(ring->entry);
	else
		vfree(ring->buf);
	ring->entry = NULL;
	ring->buf = NULL;
}

void verve_ring_describe(const struct verve_ring *ring, struct mminfo *mi)
{
	*mi = (struct mminfo) {
		.offset = rdma_user_mmap_get_offset(ring->entry),
		.size = ring->size,
	};
}

static void *slot_at(const struct verve_ring *ring, u32 index)
{
	return ring->buf->data +
	       ((size_t)(index & ring->mask) << ring->elem_shift);
}

void *verve_ring_slot(const struct verve_ring *ring, u32 ahead)
{
	return slot_at(ring, ring->index + ahead);
}

u32 verve_ring_pending(struct verve_ring *ring)
{
	/* Pairs with user space's release after it has filled the slots. */
	ring->other = smp_load_acquire(&ring->buf->producer_index) & ring->mask;
	return (ring->other - ring->index) & ring->mask;
}

void verve_ring_advance(struct verve_ring *ring, u32 n)
{
	ring->index = (ring->index + n) & ring->mask;
	/* Pairs with user space's acquire before it fills the slots again. */
	smp_store_release(&ring->buf->consumer_index, ring->index);
}

void verve_ring_discard(struct verve_ring *ring)
{
	verve_ring_advance(ring, verve_ring_pending(ring));
}

u32 verve_ring_unread(struct verve_ring *ring)
{
	u32 most = (ring->index - ring->other) & ring->mask;
	u32 unread;

	/* Pairs with user space's release after it has read the slots. */
	ring->other = smp_load_acquire(&ring->buf->consumer_index) & ring->mask;
	unread = (ring->index - ring->other) & ring->mask;
	if (likely(unread <= most))
		return unread;

	ring->index = ring->other;
	/* No release: this index publishes no new entry. */
	WRITE_ONCE(ring->buf->producer_index, ring->index);
	return 0;
}

void verve_ring_produce(struct verve_ring *ring, u32 n)
{
	ring->index = (ring->index + n) & ring->mask;
	/* Pairs with user space's acquire before it reads the slots. */
	smp_store_release(&ring->buf->producer_index, ring->index);
}

u32 verve_ring_peer_room(const struct verve_ring *ring)
{
	return (ring->index - ring->buf->producer_index - 1) & ring->mask;
}

void *verve_ring_peer_slot(const struct verve_ring *ring)
{
	return slot_at(ring, ring->buf->producer_index);
}

void verve_ring_peer_advance(struct verve_ring *ring)
{
	ring->buf->producer_index =
		(ring->buf->producer_index + 1) & ring->mask;
}

void *verve_ring_peer_next(const struct verve_ring *ring)
{
	if (ring->buf->consumer_index == ring->index)
		return NULL;
	return slot_at(ring, ring->buf->consumer_index);
}

void verve_ring_peer_consume(struct verve_ring *ring)
{
	ring->buf->consumer_index =
		(ring->buf->consumer_index + 1) & ring->mask;
}

static void copy_entries(struct verve_ring_move *move, u32 most)
{
	u32 end = move->copied + min(move->total - move->copied, most);

	for (; move->copied != end; move->copied++)
		memcpy(slot_at(move->to, move->copied),
		       slot_at(move->from, move->base + move->copied),
		       1UL << move->from->elem_shift);
}

void verve_ring_copy(struct verve_ring_move *move)
{
	while (move->copied != move->total) {
		copy_entries(move, MOVED_AT_ONCE);
		cond_resched();
	}
}

/*
 * Take note of the @n entries now in the ring, beginning at index @first. User space
 * may set its index to any value, so keep @copied within @total.
 */
static void find_entries(struct verve_ring_move *move, u32 first, u32 n)
{
	u32 consumed;

	if (!move->passes)
		move->base = first;
	consumed = (first - move->base) & move->from->mask;
	move->total = consumed + n;
	move->copied = clamp(move->copied, consumed, move->total);
}

static void replace_ring(struct verve_ring_move *move, u32 n)
{
	struct verve_ring *to = move->to;
	u32 end = move->total & to->mask, first = (move->total - n) & to->mask;

	to->buf->producer_index = end;
	to->buf->consumer_index = first;
	to->index = move->consumes ? first : end;
	to->other = move->consumes ? end : first;
	swap(*move->from, *to);
}

int verve_ring_move(struct verve_ring_move *move)
{
	struct verve_ring *from = move->from;
	u32 n = move->consumes ? verve_ring_pending(from) :
				 verve_ring_unread(from);
	int err = 0;

	if (!move->passes && from->is_moving)
		return -EBUSY;
	find_entries(move, move->consumes ? from->index : from->other, n);
	if (n > move->to->mask)
		err = -EINVAL;
	else if (move->total - move->copied > MOVED_AT_ONCE)
		err = move->passes++ < MAX_PASSES ? -EAGAIN : -EBUSY;
	from->is_moving = err == -EAGAIN;
	if (err)
		return err;
	copy_entries(move, MOVED_AT_ONCE);
	replace_ring(move, n);
	return 0;
}
