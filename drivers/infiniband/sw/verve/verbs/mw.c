// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation and deallocation of memory windows. A work request binds a window.
 */
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "../device.h"
#include "../memory/keys.h"
#include "../memory/window.h"
#include "mw.h"

int verve_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct verve_mr *window;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;
	window = verve_window_alloc(ibmw->pd, ibmw->type);
	if (!window)
		return -ENOMEM;
	err = verve_key_insert(to_vdev(ibmw->device), window);
	if (err) {
		/* window is the first member of the allocated object. */
		kfree(window);
		return err;
	}
	ibmw->rkey = window->key;
	to_vmw(ibmw)->window = window;
	return 0;
}

int verve_dealloc_mw(struct ib_mw *ibmw)
{
	struct verve_dev *dev = to_vdev(ibmw->device);
	struct verve_mr *window = to_vmw(ibmw)->window;

	verve_key_remove(dev, window);
	verve_window_free(dev, window);
	return 0;
}
