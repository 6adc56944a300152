// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two threads write a variable by plain stores and no lock; KCSAN must object.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>

static unsigned long shared;
static struct task_struct *writers[2];

static int write_shared(void *unused)
{
	while (!kthread_should_stop()) {
		int i;

		for (i = 0; i < 100000; i++)
			shared += i;
		cond_resched();
	}
	return 0;
}

static void stop(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(writers); i++)
		if (!IS_ERR_OR_NULL(writers[i]))
			kthread_stop(writers[i]);
}

static int __init fault_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(writers); i++)
		writers[i] = kthread_run(write_shared, NULL, "raced/%d", i);
	ssleep(10);
	stop();
	return 0;
}
module_init(fault_init);

static void __exit fault_exit(void)
{
}
module_exit(fault_exit);

MODULE_DESCRIPTION("A planted fault: a data race");
MODULE_LICENSE("GPL");
