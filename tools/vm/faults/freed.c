// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads memory that was freed; KASAN must object.
 */
#include <linux/module.h>
#include <linux/slab.h>

static int __init fault_init(void)
{
	char *bytes = kzalloc(64, GFP_KERNEL);

	if (!bytes)
		return -ENOMEM;
	OPTIMIZER_HIDE_VAR(bytes);
	kfree(bytes);
	pr_info("freed: %d\n", READ_ONCE(bytes[8]));
	return 0;
}
module_init(fault_init);

static void __exit fault_exit(void)
{
}
module_exit(fault_exit);

MODULE_DESCRIPTION("A planted fault: use after free");
MODULE_LICENSE("GPL");
