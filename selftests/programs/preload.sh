#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs for TCP, which know nothing of RDMA, move their data by RDMA when
# librspreload is loaded into them. A firewall drops all TCP, so that nothing else can
# have moved them.
#
#	client: A [va: vta] ---- [vb: vtb] B: server
#
# OTHER_ROOT is a directory with a newer rdma-core (tools/vm/rdma-core). Version 44 hangs
# in close() where there is more than one connection.

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/root.sh"
. "$LIB/users.sh"

LIBRARY=/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so
need_root OTHER_ROOT $LIBRARY
need nft preload pgrep

LIMIT=$((3 * LIMIT))
CLIENT_WITH=(chroot "$ROOT" env "LD_PRELOAD=$LIBRARY" PATH="/mnt/programs:/usr/bin:/bin")
SERVER_WITH=("${CLIENT_WITH[@]}")

no_tcp() {
	b nft -f - <<-END
		table inet rsockets {
			chain in {
				type filter hook input priority 0
				meta l4proto tcp counter drop
			}
		}
	END
}

# talk CONNECTIONS BYTES echo|last
talk() {
	PORT=$((PORT + 1))
	pair cm preload server $PORT "$1" "$3" -- \
		preload client "$IP4" $PORT "$1" "$2" "$3"
}

# connect CONNECTIONS BYTES: as the processes SERVER and CLIENT
connect() {
	PORT=$((PORT + 1))
	ip netns exec "$NS_S" "${SERVER_WITH[@]}" timeout $LIMIT \
		preload server $PORT "$1" echo >"$TMP/server" 2>&1 &
	SERVER=$!
	within 5 listens_cm preload || fail "no server" || return
	ip netns exec "$NS_C" "${CLIENT_WITH[@]}" timeout $LIMIT \
		preload client "$IP4" $PORT "$1" "$2" echo >"$TMP/client" 2>&1 &
	CLIENT=$!
}

process() { # client|server
	pgrep -f "^preload $1 "
}

# exits PID: as a program does whose connection broke, with data right until then
exits() {
	local rc

	within 20 ended "$1" || fail "a process goes on: $(tail "$TMP"/{server,client})" ||
		return
	wait "$1"
	rc=$?
	[ $rc = 4 ] || fail "exit code $rc: $(tail "$TMP"/{server,client})"
}

flowing() { # PACKETS-BEFORE
	within 10 packets_since $DEV_A "$1" 500 ||
		fail "no traffic: $(tail "$TMP"/{server,client})"
}

# killed END: in the middle of the data
killed() {
	local before

	before=$(packets $DEV_A)
	connect 1 1000000000 && flowing "$before" || return
	kill -KILL "$(process "$1")"
	case $1 in
	client) exits $SERVER ;;
	server) exits $CLIENT ;;
	esac
}

device_gone() {
	local before rc

	before=$(packets $DEV_A)
	connect 1 1000000000 && flowing "$before" || return
	timeout $LIMIT rdma link delete $DEV_B
	rc=$?
	[ $rc = 0 ] || fail "the link cannot be deleted: $rc" || return
	exits $SERVER && exits $CLIENT || return
	link_add "$NS_B" $DEV_B vb && within 5 gid_index $DEV_B ipv4 >/dev/null
}

firewall_was_silent() {
	b nft list table inet rsockets | grep "counter packets 0 "
}

tap_setup topo two
tap_setup no_tcp
tap_add "one connection, half closed by the client" talk 1 3000000 echo
tap_add "one connection, half closed by the server" talk 1 3000000 last
tap_add "four connections" talk 4 300000 echo
tap_add "sixteen connections" talk 16 100000 last
tap_add "the client is killed" killed client
tap_add "the server is killed" killed server
tap_add "the device is removed" device_gone
tap_add "nothing went by TCP" firewall_was_silent
tap_run
