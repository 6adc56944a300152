// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes two locks in either order; lockdep must see the deadlock.
 */
#include <linux/module.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(first);
static DEFINE_SPINLOCK(second);

static int __init fault_init(void)
{
	spin_lock(&first);
	spin_lock(&second);
	spin_unlock(&second);
	spin_unlock(&first);

	spin_lock(&second);
	spin_lock(&first);
	spin_unlock(&first);
	spin_unlock(&second);
	return 0;
}
module_init(fault_init);

static void __exit fault_exit(void)
{
}
module_exit(fault_exit);

MODULE_DESCRIPTION("A planted fault: lock order");
MODULE_LICENSE("GPL");
