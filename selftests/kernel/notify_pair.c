// SPDX-License-Identifier: GPL-2.0-only
/* An object belongs to one module: this is pair.c for the other. */
#include "pair.c"
