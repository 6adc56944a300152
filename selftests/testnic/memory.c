// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access to memory regions that the NIC knows, in place of DMA
 */
#include <linux/highmem.h>
#include <rdma/ib_verbs.h>
#include "nic.h"

struct known_mr *nic_find_mr(struct nic *nic, const void *pd, u32 key)
{
	struct known_mr *known;

	list_for_each_entry(known, &nic->mrs, entry) {
		if (known->mr->rkey == key && known->mr->pd == pd)
			return known;
	}
	return NULL;
}

/* Find the region of a key if it allows @access to the whole range, else NULL. */
static struct known_mr *find_range(struct nic *nic, const void *pd, u32 key,
				   int access, u64 va, u64 len)
{
	struct known_mr *known = nic_find_mr(nic, pd, key);
	const struct roce_offload_mr *mr;

	if (!known)
		return NULL;
	mr = known->mr;
	if ((mr->access & access) != access || va < mr->iova ||
	    len > mr->length || va - mr->iova > mr->length - len)
		return NULL;
	return known;
}

bool nic_memory_allows(struct nic *nic, const void *pd, u32 key, int access,
		       u64 va, u64 len)
{
	return !len || find_range(nic, pd, key, access, va, len);
}

static void copy(u8 *at, u8 *data, unsigned int len, bool is_write)
{
	if (is_write)
		memcpy(at, data, len);
	else
		memcpy(data, at, len);
}

static void copy_pages(struct page **pages, u64 at, u8 *data, unsigned int len,
		       bool is_write)
{
	while (len) {
		unsigned int offset = offset_in_page(at);
		unsigned int part = min_t(u64, len, PAGE_SIZE - offset);
		u8 *page = kmap_local_page(pages[at >> PAGE_SHIFT]);

		copy(page + offset, data, part, is_write);
		kunmap_local(page);
		at += part;
		data += part;
		len -= part;
	}
}

bool nic_memory_copy(struct nic *nic, const void *pd, u32 key, int access,
		     u64 va, u8 *data, unsigned int len, bool is_write)
{
	struct known_mr *known;
	u64 at;

	if (!len)
		return true;
	known = find_range(nic, pd, key, access, va, len);
	if (!known)
		return false;
	at = va - known->mr->iova + known->mr->offset;
	if (known->pages)
		copy_pages(known->pages, at, data, len, is_write);
	else
		copy(known->map.vaddr + at, data, len, is_write);
	return true;
}

bool nic_memory_copy_sges(struct nic *nic, const void *pd,
			  const struct ib_sge *sge, unsigned int num_sge,
			  u32 offset, u8 *data, unsigned int len, bool is_write)
{
	int access = is_write ? IB_ACCESS_LOCAL_WRITE : 0;

	for (; len && num_sge; sge++, num_sge--) {
		unsigned int part;

		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		part = min(len, sge->length - offset);
		if (!nic_memory_copy(nic, pd, sge->lkey, access,
				     sge->addr + offset, data, part, is_write))
			return false;
		data += part;
		len -= part;
		offset = 0;
	}
	return !len;
}
