#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shared receive queues (queues_srq.c) and completion queues (queues_cq.c): order, capacity,
# resizing, events.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

for t in $TOPOLOGIES; do
	tap_setup topo $t
	for program in queues_srq queues_cq; do
		tap_add "$program, topology $t" c_test $program
	done
done
tap_run
