// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that user space provides late (userfaultfd). Operations wait for it in order.
 * Destruction of a QP, deregistration and the end of a process do not.
 */
#include <linux/userfaultfd.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/withheld.h"
#include "../lib/work.h"

#define PAGE		4096u
#define SIZE		(8 * PAGE)
#define RECV_ID		99
/* Limit of operations that must not wait for pages */
#define PROMPT_MS	(WAIT_MS / 5)

static struct ends e;

/* End the wait for the withheld pages of @r. */
static bool provide(int fd, const struct region *r, const void *from)
{
	struct uffdio_copy copy = {
		.dst = (uintptr_t)r->mem,
		.src = (uintptr_t)from,
		.len = r->size,
	};

	return !ioctl(fd, UFFDIO_COPY, &copy);
}

struct scene {
	struct region from, to;
	uint8_t *want;
	int uffd;
};

/* Start an @opcode that stalls, because its target or source is withheld. */
static struct scene begin_with(const struct qp_conf *conf,
			       enum ibv_wr_opcode opcode, bool source)
{
	bool is_read = opcode == IBV_WR_RDMA_READ;
	struct scene s = {
		.from = region_new(is_read ? &e.b : &e.a, SIZE, ON_DEMAND),
		.to = region_new(is_read ? &e.a : &e.b, SIZE, ON_DEMAND),
		.want = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
	};

	ends_connect(&e, conf);
	fill(s.want, SIZE);
	if (source) {
		s.uffd = withhold(s.from.mem, s.from.size);
	} else {
		memcpy(s.from.mem, s.want, SIZE);
		s.uffd = withhold(s.to.mem, s.to.size);
	}
	if (opcode == IBV_WR_SEND)
		region_receive(&s.to, RECV_ID, SIZE);
	if (region_post(&e, opcode, &s.from, &s.to, SIZE))
		tap_bail("post_send");
	return s;
}

static struct scene begin(enum ibv_wr_opcode opcode, bool source)
{
	return begin_with(&(struct qp_conf){ .type = IBV_QPT_RC }, opcode,
			  source);
}

static void finish(struct scene *s)
{
	if (s->uffd >= 0)
		close(s->uffd);
	/* Let waiting page faults end before other memory is mapped here. */
	usleep(20000);
	region_free(&s->to);
	region_free(&s->from);
	munmap(s->want, SIZE);
}

/*
 * A message behind a stalled one completes after it, and both succeed. (The responder
 * may execute it before it answers a READ: IBTA vol. 1, 10.8.3.3.)
 */
static bool waits(enum ibv_wr_opcode opcode, bool source)
{
	struct scene s = begin(opcode, source);
	struct ibv_sge sge = end_sge(&e.a, 100);
	struct ibv_send_wr wr = work(&e, IBV_WR_RDMA_WRITE_WITH_IMM, &sge);
	bool ok;

	fill(msg(&e.a), 100);
	receive(&e.b, RECV_ID + 1, 100);
	ok = !post(&e.a, &wr) && expect_none(e.a.scq) &&
	     (opcode == IBV_WR_RDMA_READ || expect_none(e.b.rcq)) &&
	     provide(s.uffd, source ? &s.from : &s.to, s.want) &&
	     expect_wc(e.a.scq, opcode, IBV_WC_SUCCESS) &&
	     expect_wc(e.a.scq, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_SUCCESS);
	if (opcode == IBV_WR_SEND)
		ok = ok && expect_wc(e.b.rcq, RECV_ID, IBV_WC_SUCCESS);
	ok = ok && expect_wc(e.b.rcq, RECV_ID + 1, IBV_WC_SUCCESS) &&
	     !memcmp(s.to.mem, s.want, SIZE) &&
	     !memcmp(msg(&e.b), msg(&e.a), 100);
	ends_disconnect(&e);
	finish(&s);
	return ok;
}

/* The page comes long after all retries of 34 ms would have been used up. */
static bool outlasts_retries(enum ibv_wr_opcode opcode, bool source)
{
	static const struct qp_conf conf = { .type = IBV_QPT_RC, .timeout = 13 };
	struct scene s = begin_with(&conf, opcode, source);
	bool ok = true;
	int i;

	for (i = 0; ok && i < 40; i++)
		ok = expect_none(e.a.scq);
	ok = ok && provide(s.uffd, source ? &s.from : &s.to, s.want) &&
	     expect_wc(e.a.scq, opcode, IBV_WC_SUCCESS) &&
	     !memcmp(s.to.mem, s.want, SIZE);
	if (opcode == IBV_WR_SEND)
		ok = ok && expect_wc(e.b.rcq, RECV_ID, IBV_WC_SUCCESS);
	ends_disconnect(&e);
	finish(&s);
	return ok;
}

/* A QP can be destroyed while a page never comes. */
static bool destroyed(enum ibv_wr_opcode opcode, bool source)
{
	struct scene s = begin(opcode, source);
	bool ok = expect_none(e.a.scq);
	uint64_t start = now_ms();

	ends_disconnect(&e);
	ok = ok && !ibv_dereg_mr(s.from.mr) && !ibv_dereg_mr(s.to.mr) &&
	     now_ms() - start < PROMPT_MS;
	s.from.mr = NULL;
	s.to.mr = NULL;
	finish(&s);
	return ok;
}

/* A stalled QP works again after the Error state and a reset. */
static bool reset(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct scene s = begin(IBV_WR_RDMA_WRITE, false);
	struct qp_conf conf = { .type = IBV_QPT_RC };
	struct ibv_sge sge = end_sge(&e.a, 100);
	struct ibv_send_wr wr;
	bool ok;

	ok = expect_none(e.a.scq) && !end_to_error(&e.a) &&
	     expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_WR_FLUSH_ERR) &&
	     !ibv_modify_qp(e.a.qp, &attr, IBV_QP_STATE) &&
	     !ibv_modify_qp(e.b.qp, &attr, IBV_QP_STATE) &&
	     !end_to_init(&e.a, &conf) && !end_to_init(&e.b, &conf) &&
	     !end_to_rtr(&e.a, &e.b, &conf) && !end_to_rtr(&e.b, &e.a, &conf) &&
	     !end_to_rts(&e.a, &conf) && !end_to_rts(&e.b, &conf);
	wr = work(&e, IBV_WR_RDMA_WRITE, &sge);
	fill(msg(&e.a), 100);
	ok = ok && !post(&e.a, &wr) &&
	     expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS) &&
	     !memcmp(msg(&e.b), msg(&e.a), 100) &&
	     provide(s.uffd, &s.to, s.want);
	ends_disconnect(&e);
	finish(&s);
	return ok;
}

/* A process can be killed while the kernel waits for a page that it withholds. */
static bool killed(int argc, char **argv)
{
	uint64_t start;
	int ready[2], status;
	char c;
	bool ok;
	pid_t child;

	if (pipe(ready))
		return false;
	child = fork();
	if (!child) {
		ends_open(&e, argc, argv);
		begin(IBV_WR_RDMA_WRITE, false);
		expect_none(e.a.scq);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	ok = read(ready[0], &c, 1) == 1;
	close(ready[0]);
	start = now_ms();
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return ok && now_ms() - start < PROMPT_MS;
}

int main(int argc, char **argv)
{
	bool can = can_withhold();
	bool ok = can && killed(argc, argv);

	ends_open(&e, argc, argv);
	if (!can || !pages_on_demand(&e.a)) {
		tap_plan(1);
		tap_skip("no userfaultfd here, or no paging on demand",
			 "memory provided by user space");
		return tap_done();
	}
	tap_plan(13);
	tap_result(ok, "the process is killed");
	tap_result(waits(IBV_WR_RDMA_WRITE, false), "write waits for its target");
	tap_result(waits(IBV_WR_RDMA_WRITE, true), "write waits for its source");
	tap_result(waits(IBV_WR_RDMA_READ, false), "read waits for its target");
	tap_result(waits(IBV_WR_RDMA_READ, true), "read waits for its source");
	tap_result(waits(IBV_WR_SEND, false), "send waits for its receive");
	tap_result(outlasts_retries(IBV_WR_RDMA_WRITE, false),
		   "write outlasts the retries");
	tap_result(outlasts_retries(IBV_WR_RDMA_READ, true),
		   "read outlasts the retries");
	tap_result(outlasts_retries(IBV_WR_SEND, false),
		   "send outlasts the retries");
	tap_result(destroyed(IBV_WR_RDMA_WRITE, false),
		   "destroyed while the target is withheld");
	tap_result(destroyed(IBV_WR_RDMA_WRITE, true),
		   "destroyed while the source is withheld");
	tap_result(destroyed(IBV_WR_RDMA_READ, true),
		   "destroyed while the source of a read is withheld");
	tap_result(reset(), "reset while the target is withheld");
	ends_close(&e);
	return tap_done();
}
