// SPDX-License-Identifier: GPL-2.0-only
/*
 * User contexts, and the mapping of rings.
 */
#include <linux/mm.h>
#include "../queue/ring.h"
#include "ucontext.h"

int verve_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	return ib_no_udata_io(udata);
}

void verve_dealloc_ucontext(struct ib_ucontext *uctx)
{
}

/*
 * Processes keep their mapped rings, and can read flushed completions there. The
 * pages live until they are unmapped.
 */
void verve_disassociate_ucontext(struct ib_ucontext *uctx)
{
}

int verve_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int err;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	/* The core also refuses a length that is not the ring's. */
	entry = rdma_user_mmap_entry_get(uctx, vma);
	if (!entry)
		return -EINVAL;
	err = verve_ring_mmap(entry, vma);
	rdma_user_mmap_entry_put(entry);
	return err;
}
