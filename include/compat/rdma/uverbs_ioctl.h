/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_RDMA_UVERBS_IOCTL_H
#define COMPAT_RDMA_UVERBS_IOCTL_H

#include_next <rdma/uverbs_ioctl.h>
#include <linux/uaccess.h>

/*
 * Rules of driver data: unknown input must be zero; a response is truncated to the
 * buffer of user space; the rest of a longer buffer is zeroed.
 */
#ifndef ib_respond_udata
static inline int ib_is_udata_in_empty(struct ib_udata *udata)
{
	if (!udata || !udata->inlen ||
	    ib_is_udata_cleared(udata, 0, udata->inlen))
		return 0;
	return -EOPNOTSUPP;
}

static inline int compat_respond_udata(struct ib_udata *udata, const void *src,
				       size_t len)
{
	if (!udata)
		return 0;
	len = min(len, udata->outlen);
	if (copy_to_user(udata->outbuf, src, len) ||
	    clear_user(udata->outbuf + len, udata->outlen - len))
		return -EFAULT;
	return 0;
}

#define ib_respond_udata(udata, rep) \
	compat_respond_udata(udata, &(rep), sizeof(rep))

static inline int ib_respond_empty_udata(struct ib_udata *udata)
{
	return compat_respond_udata(udata, NULL, 0);
}

static inline int ib_no_udata_io(struct ib_udata *udata)
{
	return ib_is_udata_in_empty(udata) ?: ib_respond_empty_udata(udata);
}
#endif

#endif
