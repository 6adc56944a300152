#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A process that scribbles over its rings, or moves the indices of rings made for it,
# harms only itself: others do not suffer, and no round of an engine exceeds its budget.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

for t in one two; do
	tap_setup topo $t
	tap_add "rings, topology $t" c_test hostile
	tap_add "indices, topology $t" c_test hostile_racing
done
tap_run
