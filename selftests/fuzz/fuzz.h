/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fuzz target, called by libFuzzer, or by replay.c with inputs that libFuzzer has found
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <kernel.h>

#define must(cond) shim_expect(cond)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#endif
