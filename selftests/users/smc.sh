#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# SMC-R version 2 moves the data of TCP sockets by RDMA where both ends have it, and by
# TCP where not. The test reads from each connection which of the two it uses. Of
# Debian's kernels, 6.1 and 6.12 have SMC.
#
#	smc client: A [va: vta] ---- [vb: vtb] B: smc server

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/users.sh"

need nft smc
[ ! -d /sys/module/smc ] || skip_all "SMC is in use"
need_modules smc smc_diag

EID=VERVE.TEST.$$
KIB=${QUICK:+4000}
KIB=${KIB:-100000}

# start SECONDS: data both ways in that time; the ends' output goes to files
start() { # SECONDS
	PORT=$((PORT + 1))
	ip netns exec "$NS_B" timeout $LIMIT \
		smc server $PORT $KIB "$1" >"$TMP/server" 2>&1 &
	SERVER=$!
	ready tcp:$PORT smc $SERVER
	a timeout $LIMIT smc client 10.0.0.2 $PORT $KIB "$1" >"$TMP/client" 2>&1 &
	CLIENT=$!
}

# Both ends exit with that code.
finish() { # CODE
	local client server

	wait $CLIENT
	client=$?
	wait $SERVER
	server=$?
	[ "$client $server" = "$1 $1" ] ||
		fail "$client: $(<"$TMP/client"); $server: $(<"$TMP/server")"
}

by_tcp() {
	start 0 && finish 3
}

# The transport is RDMA, according to the sockets and to the device's counters.
by_rdma() {
	local before

	before=$(packets $DEV_A)
	start 0 && finish 0 &&
	within 1 packets_since $DEV_A "$before" $KIB
}

# One packet of 50 is lost on its way into A.
lossy() {
	a nft -f - <<-END &&
		table inet loss {
			chain in {
				type filter hook input priority 0
				udp dport 4791 numgen random mod 50 0 drop
			}
		}
	END
	start 0 && finish 0 && a nft delete table inet loss
}

no_device() {
	timeout $LIMIT rdma link delete "$1"
}

new_device() { # NETNS NAME NETDEV
	link_add "$@" && within 5 gid_index "$2" ipv4 >/dev/null
}

# The connection breaks at both ends when the device of one is removed, on a busy machine
# too, long before all data have been sent.
removed() {
	local before

	before=$(packets $DEV_A)
	start $((15 * SLOW))
	within 10 packets_since $DEV_A "$before" $((KIB / 40)) &&
	no_device $DEV_B && finish 4
}

# Gives the two devices different networks. SMC would find the other end's device as well,
# and use it for a second link. When one of two links fails under traffic, SMC counts
# completions twice, and then writes beyond its send buffer.
names() {
	smc eid add $EID && smc pnetid VERVEA $DEV_A && smc pnetid VERVEB $DEV_B
}

unload() {
	modprobe -r smc_diag && modprobe -r smc
}

# A work of SMC frees a socket some time after its program has closed it.
unload_soon() {
	within 5 unload 2>/dev/null || fail "$(lsmod | grep ^smc)"
}

cleanup_smc() {
	smc eid remove $EID
	untopo
	unload
	cleanup
} 2>/dev/null

trap cleanup_smc EXIT
tap_setup topo two 1500
tap_setup unload
OBJECTS=
tap_setup eval 'OBJECTS=$(objects $DEV_A)'
tap_setup modprobe -a smc smc_diag
tap_add "no name in common: by TCP" by_tcp
tap_setup names
tap_add "data both ways, compared" by_rdma
tap_add "packets are lost" lossy
tap_add "a device removed under data" removed
tap_add "one end without a device: by TCP" by_tcp
tap_setup new_device "$NS_B" $DEV_B vb
tap_add "a new device: by RDMA again" by_rdma
tap_add "the modules go" unload_soon
tap_add "nothing is left" eval 'no_object_left $DEV_A "$OBJECTS"'
tap_run
