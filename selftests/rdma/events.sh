#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Asynchronous events of QPs, CQs and the port each come once, and only to the process
# that they concern. rdma-core's ibv_asyncwatch shows those of the port while its netdev
# changes.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

need ibv_asyncwatch stdbuf

watch() {
	: >"$TMP/events"
	a stdbuf -oL ibv_asyncwatch -d $DEV_A >"$TMP/events" 2>&1 &
	WATCH=$!
	within 5 grep -q 'async event FD' "$TMP/events"
}

unwatch() {
	kill $WATCH
	wait $WATCH 2>/dev/null || :
}

# Values of enum ibv_event_type, because names differ between releases
DEVICE_FATAL=8
PORT_ACTIVE=9
PORT_ERR=10
GID_CHANGE=18

count() { # EVENT
	grep -c "($1)" "$TMP/events"
}

seen() { # EVENT TIMES
	[ "$(count "$1")" -ge "$2" ]
}

# expect EVENT TIMES: the event comes exactly so many times
expect() {
	within 5 seen "$1" "$2" || {
		cat "$TMP/events"
		fail "$(count "$1") events ($1), not $2"
		return
	}
	sleep 0.2
	[ "$(count "$1")" = "$2" ] || {
		cat "$TMP/events"
		fail "$(count "$1") events ($1), not $2"
	}
}

port_events() {
	watch || fail "no ibv_asyncwatch" || return
	ip -n "$NS_A" link set va down
	expect $PORT_ERR 1 && expect $PORT_ACTIVE 0 || return
	ip -n "$NS_A" link set va up
	expect $PORT_ACTIVE 1 && expect $PORT_ERR 1 || return
	# Taking down the other end of a veth removes the carrier.
	ip -n "$NS_B" link set vb down
	expect $PORT_ERR 2 || return
	ip -n "$NS_B" link set vb up
	expect $PORT_ACTIVE 2 || return
	unwatch
}

gid_events() {
	local n

	watch || fail "no ibv_asyncwatch" || return
	n=$(count $GID_CHANGE)
	ip -n "$NS_A" addr add 10.0.7.1/24 dev va
	within 5 seen $GID_CHANGE $((n + 1)) || fail "no event for a new GID" ||
		return
	n=$(count $GID_CHANGE)
	ip -n "$NS_A" addr del 10.0.7.1/24 dev va
	within 5 seen $GID_CHANGE $((n + 1)) || fail "no event for a lost GID" ||
		return
	unwatch
}

# A process that waits for events gets DEVICE_FATAL when its device is removed.
removal_event() {
	watch || fail "no ibv_asyncwatch" || return
	link_delete $DEV_A
	within 5 seen $DEVICE_FATAL 1 || { cat "$TMP/events"; return 1; }
	unwatch
	link_add "$NS_A" $DEV_A va
}

for t in $TOPOLOGIES; do
	tap_setup topo $t
	tap_add "events, topology $t" c_test events
done
tap_add "port active, port error" port_events
tap_add "GID change" gid_events
tap_add "device fatal" removal_event
tap_run
