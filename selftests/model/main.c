// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: model [FIRST [COUNT]]
 *
 * Runs the model once for each seed. Prints a line of TAP for each 100 seeds and for
 * each seed that shows a fault, then for a few runs of each scenario. The
 * environment variable VERBOSE= prints the setting of each run, TRACE= every packet.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>
#include "model.h"

enum {
	MOST_STEPS	= 3000000,
	MOST_FAULTS	= 5,
	SEEDS_A_LINE	= 100,
	SCENARIO_SEEDS	= 3,
	MOST_SECONDS	= 120,	/* real time for one run */
};

/* Simulated time: many times the cost of the worst weather */
#define MOST_TIME	(1000000 * MS)

struct model model;

static jmp_buf leave;
static u64 current_seed;
static bool is_verbose;

void broken(const char *fmt, ...)
{
	va_list args;

	printf("# seed %llu, at %llu ns: ", current_seed, world_now());
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	longjmp(leave, 1);
}

void shim_unexpected(const char *file, int line, const char *what)
{
	broken("%s:%d: %s", file, line, what);
}

static void plan_by_chance(void)
{
	plan_setting();
	plan_make();
	model.disturbances = dice(40);
}

static void begin(u64 seed, const struct scenario *scenario)
{
	u32 i;

	current_seed = seed;
	memset(&model, 0, sizeof(model));
	model.is_traced = getenv("TRACE");
	world_begin(seed);
	if (scenario)
		scenario->plan();
	else
		plan_by_chance();
	for (i = 0; i < 2; i++) {
		region_build(&model.node[i]);
		node_set_up(&model.node[i]);
	}
	if (scenario)
		scenario->set_up();
	node_start(&model.node[0]);
	node_start(&model.node[1]);
	if (model.set.paging)
		memory_pages_go(NULL);
	if (model.set.blind)
		blind_start();
}

/* Return: number of failed nodes, at most two. */
static u32 has_failed(void)
{
	return !!model.node[0].failed + !!model.node[1].failed;
}

/*
 * Run until no event is left. After a failure there always is one: a failed QP looks for
 * late receives.
 */
static void run(const struct scenario *scenario)
{
	u32 steps = 0, failed = 0;
	u64 failed_at = 0;

	while (world_step()) {
		check_step();
		if (scenario)
			scenario_step();
		expect(++steps < MOST_STEPS && world_now() < MOST_TIME,
		       "no end in sight");
		if (has_failed() != failed)
			failed_at = world_now();
		failed = has_failed();
		if (failed && world_now() > failed_at + 20000 * MS)
			return;
	}
}

static void end(void)
{
	u32 i;

	for (i = 0; i < 2; i++)
		node_tear_down(&model.node[i]);
	expect(!model.arrivals, "%llu arrivals have leaked", model.arrivals);
	world_end();
}

static void report(void)
{
	printf("# seed %llu, type %d: %u and %u requests, %llu ms, %llu packets of %llu needed, %llu lost, %llu repeated, %llu overtaken%s\n",
	       current_seed, model.set.type, model.node[0].num_requests,
	       model.node[1].num_requests, world_now() / MS,
	       model.node[0].sent + model.node[1].sent, model.needed,
	       model.lost, model.repeated, model.overtaken,
	       has_failed() ? ", failed" : "");
}

static void report_setting(void)
{
	const struct setting *set = &model.set;

	printf("# type %d, MTU %u, loopback %d, bypass %u, paging %d, blind %d, coalesce %u, block %u\n",
	       set->type, set->mtu, set->loopback, set->bypass, set->paging,
	       set->blind, set->coalesce, set->block);
}

/* An engine that never leaves a round makes no steps to count. */
static void no_end(int signal)
{
	(void)signal;
	broken("no end in sight of a step");
}

/* Return: true if the run, by chance without @scenario, shows no fault. */
static bool run_seed(u64 seed, const struct scenario *scenario)
{
	if (setjmp(leave)) {
		report_setting();
		return false;
	}
	alarm(MOST_SECONDS);
	begin(seed, scenario);
	run(scenario);
	if (has_failed())
		check_failed();
	else
		check_rest();
	if (scenario) {
		expect(!has_failed(), "a QP has failed");
		scenario->check();
	}
	if (is_verbose)
		report();
	end();
	return true;
}

int main(int argc, char **argv)
{
	u64 first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	u64 count = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	const struct scenario *scenario;
	u32 faults = 0, tests = 0;
	u64 seed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* The handler leaves by longjmp(), and may run again. */
	sigaction(SIGALRM, &(struct sigaction){
		.sa_handler = no_end, .sa_flags = SA_NODEFER }, NULL);
	is_verbose = getenv("VERBOSE");
	verve_engine_init();
	printf("TAP version 13\n");
	for (seed = first; seed < first + count; seed++) {
		bool ok = run_seed(seed, NULL);

		faults += !ok;
		if (!ok)
			printf("not ok %u seed %llu\n", ++tests, seed);
		else if ((seed - first) % SEEDS_A_LINE == SEEDS_A_LINE - 1 ||
			 seed == first + count - 1)
			printf("ok %u seeds up to %llu\n", ++tests, seed);
		if (faults == MOST_FAULTS)
			break;
	}
	for (scenario = scenarios; scenario->name; scenario++) {
		for (seed = first; seed < first + SCENARIO_SEEDS; seed++) {
			bool ok = run_seed(seed, scenario);

			faults += !ok;
			printf("%sok %u %s, seed %llu\n", ok ? "" : "not ", ++tests,
			       scenario->name, seed);
		}
	}
	printf("1..%u\n", tests);
	verve_engine_exit();
	fflush(stdout);
	/* A run that was aborted leaves memory behind, which is no leak. */
	if (faults)
		_exit(1);
	return 0;
}
