#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Memory windows of type 1 and 2B open and close the memory that they should, and
# bindings that are not allowed are refused.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

objects() {
	rdma resource show | grep -E ": ($DEV_A|$DEV_B): "
}

# The test leaves no objects behind.
windows() {
	local before after

	before=$(objects)
	c_test "$1" || return
	after=$(objects)
	[ "$before" = "$after" ] || fail "before: $before, after: $after"
}

for t in $TOPOLOGIES; do
	tap_setup topo $t
	tap_add "windows, topology $t" windows windows
	tap_add "bindings that are refused, topology $t" windows windows_bind
done
tap_run
