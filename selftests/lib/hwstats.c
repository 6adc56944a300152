// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hwstats.h"
#include "tap.h"

static void directory(char *path, size_t size, const char *device)
{
	static const char *const roots[] = { "", "/proc/1/root" };
	struct stat st;
	int i;

	for (i = 0; i < 2; i++) {
		snprintf(path, size,
			 "%s/sys/class/infiniband/%s/ports/1/hw_counters",
			 roots[i], device);
		if (!stat(path, &st))
			return;
	}
	tap_bail("device %s has no hw_counters", device);
}

static uint64_t value_of(const char *dir, const char *name)
{
	unsigned long long value = 0;
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &value) != 1)
		tap_bail("%s is no number", path);
	fclose(f);
	return value;
}

/*
 * With the default lifespan, counters may be 10 ms old. Without one, the core still
 * reads them at most once in a tick of the kernel, which may be 10 ms.
 */
static void end_lifespan(const char *dir)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/lifespan", dir);
	f = fopen(path, "w");
	if (!f || fputs("0", f) < 0 || fclose(f))
		tap_bail("%s cannot be written", path);
	usleep(11 * 1000);
}

static int is_counter(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "lifespan");
}

void hwstats_read(struct hwstats *s, const char *device)
{
	struct dirent **names;
	char dir[256];
	int i, n;

	directory(dir, sizeof(dir), device);
	end_lifespan(dir);
	n = scandir(dir, &names, is_counter, alphasort);
	if (n <= 0 || n > MOST_HWSTATS)
		tap_bail("%s: %d counters", dir, n);
	s->n = n;
	for (i = 0; i < n; i++) {
		snprintf(s->of[i].name, sizeof(s->of[i].name), "%.39s",
			 names[i]->d_name);
		s->of[i].value = value_of(dir, names[i]->d_name);
		free(names[i]);
	}
	free(names);
}

uint64_t hwstats_growth_of(const struct hwstats *before,
			   const struct hwstats *after, const char *prefix)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < after->n; i++)
		if (!strncmp(after->of[i].name, prefix, strlen(prefix)))
			sum += after->of[i].value - before->of[i].value;
	return sum;
}

uint64_t hwstats_growth(const struct hwstats *before,
			const struct hwstats *after, const char *name)
{
	unsigned int i;

	for (i = 0; i < after->n; i++)
		if (!strcmp(after->of[i].name, name))
			return after->of[i].value - before->of[i].value;
	return 0;
}

uint64_t hwstats_since(const struct hwstats *before, const char *device,
		       const char *name)
{
	struct hwstats now;

	hwstats_read(&now, device);
	return hwstats_growth(before, &now, name);
}

void hwstats_diag(const struct hwstats *before, const struct hwstats *after)
{
	unsigned int i;

	for (i = 0; i < after->n; i++)
		if (after->of[i].value != before->of[i].value)
			tap_diag("%s %llu", after->of[i].name,
				 (unsigned long long)(after->of[i].value -
						      before->of[i].value));
}
