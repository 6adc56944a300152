#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a NIC that has a QP knows of the link: when Ethernet addresses change, it is told
# anew.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"

ICRC=3 RC=16

# ---------------------------------------------------------------- addresses

NUMBER=0

# B's netdev has another Ethernet address, and A learns of it.
move() {
	local mac

	NUMBER=$((NUMBER + 1))
	printf -v mac "02:00:00:00:%02x:%02x" $((NUMBER >> 8)) $((NUMBER & 255))
	ip -n "$NS_B" link set vb address "$mac" &&
	ip -n "$NS_A" neigh replace 10.0.0.2 lladdr "$mac" dev va &&
	ip -n "$NS_A" neigh replace fd00::2 lladdr "$mac" dev va
}

are_lent() {
	[ "$(knob va lent) $(knob vb lent)" = "1 1" ]
}

# An idle connection: both NICs have its QPs, and nothing tells them but who moves.
peer_moves() {
	local a b given

	both able $((ICRC | RC)) &&
	CASE=idle traffic_begin ip netns exec "$NS_A" carried "$@" || return
	within 5 are_lent || fail "lent: $(knob va lent) $(knob vb lent)" || return
	given=$(knob va given_back)
	a=$(hw_counter $DEV_A offload_returned) b=$(hw_counter $DEV_B offload_returned)
	move && within 5 has_counted $DEV_A offload_returned "$a" &&
	within 5 has_counted $DEV_B offload_returned "$b"
	local rc=$?
	load_end || return
	[ $rc = 0 ] && [ "$(knob va given_back)" = "$given" ] ||
		fail "$rc: it was not told"
}

# Nobody knows the next hop any more: only software asks for it.
neighbour_goes() {
	local a

	both able $((ICRC | RC)) &&
	CASE=idle traffic_begin ip netns exec "$NS_A" carried || return
	a=$(hw_counter $DEV_A offload_returned)
	ip -n "$NS_A" neigh del 10.0.0.2 dev va &&
	within 5 has_counted $DEV_A offload_returned "$a"
	local rc=$?
	load_end && [ $rc = 0 ] || fail "$rc: it stays with the NIC"
}

tap_setup topo two 1500
tap_add "the peer's address changes" peer_moves
tap_add "the peer's address changes, IPv6" peer_moves -6
tap_add "the next hop is forgotten" neighbour_goes
tap_run
