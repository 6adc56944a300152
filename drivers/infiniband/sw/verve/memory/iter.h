/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cursors over the memory that a work request names
 */
#ifndef VERVE_MEMORY_ITER_H
#define VERVE_MEMORY_ITER_H

#include <linux/types.h>

struct ib_pd;
struct verve_dev;
struct verve_mr;

/* The same layout as struct ib_sge and struct rxe_sge. */
struct verve_sge {
	u64 addr;
	u32 length;
	u32 lkey;
};

/**
 * struct verve_iter - cursor over the memory of a message
 * @dev: where keys are looked up
 * @pd: whose keys
 * @sge: segments left, the current one first
 * @num_sge: of those
 * @access: IB_ACCESS_LOCAL_WRITE to be written, 0 to be read
 * @mr: MR of the current segment, held, or NULL
 * @addr: next byte (a kernel address when @flat)
 * @left: bytes left in the current segment
 * @flat: @addr is plain kernel memory (inline data, atomics)
 *
 * Either a list of SGEs, each looked up when the cursor reaches it, or one
 * range of a held MR, or plain memory. End every iterator: it may hold an MR.
 */
struct verve_iter {
	struct verve_dev *dev;
	struct ib_pd *pd;
	const struct verve_sge *sge;
	u32 num_sge;
	int access;
	struct verve_mr *mr;
	u64 addr;
	u32 left;
	bool flat;
};

void verve_iter_sges(struct verve_iter *it, struct verve_dev *dev,
		     struct ib_pd *pd, const struct verve_sge *sge, u32 num_sge,
		     int access);
/* Takes its own reference on @mr; the range has been checked. */
void verve_iter_range(struct verve_iter *it, struct verve_mr *mr, u64 va,
		      u32 len, int access);
void verve_iter_flat(struct verve_iter *it, void *data, u32 len);
void verve_iter_end(struct verve_iter *it);

/**
 * verve_iter_next() - the next run of contiguous memory, and step over it
 * @it: iterator
 * @want: bytes wanted, not 0
 * @got: bytes there, 1 .. @want
 *
 * Context: any up to softirq.
 * Return: address, or ERR_PTR: -EINVAL when the segments end, -EACCES when a
 * key is not there, not allowed, or does not cover its segment, -EAGAIN when
 * memory must be faulted in: the iterator then stays where that is.
 */
void *verve_iter_next(struct verve_iter *it, u32 want, u32 *got);

/* Step over @len bytes without looking at keys. -EINVAL when segments end. */
int verve_iter_skip(struct verve_iter *it, u32 len);
/* Copy out of / into the iterator's memory. Errors as verve_iter_next(). */
int verve_iter_read(struct verve_iter *it, void *buf, u32 len);
int verve_iter_write(struct verve_iter *it, const void *buf, u32 len);

/**
 * verve_sges_check() - may every segment be accessed?
 * @dev: device
 * @pd: whose keys
 * @sge: segments
 * @num_sge: of those
 * @access: as of struct verve_iter
 *
 * Context: any up to softirq.
 * Return: 0 or -EACCES.
 */
int verve_sges_check(struct verve_dev *dev, struct ib_pd *pd,
		     const struct verve_sge *sge, u32 num_sge, int access);

#endif
