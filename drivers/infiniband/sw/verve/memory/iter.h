/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cursors over the memory of a work request
 */
#ifndef VERVE_MEMORY_ITER_H
#define VERVE_MEMORY_ITER_H

#include <linux/types.h>

struct ib_pd;
struct verve_dev;
struct verve_mr;

/* A segment, with the layout of struct ib_sge and struct rxe_sge */
struct verve_sge {
	u64 addr;
	u32 length;
	u32 lkey;
};

/**
 * struct verve_iter - cursor over the memory of a message
 * @dev: device of the keys
 * @pd: protection domain of the keys
 * @sge: remaining segments, beginning with the current one
 * @num_sge: number of remaining segments
 * @access: IB_ACCESS_LOCAL_WRITE to write, 0 to read
 * @mr: MR of the current segment, referenced, or NULL
 * @addr: address of the next byte, a kernel address if @flat
 * @left: bytes left in the current segment
 * @flat: the memory is kernel memory without a key (inline data, atomics)
 *
 * The memory is a list of SGEs, a range of one MR, or kernel memory. The key of
 * an SGE is looked up when the cursor reaches that SGE. A cursor may hold a
 * reference on an MR, so each one must end with verve_iter_end().
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

/* Begin a cursor over a list of segments. */
void verve_iter_sges(struct verve_iter *it, struct verve_dev *dev,
		     struct ib_pd *pd, const struct verve_sge *sge, u32 num_sge,
		     int access);
/* Begin a cursor over a range that @mr covers. Takes a reference on @mr. */
void verve_iter_range(struct verve_iter *it, struct verve_mr *mr, u64 va,
		      u32 len, int access);
/* Begin a cursor over kernel memory. */
void verve_iter_flat(struct verve_iter *it, void *data, u32 len);
/* End a cursor and drop its reference. */
void verve_iter_end(struct verve_iter *it);

/**
 * verve_iter_next() - return the next contiguous memory and advance beyond it
 * @it: iterator
 * @want: bytes wanted, not 0
 * @got: set to the bytes at the address, 1 .. @want
 *
 * Context: any up to softirq.
 * Return: kernel address, or ERR_PTR: -EINVAL at the end of the segments; -EACCES
 * for a key that does not exist, does not allow the access or does not cover its
 * segment; -EAGAIN when a page must be faulted in. After -EAGAIN, the iterator
 * still points to that page.
 */
void *verve_iter_next(struct verve_iter *it, u32 want, u32 *got);

/* Skip @len bytes without a look-up of keys. Return: 0, or -EINVAL beyond the end. */
int verve_iter_skip(struct verve_iter *it, u32 len);
/* Copy from or to the iterator's memory. Return: 0, or an error of verve_iter_next(). */
int verve_iter_read(struct verve_iter *it, void *buf, u32 len);
int verve_iter_write(struct verve_iter *it, const void *buf, u32 len);

/**
 * verve_sges_check() - check the keys and bounds of all segments
 * @dev: device of the keys
 * @pd: protection domain of the keys
 * @sge: segments
 * @num_sge: number of segments
 * @access: IB_ACCESS_LOCAL_WRITE to write, 0 to read
 *
 * Context: any up to softirq.
 * Return: 0, or -EACCES if a segment must not be accessed.
 */
int verve_sges_check(struct verve_dev *dev, struct ib_pd *pd,
		     const struct verve_sge *sge, u32 num_sge, int access);

#endif
