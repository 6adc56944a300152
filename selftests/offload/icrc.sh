#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ICRCs that a NIC makes and verifies are those that software would make, and no message
# is lost, doubled or changed when the NIC stops offering that under traffic. Packets that
# leave by another device get their ICRC from software.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software
#	                  ^ tcpdump

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"

need tcpdump python3 ethtool tc

TX=1 RX=2

# ---------------------------------------------------------------- the wire

# wire_is_right TRAINS [OPTION]: icrc.py verifies the ICRCs of the NICs
wire_is_right() {
	local trains=$1 made whole

	shift
	both able $TX && takes_trains "$trains" va && takes_trains "$trains" vb &&
	gro off || return
	made=$(knob va made) whole=$(knob va trains)
	are_right "$NS_B" vb "$REQUESTS" "$@" &&
	are_right "$NS_A" va "$ANSWERS" "$@" || return
	made=$(($(knob va made) - made))
	[ $made -gt 200 ] || fail "the NIC made $made ICRCs only" || return
	whole=$(($(knob va trains) - whole))
	case $trains in
	on) [ $whole -gt 0 ] ;;
	off) [ $whole = 0 ] ;;
	esac || fail "$whole trains came whole"
}

made_by_nic() {
	both able $TX
	used tx_icrc_offload least 1000 writes &&
	used tx_icrc_fallback most 0 writes
}

verified_by_nic() {
	both able $RX
	gained $DEV_B rx_icrc_offload writes || return
	[ "$GAINED" -gt 500 ] || fail "$GAINED packets"
}

# Where GRO makes trains, and where it does not
verified_alone() {
	nic_features vb gro "$1" && verified_by_nic
}

not_offered() {
	both able 0
	used tx_icrc_offload most 0 writes &&
	gained $DEV_B rx_icrc_offload writes && [ "$GAINED" = 0 ]
}

# The NIC does not mark bad packets, so software drops them, and the peer sends them
# again.
bad_is_noticed() {
	local bad

	both able $((TX | RX))
	bad=$(hw_counter $DEV_B rx_icrc_encapsulated)
	turn va corrupt 3
	writes || return
	bad=$(($(hw_counter $DEV_B rx_icrc_encapsulated) - bad))
	[ $bad = 3 ] || fail "$bad bad packets were noticed, not 3"
}

refused() {
	both able $TX
	turn va refuse 20 # packets or trains
	used tx_icrc_fallback least 20 writes || return
	[ "$(knob va refuse)" = 0 ] || fail "$(knob va refuse) to refuse"
}

# distrusted DEVICE NETDEV: the NIC makes only wrong ICRCs. QPs stop using it before they
# fail.
distrusted() {
	both able $TX
	turn "$2" corrupt 1000000000
	gained "$1" offload_distrusted writes
	local rc=$?
	turn "$2" corrupt 0
	[ $rc = 0 ] && [ "$GAINED" -ge 1 ] || fail "$rc, $GAINED QPs"
}

# ---------------------------------------------------------------- other devices

through_vlan() {
	vlan_on_top || return
	vlan on && vlan off
}

# vlan TRAINS: of a netdev that takes trains, or of one that takes single packets
vlan() {
	local sent

	takes_trains "$1" v7 && both able $((TX | RX)) || return
	sent=$(hw_counter $DEV_A sent_pkts)
	gained $DEV_B rx_icrc_offload \
		used tx_icrc_offload least 1000 writes_on_top || return
	sent=$(($(hw_counter $DEV_A sent_pkts) - sent))
	[ "$GAINED" -gt 500 ] && [ $sent -lt $((GAINED + 500)) ] ||
		fail "B: $GAINED packets verified of $sent"
}

through_bond() {
	bond_on_top "$1" || return
	both able $((TX | RX))
	gained $DEV_B rx_icrc_offload \
		used tx_icrc_offload least 1000 writes_on_top || return
	[ "$GAINED" -gt 500 ] || fail "B: $GAINED packets verified"
}

# The bond sends copies without a socket, so software makes the ICRCs.
through_broadcast() {
	bond_on_top broadcast || return
	both able $((TX | RX))
	used tx_icrc_offload most 0 writes_on_top &&
	used tx_icrc_fallback least 1000 writes_on_top
}

# tc redirects a copy and drops the packet. The drop tells that the ICRC was not made.
redirected() {
	both able $TX && redirect && used tx_icrc_unsettled least 500 writes
	local rc=$?
	unredirect
	return $rc
}

# tc writes into the copy, which then has memory of its own, and no ICRC. The packet is
# lost each time, until its QP stops using the NIC.
copied() {
	both able $TX && redirect && ip netns exec "$NS_A" tc qdisc add dev xa clsact &&
	ip netns exec "$NS_A" tc filter add dev xa egress protocol ip flower \
		action pedit ex munge eth src set 02:00:00:00:00:07 pipe &&
	used offload_distrusted least 1 writes
	local rc=$?
	unredirect
	return $rc
}

# Packets that a queue drops are counted as unsettled, and sent again.
dropped() {
	both able $TX
	ip netns exec "$NS_A" tc qdisc add dev va root netem loss 3% &&
	used tx_icrc_unsettled least 1 writes &&
	used tx_icrc_offload least 500 writes
	local rc=$?
	ip netns exec "$NS_A" tc qdisc del dev va root
	return $rc
}

# A queue that uncouples trains passes only the first packet of each to the NIC with its
# socket. That is detected before many packets are lost.
uncoupled() {
	both able $TX && takes_trains on va &&
	ip netns exec "$NS_A" tc qdisc add dev va root tbf rate 1gbit burst 6k \
		limit 4m && gained $DEV_B rx_icrc_encapsulated writes
	local rc=$?
	ip netns exec "$NS_A" tc qdisc del dev va root
	[ $rc = 0 ] && [ "$GAINED" -gt 0 ] && [ "$GAINED" -lt 100 ] ||
		fail "$rc, $GAINED packets came without ICRC"
}

# ---------------------------------------------------------------- in mid-traffic

# Each QP shows whether it uses the NIC, and the reason if not.
is_shown() {
	both able $((TX | RX))
	load_begin QPS=8 || return
	within 5 qps_say icrc_offload 1 && not qps_say nic_distrusted 1 &&
	turn va corrupt 1000000000 && within 5 qps_say nic_distrusted 1
	local rc=$?
	turn va corrupt 0
	load_end && return $rc
}

flip() {
	turn va able $((RANDOM % 4)) && turn vb able $((RANDOM % 4))
}

fails() {
	turn va refuse $((RANDOM % 50)) && turn vb corrupt $((RANDOM % 3))
}

ethtool_flips() {
	takes_trains "$([ $((RANDOM % 2)) = 0 ] && echo on || echo off)" va
}

# With insmod alone, the registry is not loaded, and the NIC is not used.
without_registry() {
	local helper rc

	untopo
	rmmod verve && rmmod roce_offload || return
	helper=$(cat /proc/sys/kernel/modprobe)
	echo /bin/true >/proc/sys/kernel/modprobe
	insmod "$(modinfo -n verve 2>/dev/null || echo "$VERVE_KO")"
	rc=$?
	echo "$helper" >/proc/sys/kernel/modprobe
	[ $rc = 0 ] && [ ! -d /sys/module/roce_offload ] &&
	topo two 1500 && [ "$(knob va offered)" = 1 ] &&
	used tx_icrc_offload most 0 writes
	rc=$?
	untopo
	rmmod verve && load_module && return $rc
}

# With another version of the interface, the NIC is refused, and nothing breaks.
other_abi() {
	unload_nic && load_nic abi=99 || return
	[ "$(knob va offered)$(knob vb offered)" = 00 ] ||
		fail "it is offered" || return
	unload_nic
}

tap_setup topo two 1500
tap_add "on the wire, IPv4" wire_is_right off
tap_add "on the wire, IPv6" wire_is_right off -6
tap_add "on the wire, whole trains, IPv4" wire_is_right on
tap_add "on the wire, whole trains, IPv6" wire_is_right on -6
tap_add "made by the NIC" made_by_nic
tap_add "verified by the NIC" verified_alone on
tap_add "verified by the NIC, without GRO" verified_alone off
tap_add "by software where the NIC offers nothing" not_offered
tap_add "bad packets are noticed" bad_is_noticed
tap_add "what the NIC refuses, software does" refused
tap_add "a NIC whose requests are always wrong is distrusted" distrusted $DEV_A va
tap_add "a NIC whose answers are always wrong is distrusted" distrusted $DEV_B vb
tap_add "the driver was asked nothing unusual" driver_is_content
tap_add "through a VLAN" through_vlan
tap_add "redirected to another device" redirected
tap_add "copied on the way" copied
tap_add "dropped before the device" dropped
tap_add "a queue that uncouples trains" uncoupled
tap_setup topo two 1500
tap_add "through a bond" through_bond active-backup
tap_setup topo two 1500
tap_add "by software through a bond that broadcasts" through_broadcast
tap_setup topo two 1500
tap_add "features flip" meanwhile $((TX | RX)) flip
tap_add "the NIC is reset" meanwhile $((TX | RX)) reset_both
tap_add "the driver withdraws" meanwhile $((TX | RX)) withdraw_both
tap_add "the NIC fails" meanwhile $((TX | RX)) fails
tap_add "what is in use is shown" is_shown
tap_add "trains or not" meanwhile $((TX | RX)) ethtool_flips
tap_add "the netdev goes down" meanwhile $((TX | RX)) a_goes_down
tap_setup bad_network
tap_add "features flip in a bad network" meanwhile $((TX | RX)) flip
tap_setup good_network
tap_add "the driver is unloaded" driver_goes_under load_begin QPS=8
tap_setup topo two 1500
tap_add "the transport is unloaded" \
	transport_goes_under registry_stays load_begin QPS=8
tap_add "another interface" other_abi
tap_add "without the registry" without_registry
tap_run
