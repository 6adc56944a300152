#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Forged ICMP messages about the path's MTU change the kernel's route, but packets of a
# QP keep their size, and go on.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"
. "$HERE/../lib/load.sh"

need python3

# learned ADDRESS MTU: the kernel's route to ADDRESS has this MTU
learned() {
	a ip route get "$1" | grep -qw "mtu $2"
}

# forged SRC DST MTU [OPTION OF load]
forged() {
	local lost

	lost=$(hw_counter "$DEV_A" send_err)
	traffic_begin load ${4:+"$4"} || return
	b python3 "$LIB/icmp.py" "$1" "$2" "$3" &&
	{ within 5 learned "$2" "$3" || fail "the kernel did not believe it"; } &&
	goes_on "$DEV_A" && is_answered "$DEV_A" || { load_end; return 1; }
	load_end || fail "the load ended with $?" || return
	! has_counted "$DEV_A" send_err "$lost" || fail "packets were not sent"
}

cleanup_all() {
	load_kill
	cleanup
}

trap cleanup_all EXIT
tap_setup topo two 9000
tap_add "a forged path MTU, IPv4" forged 10.0.0.1 10.0.0.2 552
tap_add "a forged path MTU, IPv6" forged fd00::1 fd00::2 1280 -6
tap_run
