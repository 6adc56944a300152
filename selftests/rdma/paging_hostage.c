// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process withholds its memory (userfaultfd) from as many page faults as it can cause.
 * Page faults of other processes are served, and all processes can end.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include "../lib/withheld.h"
#include "../lib/work.h"
#include <rdma/ib_user_ioctl_verbs.h>

#define PAGE		4096u
/* More page faults than the default limit of a workqueue, 1024 */
#define HOSTAGES	1200u
#define SIZE		(70 * PAGE)

static struct ends e;

/* Give advice without waiting for the page faults. Return: 0 or an errno. */
static int advise(const struct region *r, size_t offset, size_t size)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->mem + offset,
		.length = size,
		.lkey = r->mr->lkey,
	};

	return uverbs_advise_mr(r->end->pd,
				IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0,
				&sge, 1);
}

/* In the other process, a WRITE and then all advice wait for withheld pages. */
static void take_hostages(int argc, char **argv, int ready)
{
	struct region from, to;
	unsigned int i;

	ends_open(&e, argc, argv);
	if (!pages_on_demand(&e.a) || !pages_on_demand(&e.b))
		_exit(1);
	from = region_new(&e.a, PAGE, ON_DEMAND);
	to = region_new(&e.b, HOSTAGES * PAGE, ON_DEMAND);
	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	withhold(to.mem, to.size);
	if (region_post(&e, IBV_WR_RDMA_WRITE, &from, &to, PAGE))
		tap_bail("post_send");
	for (i = 1; i < HOSTAGES; i++)
		if (advise(&to, (size_t)i * PAGE, PAGE))
			tap_bail("advise_mr");
	if (expect_none(e.a.scq) && write(ready, "", 1) == 1)
		pause();
	_exit(1);
}

/* Return: ID of the process when all its page faults wait, or 0 on failure. */
static pid_t begin(int argc, char **argv)
{
	int ready[2];
	pid_t child;
	char c;

	if (pipe(ready))
		tap_bail("pipe: %s", strerror(errno));
	child = fork();
	if (!child)
		take_hostages(argc, argv, ready[1]);
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1) {
		waitpid(child, NULL, 0);
		child = 0;
	}
	close(ready[0]);
	return child;
}

static bool becomes_present(const struct region *r)
{
	struct deadline end = deadline_in(WAIT_MS);
	unsigned char there[SIZE / PAGE];
	size_t i = 0;

	while (i < SIZE / PAGE) {
		CHECK(!is_past(&end), "page %zu has not come", i);
		if (mincore(r->mem, r->size, there))
			return false;
		for (i = 0; i < SIZE / PAGE && there[i] & 1; i++)
			;
		usleep(1000);
	}
	return true;
}

static bool advice_is_followed(void)
{
	struct region r = region_new(&e.a, SIZE, ON_DEMAND);
	bool ok = !advise(&r, 0, SIZE) && becomes_present(&r);

	region_free(&r);
	return ok;
}

static bool data_move(void)
{
	struct region from = region_new(&e.a, SIZE, ON_DEMAND);
	struct region to = region_new(&e.b, SIZE, ON_DEMAND);
	bool ok;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	fill(from.mem, SIZE);
	ok = !region_post(&e, IBV_WR_RDMA_WRITE, &from, &to, SIZE) &&
	     expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS) &&
	     !memcmp(from.mem, to.mem, SIZE);
	ends_disconnect(&e);
	region_free(&from);
	region_free(&to);
	return ok;
}

static bool regions_go(void)
{
	uint64_t start = now_ms();
	int i;

	for (i = 0; i < 16; i++) {
		struct region r = region_new(&e.a, SIZE, ON_DEMAND);

		CHECK(!advise(&r, 0, SIZE), "advise_mr");
		region_free(&r);
	}
	CHECK(now_ms() - start < WAIT_MS, "it took %llu ms",
	      (unsigned long long)(now_ms() - start));
	return true;
}

static bool dies(pid_t other)
{
	struct deadline end = deadline_in(WAIT_MS);
	int status;

	CHECK(!kill(other, SIGKILL), "kill: %s", strerror(errno));
	while (!waitpid(other, &status, WNOHANG)) {
		CHECK(!is_past(&end), "it still lives");
		usleep(1000);
	}
	return WIFSIGNALED(status);
}

int main(int argc, char **argv)
{
	bool can = can_withhold();
	pid_t other = 0;

	if (can)
		other = begin(argc, argv);
	ends_open(&e, argc, argv);
	if (!can || !pages_on_demand(&e.a)) {
		tap_plan(1);
		tap_skip("no userfaultfd here, or no paging on demand",
			 "others' memory is withheld");
		return tap_done();
	}
	tap_plan(6);
	tap_result(other, "a process withholds its memory");
	tap_result(advice_is_followed(), "advice is followed");
	tap_result(data_move(), "data move");
	tap_result(regions_go(), "regions are deregistered");
	tap_result(other && dies(other), "who withholds it dies");
	tap_result(data_move(), "and data move");
	ends_close(&e);
	return tap_done();
}
