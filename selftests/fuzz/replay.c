// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: replay-TARGET FILE...
 *
 * Calls a target with the inputs of the corpus. Needs no clang.
 */
#include "fuzz.h"

static bool replay(const char *name)
{
	FILE *file = fopen(name, "rb");
	u8 *data;
	long size;

	if (!file || fseek(file, 0, SEEK_END))
		return false;
	size = ftell(file);
	rewind(file);
	data = malloc(size);
	if (fread(data, 1, size, file) != size)
		return false;
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return true;
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (replay(argv[i]))
			continue;
		perror(argv[i]);
		return 1;
	}
	return argc == 1;
}
