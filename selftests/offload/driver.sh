#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a driver may do besides its work: take its time, for which nobody else waits; and
# say what it can do at any moment.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"

need ethtool

TX=1 RX=2 RC=16

grown() { # KNOB NUMBER: at A, beyond that
	[ "$(knob va "$1")" -gt "$2" ]
}

# ---------------------------------------------------------------- slow

registers() { # DEVICE NETNS
	CASE=region timeout $LIMIT ip netns exec "$2" carried -d "$1" -n "$2"
}

# Another device's regions, and whatever takes RTNL: A's netdev is set down, too
others_go_on() {
	registers $DEV_B "$NS_B" &&
	timeout $LIMIT ip -n "$NS_B" link set vb mtu 1400 &&
	timeout $LIMIT ip -n "$NS_A" link set va down &&
	timeout $LIMIT ip -n "$NS_A" link set va up
}

# While A's driver does not return
takes_its_time() {
	local pid rc

	both able $((TX | RX | RC)) && turn va hold 1 || return
	registers $DEV_A "$NS_A" >"$TMP/held" 2>&1 &
	pid=$!
	within 10 grown held 0 && others_go_on && grown held 0
	rc=$?
	turn va hold 0
	wait $pid || fail "$(<"$TMP/held")" || return
	return $rc
}

# ---------------------------------------------------------------- restless

knows() { # at A; then what it offers is used, too
	[ "$(knob va mrs)" -gt 0 ] && [ "$(knob va qps)" -gt 0 ] && in_use
}

in_use() {
	[ "$(<"/sys/class/infiniband/$DEV_A/offload/icrc_tx")" = "in use" ]
}

knows_nothing() {
	[ "$(knob va lent) $(knob va mrs) $(knob va qps)" = "0 0 0" ]
}

# It says that it can do everything, once more, while its netdev is set down. Nothing is
# on its way then, which nobody would answer.
is_restless() {
	local rc

	both able $((TX | RX | RC)) && turn va restless 1 || return
	CASE=idle traffic_begin ip netns exec "$NS_A" carried || return
	within 5 knows && ip -n "$NS_A" link set va down &&
	within 5 knows_nothing && not in_use
	rc=$?
	ip -n "$NS_A" link set va up && within 5 knows || rc=$?
	turn va restless 0
	load_end && return $rc
}

tap_setup topo two 1500
tap_add "nobody else waits for a driver" takes_its_time
tap_setup topo two 1500
tap_add "what the driver says while the netdev goes down" is_restless
tap_run
