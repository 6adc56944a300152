/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page tables of regions with on-demand paging.
 *
 * A table has an entry for each page. The entries of most regions are one array.
 * A region of the whole address space has an array for each 2 MiB part that has
 * been used. Entries are single words. Engines with a reference on the region read
 * them without a lock; odp->lock serialises writers.
 */
#ifndef VERVE_MEMORY_ODP_TABLE_H
#define VERVE_MEMORY_ODP_TABLE_H

#include <linux/types.h>
#include <linux/xarray.h>

/**
 * struct verve_odp_table - entries of pages, by user address
 * @start: address of the first page
 * @num_pages: number of pages
 * @flat: entries of all pages, or NULL
 * @parts: arrays of entries for 2 MiB each, if @flat is NULL
 */
struct verve_odp_table {
	unsigned long start;
	size_t num_pages;
	void **flat;
	struct xarray parts;
};

static inline unsigned long
verve_odp_table_end(const struct verve_odp_table *table)
{
	return table->start + table->num_pages * PAGE_SIZE;
}

/**
 * verve_odp_table_init() - initialise an empty table
 * @table: table with @start and @num_pages set
 * @sparse: allocate arrays when they are needed
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int verve_odp_table_init(struct verve_odp_table *table, bool sparse);
/* Free a table without readers. Context: process. */
void verve_odp_table_free(struct verve_odp_table *table);

/* Allocate entries for @num pages from @addr. Context: process. Return: 0 or -ENOMEM. */
int verve_odp_table_prepare(struct verve_odp_table *table, unsigned long addr,
			    size_t num);
/* Return: entry of the page at @addr, or NULL if not allocated. Context: any. */
void **verve_odp_table_entry(struct verve_odp_table *table, unsigned long addr);
/* Set the entries from @start to @end to NULL. Return: true if one was set. */
bool verve_odp_table_clear(struct verve_odp_table *table, unsigned long start,
			   unsigned long end);

#endif
