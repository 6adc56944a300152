/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the pages of an on-demand region are.
 *
 * A region has an entry for each page in one array; that of a whole address
 * space has arrays for the parts of it that were ever used. Entries are words,
 * read by whoever holds the region, without a lock; writers lock each other
 * out.
 */
#ifndef VERVE_MEMORY_ODP_TABLE_H
#define VERVE_MEMORY_ODP_TABLE_H

#include <linux/types.h>
#include <linux/xarray.h>

/**
 * struct verve_odp_table - entries by user address
 * @start: of the first page
 * @num_pages: from there
 * @flat: their entries, or NULL
 * @parts: entries of 2 MiB each, where @flat is NULL
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
 * verve_odp_table_init() - make a table, empty
 * @table: @start and @num_pages are set
 * @sparse: most of it will not be used
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int verve_odp_table_init(struct verve_odp_table *table, bool sparse);
/* Nobody reads it any more. Process. */
void verve_odp_table_free(struct verve_odp_table *table);

/* Have entries for @num pages from @addr. Process. Return: 0 or -ENOMEM. */
int verve_odp_table_prepare(struct verve_odp_table *table, unsigned long addr,
			    size_t num);
/* Of the page at @addr. Any context. Return: NULL where none was prepared. */
void **verve_odp_table_entry(struct verve_odp_table *table, unsigned long addr);
/* NULL in all entries from @start to @end. Return: whether one was not. */
bool verve_odp_table_clear(struct verve_odp_table *table, unsigned long start,
			   unsigned long end);

#endif
