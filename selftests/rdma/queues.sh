#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# SRQs and CQs keep their order and capacity, are resized, and raise their events.
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
