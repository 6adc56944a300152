// SPDX-License-Identifier: GPL-2.0-only
/*
 * Protection domains. Verve only compares their addresses.
 */
#include "../device.h"
#include "pd.h"

int verve_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	int err = ib_no_udata_io(udata);

	if (err)
		return err;
	return verve_quota_take(&to_vdev(pd->device)->num_pds,
				verve_quota(VERVE_MAX_PD, udata));
}

int verve_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	verve_quota_give(&to_vdev(pd->device)->num_pds);
	return 0;
}
