// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: links_tun NETNS NAME NETNS NAME
 *
 * Create a tun netdev in each namespace and forward packets between them. The netdevs
 * live as long as the program.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void enter(const char *netns)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "%s", path);
	close(fd);
}

static int make(const char *netns, const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd;

	enter(netns);
	snprintf(ifr.ifr_name, IFNAMSIZ, "%s", name);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr))
		err(1, "%s", name);
	return fd;
}

/* Packets to an end that is down or has no room are lost. */
static void move(int from, int to)
{
	static char packet[65536];
	ssize_t len;

	while ((len = read(from, packet, sizeof(packet))) > 0) {
		if (write(to, packet, len) != len)
			continue;
	}
}

int main(int argc, char **argv)
{
	struct pollfd ends[2] = { { .events = POLLIN }, { .events = POLLIN } };

	if (argc != 5)
		errx(1, "usage: %s NETNS NAME NETNS NAME", argv[0]);
	ends[0].fd = make(argv[1], argv[2]);
	ends[1].fd = make(argv[3], argv[4]);
	while (poll(ends, 2, -1) > 0) {
		move(ends[0].fd, ends[1].fd);
		move(ends[1].fd, ends[0].fd);
	}
	return 1;
}
