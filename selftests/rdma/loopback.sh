#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# QPs of one device move data without packets, unless packets are asked for; the two
# ways may take turns while data move, and refuse the same requests. opcodes.sh compares
# what is moved without packets.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/moved.sh"

need nft ibv_rc_pingpong ib_write_bw ib_read_bw ib_send_bw

PARAMETER=/sys/module/verve/parameters/loopback
[ -w $PARAMETER ] || skip_all "no such parameter: the driver is not Verve"
WAS=$(cat $PARAMETER)

loopback() {
	echo "$1" >$PARAMETER
}

restore() {
	loopback "$WAS"
	cleanup
}

counter() { # NAME
	hw_counter $DEV_C "$1"
}

# Count RoCE packets received at end A.
watch_packets() {
	client nft -f - <<-END
		table inet watch {
			counter roce { }
			chain in {
				type filter hook input priority 0
				udp dport 4791 counter name roce
			}
		}
	END
}

packets() {
	client nft list counter inet watch roce |
		sed -n 's/.*packets \([0-9]*\) .*/\1/p'
}

by_memory() {
	loopback Y
	moved c_test opcodes_queue && [ "$MEMORY" -gt 100 ] && [ "$WIRE" -lt 10 ]
}

by_wire() {
	loopback N
	moved c_test opcodes_queue && [ "$MEMORY" = 0 ] && [ "$WIRE" -gt 100 ]
}

# While the port is down, packets are sent. (They go by lo, which is up.)
port_down() {
	local rc

	loopback Y
	ip -n "$NS_B" link set vb down
	within 5 state_is DOWN && moved pings
	rc=$?
	ip -n "$NS_B" link set vb up
	within 5 state_is ACTIVE && [ $rc = 0 ] && [ "$MEMORY" = 0 ]
}

# Failures without packets: wrong keys, no receive, retries. (Without a peer, packets
# are sent.)
failures() {
	loopback Y
	moved c_test "$1" && [ "$MEMORY" -gt 20 ]
}

# ibv_rc_pingpong works on a port that is down. perftest does not.
pings() {
	PORT=$((PORT + 1))
	pair tcp:$PORT \
		ibv_rc_pingpong -d $DEV_S -g "$GID_S" -p $PORT -n 20 -- \
		ibv_rc_pingpong -d $DEV_C -g "$GID_C" -p $PORT -n 20 $IP4
}

state_is() {
	grep -q " $1\$" /sys/class/infiniband/$DEV_C/ports/1/state
}

other_types() {
	loopback Y
	moved perftest ib_write_bw -c UC -n 20 && [ "$MEMORY" = 0 ] &&
	moved perftest ib_send_bw -c UD -s 1024 -n 20 && [ "$MEMORY" = 0 ]
}

# Repeat, because a fast machine may finish before the parameter changes.
while_turning() {
	local i memory=0 wire=0

	for i in {1..10}; do
		moved perftest "$@" || return
		memory=$((memory + MEMORY)) wire=$((wire + WIRE))
		[ $memory -gt 0 ] && [ $wire -gt 0 ] && return
	done
	return 1
}

# Change the parameter while data move in both directions over several QPs.
taking_turns() {
	local turner

	while :; do
		loopback Y
		nap 0.05
		loopback N
		nap 0.05
	done &
	turner=$!
	while_turning "$@"
	local rc=$?
	kill $turner
	wait $turner
	return $rc
} 2>/dev/null

# Only the requests that opcodes_queue fails on purpose complete in error.
no_failures() {
	[ "$(counter retry_exceeded_err) $(counter req_cqe_error)" = "0 2" ] ||
		fail "$(counter retry_exceeded_err) $(counter req_cqe_error)"
}

two_devices() {
	loopback Y
	moved perftest ib_write_bw -n 20 && [ "$MEMORY" = 0 ] && [ "$WIRE" -gt 0 ]
}

N=${QUICK:+1000}
N=${N:-5000}

trap restore EXIT
tap_setup topo one 4200
tap_setup watch_packets
tap_add "no packets where none are needed" by_memory
tap_add "packets where they are asked for" by_wire
tap_add "packets while the port is down" port_down
tap_add "packets of UC and UD" other_types
tap_add "WRITEs, taking turns" taking_turns ib_write_bw -n $N -q 4
tap_add "WRITEs both ways, taking turns" taking_turns ib_write_bw -n $N -q 4 -b
tap_add "READs both ways, taking turns" taking_turns ib_read_bw -n $N -b
tap_add "SENDs both ways, taking turns" taking_turns ib_send_bw -n $N -b
tap_add "no other request failed" no_failures
tap_add "errors" failures errors
tap_add "retries" failures errors_retry
tap_setup topo two 4200
tap_setup watch_packets
tap_add "packets between two devices" two_devices
tap_run
