// SPDX-License-Identifier: GPL-2.0-only
/* Each object file belongs to one module, so this is pair.c for verve_notify. */
#include "pair.c"
