#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A NIC that segments UDP computes the ICRCs of the packets that it makes, whatever their
# IPv4 identifications are, and no message is lost, doubled or changed when it stops
# offering that under traffic. Where the NIC does not segment a packet, software does.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software
#	                  ^ tcpdump

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"
STATEFUL=Y
ICRC=1 RX=2 USO=4
BOTH=$((ICRC | USO))
ALL=$((BOTH | RX))
# Of the 4000 packets of writes(), so many are left to the NIC at least. Where a round of
# the engine ends, single packets are sent.
LEAST=3500

need tcpdump python3 ethtool tc nft

has_trains || skip_all "the NIC segments nothing without trains: trains=N"

uso_topo() {
	topo "$@" && segments on va vb
}

in_bad_network() {
	segments on va vb && bad_network
}

offers() {
	segments on va vb && both able $BOTH
}

# Without ICRCs, USO would be tried.
offers_nothing() {
	both able 0 && segments off va vb
}

# ---------------------------------------------------------------- the wire

# nic_makes DEVICE COMMAND...: the NIC segments messages meanwhile
nic_makes() {
	local dev=$1 cut netdev=va

	shift
	[ "$dev" = $DEV_A ] || netdev=vb
	cut=$(knob $netdev cut)
	gained "$dev" tx_uso_pkts "$@" || return
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
	gained "$dev" tx_uso_fallback "$@"
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

# all_opcodes offload|fallback OPTION...
all_opcodes() {
	local who=$1

	shift
	offers && gro off || return
	[ "$who" = offload ] || both refuse 1000000000
	used "tx_uso_${who/offload/pkts}" least 100 \
		are_right "$NS_B" vb "$REQUESTS" "$@" &&
	are_right "$NS_A" va "$ANSWERS" "$@"
	local rc=$?
	both refuse 0
	gro on
	return $rc
}

# The NIC computes each ICRC after it has assigned the identification.
any_identifications() { # KNOB
	local ANY_IDS=--any-ids

	both ids "$1"
	writes_are_equal nic_makes
	local rc=$?
	both ids 0
	return $rc
}

# ---------------------------------------------------------------- NIC or software

made_by_nic() {
	local skbs

	offers
	skbs=$(knob va segmented)
	used tx_uso_pkts least $LEAST used tx_uso_skbs least 900 writes || return
	skbs=$(($(knob va segmented) - skbs))
	# 500 messages of 8 packets. The first, with a RETH, is longer than the others.
	[ $skbs -ge 900 ] && [ $skbs -le 1400 ] || fail "$skbs packets came whole"
}

# Packets of several short messages are made of one.
many_messages() {
	offers
	gained $DEV_A tx_uso_skbs used tx_uso_pkts least 1500 \
		perftest ib_write_bw -s 1024 -n 2000 -l 20 || return
	[ "$GAINED" -le 500 ] || fail "$GAINED skbs"
}

switched_off() {
	offers && segments off va vb &&
	used tx_uso_pkts most 0 used tx_icrc_offload least $LEAST writes
}

not_offered() {
	offers
	both able $ICRC
	used tx_uso_pkts most 0 writes &&
	used tx_uso_fallback most 0 writes
}

# A packet that the driver refuses becomes a train, whose ICRCs the NIC may make.
refused() {
	offers
	turn va refuse 20
	used tx_uso_fallback least 30 writes || return
	[ "$(knob va refuse)" = 0 ] || fail "$(knob va refuse) to refuse"
}

one_by_one() {
	offers && echo N >$TRAINS
	used tx_uso_pkts most 0 writes
	local rc=$?
	echo Y >$TRAINS
	return $rc
}

# The peer drops packets that the NIC made, and they are sent again one by one.
bad_are_repeated() {
	local bad

	offers
	bad=$(hw_counter $DEV_B rx_icrc_encapsulated)
	turn va miscut 3
	writes || return
	bad=$(($(hw_counter $DEV_B rx_icrc_encapsulated) - bad))
	[ $bad -ge 6 ] || fail "$bad bad packets were noticed"
}

# distrusted COMMAND...: only what the NIC segments gets wrong ICRCs, so no QP waits for a
# timeout
distrusted() {
	offers
	turn va miscut 1000000000
	used offload_distrusted least 1 "$@"
	local rc=$?
	turn va miscut 0
	[ $rc = 0 ] && used tx_uso_pkts least $LEAST writes
}

# A NIC that is always right keeps its work, whatever the network loses.
trusted() {
	offers
	turn va lose 1009
	used tx_uso_pkts least 50000 used offload_distrusted most 0 \
		perftest ib_write_bw -s 1048576 -n 60
	local rc=$?
	turn va lose 0
	return $rc
}

# In sysfs, and by `rdma resource`
is_shown() {
	local file=/sys/class/infiniband/$DEV_A/offload/segmentation_ipv4

	both able $ICRC && [[ "$(<"$file")" = off:* ]] &&
	offers && [ "$(<"$file")" = "in use" ] || fail "$(<"$file")" || return
	load_begin QPS=8 || return
	within 5 qps_say segmented_by_nic 1
	local rc=$?
	load_end && return $rc
}

# ---------------------------------------------------------------- other ways

through_vlan() {
	vlan_on_top && offers || return
	used tx_uso_pkts least $LEAST writes_on_top &&
	# The VLAN does not pass such packets on any more.
	nic_features v7 tx-sctp-segmentation off &&
	used tx_uso_pkts most 0 \
		used tx_icrc_offload least $LEAST writes_on_top
}

through_bond() { # MODE
	bond_on_top "$1" && offers || return
	used tx_uso_pkts most 0 writes_on_top
}

# A packet reaches a device that cannot segment it: its route leads to A's netdev, but
# the firewall has the route looked up again.
rerouted() {
	offers && second_wire && reroute &&
	used tx_uso_pkts most 0 \
		used tx_uso_fallback least $LEAST \
		used tx_icrc_fallback least $LEAST writes
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

# Copies without a socket are dropped. After the first loss, single packets are sent.
redirected() {
	offers && redirect
	used tx_uso_pkts most 0 writes
	local rc=$?
	unredirect
	return $rc
}

mirrored() {
	offers && redirect mirror
	used tx_uso_pkts least 3000 writes
	local rc=$?
	unredirect
	return $rc
}

# qdisc KIND OPTION...: A's netdev gets this queue
qdisc() {
	offers
	ip netns exec "$NS_A" tc qdisc add dev va root "$@" && writes
	local rc=$?
	ip netns exec "$NS_A" tc qdisc del dev va root
	return $rc
}

dropped() {
	used tx_icrc_unsettled least 1 qdisc netem loss 3%
}

# Other tests over such a NIC: memory on demand that may be absent in the middle of a
# message, and keys that messages invalidate
works() { # PROGRAM
	local rc=0

	offers
	gained $DEV_A tx_uso_pkts c_test "$@" >"$TMP/works" || rc=$?
	[ $rc != $KSFT_SKIP ] || { skip "this kernel does not have it"; return; }
	[ $rc = 0 ] || fail "$(<"$TMP/works")" || return
	[ "$GAINED" -gt 0 ] || fail "the NIC made nothing"
}

# A tap at A sees the packets that the driver gets.
captured_here() {
	local size

	offers
	tcpdump_begin "$NS_A" -i va -U -Z root -w "$TMP/own.pcap" udp port 4791 &&
	used tx_uso_pkts least $LEAST writes && tcpdump_end || return
	size=$(stat -c %s "$TMP/own.pcap")
	[ "$size" -gt 1000000 ] || fail "$size bytes"
}

large_mtu() {
	offers
	used tx_uso_pkts least 1500 perftest ib_write_bw -s 65536 -n 100
}

# ---------------------------------------------------------------- in mid-traffic

flip() {
	turn va able $((RANDOM % 32)) && turn vb able $((RANDOM % 32))
}

ethtool_flips() {
	segments "$([ $((RANDOM % 2)) = 0 ] && echo on || echo off)" va vb
}

fails() {
	turn va refuse $((RANDOM % 50)) && turn vb refuse $((RANDOM % 50)) &&
	turn va miscut $((RANDOM % 3)) && turn vb corrupt $((RANDOM % 3))
}

# under_load COMMAND...: as meanwhile, and the NIC makes packets at times
under_load() {
	used tx_uso_pkts least 100 meanwhile $ALL "$@"
}

begin() {
	offers && load_begin QPS=8
}

# ---------------------------------------------------------------- tests

tap_setup uso_topo two 1500
tap_add "on the wire, RDMA WRITE" writes_are_equal nic_makes
tap_add "on the wire, RDMA WRITE, IPv6" over_ipv6 writes_are_equal nic_makes
tap_add "on the wire, SEND" sends_are_equal nic_makes
tap_add "on the wire, UC" writes_are_equal nic_makes -c UC
tap_add "on the wire, responses to READs" reads_are_equal nic_makes
tap_add "on the wire, all opcodes, IPv4" all_opcodes offload
tap_add "on the wire, constant identifications" any_identifications 1
tap_add "on the wire, random identifications" any_identifications 2
tap_add "by software, RDMA WRITE" writes_are_equal software_makes
if [ ! "$QUICK" ]; then
	tap_add "on the wire, all opcodes, IPv6" all_opcodes offload -6
	tap_add "by software, RDMA WRITE, IPv6" over_ipv6 writes_are_equal software_makes
	tap_add "by software, SEND" sends_are_equal software_makes
	tap_add "by software, UC" writes_are_equal software_makes -c UC
	tap_add "by software, responses to READs" reads_are_equal software_makes
	tap_add "by software, all opcodes, IPv4" all_opcodes fallback
fi
tap_add "by software, all opcodes, IPv6" all_opcodes fallback -6
tap_add "made by the NIC" made_by_nic
tap_add "several messages in one" many_messages
tap_add "none where ethtool switches it off" switched_off
tap_add "by software where the NIC makes ICRCs only" not_offered
tap_add "what the NIC refuses, software does" refused
tap_add "none where trains are off" one_by_one
tap_add "the driver was asked nothing unusual" driver_is_content
tap_add "bad packets are sent again" bad_are_repeated
tap_add "a NIC whose packets are always wrong is distrusted" \
	distrusted perftest ib_write_bw -s 8192 -n 4000
tap_add "that is noticed with one message at a time" \
	distrusted perftest ib_write_bw -s 8192 -n 60 -t 1
tap_add "a NIC that is right is trusted in a bad network" trusted
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
tap_setup topo two 4180
tap_add "packets that fill the MTU" large_mtu
tap_setup topo two 1500
tap_add "packets through a bond" through_bond active-backup
tap_setup topo two 1500
tap_add "packets through a bond that broadcasts" through_bond broadcast
tap_setup uso_topo two 1500
tap_add "features flip" under_load flip
tap_add "the NIC is reset" under_load reset_both
tap_add "the driver withdraws" under_load withdraw_both
tap_add "the NIC fails" under_load fails
tap_add "the netdev goes down" under_load a_goes_down
tap_add "segmentation is switched" under_load ethtool_flips
tap_setup in_bad_network
tap_add "features flip in a bad network" under_load flip
tap_setup good_network
tap_add "the driver is unloaded" driver_goes_under begin
tap_setup topo two 1500
tap_add "the transport is unloaded" transport_goes_under registry_stays begin
tap_run
