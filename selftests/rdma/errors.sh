#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each failure ends with the status that the IBTA names: refused requests, flushed queues,
# exhausted retries, bad work requests, illegal transitions.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

for t in $TOPOLOGIES; do
	tap_setup topo $t
	for program in errors errors_flush errors_retry errors_post; do
		tap_add "$program, topology $t" c_test $program
	done
done
tap_add "states" c_test errors_states
tap_run
