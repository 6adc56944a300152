// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that create and destroy QPs and regions all the time, and write by each: so
 * numbers are free for moments, and serve the next object.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/work.h"

enum {
	PROCESSES	= 4,
	REGIONS		= 8,
	SIZE		= 3000,
};

static bool round_of(struct ends *e)
{
	const struct qp_conf conf = { .type = IBV_QPT_RC };
	struct region r[REGIONS];
	bool ok;
	int i;

	for (i = 0; i < REGIONS; i++)
		r[i] = region_new(&e->a, SIZE, IBV_ACCESS_LOCAL_WRITE | ALL_REMOTE);
	ends_connect(e, &conf);
	ok = write_arrives(e, SIZE);
	ends_disconnect(e);
	for (i = 0; i < REGIONS; i++)
		region_free(&r[i]);
	return ok;
}

static int process(int argc, char **argv)
{
	struct ends e;
	bool ok = true;
	int i;

	ends_open(&e, argc, argv);
	for (i = 0; ok && i < (e.quick ? 20 : 100); i++)
		ok = round_of(&e);
	ends_close(&e);
	return !ok;
}

int main(int argc, char **argv)
{
	int i, status, failed = 0;

	for (i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		if (pid < 0)
			tap_bail("fork");
		if (!pid)
			return process(argc, argv);
	}
	while (wait(&status) > 0)
		failed += status != 0;
	return failed;
}
