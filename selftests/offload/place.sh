#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Payload of RDMA WRITEs that a NIC places is not copied, and memory is as if software
# had executed them in order, while the NIC, its driver and the network come and go.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"
STATEFUL=Y

need ethtool

RX=2 PLACE=8
ELSEWHERE=16 # of enum nic_mangle

placing() { # CASE
	both able $((RX | PLACE)) || return
	CASE=$1 c_test place --quick >"$TMP/placing" ||
		fail "$(cat "$TMP/placing")"
}

# ---------------------------------------------------------------- what is placed

large_writes() {
	perftest ib_write_bw -s 65536 -n 200
}

# Of the data that a peer writes, software copies next to nothing.
is_placed() {
	local bytes packets

	both able $((RX | PLACE))
	bytes=$(hw_counter $DEV_B rx_ddp_bytes)
	packets=$(knob vb placed)
	gained $DEV_B rx_ddp_pkts large_writes || return
	bytes=$(($(hw_counter $DEV_B rx_ddp_bytes) - bytes))
	packets=$(($(knob vb placed) - packets))
	[ $bytes -gt $((65536 * 200 * 2 / 3)) ] ||
		fail "$bytes bytes were placed" || return
	# Packets that the NIC placed in vain arrive twice.
	[ "$GAINED" -le $packets ] && [ "$GAINED" -gt $((packets / 2)) ] ||
		fail "of $packets packets $GAINED were used"
}

# B places most of the data that devices on top of its netdev receive.
is_placed_on_top() {
	both able $((RX | PLACE))
	gained $DEV_B rx_ddp_pkts writes_on_top || return
	[ "$GAINED" -gt 1000 ] || fail "$GAINED packets were placed"
}

through_vlan() {
	vlan_on_top && is_placed_on_top
}

through_bond() {
	bond_on_top active-backup && is_placed_on_top
}

without_gro() {
	nic_features vb gro off && is_placed
	local rc=$?
	nic_features vb gro on
	return $rc
}

not_offered() {
	both able $RX
	gained $DEV_B rx_ddp_pkts large_writes && [ "$GAINED" = 0 ]
}

# The fragments refer to other memory than the destination, so software has to copy them,
# and the comparison sees their bytes. This proves that nothing is copied in the other
# tests.
copies_are_seen() {
	turn vb mangle $ELSEWHERE && turn vb mangle_one 1
	gained $DEV_B rx_ddp_pkts placing once
	local rc=$?
	turn vb mangle_one 0
	[ $rc != 0 ] && [ "$GAINED" = 0 ] &&
		grep -qE "a WRITE|nothing is placed" "$TMP/placing" ||
		fail "$rc, $GAINED placed: $(cat "$TMP/placing")"
}

# The driver refuses some objects, without an effect for programs.
objects_fail() {
	local failed

	both fail 3
	gained $DEV_B offload_refused large_writes && failed=$GAINED &&
	[ "$failed" = 2 ] || fail "$failed were refused"
	local rc=$?
	both fail 0
	return $rc
}

nothing_is_known() {
	[ "$(knob vb mrs) $(knob vb qps)" = "0 0" ] ||
		fail "the NIC still knows $(knob vb mrs) $(knob vb qps)"
}

# ---------------------------------------------------------------- in mid-traffic

order_begin() {
	CASE=order traffic_begin ip netns exec "$NS_A" place
}

# in_order COMMAND...: runs it again and again, while memory is compared
in_order() {
	local i rounds=${QUICK:+10} used

	both able $((RX | PLACE))
	used=$(hw_counter $DEV_B rx_ddp_pkts)
	order_begin || return
	for ((i = 0; i < ${rounds:-100}; i++)); do
		"$@" "$i" || { load_kill; fail "$*: round $i"; return; }
		nap 0.0$((RANDOM % 9 + 1))
	done
	settle
	goes_on $DEV_A && within 5 has_counted $DEV_B rx_ddp_pkts "$used"
	local rc=$?
	load_end && [ $rc = 0 ] || fail "nothing was placed, or the load failed"
}

settle() {
	both able $((RX | PLACE)) && both offered 1 && both mangle_one 0 && both slow 0
}

flip() {
	turn vb able $((RANDOM % 2 * PLACE + RX))
}

reset() {
	turn vb reset 1
}

withdraw() {
	turn vb offered $(($1 % 2))
}

goes_down() {
	[ $(($1 % 5)) = 0 ] || return 0
	ip -n "$NS_B" link set vb down && ip -n "$NS_B" link set vb up
}

# The firmware begins and ends runs when it comes to it, after up to 20 ms.
late() {
	turn vb slow $((RANDOM % 20000))
}

# Any placed packet may be lost, copied, pulled or doubted.
mangled() {
	turn vb mangle $((RANDOM % 16)) && turn vb mangle_one $((RANDOM % 5))
}

anything() {
	mangled && late && case $((RANDOM % 4)) in
	0) flip ;;
	1) reset ;;
	2) withdraw "$1" ;;
	esac
}

# Requests of a QP whose NIC does not answer go unanswered, too, but the QP can be
# destroyed.
no_answer() {
	local dropped

	both able $((RX | PLACE)) && turn vb slow 1000000000 || return
	dropped=$(hw_counter $DEV_B rx_drop_ddp)
	order_begin && within 10 drops_ddp "$dropped"
	local rc=$?
	load_kill
	within 5 nothing_is_known && settle && [ $rc = 0 ] && is_placed
}

drops_ddp() { # SINCE
	[ "$(hw_counter $DEV_B rx_drop_ddp)" -gt "$1" ]
}

placing_begins() {
	both able $((RX | PLACE)) && order_begin
}

tap_setup topo two 1500
tap_add "placed by the NIC" is_placed
tap_add "placed by the NIC, without GRO" without_gro
tap_add "copied where the NIC offers nothing" not_offered
tap_add "copies would be noticed" copies_are_seen
tap_add "what the driver does not take" objects_fail
tap_add "what comes again is not placed" placing once
tap_add "what is not allowed is not placed" placing denied
tap_add "what somebody else sends is not placed" placing forged
tap_add "keys and rights that go" placing gone
tap_add "the NIC knows nothing any more" nothing_is_known
tap_add "in order" in_order true
tap_add "packets are reshaped, copied and lost behind the NIC" in_order mangled
tap_add "the NIC answers late" in_order late
tap_add "the NIC does not answer" no_answer
tap_add "the feature comes and goes" in_order flip
tap_add "the NIC is reset" in_order reset
tap_add "the driver withdraws" in_order withdraw
tap_add "the netdev goes down" in_order goes_down
tap_setup bad_network
tap_add "in order, in a bad network" in_order true
tap_add "all of that in a bad network" in_order anything
tap_add "keys and rights that go, in a bad network" placing gone
tap_setup good_network
tap_add "the driver is unloaded" driver_goes_under placing_begins
tap_setup topo two 1500
tap_add "placed through a VLAN" through_vlan
tap_setup topo two 1500
tap_add "placed through a bond" through_bond
tap_setup topo two 1500
tap_add "the transport is unloaded" \
	transport_goes_under nothing_is_known placing_begins
tap_run
