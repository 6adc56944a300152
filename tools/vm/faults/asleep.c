// SPDX-License-Identifier: GPL-2.0-only
/*
 * May sleep under a spinlock; DEBUG_ATOMIC_SLEEP must object.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static int __init fault_init(void)
{
	spin_lock(&lock);
	might_sleep();
	spin_unlock(&lock);
	return 0;
}
module_init(fault_init);

static void __exit fault_exit(void)
{
}
module_exit(fault_exit);

MODULE_DESCRIPTION("A planted fault: sleep in atomic context");
MODULE_LICENSE("GPL");
