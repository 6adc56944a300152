// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module of the unit tests. Each suite is beside the code under test.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("Unit tests of Verve");
MODULE_LICENSE("GPL");
