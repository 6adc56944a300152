#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fast registration by a user in the kernel, which is a module (frwr.c).
#
#	A [va: vta]		both of its QPs on vta

. "$(dirname "$0")/../lib/verve.sh"

# Beside verve.ko, or built by `make modules` here.
find_module() {
	local file

	modprobe -qn verve_frwr && return
	for file in "$(dirname "$VERVE_KO")" "$HERE"; do
		[ -e "$file/verve_frwr.ko" ] && FRWR_KO=$file/verve_frwr.ko
	done
	[ "$FRWR_KO" ]
}

load_test() {
	if [ "$FRWR_KO" ]; then
		insmod "$FRWR_KO" "$@"
	else
		modprobe verve_frwr "$@"
	fi
}

# The module's own TAP, of which a failed line fails this test
frwr() {
	local mark="frwr $$ $1"

	echo "$mark" >/dev/kmsg
	load_test device=$DEV_C gid_index="$GID_C" || return
	rmmod verve_frwr
	dmesg | sed "1,/$mark/d" | sed -n 's/.*verve_frwr: //p' >"$TMP/tap"
	cat "$TMP/tap"
	grep -q '^1\.\.' "$TMP/tap" && ! grep -q '^not ok' "$TMP/tap"
}

objects() {
	rdma resource show | sed -n "s/.*: $DEV_C: //p"
}

nothing_left() {
	local before after

	before=$(objects)
	frwr again >/dev/null || return
	after=$(objects)
	[ "$before" = "$after" ] || fail "before: $before, after: $after"
}

find_module || skip_all "no module verve_frwr"
tap_setup topo one 1500
tap_add "fast registration" frwr once
tap_add "nothing is left behind" nothing_left
tap_run
