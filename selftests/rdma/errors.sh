#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What goes wrong ends as the InfiniBand specification says: refused requests
# (errors.c), retries (errors_retry.c), bad work requests (errors_post.c), illegal
# transitions (errors_states.c).
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

for t in $TOPOLOGIES; do
	tap_setup topo $t
	for program in errors errors_retry errors_post; do
		tap_add "$program, topology $t" c_test $program
	done
done
tap_add "states" c_test errors_states
tap_run
