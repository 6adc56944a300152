// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: netns_outlived OPTION...	(see lib/ends.c)
 *
 * Connects two QPs, which so have routes in the namespaces of their netdevs, and holds
 * the removal of both devices off: a registration waits for memory that this process
 * withholds from itself. Prints a line when that is so, and waits to be killed.
 */
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/withheld.h"
#include "../lib/work.h"

#define SIZE	4096u

static struct ends e;

/* Where the kernel does not let page faults of registrations wait, this one fails. */
static void *hold(void *mem)
{
	ibv_reg_mr(e.a.pd, mem, SIZE, IBV_ACCESS_LOCAL_WRITE);
	_exit(TAP_SKIP);
}

int main(int argc, char **argv)
{
	void *mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffd_msg fault;
	pthread_t thread;
	int uffd;

	if (!can_withhold())
		return TAP_SKIP;
	ends_open(&e, argc, argv);
	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	if (!write_arrives(&e, 8))
		return TAP_FAIL;
	uffd = withhold(mem, SIZE);
	if (pthread_create(&thread, NULL, hold, mem) ||
	    read(uffd, &fault, sizeof(fault)) != sizeof(fault))
		tap_bail("the registration does not wait");
	puts("held");
	fflush(stdout);
	pause();
	return TAP_FAIL;
}
