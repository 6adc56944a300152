# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Traffic by the program load during other tests, and checks that these leave nothing
# behind. Sourced after verve.sh.

LOAD=

# traffic_begin PROGRAM [ARGUMENT...]: start a program and wait until it prints "ready"
traffic_begin() {
	# Remove the output of the previous program.
	: >"$TMP/load"
	"$@" -d $DEV_A -D $DEV_B -n "$NS_A" -N "$NS_B" >"$TMP/load" 2>&1 &
	LOAD=$!
	within 10 grep -q ready "$TMP/load" && return
	load_end
	fail "no load"
}

# load_begin [VARIABLE=VALUE...]
load_begin() {
	traffic_begin env "$@" load
}

# Return: exit code of the program
load_end() {
	local rc

	kill "$LOAD" 2>/dev/null
	within 5 ended "$LOAD" || kill -KILL "$LOAD"
	wait "$LOAD" 2>/dev/null
	rc=$?
	LOAD=
	[ $rc = 0 ] || grep -v ready "$TMP/load"
	return $rc
}

# during_load COMMAND...: regions and QPs exist meanwhile, QPS of each end (default: 8),
# and data are compared
during_load() {
	load_begin QPS="${QPS:-8}" || return
	"$@"
	local rc=$?
	load_end && return $rc
}

counts_on() { # DEVICE COUNTER
	within 5 has_counted "$1" "$2" "$(hw_counter "$1" "$2")"
}

# goes_on DEVICE: the device still sends packets
goes_on() {
	counts_on "$1" sent_pkts || fail "$1 sends no more"
}

# is_answered DEVICE: the device receives packets, and does not only retry
is_answered() {
	counts_on "$1" rcvd_pkts || fail "nobody answers $1"
}

load_kill() {
	[ -z "$LOAD" ] || kill -KILL "$LOAD" 2>/dev/null
}

# ---------------------------------------------------------------- before and after

# Objects, devices, GIDs, references of the module
everything() {
	rdma resource show | sed -n 's/^[0-9]*: \(vt.*\)/\1/p' | sort
	rdma link show | sed -n 's/^link \([^ ]*\).*netdev \(.*\)/\1 \2/p' |
		sort
	grep -chv '^0000:0000:0000:0000:0000:0000:0000:0000' \
		/sys/class/infiniband/vt?/ports/1/gids/* |
		awk '{ sum += $1 } END { print sum }'
	cat "/sys/module/$MODULE/refcnt"
}

is_as_before() {
	[ "$(everything)" = "$BEFORE" ]
}

as_before() {
	within 5 is_as_before || fail "before:" "$BEFORE" "now:" "$(everything)"
}

# Scan twice, because objects that wait to be freed are no leak.
SCAN=/sys/kernel/debug/kmemleak

no_leak() {
	[ -e $SCAN ] || { skip "the kernel has no kmemleak"; return; }
	echo scan >$SCAN
	sleep 6
	echo scan >$SCAN
	cat $SCAN >"$TMP/leaks"
	[ ! -s "$TMP/leaks" ] || fail "$(<"$TMP/leaks")"
}
