#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A process that writes what it likes into the rings that it shares with the kernel
# (hostile.c), or moves the indices of rings that are made for it (hostile_racing.c).
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
