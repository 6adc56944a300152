/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that scale.c and register.c share */
#ifndef BENCH_H
#define BENCH_H

#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static struct ibv_pd *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;
	struct ibv_pd *pd;

	check(!!list, "device list");
	while (*list && strcmp(ibv_get_device_name(*list), name))
		list++;
	check(!!*list, name);
	ctx = ibv_open_device(*list);
	check(!!ctx, "open");
	pd = ibv_alloc_pd(ctx);
	check(!!pd, "PD");
	return pd;
}

#endif
