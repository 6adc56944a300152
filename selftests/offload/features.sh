#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A NIC that segments UDP (USO), known only by its netdev's features, makes the packets
# that software would; one that makes other packets is detected, and no data are lost;
# packets are steered to the CPU of a program.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software
#	                  ^ tcpdump

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"
STATEFUL=Y

need tcpdump python3 ethtool taskset
has_trains || skip_all "the NIC segments nothing without trains: trains=N"

# Each failed trial costs a retry; after so many in a row there are no more trials.
MOST_FAILURES=8
FILES=/sys/class/infiniband/$DEV_A/offload

# ---------------------------------------------------------------- the NIC

# A NIC that is not registered with Verve
plain_nic() {
	topo two "$@" && both able 0 && segments on va
}

says() { # FILE LINE
	[ "$(cat "$FILES/$1")" = "$2" ] || fail "$1: $(cat "$FILES/$1")"
}

# ---------------------------------------------------------------- the wire

# what_writes_send LISTING [OPTION]: captures the packets at B, and checks them
what_writes_send() {
	local listing=$1

	shift
	capture "$NS_B" vb in "$TMP/wire.pcap" \
		perftest ib_write_bw -s 8000 -n 64 "$@" &&
	python3 "$LIB/segments.py" "$TMP/wire.pcap" "$listing" \
		>"$TMP/segments" || fail "$(cat "$TMP/segments")"
}

# The NIC makes exactly the packets that software sends.
arrives_equal() {
	segments off va && nic_features vb gro off &&
	what_writes_send "$TMP/software" "$@" &&
	grep -q ", 0 with a checksum" "$TMP/segments" && segments on va &&
	used tx_uso_pkts least 10 what_writes_send "$TMP/nic" "$@" || return
	grep -q ", 0 with a checksum" "$TMP/segments" &&
		{ fail "the NIC made none"; return; }
	diff "$TMP/software" "$TMP/nic" >"$TMP/diff" || fail "$(<"$TMP/diff")"
	nic_features vb gro on
}

all_opcodes() {
	segments on va vb && gro off &&
	are_right "$NS_B" vb "$(printf '%02x ' {0..12} 19 20)" "$@" &&
	are_right "$NS_A" va "$(printf '%02x ' {13..18})" "$@" &&
	segments off vb && nic_features vb gro on
}

# ---------------------------------------------------------------- trust

many_of_one() {
	local before

	segments on va
	before=$(knob va segmented)
	used tx_uso_pkts least 500 writes &&
	says segmentation_ipv4 "in use" || return
	[ $(($(knob va segmented) - before)) -ge 50 ] &&
		[ "$(knob va unable)" = 0 ] ||
		fail "$(($(knob va segmented) - before)) packets came whole," \
			"$(knob va unable) wrong"
}

# UC, UD and responses to READs have no ACKs, so they are never segmented.
unacknowledged() {
	used tx_uso_pkts most 0 perftest ib_write_bw -c UC -s 8192 -n 100 &&
	used tx_uso_pkts most 0 perftest ib_send_bw -c UD -s 1024 -n 100 &&
	used tx_uso_pkts most 0 perftest ib_read_bw -b -n 100
}

# is_found_out IDS: the NIC assigns wrong identifications
is_found_out() {
	segments on va && turn va ids "$1" &&
	gained $DEV_A uso_trial_failed writes || return
	[ "$GAINED" = $MOST_FAILURES ] || fail "$GAINED trials failed" || return
	says segmentation_ipv4 "off: what va segmented did not arrive" &&
	used tx_uso_pkts most 0 writes
}

# Trials begin again when the features change or the netdev comes up.
is_tried_again() {
	turn va ids 0 && segments on va &&
	says segmentation_ipv4 "on trial" &&
	used tx_uso_pkts least 500 writes
}

comes_up_again() {
	is_found_out 1 && turn va ids 0 &&
	ip -n "$NS_A" link set va down && ip -n "$NS_A" link set va up &&
	ip -n "$NS_A" addr replace fd00::1/64 dev va nodad &&
	says segmentation_ipv4 "on trial" &&
	used tx_uso_pkts least 500 writes
}

# IPv6 has no identifications, so its trials are separate.
ipv6_is_apart() {
	segments on va && turn va ids 1 &&
	used tx_uso_pkts least 500 over_ipv6 writes &&
	says segmentation_ipv6 "in use" && says segmentation_ipv4 "on trial"
	local rc=$?
	turn va ids 0
	return $rc
}

# Random losses do not end the use of the NIC.
is_not_condemned() {
	segments on va && turn va lose 30
	writes
	local rc=$?
	turn va lose 0
	[ $rc = 0 ] && used tx_uso_pkts least 500 writes
}

# Answers that come after the first probe condemn no NIC, however many new QPs there are.
is_far_away() {
	segments on va && modprobe -q sch_netem
	tc -n "$NS_B" qdisc replace dev vb root netem delay 50ms ||
		{ skip "no netem"; return; }
	used uso_trial_failed most 1 used loss_probes least $MOST_FAILURES many_new_qps
	local rc=$?
	fair_network
	[ $rc = 0 ] && says segmentation_ipv4 "in use"
}

many_new_qps() {
	local i

	for ((i = 0; i < MOST_FAILURES; i++)); do
		perftest ib_write_bw -s 8000 -n 5 || return
	done
}

# A NIC begins to make wrong packets under traffic, which goes on.
changes_its_mind() {
	segments on va
	load_begin QPS=8 || return
	within 5 says segmentation_ipv4 "in use" >/dev/null &&
	turn va ids 1 && within 20 is_condemned && goes_on $DEV_A
	local rc=$?
	turn va ids 0
	load_end && [ $rc = 0 ] || fail "$rc: $(cat $FILES/segmentation_ipv4)"
}

is_condemned() {
	[[ $(cat $FILES/segmentation_ipv4) == "off: what"* ]]
}

# sysfs shows each reason not to segment, and that the NIC segments.
is_shown() {
	segments off va &&
	says segmentation_ipv4 \
		"off: va has tx-udp-segmentation or tx-scatter-gather off" &&
	takes_trains on va &&
	says segmentation_ipv6 "off: va takes trains (tx-gso-list)" &&
	segments on va && echo N >$TRAINS &&
	says segmentation_ipv4 "off: trains=N"
	local rc=$?
	echo Y >$TRAINS
	[ $rc = 0 ] && says segmentation_ipv4 "on trial" &&
	says icrc_tx "off: no driver offers anything for va" &&
	turn va able 2 && says icrc_rx "in use" &&
	says icrc_tx "off: the driver of va does not offer it" &&
	says ddp "off: the driver of va does not offer it" &&
	turn va able 10 && says ddp "in use" &&
	turn va able 1 && says icrc_tx "in use" &&
	says segmentation_ipv4 "off: va computes ICRCs (icrc_tx) of single packets only" &&
	turn va able 0 && says scatter_gather "in use" &&
	nic_features va gro off &&
	says rx_gro "off: va has generic-receive-offload off" &&
	nic_features va gro on &&
	says rx_gro "in use" &&
	says rx_hash "off: va has receive-hashing off"
}

# A NIC that computes the ICRCs of single packets only does not segment UDP.
not_with_icrc() {
	turn va able 1
	used tx_uso_pkts most 0 writes
	local rc=$?
	turn va able 0
	return $rc
}

# ---------------------------------------------------------------- in mid-traffic

# through COMMAND...: runs it again and again, while data are compared
through() {
	local i rounds=${QUICK:+10}

	segments on va
	load_begin QPS=8 || return
	for ((i = 0; i < ${rounds:-100}; i++)); do
		"$@" "$i" || { load_kill; fail "$*: round $i"; return; }
		nap 0.0$((RANDOM % 9 + 1))
	done
	segments on va && turn va ids 0 && goes_on $DEV_A && load_end
}

flips() {
	segments "$([ $((RANDOM % 2)) = 0 ] && echo on || echo off)" va
}

flips_ids() {
	turn va ids $((RANDOM % 3))
}

through_vlan() {
	ip -n "$NS_A" link add link va name v7 type vlan id 7 &&
	ip -n "$NS_B" link add link vb name v7 type vlan id 7 &&
	on_top v7 && segments on va &&
	used tx_uso_pkts least 500 writes_on_top
}

# ---------------------------------------------------------------- steering

# Number of packets that CPU has received
received_by() { # CPU
	local columns

	read -ra columns < <(sed -n "$(($1 + 1))p" /proc/net/softnet_stat)
	echo $((16#${columns[0]}))
}

# rps NETNS NETDEV FLOWS: by RFS if FLOWS is not 0; otherwise all packets go to CPU 0
rps() {
	ip netns exec "$1" bash -c "
		cd /sys/class/net/$2/queues/rx-0 && echo 1 >rps_cpus && echo $3 >rps_flow_cnt"
}

# steer FLOWS: B's packets. All of A's go to CPU 0.
steer() {
	rps "$NS_A" va 0 && rps "$NS_B" vb "$1" &&
	echo "$1" >/proc/sys/net/core/rps_sock_flow_entries
}

# Sets $FOLLOWED, the number of packets that went to the CPU of B's program.
latency() {
	local CLIENT_WITH=(taskset -c 0) SERVER_WITH=(taskset -c 1) before

	before=$(received_by 1)
	perftest ib_send_lat -n 500 || return
	FOLLOWED=$(($(received_by 1) - before))
}

follows_program() {
	if [ "$(nproc)" = 1 ] || [ ! -e /proc/sys/net/core/rps_sock_flow_entries ]
	then
		skip "no RFS here"
		return
	fi
	steer 0 && latency || return
	[ $FOLLOWED -lt 50 ] || fail "without RFS: $FOLLOWED packets" || return
	steer 4096 && latency || return
	[ $FOLLOWED -ge 400 ] || fail "with RFS: $FOLLOWED packets of 500"
	local rc=$?
	steer 0
	return $rc
}

# A netdev with a gso_max_size below the length of the headers gets no trains. TCP would
# not work with it.
takes_little() {
	NIC_OPTIONS=(gso_max_size=8)
	topo two 1500
	local rc=$?
	NIC_OPTIONS=()
	[ $rc = 0 ] && c_test opcodes --quick -s 262144
}

features_cleanup() {
	[ ! -e /proc/sys/net/core/rps_sock_flow_entries ] ||
		echo 0 >/proc/sys/net/core/rps_sock_flow_entries
	nic_cleanup
}

trap features_cleanup EXIT

tap_setup plain_nic 1500
tap_add "many packets of one" many_of_one
tap_add "on the wire, IPv4" arrives_equal
tap_add "on the wire, IPv6" over_ipv6 arrives_equal
tap_add "on the wire, all opcodes, IPv4" all_opcodes
tap_add "on the wire, all opcodes, IPv6" all_opcodes -6
tap_add "not what nobody acknowledges" unacknowledged
tap_add "the same identification in all is found out" is_found_out 1
tap_add "it is tried again when features change" is_tried_again
tap_add "any identifications are found out" is_found_out 2
tap_add "it is tried again when the netdev comes up" comes_up_again
tap_add "IPv6 has no identifications" ipv6_is_apart
tap_add "a NIC is not condemned for losses" is_not_condemned
tap_add "a NIC is not condemned for a long path" is_far_away
tap_add "a NIC that changes its mind" changes_its_mind
tap_add "what is in use is shown, and why not" is_shown
tap_add "not with ICRCs" not_with_icrc
tap_add "features flip" through flips
tap_add "identifications flip" through flips_ids
tap_add "through a VLAN" through_vlan
tap_setup plain_nic 1500
tap_add "packets go where the program is" follows_program
tap_add "a NIC that takes little at once" takes_little
tap_run
