// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cursors over the memory of a message.
 */
#include <linux/string.h>
#include "iter.h"
#include "region.h"

void verve_iter_sges(struct verve_iter *it, struct verve_dev *dev,
		     struct ib_pd *pd, const struct verve_sge *sge, u32 num_sge,
		     int access)
{
	*it = (struct verve_iter) {
		.dev = dev,
		.pd = pd,
		.sge = sge,
		.num_sge = num_sge,
		.access = access,
	};
	if (num_sge) {
		it->addr = sge->addr;
		it->left = sge->length;
	}
}

void verve_iter_range(struct verve_iter *it, struct verve_mr *mr, u64 va,
		      u32 len, int access)
{
	verve_mr_hold(mr);
	*it = (struct verve_iter) {
		.access = access,
		.mr = mr,
		.addr = va,
		.left = len,
	};
}

void verve_iter_flat(struct verve_iter *it, void *data, u32 len)
{
	*it = (struct verve_iter) {
		.addr = (uintptr_t)data,
		.left = len,
		.flat = true,
	};
}

void verve_iter_end(struct verve_iter *it)
{
	if (it->mr)
		verve_mr_put(it->mr);
	*it = (struct verve_iter) {};
}

/* Go to the next segment with bytes left. Return: false at the end. */
static bool find_segment(struct verve_iter *it)
{
	while (!it->left) {
		if (it->mr)
			verve_mr_put(it->mr);
		it->mr = NULL;
		if (it->num_sge <= 1)
			return false;
		it->num_sge--;
		it->sge++;
		it->addr = it->sge->addr;
		it->left = it->sge->length;
	}
	return true;
}

/* Look up the region of a segment. Return: NULL unless it covers the whole segment. */
static struct verve_mr *segment_mr(struct verve_dev *dev, struct ib_pd *pd,
				   const struct verve_sge *sge, int access)
{
	struct verve_mr *mr = verve_mr_get(dev, pd, sge->lkey, access);

	if (mr && !verve_mr_covers(mr, sge->addr, sge->length)) {
		verve_mr_put(mr);
		mr = NULL;
	}
	return mr;
}

void *verve_iter_next(struct verve_iter *it, u32 want, u32 *got)
{
	void *addr;

	if (!find_segment(it))
		return ERR_PTR(-EINVAL);

	*got = min(want, it->left);
	if (it->flat) {
		addr = (void *)(uintptr_t)it->addr;
	} else {
		if (!it->mr)
			it->mr = segment_mr(it->dev, it->pd, it->sge,
					    it->access);
		if (!it->mr)
			return ERR_PTR(-EACCES);
		addr = verve_mr_map(it->mr, it->addr, got, it->access);
		if (IS_ERR(addr))
			return addr;
	}
	it->addr += *got;
	it->left -= *got;
	return addr;
}

int verve_iter_skip(struct verve_iter *it, u32 len)
{
	while (len) {
		u32 step;

		if (!find_segment(it))
			return -EINVAL;
		step = min(len, it->left);
		it->addr += step;
		it->left -= step;
		len -= step;
	}
	return 0;
}

int verve_iter_read(struct verve_iter *it, void *buf, u32 len)
{
	while (len) {
		u32 got;
		void *from = verve_iter_next(it, len, &got);

		if (IS_ERR(from))
			return PTR_ERR(from);
		memcpy(buf, from, got);
		buf += got;
		len -= got;
	}
	return 0;
}

int verve_iter_write(struct verve_iter *it, const void *buf, u32 len)
{
	while (len) {
		u32 got;
		void *to = verve_iter_next(it, len, &got);

		if (IS_ERR(to))
			return PTR_ERR(to);
		memcpy(to, buf, got);
		buf += got;
		len -= got;
	}
	return 0;
}

int verve_sges_check(struct verve_dev *dev, struct ib_pd *pd,
		     const struct verve_sge *sge, u32 num_sge, int access)
{
	for (; num_sge; num_sge--, sge++) {
		struct verve_mr *mr;

		if (!sge->length)
			continue;
		mr = segment_mr(dev, pd, sge, access);
		if (!mr)
			return -EACCES;
		verve_mr_put(mr);
	}
	return 0;
}
