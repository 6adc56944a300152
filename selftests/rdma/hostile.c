// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process scribbles over the rings that it shares with the kernel, and rings their
 * doorbells. It may break its own queues. It can always end or be killed, and the
 * traffic of another process stays right.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/ring.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define SIZE		20000u

/* Set for the process that scribbles: enum ibv_qp_type of its QPs */
#define SCRIBBLER	"VERVE_SCRIBBLER"

enum { MOST_RINGS = 16, QUEUES_MS = 20 };

static struct ends e;
static atomic_bool enough;

/* ---------------------------------------------------------------- scribbling */

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void put(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* Write a mostly legal request, which the kernel does not refuse at once. */
static void forge(const struct ring *r, uint32_t *seed)
{
	uint32_t shift = 8 + next(seed) % 2;
	uint32_t slots = (r->size - RING_DATA) >> shift;
	uint8_t *wqe = r->at + RING_DATA + ((next(seed) % slots) << shift);
	uint64_t at = (uintptr_t)msg(&e.a) + next(seed) % 5000;

	put(wqe + WQE_OPCODE, next(seed) % 16);
	put(wqe + WQE_FLAGS, next(seed) % 64);
	memcpy(wqe + WQE_ADDR, &at, sizeof(at));
	put(wqe + WQE_RDMA_RKEY, e.b.mr->rkey);
	put(wqe + WQE_LENGTH, next(seed) % 9000);
	put(wqe + WQE_NUM_SGE, next(seed) % 4);
	memcpy(wqe + WQE_PAYLOAD, &at, sizeof(at));
	put(wqe + WQE_PAYLOAD + 8, next(seed) % 9000);
	put(wqe + WQE_PAYLOAD + 12, e.a.mr->lkey);
}

static void scribble_once(const struct ring *r, uint32_t *seed)
{
	static const uint32_t indices[] = { RING_PRODUCER, RING_CONSUMER };
	uint8_t *index = r->at + indices[next(seed) % 2];

	switch (next(seed) % 8) {
	case 0:
		put(index, next(seed) << 8 | next(seed));
		break;
	case 1:
	case 2:
		put(index, next(seed) % 64);
		break;
	case 3:
		put(r->at + next(seed) % RING_DATA / 4 * 4, next(seed));
		break;
	case 4:
		put(r->at + next(seed) % r->size / 4 * 4, next(seed) << 8);
		break;
	default:
		forge(r, seed);
	}
}

static void *scribble(void *arg)
{
	uint32_t seed = (uintptr_t)arg ^ (uint32_t)now_ms();
	struct ring rings[MOST_RINGS];
	int n = ring_list(rings, MOST_RINGS);

	while (n && !enough)
		scribble_once(&rings[next(&seed) % n], &seed);
	return NULL;
}

/* Scribble over queues until they must be broken. */
static void break_queues(enum ibv_qp_type type)
{
	struct qp_conf conf = { .type = type };
	uint64_t until = now_ms() + QUEUES_MS;
	pthread_t threads[2];
	uintptr_t i;

	ends_connect(&e, &conf);
	enough = false;
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, scribble, (void *)(i + 1));
	while (now_ms() < until) {
		uverbs_doorbell(e.a.qp);
		uverbs_doorbell(e.b.qp);
	}
	enough = true;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ends_disconnect(&e);
}

/* The other process prints the results. */
static int scribbler(enum ibv_qp_type type, int argc, char **argv)
{
	uint64_t until;

	dup2(STDERR_FILENO, STDOUT_FILENO);
	ends_open(&e, argc, argv);
	until = now_ms() + (e.quick ? 300 : 3000);
	while (now_ms() < until)
		break_queues(type);
	return 0;
}

/* ---------------------------------------------------------------- the other one */

static pid_t start(enum ibv_qp_type type, char **argv)
{
	pid_t pid = fork();
	char number[8];

	if (pid < 0)
		tap_bail("fork");
	if (pid)
		return pid;
	snprintf(number, sizeof(number), "%d", type);
	setenv(SCRIBBLER, number, 1);
	execv("/proc/self/exe", argv);
	_exit(127);
}

/* Return: status of the process; -1 when data were wrong or the process did not end. */
static int watch(pid_t pid, bool is_killed)
{
	uint64_t end = now_ms() + 3 * WAIT_MS;
	int status, rounds = 0;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (!write_arrives(&e, SIZE) || now_ms() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		if (is_killed && ++rounds == 50)
			kill(pid, SIGKILL);
	}
	return write_arrives(&e, SIZE) ? status : -1;
}

static bool is_harmless(enum ibv_qp_type type, bool is_killed, char **argv)
{
	struct qp_conf conf = { .type = IBV_QPT_RC };
	int status;

	ends_connect(&e, &conf);
	status = watch(start(type, argv), is_killed);
	ends_disconnect(&e);
	CHECK(status != -1, "other traffic suffers, or it does not end");
	CHECK(is_killed || (WIFEXITED(status) && !WEXITSTATUS(status)),
	      "it ends with status %x", status);
	return true;
}

int main(int argc, char **argv)
{
	static const struct {
		enum ibv_qp_type type;
		const char *name;
	} types[] = {
		{ IBV_QPT_RC, "RC" }, { IBV_QPT_UC, "UC" }, { IBV_QPT_UD, "UD" },
	};
	const char *type = getenv(SCRIBBLER);
	unsigned int i;

	if (type)
		return scribbler(atoi(type), argc, argv);
	ends_open(&e, argc, argv);
	tap_plan(2 * ARRAY_SIZE(types));
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		tap_result(is_harmless(types[i].type, false, argv),
			   "%s, rings scribbled over", types[i].name);
		tap_result(is_harmless(types[i].type, true, argv),
			   "%s, likewise, and killed", types[i].name);
	}
	ends_close(&e);
	return tap_done();
}
