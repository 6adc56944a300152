#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tools of administrators show a Verve device as they show a RoCE NIC: ibstat,
# rdma monitor and ibv_asyncwatch. Those that need a subnet manager, ibping and perfquery,
# fail with a reason, and do not hang.
#
#	A [va: vta] ---- [vb: vtb] B
#
# OTHER_ROOT is a directory with an iproute2 that has rdma monitor (tools/vm/rdma-core).

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/root.sh"

need_root OTHER_ROOT /usr/bin/stdbuf
need ibstat ibping perfquery ibv_asyncwatch stdbuf
modprobe -q ib_umad || skip_all "no module ib_umad"

# field NAME: of the port in ibstat's output
field() {
	sed -n "s/^[[:space:]]*$1: //p" "$TMP/ibstat"
}

stat_is() { # STATE PHYSICAL-STATE
	a timeout $LIMIT ibstat $DEV_A >"$TMP/ibstat" &&
	[ "$(field State) $(field 'Physical state')" = "$1 $2" ] &&
	[ "$(field 'Link layer')" = Ethernet ]
}

states() {
	stat_is Active LinkUp || fail "$(<"$TMP/ibstat")" || return
	ip -n "$NS_A" link set va down
	within 5 stat_is Down Disabled || fail "$(<"$TMP/ibstat")" || return
	ip -n "$NS_A" link set va up
	within 5 stat_is Active LinkUp || fail "$(<"$TMP/ibstat")"
}

listed() {
	[ "$(a ibstat -l | sort | tr '\n' ' ')" = "$DEV_A $DEV_B " ]
}

# guid: ibstat's of the node is that of the verbs.
guid() {
	local stat verbs

	stat=$(a ibstat $DEV_A | sed -n 's/.*Node GUID: 0x//p')
	verbs=$(tr -d : </sys/class/infiniband/$DEV_A/node_guid)
	[ "$stat" ] && [ "$stat" = "$verbs" ] || fail "$stat is not $verbs"
}

# refused EXIT-CODE REASON COMMAND...: ends in time
refused() {
	local rc

	a timeout -k 2 $LIMIT "${@:3}" >"$TMP/refused" 2>&1
	rc=$?
	[ $rc = "$1" ] && grep -q "$2" "$TMP/refused" ||
		fail "exit code $rc: $(<"$TMP/refused")"
}

prints() { # FILE PATTERN
	grep -q "$2" "$1"
}

# watched: the port goes and comes, which ibv_asyncwatch prints.
watched() {
	local pid rc=0

	a timeout $LIMIT stdbuf -oL ibv_asyncwatch -d $DEV_A >"$TMP/watch" 2>&1 &
	pid=$!
	within 5 prints "$TMP/watch" "async event FD" || rc=1
	ip -n "$NS_A" link set va down
	within 5 prints "$TMP/watch" IBV_EVENT_PORT_ERR || rc=1
	ip -n "$NS_A" link set va up
	within 5 prints "$TMP/watch" IBV_EVENT_PORT_ACTIVE || rc=1
	kill $pid
	wait $pid
	[ $rc = 0 ] || fail "$(<"$TMP/watch")"
}

# Once the monitor listens, which it does not tell, it sees each change of a name.
seen_renamed() {
	rdma dev set $DEV_B name vtx && rdma dev set vtx name $DEV_B &&
	prints "$TMP/monitor" "RENAME.* vtx"
}

has_monitor() {
	in_root rdma monitor help 2>&1 | grep -q "^Usage: rdma monitor"
}

# monitored: a device is renamed, deleted and added, which rdma monitor prints.
monitored() {
	local pid rc=0

	has_monitor || { skip "rdma has no monitor"; return; }
	timeout $LIMIT chroot "$ROOT" stdbuf -oL rdma monitor >"$TMP/monitor" 2>&1 &
	pid=$!
	within 5 seen_renamed || rc=1
	link_delete $DEV_B
	within 5 prints "$TMP/monitor" "UNREGISTER.* $DEV_B" || rc=1
	link_add "$NS_B" $DEV_B vb || rc=1
	within 5 prints "$TMP/monitor" "\[REGISTER.* $DEV_B" || rc=1
	kill $pid
	wait $pid
	[ $rc = 0 ] || fail "$(<"$TMP/monitor")"
}

tap_setup topo two
tap_add "ibstat: the states of the port" states
tap_add "ibstat -l" listed
tap_add "ibstat: the GUID" guid
tap_add "ibv_asyncwatch: the events of the port" watched
tap_add "rdma monitor: a device comes and goes" monitored
tap_add "perfquery has no subnet manager" refused 255 "client_register .* failed" \
	perfquery -C $DEV_A
tap_add "ibping has no LID to ask" refused 0 "send failed; Invalid argument" \
	ibping -C $DEV_A -c 1 1
tap_add "ibping has no path to a GID" refused 255 "only lid routes" \
	ibping -C $DEV_A -c 1 -G 0xfe80000000000001
tap_run
