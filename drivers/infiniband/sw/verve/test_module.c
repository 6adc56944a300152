// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module of the unit tests; the suites stand beside what they test.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("Unit tests of Verve");
MODULE_LICENSE("GPL");
