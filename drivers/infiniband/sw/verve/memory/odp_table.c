// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables of regions with on-demand paging
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "odp_table.h"

enum {
	PART_PAGES	= 512,
};

#define PART_SIZE	(PART_PAGES * PAGE_SIZE)

static unsigned long part_of(unsigned long addr)
{
	return addr / PART_SIZE;
}

int verve_odp_table_init(struct verve_odp_table *table, bool sparse)
{
	xa_init(&table->parts);
	if (sparse)
		return 0;
	table->flat = kvcalloc(table->num_pages, sizeof(*table->flat),
			       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return table->flat ? 0 : -ENOMEM;
}

void verve_odp_table_free(struct verve_odp_table *table)
{
	unsigned long i;
	void **part;

	kvfree(table->flat);
	xa_for_each(&table->parts, i, part)
		kfree(part);
	xa_destroy(&table->parts);
}

static int add_part(struct verve_odp_table *table, unsigned long i)
{
	void **part = kcalloc(PART_PAGES, sizeof(*part), GFP_KERNEL_ACCOUNT);
	int err;

	if (!part)
		return -ENOMEM;
	err = xa_insert(&table->parts, i, part, GFP_KERNEL_ACCOUNT);
	if (err)
		kfree(part);
	/* Another page fault has added the part meanwhile. */
	return err == -EBUSY ? 0 : err;
}

int verve_odp_table_prepare(struct verve_odp_table *table, unsigned long addr,
			    size_t num)
{
	unsigned long i, last = part_of(addr + (num - 1) * PAGE_SIZE);
	int err = 0;

	if (table->flat)
		return 0;
	for (i = part_of(addr); !err && i <= last; i++)
		if (!xa_load(&table->parts, i))
			err = add_part(table, i);
	return err;
}

void **verve_odp_table_entry(struct verve_odp_table *table, unsigned long addr)
{
	void **part;

	if (table->flat)
		return &table->flat[(addr - table->start) >> PAGE_SHIFT];
	part = xa_load(&table->parts, part_of(addr));
	return part ? &part[addr % PART_SIZE >> PAGE_SHIFT] : NULL;
}

static bool clear(void **entries, size_t first, size_t last)
{
	bool found = false;
	size_t i;

	for (i = first; i <= last; i++) {
		if (!entries[i])
			continue;
		WRITE_ONCE(entries[i], NULL);
		found = true;
	}
	return found;
}

bool verve_odp_table_clear(struct verve_odp_table *table, unsigned long start,
			   unsigned long end)
{
	unsigned long i, last;
	bool found = false;
	void **part;

	start = max(start, table->start);
	last = min(end, verve_odp_table_end(table)) - 1;
	if (table->flat)
		return clear(table->flat, (start - table->start) >> PAGE_SHIFT,
			     (last - table->start) >> PAGE_SHIFT);

	xa_for_each_range(&table->parts, i, part, part_of(start), part_of(last)) {
		size_t from = i == part_of(start) ?
			      start % PART_SIZE >> PAGE_SHIFT : 0;
		size_t to = i == part_of(last) ?
			    last % PART_SIZE >> PAGE_SHIFT : PART_PAGES - 1;

		found |= clear(part, from, to);
	}
	return found;
}
