// SPDX-License-Identifier: GPL-2.0-only
/*
 * Protection domains: Verve compares their addresses, and needs no more.
 */
#include "pd.h"

int verve_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return ib_no_udata_io(udata);
}

int verve_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}
