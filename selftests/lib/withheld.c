// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"
#include "withheld.h"

/* Return: a userfaultfd, or -1 without one. */
static int open_uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool can_withhold(void)
{
	int fd = open_uffd();

	return fd >= 0 && !close(fd);
}

int withhold(void *mem, size_t size)
{
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)mem, .len = size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = open_uffd();

	if (fd < 0 || ioctl(fd, UFFDIO_REGISTER, &reg))
		tap_bail("userfaultfd: %s", strerror(errno));
	return fd;
}
