#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A NIC that runs a QP sends frames with the VLAN tags and Ethernet addresses that
# software would use, also after they change.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"
STATEFUL=Y

need tcpdump

ICRC=3 RC=16

# ---------------------------------------------------------------- VLANs

# vlan_end NETNS NETDEV DEVICE NUMBER: the device is on a VLAN, alone with its address
vlan_end() {
	ip -n "$1" link add link "$2" name v7 type vlan id 7 egress-qos-map 0:5 &&
	ip -n "$1" addr flush dev "$2" && link_delete "$3" &&
	ip -n "$1" addr add "10.1.0.$4/24" dev v7 && ip -n "$1" link set v7 up &&
	link_add "$1" "$3" v7 && within 5 gid_of "$3" "0a01:000$4"
}

on_vlans() {
	topo two 1500 && vlan_end "$NS_A" va $DEV_A 1 && vlan_end "$NS_B" vb $DEV_B 2
}

# Count A's frames that B has captured, and those with the VLAN's priority.
frames() {
	tcpdump -e -nn -r "$TMP/wire.pcap" 2>/dev/null | grep -c "${1:-4791:}"
}

# have_priority ABLE KNOB: all of A's frames have the VLAN's priority; KNOB counts them
have_priority() {
	local made all

	turn va able "$1" && turn vb able $ICRC || return
	made=$(knob va "$2")
	capture "$NS_B" vb in "$TMP/wire.pcap" writes_on_top || return
	made=$(($(knob va "$2") - made))
	all=$(frames)
	[ $made -gt 400 ] && [ "$all" -gt 0 ] && [ "$(frames "vlan 7, p 5")" = "$all" ] ||
		fail "$made by the NIC; $all came, $(frames "vlan 7, p 5") are right"
}

# ---------------------------------------------------------------- addresses

NUMBER=0

# B's netdev gets another Ethernet address, and A learns it.
move() {
	local mac

	NUMBER=$((NUMBER + 1))
	printf -v mac "02:00:00:00:%02x:%02x" $((NUMBER >> 8)) $((NUMBER & 255))
	ip -n "$NS_B" link set vb address "$mac" &&
	ip -n "$NS_A" neigh replace 10.0.0.2 lladdr "$mac" dev va &&
	ip -n "$NS_A" neigh replace fd00::2 lladdr "$mac" dev va
}

are_offloaded() {
	[ "$(knob va offloaded) $(knob vb offloaded)" = "1 1" ]
}

# The connection is idle, and both NICs have its QPs: only the neighbour event tells them.
peer_moves() {
	local a b given

	both able $((ICRC | RC)) &&
	CASE=idle traffic_begin ip netns exec "$NS_A" qp "$@" || return
	within 5 are_offloaded || fail "QPs: $(knob va offloaded) $(knob vb offloaded)" || return
	given=$(knob va given_back)
	a=$(hw_counter $DEV_A rc_offload_returned) b=$(hw_counter $DEV_B rc_offload_returned)
	move && within 5 has_counted $DEV_A rc_offload_returned "$a" &&
	within 5 has_counted $DEV_B rc_offload_returned "$b"
	local rc=$?
	load_end || return
	[ $rc = 0 ] && [ "$(knob va given_back)" = "$given" ] ||
		fail "$rc: it was not told"
}

# The next hop becomes unknown. Only software can resolve it.
neighbour_goes() {
	local a

	both able $((ICRC | RC)) &&
	CASE=idle traffic_begin ip netns exec "$NS_A" qp || return
	a=$(hw_counter $DEV_A rc_offload_returned)
	ip -n "$NS_A" neigh del 10.0.0.2 dev va &&
	within 5 has_counted $DEV_A rc_offload_returned "$a"
	local rc=$?
	load_end && [ $rc = 0 ] || fail "$rc: it stays with the NIC"
}

tap_setup on_vlans
tap_add "VLAN priority, by software" have_priority $ICRC made
tap_add "VLAN priority, by the NIC" have_priority $((ICRC | RC)) carried
tap_setup topo two 1500
tap_add "the peer's address changes" peer_moves
tap_add "the peer's address changes, IPv6" peer_moves -6
tap_add "the next hop is forgotten" neighbour_goes
tap_run
