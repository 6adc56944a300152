// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads an RCU pointer outside a read section; PROVE_RCU must object.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

static int value;
static int __rcu *pointer;

static int __init fault_init(void)
{
	rcu_assign_pointer(pointer, &value);
	return *rcu_dereference(pointer);
}
module_init(fault_init);

static void __exit fault_exit(void)
{
}
module_exit(fault_exit);

MODULE_DESCRIPTION("A planted fault: RCU pointer without a reader");
MODULE_LICENSE("GPL");
