// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handlers run as the core promises to its users (core_locking.rst): not on the stack of
 * a user's call, so that the user may hold a lock that the handler takes; and only one
 * at a time for a CQ.
 *
 * The module runs its tests when it is loaded, and reports in TAP to the kernel's log.
 *
 *	modprobe verve_notify device=vta gid_index=1
 */
#define pr_fmt(fmt)	KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/preempt.h>

#include "pair.h"

enum {
	DEPTH = 64,
	MOST_LINES = 4,
	POSTS = 300,
	WAIT_SECONDS = 20,
	/* us that a handler takes, so that a second one at the same time would meet it */
	HANDLER_US = 20,
};

static char *device = "verve0";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "RDMA device");
static int gid_index;
module_param(gid_index, int, 0444);
MODULE_PARM_DESC(gid_index, "index of a GID of its port 1");

static struct pair pair;

/* Two QPs that are connected with each other */
struct line {
	struct ib_qp *a, *b;
};

/* The one CQ of all lines, and its state */
static struct {
	struct ib_cq *cq;
	spinlock_t lock;	/* held while posting, and taken by the handler */
	atomic_t inside;
	atomic_t calls;
	atomic_t nested;
	atomic_t at_once;
	atomic_t completions;
} seen;

static DEFINE_PER_CPU(bool, is_posting);

static void drain_cq(void)
{
	struct ib_wc wc;

	while (ib_poll_cq(seen.cq, 1, &wc) > 0)
		atomic_inc(&seen.completions);
}

static void drain_cq_locked(void)
{
	spin_lock(&seen.lock);
	drain_cq();
	spin_unlock(&seen.lock);
}

static void completed(struct ib_cq *cq, void *context)
{
	/* A nested handler would wait for a lock that its own CPU holds. */
	bool nested = this_cpu_read(is_posting);

	atomic_inc(&seen.calls);
	atomic_add(nested, &seen.nested);
	if (atomic_inc_return(&seen.inside) > 1)
		atomic_inc(&seen.at_once);
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	udelay(HANDLER_US);
	if (nested)
		drain_cq();
	else
		drain_cq_locked();
	atomic_dec(&seen.inside);
}

static int create_cq(void)
{
	/* The handler may be late, so the CQ has room for all completions. */
	struct ib_cq_init_attr attr = { .cqe = 2 * POSTS * MOST_LINES };

	memset(&seen, 0, sizeof(seen));
	spin_lock_init(&seen.lock);
	seen.cq = ib_create_cq(pair.dev, completed, NULL, NULL, &attr);
	if (IS_ERR(seen.cq))
		return PTR_ERR(seen.cq);
	return ib_req_notify_cq(seen.cq, IB_CQ_NEXT_COMP);
}

static struct ib_qp *create_qp(void)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.send_cq = seen.cq,
		.recv_cq = seen.cq,
		.cap = {
			.max_send_wr = DEPTH,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	return ib_create_qp(pair.pd, &init);
}

static void close_line(struct line *line)
{
	if (!IS_ERR_OR_NULL(line->a))
		ib_destroy_qp(line->a);
	if (!IS_ERR_OR_NULL(line->b))
		ib_destroy_qp(line->b);
	*line = (struct line) {};
}

static bool open_line(struct line *line)
{
	line->a = create_qp();
	line->b = create_qp();
	CHECK(!IS_ERR(line->a) && !IS_ERR(line->b), "no QP");
	CHECK(!pair_bring_up(&pair, line->a, line->b) &&
	      !pair_bring_up(&pair, line->b, line->a), "no connection");
	return true;
}

/* An empty WRITE, which needs no memory. BH off. */
static int post(struct ib_qp *qp)
{
	struct ib_rdma_wr wr = { .wr = { .opcode = IB_WR_RDMA_WRITE } };
	int err;

	this_cpu_write(is_posting, true);
	err = ib_post_send(qp, &wr.wr, NULL);
	this_cpu_write(is_posting, false);
	return err;
}

/* Return: true if all completed in time. */
static bool await(int completions)
{
	unsigned long end = jiffies + WAIT_SECONDS * HZ;

	while (atomic_read(&seen.completions) < completions) {
		CHECK(time_before(jiffies, end), "%d of %d completions",
		      atomic_read(&seen.completions), completions);
		usleep_range(100, 1000);
	}
	CHECK(atomic_read(&seen.calls), "the handler is not called");
	return true;
}

static bool is_separate(void)
{
	CHECK(!atomic_read(&seen.nested), "%d of %d calls within a post",
	      atomic_read(&seen.nested), atomic_read(&seen.calls));
	CHECK(!atomic_read(&seen.at_once), "%d of %d calls at once",
	      atomic_read(&seen.at_once), atomic_read(&seen.calls));
	return true;
}

/* Post as a user with one lock for its posts and its completions */
static bool post_locked(struct line *line)
{
	int i, err;

	for (i = 0; i < POSTS; i++) {
		spin_lock_bh(&seen.lock);
		err = post(line->a);
		spin_unlock_bh(&seen.lock);
		CHECK(!err, "post %d: %d", i, err);
		if (!await(i + 1))
			return false;
	}
	return is_separate();
}

static bool test_posts(struct line *lines)
{
	return open_line(lines) && post_locked(lines);
}

static int post_many(void *arg)
{
	struct line *line = arg;
	int i = 0, err;

	while (i < POSTS && !kthread_should_stop()) {
		local_bh_disable();
		err = post(line->a);
		local_bh_enable();
		if (!err)
			i++;
		else if (err != -ENOMEM)
			break;
		cond_resched();
	}
	while (!kthread_should_stop())
		usleep_range(100, 1000);
	return i;
}

/* One CQ, and posts on all CPUs */
static bool test_at_once(struct line *lines)
{
	struct task_struct *threads[MOST_LINES] = {};
	bool ok = true;
	int i;

	for (i = 0; i < MOST_LINES && ok; i++)
		ok = open_line(&lines[i]);
	for (i = 0; i < MOST_LINES && ok; i++) {
		threads[i] = kthread_run(post_many, &lines[i], "verve_notify");
		ok = !IS_ERR(threads[i]);
	}
	ok = ok && await(MOST_LINES * POSTS);
	for (i = 0; i < MOST_LINES; i++)
		if (!IS_ERR_OR_NULL(threads[i]))
			kthread_stop(threads[i]);
	return ok && is_separate();
}

static struct {
	struct task_struct *caller;
	struct completion event;
	bool nested;
} last_wqe;

static void qp_event(struct ib_event *event, void *context)
{
	if (event->event != IB_EVENT_QP_LAST_WQE_REACHED)
		return;
	last_wqe.nested = current == last_wqe.caller && !in_serving_softirq();
	complete(&last_wqe.event);
}

static bool modify_to_error(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	int err;

	err = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	CHECK(!err, "to INIT: %d", err);
	attr.qp_state = IB_QPS_ERR;
	last_wqe.caller = current;
	init_completion(&last_wqe.event);
	err = ib_modify_qp(qp, &attr, IB_QP_STATE);
	CHECK(!err, "to ERR: %d", err);
	CHECK(wait_for_completion_timeout(&last_wqe.event, WAIT_SECONDS * HZ),
	      "no event");
	CHECK(!last_wqe.nested, "the handler is called within ib_modify_qp()");
	return true;
}

/* An asynchronous event that a call causes */
static bool test_events(struct line *lines)
{
	struct ib_srq_init_attr srq_init = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.srq_type = IB_SRQT_BASIC,
	};
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.send_cq = seen.cq,
		.recv_cq = seen.cq,
		.event_handler = qp_event,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct ib_qp *qp;
	bool ok;

	init.srq = ib_create_srq(pair.pd, &srq_init);
	CHECK(!IS_ERR(init.srq), "no SRQ");
	qp = ib_create_qp(pair.pd, &init);
	ok = !IS_ERR(qp) && modify_to_error(qp);
	if (!IS_ERR(qp))
		ib_destroy_qp(qp);
	ib_destroy_srq(init.srq);
	return ok;
}

static const struct {
	const char *name;
	bool (*run)(struct line *lines);
} tests[] = {
	{ "posts, with a lock held", test_posts },
	{ "posts on all CPUs", test_at_once },
	{ "a change of state", test_events },
};

static bool run(unsigned int i)
{
	struct line lines[MOST_LINES] = {};
	bool ok;
	int k;

	CHECK(!create_cq(), "no CQ");
	ok = tests[i].run(lines);
	for (k = 0; k < MOST_LINES; k++)
		close_line(&lines[k]);
	ib_destroy_cq(seen.cq);
	return ok;
}

static int __init notify_init(void)
{
	unsigned int i;
	int err;

	err = pair_open(&pair, device, gid_index);
	if (err)
		return err;
	pr_info("TAP version 13\n");
	pr_info("1..%zu\n", ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		pr_info("%s %u %s\n", run(i) ? "ok" : "not ok", i + 1,
			tests[i].name);
	pair_close(&pair);
	return 0;
}

static void __exit notify_exit(void)
{
}

module_init(notify_init);
module_exit(notify_exit);

MODULE_DESCRIPTION("Test of when handlers are called");
MODULE_LICENSE("GPL");
