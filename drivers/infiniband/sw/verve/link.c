// SPDX-License-Identifier: GPL-2.0-only
/*
 * The types of links: verve and, if the user wants it, rxe
 */
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <rdma/rdma_netlink.h>
#include "link.h"
#include "ops.h"

#define RXE_MODULE	"rdma_rxe"

static bool rxe;
module_param(rxe, bool, 0444);
MODULE_PARM_DESC(rxe,
		 "Add Verve devices for links of type rxe, too, and keep rdma_rxe out (default: N)");

static struct rdma_link_ops verve_link_ops = {
	.type = "verve",
	.newlink = verve_device_add,
};

static struct rdma_link_ops rxe_link_ops = {
	.type = "rxe",
	.newlink = verve_device_add,
};

static int refuse_rxe(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *module = data;

	if (state != MODULE_STATE_COMING || strcmp(module->name, RXE_MODULE))
		return NOTIFY_DONE;
	pr_warn("verve: %s is not loaded: links of type rxe are Verve's (rxe=Y)\n",
		RXE_MODULE);
	return notifier_from_errno(-EBUSY);
}

static struct notifier_block module_notifier = {
	.notifier_call = refuse_rxe,
};

#ifdef MODULE
static bool is_loaded(const char *name)
{
	struct kobject *kobj;

	kobj = kset_find_obj(THIS_MODULE->mkobj.kobj.kset, name);
	kobject_put(kobj);
	return kobj;
}
#else
static bool is_loaded(const char *name)
{
	return false; /* No module is loaded yet when a built-in one begins. */
}
#endif

static bool rxe_is_loaded(void)
{
	return IS_BUILTIN(CONFIG_RDMA_RXE) || is_loaded(RXE_MODULE);
}

int __init verve_link_init(void)
{
	return rxe ? register_module_notifier(&module_notifier) : 0;
}

/*
 * No rdma_rxe begins to load after verve_link_init(). One that passed the notifiers
 * before was about to be in sysfs then, and had the rest of Verve's load for that.
 */
int __init verve_link_register(void)
{
	if (rxe && rxe_is_loaded()) {
		pr_err("verve: %s has the links of type rxe: unload it, or omit rxe=Y\n",
		       RXE_MODULE);
		return -EBUSY;
	}
	if (rxe)
		rdma_link_register(&rxe_link_ops);
	rdma_link_register(&verve_link_ops);
	return 0;
}

void verve_link_unregister(void)
{
	rdma_link_unregister(&verve_link_ops);
	if (rxe)
		rdma_link_unregister(&rxe_link_ops);
}

void verve_link_exit(void)
{
	if (rxe)
		unregister_module_notifier(&module_notifier);
}
