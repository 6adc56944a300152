#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A NIC may know only some numbers of QPs and some keys. New QPs and regions have such
# numbers while draws find any, and all others stay in software.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"
STATEFUL=Y

ICRC=3 PLACE=8 RC=16
ALL=$((ICRC | PLACE | RC))
# As in testnic/nic.h
FIRST=$((0x4000))
# Of each end in a load, half of them are RC.
QPS=16

# limit QPNS KEYS: what both NICs can know from now on
limit() {
	both offered 0 && both qpns "$1" && both keys "$2" && both offered 1 &&
	both able $ALL
}

# within_range COUNT NUMBER...
within_range() {
	local count=$1 number

	shift
	for number in "$@"; do
		[ $((number - FIRST)) -ge 0 ] && [ $((number - FIRST)) -lt "$count" ] ||
			return
	done
}

# Numbers of A's RC QPs
qpns() {
	rdma resource show qp link $DEV_A/1 |
		sed -n 's/.* lqpn \([0-9]*\) .*type RC .*/\1/p'
}

# Upper 24 bits of A's keys
keys() {
	rdma resource show mr dev $DEV_A |
		sed -n 's/.* rkey \(0x[0-9a-f]*\).*/\1/p' | while read -r key; do
		echo $((key >> 8))
	done
}

knows() { # NETDEV MRS QPS
	[ "$(knob "$1" mrs) $(knob "$1" qps)" = "$2 $3" ]
}

both_know() { # MRS QPS
	within 5 knows va "$1" "$2" && within 5 knows vb "$1" "$2" ||
		fail "A: $(knob va mrs) $(knob va qps), B: $(knob vb mrs) $(knob vb qps)"
}

are_drawn() { # COUNT
	local qpns keys

	read -ra qpns -d '' < <(qpns)
	read -ra keys -d '' < <(keys)
	echo "QPs ${qpns[*]}, keys ${keys[*]}"
	[ "${#qpns[@]}" = $((QPS / 2)) ] && [ "${#keys[@]}" = 1 ] &&
	within_range "$1" "${qpns[@]}" "${keys[@]}" && both_know 1 $((QPS / 2))
}

in_range() {
	limit 64 64 && during_load are_drawn 64
}

# The QPs of both ends share six numbers. 32 draws find each, save one time in hundreds.
few_are_known() {
	local known=$(($(knob va qps) + $(knob vb qps)))

	[ "$known" -ge 4 ] && [ "$known" -le 6 ] && [ "$(qpns | wc -l)" = $((QPS / 2)) ] &&
	[ "$(knob va mrs) $(knob vb mrs)" = "1 1" ] ||
		fail "$known QPs are known, regions: $(knob va mrs) $(knob vb mrs)"
}

full() {
	local refused

	limit 6 1 && refused=$(hw_counter $DEV_A offload_refused) &&
	during_load few_are_known || return
	[ "$(hw_counter $DEV_A offload_refused)" -gt "$refused" ]
}

# The NICs come when the objects exist, which have other numbers.
come_late() {
	local refused

	refused=$(hw_counter $DEV_A offload_refused) && both offered 1 && both able $ALL &&
	within 5 has_counted $DEV_A offload_refused $((refused + QPS / 2)) && both_know 0 0
}

older() {
	limit 64 64 && both offered 0 && during_load come_late
}

# QPs and regions of several processes come and go. Few numbers are used again at once.
used_again() {
	local known

	limit 3 8 && known=$(knob va carried) && c_test ranges &&
	[ "$(knob va carried)" -gt "$known" ] || fail "no QP was offloaded"
}

# The NICs come back with other ranges, and know more or fewer of the objects.
changing() { # ROUND
	limit $((RANDOM % 20 + 1)) $((RANDOM % 3 + 1))
}

# A second device over the same NIC draws the same key.
shared() {
	local first rc

	limit 64 1 && vlan_on_top &&
	link_add "$NS_A" vtx v7 && link_add "$NS_B" vty v7 &&
	within 5 gid_of vtx 0a01:0001 && within 5 gid_of vty 0a01:0002 &&
	load_begin QPS=$QPS || return
	first=$LOAD
	DEV_A=vtx DEV_B=vty traffic_begin env QPS=$QPS load && both_know 1 $QPS
	rc=$?
	load_end || rc=1
	LOAD=$first
	load_end && return $rc
}

beyond() {
	both offered 0 && turn va qpns $((0xffffff)) && not turn va offered 1 &&
	turn va qpns 0 && turn va keys $((0x1000000 - FIRST + 1)) &&
	not turn va offered 1 && turn va keys $((0x1000000 - FIRST)) &&
	turn va offered 1 && limit 64 64
}

tap_setup topo two 1500
tap_add "numbers are from the NIC's range" in_range
tap_add "a full range leaves the rest to software" full
tap_add "older numbers stay in software" older
tap_add "numbers are used again" used_again
tap_add "ranges change under load" meanwhile $ALL changing
tap_add "a range beyond 24 bits is refused" beyond
tap_add "two devices above a NIC with one key" shared
tap_add "the NIC got only numbers that it can know" driver_is_content
tap_run
