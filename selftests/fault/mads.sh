#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Management datagrams without an agent, in a flood, get no answer, and hold up neither
# the RDMA CM nor the end of the device.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"
. "$HERE/../lib/load.sh"

need rping

DELETIONS=${QUICK:+3}
DELETIONS=${DELETIONS:-20}

flood() { # classes|connections
	traffic_begin env FLOOD="$1" mads
}

# Each neighbour that is resolved in vain takes a second.
connection() { # classes|connections
	flood "$1" || return
	PORT=$((PORT + 1))
	pair cm rping -s -a $IP4 -p $PORT -C 3 -- rping -c -a $IP4 -p $PORT -C 3 ||
		{ load_end; return 1; }
	load_end
}

deletion() { # classes|connections
	local i

	for ((i = 0; i < DELETIONS; i++)); do
		flood "$1" && sleep 0.5 || return
		soon rdma link delete $DEV_B || fail "link delete: $?" || return
		load_end && link_add "$NS_B" $DEV_B vb &&
		within 5 gid_index $DEV_B ipv4 >/dev/null || return
	done
}

cleanup_all() {
	load_kill
	cleanup
}

trap cleanup_all EXIT
tap_setup topo two
tap_add "requests over IPv4" c_test mads
tap_add "requests over IPv6" c_test mads -6
tap_add "a connection in a flood of them" connection classes
tap_add "a connection in a flood of connections" connection connections
tap_add "links deleted in a flood of them" deletion classes
tap_add "links deleted in a flood of connections" deletion connections
tap_run
