// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frees an object whose timer is pending; DEBUG_OBJECTS must object.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timer.h>

struct alarm {
	struct timer_list timer;
};

static void alarm_rings(struct timer_list *timer)
{
}

static int __init fault_init(void)
{
	struct alarm *alarm = kzalloc(sizeof(*alarm), GFP_KERNEL);

	if (!alarm)
		return -ENOMEM;
	timer_setup(&alarm->timer, alarm_rings, 0);
	mod_timer(&alarm->timer, jiffies + 3600 * HZ);
	kfree(alarm);
	return 0;
}
module_init(fault_init);

static void __exit fault_exit(void)
{
}
module_exit(fault_exit);

MODULE_DESCRIPTION("A planted fault: free of an armed timer");
MODULE_LICENSE("GPL");
