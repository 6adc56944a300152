#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Verbs in random order with random attributes, by processes that are killed, leave no
# object and no reference to the module behind.
#
#	one:	A [va: vta]			all on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

unused() {
	[ "$(<"/sys/module/$MODULE/refcnt")" = "$1" ]
}

calls() {
	local before

	before=$(<"/sys/module/$MODULE/refcnt")
	c_test calls || return
	within 5 unused "$before" || fail "references of the module:" \
		"$before before, now $(<"/sys/module/$MODULE/refcnt")"
}

for t in $TOPOLOGIES; do
	tap_setup topo $t
	tap_add "calls, topology $t" calls
done
tap_run
