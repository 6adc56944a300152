// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs in random order, with random attributes, by threads of processes that are killed
 * meanwhile. Of these processes
 *
 *	some use the library correctly, end by themselves, and must be able to destroy
 *	all their objects;
 *	others give the kernel commands that no library gives (lib/mangle.h).
 *
 * A process that is killed ends at once. Traffic of another process goes on, and its data
 * are right. SEED=N repeats a run, ROUNDS=N sets its length.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/caller.h"
#include "../lib/dice.h"
#include "../lib/ends.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

/* Environment of a caller process: its seed */
#define CALLER		"VERVE_CALLER"
#define MANGLES		"VERVE_MANGLES"

enum {
	SIZE		= 20000,
	THREADS		= 3,
	CALLERS		= 2,	/* processes at a time */
	ONE_IN		= 4,	/* one of so many calls is mangled */
	CALLER_MS	= 400,
};

static struct ends e;

/* Only the parent process prints TAP. */
static int caller(uint64_t seed, int argc, char **argv)
{
	static struct caller callers[THREADS];
	bool good = true;
	int i;

	dup2(STDERR_FILENO, STDOUT_FILENO);
	ends_open(&e, argc, argv);
	for (i = 0; i < THREADS; i++)
		caller_begin(&callers[i], &e, i % 2 ? &e.b : &e.a,
			     dice_of(seed, i), getenv(MANGLES) ? ONE_IN : 0,
			     CALLER_MS);
	for (i = 0; i < THREADS; i++)
		caller_end(&callers[i]);
	if (getenv(MANGLES))
		return 0;
	for (i = 0; i < THREADS; i++)
		good = caller_destroy(&callers[i]) && good;
	ends_close(&e);
	return good ? 0 : TAP_FAIL;
}

/* ---------------------------------------------------------------- parent */

struct caller_process {
	pid_t pid;
	uint64_t killed;	/* time when it was killed; 0: not yet */
	uint64_t kill_at;	/* 0: never */
};

static uint64_t slowest;

static struct caller_process start(uint64_t seed, bool mangles, uint64_t kill_at,
				   char **argv)
{
	struct caller_process p = { .pid = fork(), .kill_at = kill_at };
	char number[24];

	if (p.pid < 0)
		tap_bail("fork");
	if (p.pid)
		return p;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)seed);
	setenv(CALLER, number, 1);
	if (mangles)
		setenv(MANGLES, "1", 1);
	execv("/proc/self/exe", argv);
	_exit(127);
}

/* Return: true if the process has ended. */
static bool watch(struct caller_process *p, int *status)
{
	uint64_t now = now_ms();

	if (!p->killed && p->kill_at && now >= p->kill_at) {
		kill(p->pid, SIGKILL);
		p->killed = now;
	}
	if (!waitpid(p->pid, status, WNOHANG))
		return false;
	if (p->killed && now_ms() - p->killed > slowest)
		slowest = now_ms() - p->killed;
	return true;
}

/* Kill a process that does not end. */
static bool give_up(struct caller_process *p)
{
	uint64_t limit = p->killed ? p->killed + WAIT_MS / 2 : 0;

	CHECK(!limit || now_ms() < limit, "process %d lives on", p->pid);
	return true;
}

static bool ended_well(const struct caller_process *p, int status)
{
	if (p->killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return true;
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status),
	      "a process ended with status %x", status);
	return true;
}

static bool run(struct caller_process *p, unsigned int n)
{
	uint64_t end = now_ms() + 4 * WAIT_MS;
	unsigned int i, left = n;
	int status;

	while (left) {
		CHECK(write_arrives(&e, SIZE), "other traffic suffers");
		CHECK(now_ms() < end, "%u processes do not end", left);
		for (i = 0; i < n; i++) {
			if (!p[i].pid)
				continue;
			if (!watch(&p[i], &status)) {
				if (!give_up(&p[i]))
					return false;
				continue;
			}
			if (!ended_well(&p[i], status))
				return false;
			p[i].pid = 0;
			left--;
		}
	}
	return true;
}

static void kill_rest(struct caller_process *p, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (p[i].pid) {
			kill(p[i].pid, SIGKILL);
			waitpid(p[i].pid, NULL, 0);
		}
}

struct kind {
	const char *name;
	bool mangles, is_killed;
};

/*
 * Time to kill a process: somewhere in the middle, or never. The library may wait for
 * ever for the result of a mangled command, so processes with those are killed at last.
 */
static uint64_t kill_time(const struct kind *kind, struct dice *d)
{
	uint64_t start = now_ms();

	if (kind->is_killed)
		return start + 50 + dice_roll(d, CALLER_MS);
	return kind->mangles ? start + 4 * CALLER_MS : 0;
}

static bool rounds_of(const struct kind *kind, unsigned int rounds,
		      uint64_t seed, char **argv)
{
	struct dice d = dice_of(seed, kind->mangles * 2 + kind->is_killed);
	struct caller_process p[CALLERS];
	bool good = true;
	unsigned int i, j;

	for (i = 0; good && i < rounds; i++) {
		for (j = 0; j < CALLERS; j++) {
			p[j] = start(dice_any(&d), kind->mangles,
				     kill_time(kind, &d), argv);
		}
		good = run(p, CALLERS);
		kill_rest(p, CALLERS);
		if (!good)
			tap_diag("in round %u", i);
	}
	return good;
}

int main(int argc, char **argv)
{
	static const struct kind kinds[] = {
		{ "calls of the library, all destroyed", false, false },
		{ "calls of the library, killed", false, true },
		{ "mangled calls", true, false },
		{ "mangled calls, killed", true, true },
	};
	const char *number = getenv("ROUNDS"), *mine = getenv(CALLER);
	unsigned int rounds, i;
	uint64_t seed;

	if (mine)
		return caller(strtoull(mine, NULL, 0), argc, argv);
	seed = dice_seed();
	ends_open(&e, argc, argv);
	rounds = number ? atoi(number) : e.quick ? 5 : 250;
	tap_diag("SEED=%llu ROUNDS=%u", (unsigned long long)seed, rounds);
	tap_plan(ARRAY_SIZE(kinds));
	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		tap_result(rounds_of(&kinds[i], rounds, seed, argv),
			   "%s, %u times", kinds[i].name, rounds);
	tap_diag("a killed process took %llu ms at most",
		 (unsigned long long)slowest);
	ends_disconnect(&e);
	ends_close(&e);
	return tap_done();
}
