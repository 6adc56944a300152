// SPDX-License-Identifier: GPL-2.0-only
/*
 * Forgets memory that it allocated; kmemleak must find it.
 */
#include <linux/module.h>
#include <linux/slab.h>

static int __init fault_init(void)
{
	int i;

	/* Several: a stale copy of a pointer may hide one of them. */
	for (i = 0; i < 16; i++) {
		char *bytes = kmalloc(200, GFP_KERNEL);

		if (!bytes)
			return -ENOMEM;
		OPTIMIZER_HIDE_VAR(bytes);
		bytes[0] = i;
	}
	return 0;
}
module_init(fault_init);

static void __exit fault_exit(void)
{
}
module_exit(fault_exit);

MODULE_DESCRIPTION("A planted fault: leak");
MODULE_LICENSE("GPL");
