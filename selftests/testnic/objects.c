// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions and QPs that the NIC knows
 *
 * Hardware would map the pages of a region for DMA and keep the rest in its tables. Here
 * a lock is held while payload is placed. So nothing is written to an object after it was
 * taken off its list under that lock.
 */
#include <linux/dma-buf.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "nic.h"

MODULE_INFO(import_ns, "DMA_BUF");

bool nic_is_to_fail(struct nic *nic)
{
	return atomic_add_unless(&nic->fail, -1, 0);
}

/* Block for a limited time, as hardware that is busy with something else. */
static void hold(struct nic *nic)
{
	atomic_inc(&nic->held);
	wait_event_timeout(nic->holding, !READ_ONCE(nic->hold), 120 * HZ);
	atomic_dec(&nic->held);
}

static struct page **list_pages(struct sg_table *sgt)
{
	struct sg_page_iter iter;
	struct page **pages;
	size_t n = 0;

	for_each_sgtable_page(sgt, &iter, 0)
		n++;
	pages = kvcalloc(n, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return NULL;
	n = 0;
	for_each_sgtable_page(sgt, &iter, 0)
		pages[n++] = sg_page_iter_page(&iter);
	return pages;
}

/* The NIC has an entry for each number of a range. Any number, if there is no range. */
static bool has_entry(struct nic *nic, struct roce_offload_range range,
		      u32 number)
{
	if (!range.count || number - range.first < range.count)
		return true;
	atomic_inc(&nic->unable);
	return false;
}

static const struct ib_device *device_of(const struct roce_offload_mr *mr)
{
	return ((const struct ib_pd *)mr->pd)->device;
}

/* Only regions of different devices may have the same entry. */
static bool is_free(struct nic *nic, const struct roce_offload_mr *mr)
{
	struct known_mr *known;

	lockdep_assert_held(&nic->placing);
	list_for_each_entry(known, &nic->mrs, entry) {
		if (known->mr->rkey >> 8 != mr->rkey >> 8)
			continue;
		if (device_of(known->mr) == device_of(mr))
			atomic_inc(&nic->unable);
		return false;
	}
	return true;
}

/* Return: false if there is no room. */
static bool insert_mr(struct nic *nic, struct known_mr *known)
{
	bool has_room;

	spin_lock_bh(&nic->placing);
	has_room = !nic->keys.count || is_free(nic, known->mr);
	if (has_room)
		list_add(&known->entry, &nic->mrs);
	spin_unlock_bh(&nic->placing);
	return has_room;
}

/* QPs of all devices have different numbers. */
static void insert_qp(struct nic *nic, struct known_qp *known)
{
	struct known_qp *other;

	spin_lock_bh(&nic->reporting);
	spin_lock(&nic->placing);
	list_for_each_entry(other, &nic->qps, entry) {
		if (other->qp->qpn == known->qp->qpn)
			atomic_inc(&nic->unable);
	}
	list_add(&known->entry, &nic->qps);
	spin_unlock(&nic->placing);
	spin_unlock_bh(&nic->reporting);
}

#ifdef CONFIG_DMA_SHARED_BUFFER
static int map_dmabuf(struct known_mr *known)
{
	return dma_buf_vmap_unlocked(known->mr->dmabuf, &known->map);
}

static void unmap_dmabuf(struct known_mr *known)
{
	dma_buf_vunmap_unlocked(known->mr->dmabuf, &known->map);
}
#else
static int map_dmabuf(struct known_mr *known)
{
	return -EOPNOTSUPP;
}

static void unmap_dmabuf(struct known_mr *known)
{
}
#endif

static int map_memory(struct known_mr *known)
{
	const struct roce_offload_mr *mr = known->mr;

	if (mr->dmabuf)
		return map_dmabuf(known);
	/* list_pages() only reads the table. */
	known->pages = list_pages((struct sg_table *)mr->sgt);
	return known->pages ? 0 : -ENOMEM;
}

static void unmap_memory(struct known_mr *known)
{
	if (known->mr->dmabuf)
		unmap_dmabuf(known);
	else
		kvfree(known->pages);
}

int nic_mr_add(void *priv, const struct roce_offload_mr *mr, void **context)
{
	struct nic *nic = priv;
	struct known_mr *known;
	int err;

	hold(nic);
	if (nic_is_to_fail(nic) || !has_entry(nic, nic->keys, mr->rkey >> 8))
		return -EIO;
	known = kzalloc_obj(*known);
	if (!known)
		return -ENOMEM;
	known->nic = nic;
	known->mr = mr;
	err = map_memory(known);
	if (err)
		goto free;
	if (!insert_mr(nic, known)) {
		err = -ENOSPC;
		goto unmap;
	}
	atomic_inc(&nic->num_mrs);
	*context = known;
	return 0;

unmap:
	unmap_memory(known);
free:
	kfree(known);
	return err;
}

void nic_mr_del(void *context)
{
	struct known_mr *known = context;
	struct nic *nic = known->nic;

	spin_lock_bh(&nic->placing);
	list_del(&known->entry);
	spin_unlock_bh(&nic->placing);
	atomic_dec(&nic->num_mrs);
	unmap_memory(known);
	kfree(known);
}

int nic_qp_add(void *priv, struct roce_offload_qp *qp, void **context)
{
	struct nic *nic = priv;
	struct known_qp *known;

	hold(nic);
	if (nic_is_to_fail(nic) || !has_entry(nic, nic->qpns, qp->qpn))
		return -EIO;
	known = kzalloc_obj(*known);
	if (!known)
		return -ENOMEM;
	known->nic = nic;
	known->qp = qp;
	nic_firmware_init(known);
	insert_qp(nic, known);
	atomic_inc(&nic->num_qps);
	*context = known;
	return 0;
}

void nic_qp_del(void *context)
{
	struct known_qp *known = context;
	struct nic *nic = known->nic;

	spin_lock_bh(&nic->reporting);
	spin_lock(&nic->placing);
	list_del(&known->entry);
	spin_unlock(&nic->placing);
	spin_unlock_bh(&nic->reporting);
	nic_firmware_exit(known);
	atomic_dec(&nic->num_qps);
	kfree(known);
}
