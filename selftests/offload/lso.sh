#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A NIC cuts messages into the packets that software would send, and no message is lost,
# doubled or changed when the NIC stops offering that under traffic. Where the NIC does
# not cut a message, software does.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software
#	                  ^ tcpdump

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"

need tcpdump python3 ethtool tc nft

ICRC=1 RX=2 MESSAGE=4
BOTH=$((ICRC | MESSAGE))
REQUESTS=$(printf '%02x ' {0..12} 19 20 {32..43} 100 101)
ANSWERS=$(printf '%02x ' {13..18})
PARAMETERS=/sys/module/verve/parameters

[ "$(cat $PARAMETERS/trains 2>/dev/null)" != N ] ||
	skip_all "no messages without trains: trains=N"

gro() { # on|off
	ip netns exec "$NS_A" ethtool -K va gro "$1" &&
	ip netns exec "$NS_B" ethtool -K vb gro "$1"
}

# ---------------------------------------------------------------- the wire

# what_is_sent LISTING NETNS NETDEV COMMAND...: captures and checks packets received there
what_is_sent() {
	local listing=$1 ns=$2 netdev=$3

	shift 3
	capture "$ns" "$netdev" "$TMP/wire.pcap" "$@" &&
	python3 "$LIB/segments.py" "$TMP/wire.pcap" "$listing" \
		>"$TMP/segments" || fail "$(cat "$TMP/segments")"
}

# is_equal NETNS NETDEV COMMAND...: the packets that arrive there are the same as without
# LSO
is_equal() {
	gro off && both able 0 && what_is_sent "$TMP/software" "$@" &&
	both able $BOTH && what_is_sent "$TMP/messages" "$@" &&
	gro on || return
	diff "$TMP/software" "$TMP/messages" >"$TMP/diff" ||
		fail "$(head -n 20 "$TMP/diff")"
}

# nic_makes DEVICE COMMAND...: the NIC segments messages meanwhile
nic_makes() {
	local dev=$1 cut netdev=va

	shift
	[ "$dev" = $DEV_A ] || netdev=vb
	cut=$(knob $netdev cut)
	gained "$dev" tx_lso_pkts "$@" || return
	cut=$(($(knob $netdev cut) - cut))
	[ $cut -ge 200 ] && [ $cut = "$GAINED" ] ||
		fail "the NIC made $cut packets of $GAINED"
}

# software_makes DEVICE COMMAND...: the NIC refuses, and software segments them
software_makes() {
	local dev=$1 netdev=va

	shift
	[ "$dev" = $DEV_A ] || netdev=vb
	turn $netdev refuse 1000000000
	gained "$dev" tx_lso_fallback "$@"
	local rc=$?
	turn $netdev refuse 0
	[ $rc = 0 ] && [ "$GAINED" -ge 200 ] || fail "$rc: $GAINED packets"
}

# Called by nic_makes or software_makes
writes_are_equal() {
	local who=$1

	shift
	$who $DEV_A is_equal "$NS_B" vb perftest ib_write_bw -s 8000 -n 64 "$@"
}

sends_are_equal() {
	$1 $DEV_A is_equal "$NS_B" vb perftest ib_send_bw -s 65536 -n 16
}

reads_are_equal() {
	$1 $DEV_B is_equal "$NS_A" va perftest ib_read_bw -s 30001 -n 16
}

over_ipv6() {
	local GID_C GID_S

	GID_C=$(gid_index $DEV_C ipv6) GID_S=$(gid_index $DEV_S ipv6)
	"$@"
}

# all_opcodes offload|fallback OPTION...
all_opcodes() {
	local who=$1

	shift
	both able $BOTH && gro off || return
	[ "$who" = offload ] || both refuse 1000000000
	used "tx_lso_${who/offload/pkts}" least 100 \
		are_right "$NS_B" vb "$REQUESTS" "$@" &&
	are_right "$NS_A" va "$ANSWERS" "$@"
	local rc=$?
	both refuse 0
	gro on
	return $rc
}

# ---------------------------------------------------------------- NIC or software

made_by_nic() {
	local messages

	both able $BOTH
	messages=$(knob va messages)
	gained $DEV_A tx_lso_skbs \
		used tx_lso_pkts least 3900 writes || return
	messages=$(($(knob va messages) - messages))
	# 500 messages of 8 packets
	[ $messages -ge 490 ] && [ $messages -le 700 ] || fail "$messages messages"
}

not_offered() {
	both able "$1"
	used tx_lso_pkts most 0 writes &&
	used tx_lso_fallback most 0 writes
}

# A message that the driver refuses becomes a train, whose ICRCs the NIC may make.
refused() {
	both able $BOTH
	turn va refuse 20
	used tx_lso_fallback least 70 writes || return
	[ "$(knob va refuse)" = 0 ] || fail "$(knob va refuse) to refuse"
}

one_by_one() {
	both able $BOTH && echo N >$PARAMETERS/trains
	used tx_lso_pkts most 0 writes
	local rc=$?
	echo Y >$PARAMETERS/trains
	return $rc
}

# The peer drops packets of messages, and they are sent again one by one.
bad_are_repeated() {
	local bad

	both able $BOTH
	bad=$(hw_counter $DEV_B rx_icrc_encapsulated)
	turn va miscut 3
	writes || return
	bad=$(($(hw_counter $DEV_B rx_icrc_encapsulated) - bad))
	[ $bad -ge 6 ] || fail "$bad bad packets were noticed"
}

# Only LSO packets get wrong ICRCs, so no QP waits for a timeout.
distrusted() {
	both able $BOTH
	turn va miscut 1000000000
	used offload_distrusted least 1 writes
	local rc=$?
	turn va miscut 0
	[ $rc = 0 ] && used tx_lso_pkts least 3900 writes
}

is_shown() {
	local file=/sys/class/infiniband/$DEV_A/offload/lso

	both able $ICRC && [ "$(<$file)" = "off: the driver of va does not offer it" ] &&
	both able $BOTH && [ "$(<$file)" = "in use" ] || fail "$(<$file)" || return
	load_begin QPS=8 || return
	within 5 qps_have_messages
	local rc=$?
	load_end && return $rc
}

qps_have_messages() {
	rdma -dd resource show qp link $DEV_A/1 | grep -q "drv_lso 1"
}

# ---------------------------------------------------------------- other ways

through_vlan() {
	vlan_on_top && both able $BOTH || return
	used tx_lso_pkts least 3900 writes_on_top &&
	# The VLAN does not take LSO packets any more.
	ip netns exec "$NS_A" ethtool -K v7 tx-sctp-segmentation off &&
	used tx_lso_pkts most 0 \
		used tx_icrc_offload least 3900 writes_on_top
}

through_bond() { # MODE
	bond_on_top "$1" && both able $BOTH || return
	used tx_lso_pkts most 0 writes_on_top
}

# An LSO packet reaches a device that cannot send it: its route leads to A's netdev, but
# the firewall has the route looked up again.
rerouted() {
	both able $BOTH && second_wire && reroute &&
	used tx_lso_pkts most 0 \
		used tx_lso_fallback least 3900 \
		used tx_icrc_fallback least 3900 writes
	local rc=$?
	ip netns exec "$NS_A" nft delete table ip reroute
	ip -n "$NS_A" link del xa
	return $rc
}

reroute() {
	ip -n "$NS_A" route add 10.0.0.2 tos 0x10 dev xa &&
	ip netns exec "$NS_A" nft -f - <<-EOF
	table ip reroute {
		chain output {
			type route hook output priority 0
			udp dport 4791 ip dscp set 4
		}
	}
	EOF
}

# Copies of LSO packets are dropped. After the first loss, no LSO packets are sent.
redirected() {
	both able $BOTH && redirect
	used tx_lso_pkts most 0 writes
	local rc=$?
	unredirect
	return $rc
}

mirrored() {
	both able $BOTH && redirect mirror
	used tx_lso_pkts least 3000 writes
	local rc=$?
	unredirect
	return $rc
}

# qdisc KIND OPTION...: A's netdev gets this queue
qdisc() {
	both able $BOTH
	ip netns exec "$NS_A" tc qdisc add dev va root "$@" && writes
	local rc=$?
	ip netns exec "$NS_A" tc qdisc del dev va root
	return $rc
}

dropped() {
	used tx_icrc_unsettled least 1 qdisc netem loss 3%
}

# Other tests over LSO: memory on demand that may be absent in the middle of a message,
# and keys that messages invalidate
works() { # PROGRAM
	local rc=0

	both able $BOTH
	gained $DEV_A tx_lso_pkts c_test "$@" >"$TMP/works" || rc=$?
	[ $rc != $KSFT_SKIP ] || { skip "this kernel does not have it"; return; }
	[ $rc = 0 ] || fail "$(<"$TMP/works")" || return
	[ "$GAINED" -gt 0 ] || fail "no messages"
}

# A tap at A sees the LSO packets that the driver gets.
captured_here() {
	local pid size

	both able $BOTH
	ip netns exec "$NS_A" tcpdump -i va -U -Z root -w "$TMP/own.pcap" \
		udp port 4791 2>"$TMP/tcpdump" &
	pid=$!
	within 5 captures && used tx_lso_pkts least 3900 writes || return
	sleep 0.3
	kill $pid
	wait $pid
	size=$(stat -c %s "$TMP/own.pcap")
	[ "$size" -gt 1000000 ] || fail "$size bytes"
}

large_mtu() {
	both able $BOTH
	used tx_lso_pkts least 1500 perftest ib_write_bw -s 65536 -n 100
}

# ---------------------------------------------------------------- in mid-traffic

flip() {
	turn va able $((RANDOM % 8)) && turn vb able $((RANDOM % 8))
}

fails() {
	turn va refuse $((RANDOM % 50)) && turn vb refuse $((RANDOM % 50)) &&
	turn va miscut $((RANDOM % 3)) && turn vb corrupt $((RANDOM % 3))
}

ethtool_flips() {
	takes_trains "$([ $((RANDOM % 2)) = 0 ] && echo on || echo off)" va
}

begin() {
	both able $BOTH && load_begin QPS=8
}

ALL=$((BOTH | RX))

tap_setup topo two 1500
tap_add "on the wire, RDMA WRITE" writes_are_equal nic_makes
tap_add "on the wire, RDMA WRITE, IPv6" over_ipv6 writes_are_equal nic_makes
tap_add "on the wire, SEND" sends_are_equal nic_makes
tap_add "on the wire, UC" writes_are_equal nic_makes -c UC
tap_add "on the wire, responses to READs" reads_are_equal nic_makes
tap_add "on the wire, all opcodes, IPv4" all_opcodes offload
tap_add "by software, RDMA WRITE" writes_are_equal software_makes
if [ ! "$QUICK" ]; then
	tap_add "on the wire, all opcodes, IPv6" all_opcodes offload -6
	tap_add "by software, RDMA WRITE, IPv6" \
		over_ipv6 writes_are_equal software_makes
	tap_add "by software, SEND" sends_are_equal software_makes
	tap_add "by software, UC" writes_are_equal software_makes -c UC
	tap_add "by software, responses to READs" reads_are_equal software_makes
	tap_add "by software, all opcodes, IPv4" all_opcodes fallback
fi
tap_add "by software, all opcodes, IPv6" all_opcodes fallback -6
tap_add "made by the NIC" made_by_nic
tap_add "by software where the NIC offers nothing" not_offered 0
tap_add "by software where it makes ICRCs only" not_offered $ICRC
tap_add "by software where it makes no ICRCs" not_offered $MESSAGE
tap_add "what the NIC refuses, software does" refused
tap_add "none where trains are off" one_by_one
tap_add "the driver was asked nothing unusual" driver_is_content
tap_add "bad packets are sent again" bad_are_repeated
tap_add "a NIC whose messages are always wrong is distrusted" distrusted
tap_add "what is in use is shown" is_shown
tap_add "captured where they are sent" captured_here
tap_add "memory on demand" works paging_odp
tap_add "memory that is absent" works paging_stall
tap_add "keys are invalidated" works windows
tap_add "through a VLAN" through_vlan
tap_add "rerouted to another device" rerouted
tap_add "redirected to another device" redirected
tap_add "mirrored to another device" mirrored
tap_add "dropped before the device" dropped
tap_add "a queue that takes no long packets" qdisc tbf rate 1gbit burst 5k limit 10m
tap_add "the driver was asked nothing unusual on the way" driver_is_content
tap_setup topo two 9000
tap_add "packets of 4 KiB" large_mtu
tap_add "packets of 4 KiB on the wire" sends_are_equal nic_makes
tap_setup topo two 1500
tap_add "packets through a bond" through_bond active-backup
tap_setup topo two 1500
tap_add "packets through a bond that broadcasts" through_bond broadcast
tap_setup topo two 1500
tap_add "features flip" meanwhile $ALL flip
tap_add "the NIC is reset" meanwhile $ALL reset_both
tap_add "the driver withdraws" meanwhile $ALL withdraw_both
tap_add "the NIC fails" meanwhile $ALL fails
tap_add "trains or not" meanwhile $ALL ethtool_flips
tap_add "the netdev goes down" meanwhile $ALL a_goes_down
tap_setup bad_network
tap_add "features flip in a bad network" meanwhile $ALL flip
tap_setup good_network
tap_add "the driver is unloaded" driver_goes_under begin
tap_setup topo two 1500
tap_add "the transport is unloaded" transport_goes_under registry_stays begin
tap_run
