// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints
 */
#include "device.h"
#include "path/path.h"
#include "transport/qp.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
