// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits on the number of objects of a process.
 *
 *	owners_quota DEVICE contexts N		N contexts, by the rdma control group
 *	owners_quota DEVICE objects N		N PDs of one context, likewise
 *	owners_quota DEVICE memory N		N regions, by RLIMIT_MEMLOCK
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#include "../lib/tap.h"

#define MOST	256
#define REGION	65536
#define NOBODY	65534

static struct ibv_device *device;
static struct ibv_context *ctx;
static struct ibv_pd *pd;
static void *memory;

static void *open_one(void)
{
	return ibv_open_device(device);
}

static int close_one(void *object)
{
	return ibv_close_device(object);
}

static void *alloc_pd(void)
{
	return ibv_alloc_pd(ctx);
}

static int dealloc_pd(void *object)
{
	return ibv_dealloc_pd(object);
}

static void *reg_mr(void)
{
	return ibv_reg_mr(pd, memory, REGION, 0);
}

static int dereg_mr(void *object)
{
	return ibv_dereg_mr(object);
}

struct kind {
	const char *name;
	void *(*make)(void);
	int (*destroy)(void *object);
	int refusal;
};

static const struct kind kinds[] = {
	{ "contexts", open_one, close_one, EAGAIN },
	{ "objects", alloc_pd, dealloc_pd, EAGAIN },
	{ "memory", reg_mr, dereg_mr, ENOMEM },
};

/* Create exactly @most objects, and another one after one was destroyed. */
static bool holds(const struct kind *kind, int most)
{
	void *objects[MOST + 1];
	int n = 0;

	while (n <= MOST && (objects[n] = kind->make()))
		n++;
	/* For a context, the library may report another error. */
	CHECK(errno == kind->refusal || kind == &kinds[0], "refused: %s",
	      strerror(errno));
	CHECK(n == most, "%d were made, not %d", n, most);
	CHECK(!kind->destroy(objects[--n]), "destroy: %s", strerror(errno));
	objects[n] = kind->make();
	CHECK(objects[n++], "one less, and none more: %s", strerror(errno));
	while (n--)
		CHECK(!kind->destroy(objects[n]), "destroy");
	return true;
}

static void prepare(const struct kind *kind, int most)
{
	struct rlimit limit = { (rlim_t)most * REGION, (rlim_t)most * REGION };

	if (kind == &kinds[0])
		return;
	ctx = ibv_open_device(device);
	if (!ctx)
		tap_bail("the device does not open: %s", strerror(errno));
	if (kind == &kinds[1])
		return;
	pd = ibv_alloc_pd(ctx);
	memory = mmap(NULL, REGION, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Root may lock as much as it likes. */
	if (!pd || memory == MAP_FAILED || setrlimit(RLIMIT_MEMLOCK, &limit) ||
	    setuid(NOBODY))
		tap_bail("%s", strerror(errno));
}

static struct ibv_device *find(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return list[i];
	tap_bail("no device %s", name);
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc != 4)
		return TAP_FAIL;
	device = find(argv[1]);
	tap_plan(1);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[2], kinds[i].name))
			continue;
		prepare(&kinds[i], atoi(argv[3]));
		tap_result(holds(&kinds[i], atoi(argv[3])), "%s", argv[2]);
	}
	return tap_done();
}
